package prompt

import "time"

// What is remembered of prompts that are over: how many, and for how long.
const (
	pastMost = 4096
	pastLife = 10 * time.Minute
)

// past remembers the prompts that closed last, so that a late answer is told why it
// has no effect.
type past struct {
	list []gone // oldest first
	byID map[string]bool
}

// gone is a prompt that is over: what there is to see of it, without its content.
type gone struct {
	record
	answered bool
	when     time.Time
}

// slim is what there is still to see of a prompt that is over.
func (r *record) slim() *record {
	slim := *r
	slim.Arguments, slim.Result, slim.Message, slim.Questions, slim.Schema = nil, "", "", nil, nil
	slim.Key, slim.questions = nil, nil
	return &slim
}

func (p *past) add(r *record, answered bool) {
	now := time.Now()
	old := 0
	for old < len(p.list) && (now.Sub(p.list[old].when) > pastLife || len(p.list)-old >= pastMost) {
		delete(p.byID, p.list[old].ID)
		old++
	}
	if p.byID == nil {
		p.byID = map[string]bool{}
	}
	p.list = append(p.list[old:], gone{record: *r.slim(), answered: answered, when: now})
	p.byID[r.ID] = answered
}

// why is the reason why a prompt takes no answer any more; nil if it is not known.
// Who may not see it learns nothing of it.
func (p *past) why(who Who, id string) error {
	answered, ok := p.byID[id]
	if !ok {
		return nil
	}
	for i := range p.list {
		if p.list[i].ID == id && !who.sees(p.list[i].Tenant) {
			return ErrUnknown
		}
	}
	if answered {
		return ErrAnswered
	}
	return ErrGone
}
