package anthropic_test

import (
	"testing"

	"warmpath/rewrite/anthropic"
)

func TestWithout(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"none":            {`{"a":1}`, `{"a":1}`},
		"only":            {`{"x":[1]}`, `{}`},
		"first":           {`{ "x":[1] , "a":1}`, `{ "a":1}`},
		"middle":          {`{"a":1, "x" : {"x":2}, "b":2}`, `{"a":1, "b":2}`},
		"last":            {`{"a":1,"x":null}`, `{"a":1}`},
		"twice":           {`{"x":1,"x":2,"a":3,"x":4}`, `{"a":3}`},
		"twice at first":  {`{"x":1,"x":2}`, `{}`},
		"in a message":    {`{"type":"message_start","message":{"id":"m","x":[]}}`, `{"type":"message_start","message":{"id":"m"}}`},
		"in a delta":      {`{"delta":{"x":1},"x":2}`, `{"delta":{}}`},
		"not in content":  {`{"content":[{"input":{"x":1}}]}`, `{"content":[{"input":{"x":1}}]}`},
		"in words":        {`{"text":"\"x\""}`, `{"text":"\"x\""}`},
		"message is text": {`{"message":"x","a":"x"}`, `{"message":"x","a":"x"}`},
		"cut off":         {`{"a":1,"x":2,`, `{"a":1,"x":2,`},
		"no JSON":         {`"x": oops`, `"x": oops`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := string(anthropic.Without([]byte(tt.text), "x")); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
