package relay

import (
	"encoding/json"
	"sync"
	"time"

	"warmpath/gateway/prompt"
	"warmpath/rewrite"
)

// toolBeat is how long a client is left without a sign while tools are run, at most:
// some give a stream up that says nothing for ten seconds.
const toolBeat = 5 * time.Second

// people is what a reply knows of those who are asked in its course: for how long they
// were waited for, and what the client is still to be told of it. Prompts open and
// close beside the stream.
type people struct {
	now    func() time.Time
	mu     sync.Mutex
	opened time.Time
	waited time.Duration
	news   []prompt.Event
	woken  chan struct{}
}

func newPeople(now func() time.Time) *people {
	return &people{now: now, woken: make(chan struct{}, 1)}
}

// notice takes what happens to a prompt of the reply. One is open at a time.
func (p *people) notice(e prompt.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Closed {
		p.waited += p.now().Sub(p.opened)
	} else {
		p.opened = p.now()
	}
	p.news = append(p.news, e)
	select {
	case p.woken <- struct{}{}:
	default:
	}
}

// took is for how long people were waited for since it was last asked.
func (p *people) took() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	waited := p.waited
	p.waited = 0
	return waited
}

// take gives what is new of prompts.
func (p *people) take() []prompt.Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	news := p.news
	p.news = nil
	return news
}

// promptTeller is an encoder whose dialect has an event for what people are asked.
type promptTeller interface {
	AppendPrompt(dst []byte, event string, members []rewrite.Member, asked bool) []byte
}

// prompts are frames that tell the client of prompts: if its dialect has one for it,
// and it asks for them or can answer.
func (t *translation) prompts(events []prompt.Event, attended bool) (frames []byte) {
	teller, ok := t.encoder.(promptTeller)
	if !ok {
		return nil
	}
	for _, e := range events {
		name, members := "opened", []rewrite.Member{{Name: "prompt", Value: asJSON(e.Prompt)}}
		if e.Closed {
			name = "closed"
			members = []rewrite.Member{{Name: "id", Value: asJSON(e.Prompt.ID)}, {Name: "outcome", Value: asJSON(e.Prompt.State)}}
			if e.Prompt.By != "" {
				members = append(members, rewrite.Member{Name: "by", Value: asJSON(e.Prompt.By)})
			}
		}
		frames = teller.AppendPrompt(frames, name, members, attended)
	}
	return frames
}

func asJSON(v any) rewrite.JSON {
	text, err := json.Marshal(v)
	if err != nil {
		panic("BUG: a prompt that is no JSON: " + err.Error())
	}
	return text
}
