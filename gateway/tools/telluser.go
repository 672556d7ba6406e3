package tools

import (
	"context"

	"github.com/tidwall/gjson"

	"warmpath/rewrite"
)

// TellUser is the name of the tool by which a model says something to the user in
// mid-turn.
const TellUser = "tell_user"

const tellUserDescription = "Show a message to the user now, word for word, while you go on working. " +
	"Use it for content that the user should see exactly as you write it in the middle of a turn: a result that is ready, " +
	"a warning, a draft to look at. Do not use it to narrate what you are about to do, and do not use it for your final " +
	"answer, which you simply write. The message may be Markdown."

const tellUserSchema = `{"type":"object","properties":{"message":{"type":"string","description":"The message as the user is to see it."}},"required":["message"],"additionalProperties":false}`

// NewTellUser is the tool tell_user.
func NewTellUser() Tool {
	return Tool{
		Name: TellUser, Source: SourceBuiltin, Instant: true, Run: tellUser,
		Definition: rewrite.Tool{Name: TellUser, Description: tellUserDescription, Schema: rewrite.JSON(tellUserSchema)},
	}
}

// tellUser gives the message to the user, and a receipt to the model.
func tellUser(_ context.Context, call Call) Result {
	message := gjson.GetBytes(call.Arguments, "message")
	if !gjson.ValidBytes(call.Arguments) || message.Type != gjson.String || message.Str == "" {
		return Failure("tell_user needs a message: a string that is not empty. Call it as {\"message\": \"...\"}.")
	}
	return Result{Parts: []rewrite.Part{
		{Text: message.Str, MIME: "text/markdown", Annotations: rewrite.JSON(`{"audience":["user"]}`)},
		{Text: "Message shown to user.", Annotations: rewrite.JSON(`{"audience":["assistant"]}`)},
	}}
}
