package watch

import (
	"encoding/json"
	"strings"

	"warmpath/gateway/question"
	"warmpath/rewrite"
	"warmpath/rewrite/transcript"
)

// inquiry draws that people are asked, or what came of it.
func (d *Drawer) inquiry(e *transcript.Event) {
	if e.Type == transcript.InquiryRequest {
		tool, what := asked(e)
		if d.hushed[e.ID] = d.settings.Tool(tool, false).Hidden; !d.hushed[e.ID] {
			d.note("people are asked: " + brief(d.line(what)))
		}
		return
	}
	if e.Outcome != "" && !d.hushed[e.ID] {
		d.note("the question was " + d.line(e.Outcome))
	}
}

// asked is what an event says that people are asked, in words, and for which tool. What
// was asked stands there as a prompt, or as its questions.
func asked(e *transcript.Event) (tool, what string) {
	var data struct {
		Message   string          `json:"message"`
		Questions json.RawMessage `json:"questions"`
		Tool      struct {
			Name string `json:"name"`
		} `json:"tool"`
	}
	if json.Unmarshal(e.Data, &data) != nil {
		data.Questions = e.Data
	}
	var said []string
	for _, text := range []string{e.Kind, data.Tool.Name, data.Message} {
		if text != "" {
			said = append(said, text)
		}
	}
	if questions, err := question.Decode(rewrite.JSON(data.Questions)); err == nil {
		for i := range questions {
			said = append(said, questions[i].Text)
		}
	}
	return data.Tool.Name, strings.Join(said, ": ")
}
