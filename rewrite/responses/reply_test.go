package responses_test

import (
	"fmt"
	"testing"

	"warmpath/rewrite"
	"warmpath/rewrite/responses"
)

func TestStatuses(t *testing.T) {
	for name, c := range map[string]struct {
		response string
		stop     rewrite.StopReason
		failed   bool
	}{
		"completed":       {`{"status":"completed"}`, rewrite.StopEnd, false},
		"in progress":     {`{"status":"in_progress"}`, rewrite.StopUnknown, false},
		"cancelled":       {`{"status":"cancelled"}`, rewrite.StopOther, false},
		"failed":          {`{"status":"failed","error":null}`, rewrite.StopError, true},
		"steered":         {`{"status":"incomplete","incomplete_details":{"reason":"steered"}}`, rewrite.StopPause, false},
		"too many":        {`{"status":"incomplete","incomplete_details":{"reason":"max_messages"}}`, rewrite.StopOther, false},
		"incomplete only": {`{"status":"incomplete","incomplete_details":null}`, rewrite.StopOther, false},
	} {
		t.Run(name, func(t *testing.T) {
			var r rewrite.Report
			responses.ReadReply([]byte(c.response), &r)
			if r.Stop != c.stop || r.Failed != c.failed || !r.Ended {
				t.Errorf("got %s, failed %v, ended %v", r.Stop, r.Failed, r.Ended)
			}
		})
	}
}

// Only a tool that the client has to run makes a reply wait for one.
func TestWhichItemsAreToolCalls(t *testing.T) {
	for item, want := range map[string]bool{
		`{"type":"function_call"}`:                           true,
		`{"type":"custom_tool_call"}`:                        true,
		`{"type":"computer_call"}`:                           true,
		`{"type":"shell_call"}`:                              true,
		`{"type":"apply_patch_call"}`:                        true,
		`{"type":"mcp_approval_request"}`:                    true,
		`{"type":"tool_search_call","execution":"client"}`:   true,
		`{"type":"tool_search_call","execution":"server"}`:   false,
		`{"type":"web_search_call"}`:                         false,
		`{"type":"mcp_call"}`:                                false,
		`{"type":"code_interpreter_call"}`:                   false,
		`{"type":"reasoning"}`:                               false,
		`{"type":"message","content":[{"type":"function"}]}`: false,
	} {
		t.Run(item, func(t *testing.T) {
			for _, kind := range []string{"response.output_item.added", "response.output_item.done"} {
				var r rewrite.Report
				responses.ReadEvent([]byte(kind), fmt.Appendf(nil, `{"output_index":0,"item":%s}`, item), &r)
				if r.ToolCall != want {
					t.Errorf("%s: tool call %v", kind, r.ToolCall)
				}
			}
		})
	}
}

func TestWhatCountsAsOutput(t *testing.T) {
	for event, want := range map[string]bool{
		`{"type":"response.created","response":{"output":[]}}`:                 false,
		`{"type":"response.output_item.added","item":{"type":"message"}}`:      false,
		`{"type":"response.output_item.added","item":{"type":"reasoning"}}`:    false,
		`{"type":"response.content_part.added","part":{"type":"output_text"}}`: false,
		`{"type":"response.web_search_call.searching"}`:                        false,
		`{"type":"response.output_item.added","item":{"type":"mcp_call"}}`:     true,
		`{"type":"response.output_item.done","item":{"type":"reasoning"}}`:     true,
		`{"type":"response.reasoning_summary_text.delta","delta":"a"}`:         true,
		`{"type":"response.function_call_arguments.delta","delta":"a"}`:        true,
		`{"type":"response.output_text.delta","delta":"a"}`:                    true,
	} {
		t.Run(event, func(t *testing.T) {
			var r rewrite.Report
			responses.ReadEvent(nil, []byte(event), &r)
			if r.Output != want || r.Ended {
				t.Errorf("output %v, ended %v", r.Output, r.Ended)
			}
		})
	}
}
