package rewrite_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite"
)

// script reads events from words: the item, what happens, the part and a text,
// as in 0text1:abc.
func script(words string) (events []*rewrite.Event) {
	kinds := map[string]rewrite.EventKind{}
	for _, k := range rewrite.EventKinds {
		kinds[k.String()] = k
	}
	for word := range strings.FieldsSeq(words) {
		head, text, _ := strings.Cut(word, ":")
		e := &rewrite.Event{Index: int(head[0] - '0'), Text: []byte(text)}
		name := head[1:]
		if last := name[len(name)-1]; last >= '0' && last <= '9' {
			e.PartIndex, name = int(last-'0'), name[:len(name)-1]
		}
		switch e.Kind = kinds[name]; e.Kind {
		case rewrite.EventItem, rewrite.EventDone:
			e.Item = &rewrite.Item{}
		case rewrite.EventPart, rewrite.EventPartDone:
			e.Part = &rewrite.Part{}
		case rewrite.EventAttribution:
			e.Attribution = &rewrite.Attribution{}
		}
		events = append(events, e)
	}
	return events
}

func TestInTurn(t *testing.T) {
	for name, c := range map[string]struct{ events, want string }{
		"one after the other already": {
			"0item 0part0 0text0:a 0part_done0 0done 1item 1arguments:b 1done 0end",
			"0item 0part0 0text0:a 0part_done0 0done 1item 1arguments0:b 1done 0end",
		},
		"side by side": {
			"0item 1item 2item 2part0 1arguments:b 0part0 2text0:c 1done 0text0:a 0part_done0 0done 2part_done0 2done 0end",
			"0item 0part0 0text0:a 0part_done0 0done 1item 1arguments0:b 1done 2item 2part0 2text0:c 2part_done0 2done 0end",
		},
		"parts side by side": {
			"0item 0part0 0part1 0text1:b 0text0:a 0part2 0attribution1 0part_done1 0part_done0 0text2:c 0part_done2 0done",
			"0item 0part0 0text0:a 0part_done0 0part1 0text1:b 0attribution1 0part_done1 0part2 0text2:c 0part_done2 0done",
		},
		"never closed": {
			"0item 0part0 0text0:a 0part1 0text1:b 1item 1part0 1text0:c 0end",
			"0item 0part0 0text0:a 0part_done0 0part1 0text1:b 0part_done1 0done 1item 1part0 1text0:c 1part_done0 1done 0end",
		},
		"a part that is never closed": {"0item 0part0 0done", "0item 0part0 0part_done0 0done"},
		"nobody's":                    {"5text0:a 5done 0item 0text0:a 0part_done3 0done 0text0:x", "0item 0done"},
		"an error":                    {"0item 1item 1done 0error", "0item 0error"},
	} {
		t.Run(name, func(t *testing.T) {
			var q rewrite.InTurn
			var got []string
			for _, e := range script(c.events) {
				q.Add(e, func(e *rewrite.Event) {
					word := fmt.Sprintf("%d%s", e.Index, e.Kind)
					switch e.Kind {
					case rewrite.EventText, rewrite.EventArguments:
						word += fmt.Sprintf("%d:%s", e.PartIndex, e.Text)
					case rewrite.EventPart, rewrite.EventPartDone, rewrite.EventAttribution:
						word += fmt.Sprint(e.PartIndex)
					}
					got = append(got, word)
				})
				for i := range e.Text {
					e.Text[i] = 'x' // it is gone
				}
			}
			if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
