package tools

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite"
)

func TestSetKeepsItsOrder(t *testing.T) {
	s := NewSet(Limits{}, Tool{Name: "b", Source: SourceMCP}, Tool{Name: "a", Source: SourceBuiltin}, Tool{Name: "b", Source: SourceBuiltin})
	var names []string
	for _, definition := range s.Definitions() {
		names = append(names, definition.Name)
	}
	if diff := cmp.Diff([]string{"b", "a"}, names); diff != "" {
		t.Error(diff)
	}
	if s.Find("b").Source != SourceMCP || s.Has("c") || (*Set)(nil).Has("a") || (*Set)(nil).Definitions() != nil {
		t.Error("the set does not have what it was given")
	}
}

// A model that makes up a tool reads which there are.
func TestWhatIsNotThere(t *testing.T) {
	s := NewSet(Limits{}, Tool{Name: "mcp__a__x"}, Tool{Name: "mcp__b__y"}, Tool{Name: "mcp__a__z"}).Owning("mcp__a__", "mcp__b__", "mcp__c__")
	for name, want := range map[string]string{
		"mcp__a__y": "There is no tool mcp__a__y. Its server has: mcp__a__x, mcp__a__z. Call one of these, or go on without it.",
		"mcp__c__y": "There is no tool mcp__c__y, and its server has none at the moment. Go on without it.",
		"tell_user": "The tool tell_user is not available any more. Go on without it.",
		"mcp__d__y": "The tool mcp__d__y is not available any more. Go on without it.",
	} {
		got := s.Run(t.Context(), Call{Name: name})
		if !got.Failed || len(got.Parts) != 1 || got.Parts[0].Text != want {
			t.Errorf("%s gives %+v, want %s", name, got, want)
		}
	}
	if !s.Owns("mcp__a__anything") || s.Owns("mcp__ab__x") || s.Owns("tell_user") || (*Set)(nil).Owns("mcp__a__x") {
		t.Error("the set owns what is not its own, or not what is")
	}
}

func gives(parts ...rewrite.Part) func(context.Context, Call) Result {
	return func(context.Context, Call) Result { return Result{Parts: parts} }
}

func TestRunHasItsBounds(t *testing.T) {
	note := rewrite.JSON(`{"audience":["assistant"]}`)
	for _, tc := range []struct {
		name  string
		limit int
		run   func(context.Context, Call) Result
		want  []string
	}{
		{"all of it", 10, gives(rewrite.Part{Text: "0123456789"}), []string{"0123456789"}},
		{"no bound", 0, gives(rewrite.Part{Text: "0123456789"}), []string{"0123456789"}},
		{"a text is cut", 4, gives(rewrite.Part{Text: "0123456789"}), []string{"0123", "(The result was cut: it had 10 bytes, of which at most 4 are given. Ask for less in one call.)"}},
		{"between code points", 4, gives(rewrite.Part{Text: "abcéé"}), []string{"abc", "(The result was cut: it had 7 bytes, of which at most 4 are given. Ask for less in one call.)"}},
		{"an image is left out", 4, gives(rewrite.Part{Text: "ab"}, rewrite.Part{Kind: rewrite.PartImage, Media: rewrite.Media{Data: "AAAA"}}, rewrite.Part{Text: "cd"}),
			[]string{"ab", "cd", "(The result was cut: it had 8 bytes, of which at most 4 are given. Ask for less in one call.)"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			result := NewSet(Limits{Bytes: tc.limit}, Tool{Name: "x", Run: tc.run}).Run(t.Context(), Call{Name: "x"})
			var got []string
			for _, part := range result.Parts {
				got = append(got, part.Text)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if last := result.Parts[len(result.Parts)-1]; len(got) > 1 && string(last.Annotations) != string(note) {
				t.Errorf("the note is for %s", last.Annotations)
			}
		})
	}
}

func TestRunGivesFailuresAsResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSet(Limits{Timeout: time.Minute},
			Tool{Name: "slow", Run: func(ctx context.Context, _ Call) Result { <-ctx.Done(); return Failure(ctx.Err().Error()) }},
			Tool{Name: "patient", Timeout: -1, Run: func(ctx context.Context, _ Call) Result {
				select {
				case <-ctx.Done():
				case <-time.After(time.Hour):
				}
				return Result{Parts: []rewrite.Part{{Text: "answered"}}}
			}},
			Tool{Name: "broken", Run: func(context.Context, Call) Result { panic("secret") }},
		)
		for name, want := range map[string]string{
			"slow":    "has not answered within 1m0s",
			"patient": "answered",
			"broken":  "has broken down",
			"gone":    "is not available any more",
		} {
			result := s.Run(t.Context(), Call{Name: name})
			if len(result.Parts) != 1 || !strings.Contains(result.Parts[0].Text, want) || result.Failed != (name != "patient") || strings.Contains(result.Parts[0].Text, "secret") {
				t.Errorf("%s gives %+v", name, result)
			}
		}
	})
}
