package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/gateway"
	"warmpath/gateway/config"
	"warmpath/rewrite/transcript"
)

// What people are asked, and what came of it, stands in the log: as the prompt that they
// saw, with no answer in it. Users, who have answered themselves, are not shown it.
func TestInquiriesAreLogged(t *testing.T) {
	p := withPeople(t, gateway.Options{}, func(cfg *config.Config) { cfg.Log.Events = config.KeptInMemory })
	for from := range speakers {
		for answer, outcome := range map[string]string{chosen: "answered", `{"action":"decline"}`: "declined", `{"action":"cancel"}`: "cancelled"} {
			t.Run(fmt.Sprintf("%s, %s", from, outcome), func(t *testing.T) {
				s := p.begin(t, from, asksUser, "Warmpath-Capabilities", capable)
				open := p.open(t, from)
				if status, said := p.call(t, from, "POST", "/"+open.Get("id").Str+"/answer", answer); status != 200 {
					t.Fatalf("%d %s", status, said)
				}
				s.rest(t)
				name := s.header.Get("Warmpath-Conversation")
				var got []string
				events, raw := logged(t, p.gateway, name, "")
				for i := range events {
					e := &events[i]
					switch e.Type {
					case transcript.InquiryRequest:
						var shown gjson.Result
						if shown = gjson.GetBytes(raw[i], "data"); !json.Valid(e.Data) || shown.Get("tool.name").Str != "ask_user" || shown.Get("questions.0.text").Str != "Which database?" {
							t.Errorf("the log has %s", raw[i])
						}
						if e.ID != open.Get("id").Str || e.Kind != "question" || e.Source != transcript.FromGateway {
							t.Errorf("the log has %s", raw[i])
						}
						got = append(got, "asked")
					case transcript.InquiryResponse:
						if e.ID != open.Get("id").Str || len(e.Data) > 0 {
							t.Errorf("the log has %s", raw[i])
						}
						got = append(got, e.Outcome)
					case transcript.ToolCallRequest:
						got = append(got, "called "+e.Name)
					case transcript.ToolCallResponse:
						got = append(got, "result")
						if outcome == "answered" && !strings.Contains(string(raw[i]), "SQLite") {
							t.Errorf("the log has %s", raw[i])
						}
					}
				}
				if diff := cmp.Diff([]string{"called ask_user", "asked", outcome, "result"}, got); diff != "" {
					t.Error(diff)
				}
				users, _ := logged(t, p.gateway, name, "?view=user")
				for i := range users {
					if typ := users[i].Type; typ == transcript.InquiryRequest || typ == transcript.InquiryResponse {
						t.Errorf("UV-01: users are shown %s", typ)
					}
				}
			})
		}
	}
}
