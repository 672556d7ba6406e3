package splice_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

func TestPeek(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want rewrite.Facts
	}{
		"both": {`{"model":"m-1","stream":true}`, rewrite.Facts{Model: "m-1", ModelSpan: rewrite.Span{Start: 9, End: 14}, Stream: true}},
		"model last": {
			`{"stream": false, "messages":[{"model":"other","stream":true}], "model" : "m"}`,
			rewrite.Facts{Model: "m", ModelSpan: rewrite.Span{Start: 74, End: 77}},
		},
		"escaped": {
			`{"mod\u0065l":"m\u002d\"1"}`,
			rewrite.Facts{Model: `m-"1`, ModelSpan: rewrite.Span{Start: 14, End: 26}},
		},
		"neither":                {`{"messages":[]}`, rewrite.Facts{}},
		"model of another type":  {`{"model":{"model":"m"},"stream":true}`, rewrite.Facts{Stream: true}},
		"model null":             {`{"model":null}`, rewrite.Facts{}},
		"stream of another type": {`{"model":"m","stream":"true"}`, rewrite.Facts{Model: "m", ModelSpan: rewrite.Span{Start: 9, End: 12}}},
		"empty model":            {`{"model":""}`, rewrite.Facts{ModelSpan: rewrite.Span{Start: 9, End: 11}}},
		"another name twice":     {`{"seed":1,"seed":2}`, rewrite.Facts{}},
		"not an object":          {` ["model"]`, rewrite.Facts{}},
		"a bare string":          {`"model"`, rewrite.Facts{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := splice.Peek([]byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPeekRefusesTwice(t *testing.T) {
	for name, c := range map[string]struct{ body, msg string }{
		"model": {
			`{"model":"cheap","n":1,"model":"dear"}`,
			`"model" stands twice in the request body, at byte 1 and at byte 23; send it once`,
		},
		"model, one escaped": {
			`{"\u006dodel":"cheap","model":"dear"}`,
			`"model" stands twice in the request body, at byte 1 and at byte 22; send it once`,
		},
		"model, one of another type": {
			`{"model":null,"model":"dear"}`,
			`"model" stands twice in the request body, at byte 1 and at byte 14; send it once`,
		},
		"stream": {
			`{"stream":true,"stream":true}`,
			`"stream" stands twice in the request body, at byte 1 and at byte 15; send it once`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			facts, err := splice.Peek([]byte(c.body))
			var failure *rewrite.Failure
			if !errors.As(err, &failure) {
				t.Fatalf("got %v, want a failure", err)
			}
			if failure.Reason != rewrite.ReasonBadRequest || failure.Message != c.msg {
				t.Errorf("got %s: %s", failure.Reason, failure.Message)
			}
			if facts != (rewrite.Facts{}) {
				t.Errorf("facts of a refused body: %+v", facts)
			}
		})
	}
}

func TestPeekRefusesWhatIsNotJSON(t *testing.T) {
	for _, body := range []string{``, `model`, `{"model":"m"`, `{"model":"m"}}`, `[1`, `{"model" "m"}`} {
		_, err := splice.Peek([]byte(body))
		if _, ok := errors.AsType[*splice.SyntaxError](err); !ok {
			t.Errorf("%q: got %v, want a syntax error", body, err)
		}
	}
}

func TestPeekModelStopsAtTheModel(t *testing.T) {
	tests := map[string]struct {
		body  string
		model string
	}{
		"first":                  {`{"model":"m","stream":true}`, "m"},
		"after others":           {`{"messages":[{"model":"inner"}], "model" : "m" }`, "m"},
		"escaped name and value": {`{"mod\u0065l":"\u006d"}`, "m"},
		"broken behind it":       {`{"model":"m",,,`, "m"},
		"a second one":           {`{"model":"m","model":"n"}`, "m"},
		"broken before it":       {`{"a":[,"model":"m"}`, ""},
		"no string":              {`{"model":7}`, ""},
		"none":                   {`{}`, ""},
		"no object":              {`["model"]`, ""},
		"nothing":                {``, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			facts := splice.PeekModel([]byte(test.body))
			if facts.Model != test.model || facts.Stream {
				t.Errorf("read %+v, want the model %q", facts, test.model)
			}
			if test.model != "" && facts.ModelSpan.Len() < 3 {
				t.Errorf("the model's span is %v", facts.ModelSpan)
			}
		})
	}
}
