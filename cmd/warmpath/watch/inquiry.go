package watch

import (
	"encoding/json"
	"strings"

	"warmpath/gateway/question"
	"warmpath/rewrite"
	"warmpath/rewrite/transcript"
)

// asked is what an event says that people are asked, in words.
func asked(e *transcript.Event) string {
	var data struct {
		Message   string          `json:"message"`
		Questions json.RawMessage `json:"questions"`
		Tool      struct {
			Name string `json:"name"`
		} `json:"tool"`
	}
	if json.Unmarshal(e.Data, &data) != nil {
		return e.Kind
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
	return strings.Join(said, ": ")
}
