package anthropic_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/continuity"
)

// recallsLike asks that a body reads as it does without memory.
func recallsLike(t *testing.T, recall *anthropic.Recall, body []byte) {
	t.Helper()
	want, wantErr := anthropic.ReadFacts(body)
	got, err := recall.ReadFacts(body)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Fatalf("%v, want %v", err, wantErr)
	}
	if !reflect.DeepEqual(want, got) {
		t.Fatalf("(-want +got):\n%s", cmp.Diff(want, got))
	}
	if got != nil {
		recall.Release(got)
	}
}

func TestRecallReadsTheSame(t *testing.T) {
	marked := bytes.ReplaceAll(agentRequest(3, 40), []byte(`{"type":"text","text":"I will`), []byte(`{"cache_control":{"type":"ephemeral"},"type":"text","text":"I will`))
	long := agentRequest(30, 200)
	tests := map[string][][]byte{
		"again":             {long, long},
		"goes on":           {agentRequest(30, 100), long, agentRequest(30, 300)},
		"rewinds":           {long, agentRequest(30, 50)},
		"other tools":       {long, agentRequest(31, 200), long},
		"other place":       {long, bytes.Replace(long, []byte(`"max_tokens":32000`), []byte(`"max_tokens":1`), 1)},
		"an edited message": {long, bytes.Replace(long, []byte("file_70"), []byte("other_file"), 1), long},
		"a message gone":    {long, append(bytes.Clone(long[:bytes.LastIndex(long, []byte(`,{"role"`))]), "]}"...)},
		"marks":             {marked, marked, bytes.ReplaceAll(marked, []byte("ephemeral"), []byte("ephemerax"))},
		"cut short":         {long, long[:len(long)-1], long[:len(long)/2], long},
		"small":             {[]byte(`{"messages":[{"role":"user","content":"hi"}]}`), []byte(`{"messages":[{"role":"user","content":"hi"}]}`)},
		"system as string": {
			[]byte(`{"system":"` + strings.Repeat("x", 500) + `","messages":[]}`),
			[]byte(`{"x":1,"system":"` + strings.Repeat("x", 500) + `","messages":[]}`),
		},
		"system twice": {[]byte(`{"system":"` + strings.Repeat("x", 500) + `","system":"` + strings.Repeat("x", 500) + `","messages":[]}`)},
		"a list elsewhere": {
			[]byte(`{"system":[` + strings.Repeat(`{"type":"text","text":"x"},`, 20) + `{"type":"text","text":"x"}],"messages":[]}`),
			[]byte(`{"tools":[` + strings.Repeat(`{"type":"text","text":"x"},`, 20) + `{"type":"text","text":"x"}],"messages":[]}`),
			[]byte(`{"messages":[` + strings.Repeat(`{"type":"text","text":"x"},`, 20) + `{"type":"text","text":"x"}]}`),
		},
	}
	for name, bodies := range tests {
		t.Run(name, func(t *testing.T) {
			recall := anthropic.NewRecall(1 << 20)
			for _, body := range bodies {
				recallsLike(t, recall, body)
			}
		})
	}
}

// Whatever is forgotten is read again, and many may read at once.
func TestRecallForgets(t *testing.T) {
	recall := anthropic.NewRecall(20 << 10)
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			for range 20 {
				body := agentRequest(5, 20+10*random.IntN(10))
				want, _ := anthropic.ReadFacts(body)
				got, err := recall.ReadFacts(body)
				if err != nil || len(got.Messages) != len(want.Messages) {
					t.Errorf("%v", err)
					return
				}
				for i := range want.Messages {
					if got.Messages[i] != want.Messages[i] {
						t.Errorf("message %d is %+v, want %+v", i, got.Messages[i], want.Messages[i])
						return
					}
				}
				recall.Release(got)
			}
		})
	}
	wait.Wait()
	recallsLike(t, recall, agentRequest(5, 200))
}

// FuzzRecall asks that a body which shares much with others, of which some is
// damaged, reads as it does without memory.
func FuzzRecall(f *testing.F) {
	f.Add(uint16(3), uint16(100), uint16(0), []byte("x"))
	f.Add(uint16(8), uint16(9000), uint16(12), []byte(`","x":"`))
	f.Add(uint16(40), uint16(30), uint16(1), []byte(`},{`))
	f.Fuzz(func(t *testing.T, messages, at, cut uint16, put []byte) {
		recall := anthropic.NewRecall(1 << 20)
		body := agentRequest(int(messages)%5, int(messages)%64)
		recallsLike(t, recall, body)
		start := int(at) * 8 % len(body)
		end := min(start+int(cut)%64, len(body))
		other := append(append(bytes.Clone(body[:start]), put...), body[end:]...)
		recallsLike(t, recall, other)
		recallsLike(t, recall, body)
		recallsLike(t, recall, other)
	})
}

// BenchmarkRecall reads the next turn of a conversation, in which the client's
// mark has moved on; the multiple is that of one check of the same bytes.
func BenchmarkRecall(b *testing.B) {
	body := agentRequest(100, 500)
	recall := anthropic.NewRecall(16 << 20)
	if _, err := recall.ReadFacts(agentRequest(100, 498)); err != nil {
		b.Fatal(err)
	}
	var facts *continuity.Facts
	compare(b, body, func() (err error) {
		if facts != nil {
			recall.Release(facts)
		}
		facts, err = recall.ReadFacts(body)
		return err
	}, func() error { return valid(body) })
	if len(facts.Messages) != 501 {
		b.Errorf("%d messages", len(facts.Messages))
	}
}
