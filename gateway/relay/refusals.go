package relay

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"time"

	"warmpath/rewrite/continuity"
)

// lack are abilities that a provider does not have after all.
type lack uint8

const (
	lacksText lack = 1 << iota
	lacksDefine
	lacksReference
	lacksBinding
	lacksAutomatic
	lacksDiagnostics
	lacksEffort
)

// refused notes what a refusal says that the provider lacks. Only the newest
// retreat is what makes a request succeed, so nothing is proven of the ones
// before it.
func (w *warmth) refused(why retreat, refusal []byte) {
	lacks := lacking(why, refusal, w.betas)
	if w.rung == why {
		lacks |= w.lacks
	}
	w.rung, w.lacks = why, lacks
	w.gone |= lacks
	w.able = w.gone.without(w.able)
}

// lacking is what a refusal says about the provider: nothing unless it names
// what is the gateway's. A misplaced message says nothing either: it is the plan
// that was wrong.
func lacking(why retreat, refusal []byte, betas []string) (lacks lack) {
	says := func(word string) bool { return bytes.Contains(refusal, []byte(word)) }
	switch why {
	case noSystem:
		switch {
		case says(saysUnknown), says(saysRoles):
			lacks = lacksText | lacksDefine | lacksReference
		case says(ofEffort):
			lacks = lacksEffort
		case says("not supported"):
			lacks = lacksDefine | lacksReference
		}
	case noBeta:
		for beta, lack := range map[string]lack{betaDefine: lacksDefine, betaByName: lacksReference, betaBinding: lacksBinding, betaEffort: lacksEffort} {
			if slices.Contains(betas, beta) && says(saysBetas) && says(beta) {
				lacks |= lack
			}
		}
		lacks |= unknown(refusal) &^ (lacksAutomatic | lacksDiagnostics)
	case noMarks:
		lacks = unknown(refusal) & lacksAutomatic
	case noAsking:
		lacks = lacksDiagnostics
	case dropBound, noEdits:
	}
	return lacks
}

// unknown is what a provider lacks that does not know some fields of a request.
// Those that are no edit's are the client's.
func unknown(refusal []byte) (lacks lack) {
	for {
		path, rest, ok := bytes.Cut(refusal, []byte(": "+saysExtra))
		if !ok {
			return lacks
		}
		if start := bytes.LastIndexFunc(path, func(r rune) bool {
			return r != '.' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
		}); start >= 0 {
			if path[start] == '\\' && start+1 < len(path) {
				start++ // a line's end, escaped
			}
			path = path[start+1:]
		}
		lacks |= lackOf(strings.Split(string(path), "."))
		refusal = rest
	}
}

// lackOf is what a provider lacks that does not know the field at a path.
func lackOf(path []string) (lacks lack) {
	top := path[0]
	for _, name := range path {
		switch name {
		case "defer_loading", "tool_addition", "tool_removal", "tool_reference", "tool_definition":
			lacks |= lacksDefine | lacksReference
		case "block_binding":
			lacks |= lacksBinding
		case "output_config":
			if top == "messages" {
				lacks |= lacksEffort
			}
		}
	}
	switch {
	case top == "diagnostics":
		lacks |= lacksDiagnostics
	case len(path) == 1 && top == "cache_control":
		lacks |= lacksAutomatic
	}
	return lacks
}

// without takes away what is lacking.
func (l lack) without(able continuity.Abilities) continuity.Abilities {
	able.Text = able.Text && l&lacksText == 0
	able.Define = able.Define && l&lacksDefine == 0
	able.Reference = able.Reference && l&lacksReference == 0
	able.Binding = able.Binding && l&lacksBinding == 0
	able.Automatic = able.Automatic && l&lacksAutomatic == 0
	able.Diagnostics = able.Diagnostics && l&lacksDiagnostics == 0
	able.Effort = able.Effort && l&lacksEffort == 0
	return able
}

// learn remembers what a provider has refused, once the request has gone through
// without: only then was it ours that was at fault.
func (x *exchange) learn(status int) {
	if w := x.warmth; w != nil && status < 400 {
		x.relay.refusals.add(x.target.Provider.Name, x.target.Model, w.lacks, x.record.Arrived)
	}
}

// refusals remembers what models at providers lack of what their row in the
// catalog allows. Only a request that the provider accepts without it proves the
// lack.
type refusals struct {
	mu    sync.RWMutex
	found map[[2]string]finding
}

// finding is what a model was seen to lack, and when last.
type finding struct {
	lacks lack
	at    time.Time
}

// believed is how long a finding holds: providers catch up.
const believed = time.Hour

// as of a time, a finding may hold no more.
func (f finding) as(now time.Time) lack {
	if now.Sub(f.at) >= believed {
		return 0
	}
	return f.lacks
}

func (r *refusals) add(provider, model string, lacks lack, now time.Time) {
	if lacks == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.found == nil {
		r.found = map[[2]string]finding{}
	}
	key := [2]string{provider, model}
	r.found[key] = finding{lacks: r.found[key].as(now) | lacks, at: now}
}

// without takes away what has been refused.
func (r *refusals) without(provider, model string, able continuity.Abilities, now time.Time) continuity.Abilities {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.found[[2]string{provider, model}].as(now).without(able)
}
