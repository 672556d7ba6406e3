package relay

import (
	"slices"
	"strings"
	"time"

	"warmpath/cache/lineage"
	"warmpath/gateway/catalog"
	"warmpath/gateway/upstream"
	"warmpath/rewrite"
	"warmpath/rewrite/responses"
	"warmpath/rewrite/splice"
)

// targets are where a request may go whose model is an alias of several. A
// conversation stays with the one that has answered it, whose cache it is in, until
// that fails.
type targets struct {
	// further are those that were not tried yet.
	further []catalog.Target
	// place is where the choice is kept, and chosen what is kept there.
	place  lineage.Head
	chosen string
}

// impatience is how long a provider may ask to wait while there is another one.
const impatience = time.Second

// spread finds the further targets of the request, and puts the one that its
// conversation is with in front.
func (x *exchange) spread() {
	further := x.settings.Catalog.Further(x.req.Dialect, x.facts.Model, x.translatable())
	if len(further) == 0 {
		return
	}
	x.targets = targets{further: further}
	previous := ""
	if x.req.Dialect == rewrite.Responses {
		previous = responses.ReadNames(x.asked).Previous
	}
	if previous != "" && !responses.Own(previous) {
		// Only a provider that has kept the reply itself can go on from it.
		x.prefer(func(t *catalog.Target) bool { return t.Dialect == rewrite.Responses })
	}
	if x.relay.memory == nil || x.req.Operation != OpGenerate {
		return
	}
	x.targets.place = lineage.Seal(lineage.Head{}, 0, strings.Join([]string{
		"target", x.req.tenant(), x.facts.Model, x.conversation(x.asked),
	}, "\x00")).Head
	places := []lineage.Head{x.targets.place}
	if responses.Own(previous) {
		places = append(places, x.afterReply(previous))
	}
	notes, err := x.relay.memory.Notes(x.ctx, places...)
	if err != nil {
		return
	}
	x.targets.chosen = string(notes[0])
	// What the reply says that the request goes on from counts for more.
	chosen := string(notes[len(notes)-1])
	x.prefer(func(t *catalog.Target) bool { return targetName(t) == chosen })
}

// prefer puts a target in front.
func (x *exchange) prefer(is func(*catalog.Target) bool) {
	if is(&x.target) {
		return
	}
	further := x.targets.further
	if at := slices.IndexFunc(further, func(t catalog.Target) bool { return is(&t) }); at >= 0 {
		further[at], x.target = x.target, further[at]
	}
}

// afterReply is where the choice is kept for requests that go on from a reply by its
// name.
func (x *exchange) afterReply(name string) lineage.Head {
	return lineage.Seal(lineage.Head{}, 0, strings.Join([]string{"target after", x.req.tenant(), x.facts.Model, name}, "\x00")).Head
}

// targetName is a target's name in what is kept.
func targetName(t *catalog.Target) string { return t.Provider.Name + "/" + t.Model }

// conversation is what tells the conversations of a tenant apart well enough to
// keep each with its provider: the client's name for it, or how it begins in a
// request.
func (x *exchange) conversation(plain []byte) string {
	if name := session(x.req.Fields); name != "" {
		return name
	}
	var key, history []byte
	splice.Fields(plain, func(name, value []byte) bool {
		switch string(name) {
		case "prompt_cache_key":
			key = value
		case "messages", "input", "contents":
			history = value
		}
		return true
	})
	if name, ok := splice.TextOf(key); ok {
		return "key\x00" + name
	}
	if history == nil {
		return ""
	}
	return "opening\x00" + firstWords(history)
}

// firstWords are the texts of the first message of the user's, which an agent may
// mark otherwise with every turn.
func firstWords(history []byte) string {
	if text, ok := splice.TextOf(history); ok {
		return text
	}
	var words strings.Builder
	splice.Elements(history, func(message []byte) bool {
		var role, content []byte
		splice.Fields(message, func(name, value []byte) bool {
			switch string(name) {
			case "role":
				role = value
			case "content", "parts":
				content = value
			}
			return true
		})
		if role != nil && splice.Text(role) != "user" {
			return true
		}
		words.WriteString(splice.Text(content))
		splice.Elements(content, func(part []byte) bool {
			splice.Fields(part, func(name, value []byte) bool {
				if string(name) == "text" {
					words.WriteString(splice.Text(value))
				}
				return true
			})
			return true
		})
		return words.Len() == 0
	})
	return words.String()
}

// reach asks the targets of the request, one after the other, until one of them
// answers it for good; nil where one has nothing to be asked.
func (x *exchange) reach() (*upstream.Response, *rewrite.Failure) {
	for {
		resp, failure := x.fly()
		if x.setsAside(resp, failure) {
			continue
		}
		x.wentWithout(resp, failure)
		if !x.failsOver(resp, failure) {
			return resp, failure
		}
		if x.estimates() {
			return nil, nil
		}
	}
}

// fly asks the target, once who goes before it has made its prefix warm.
func (x *exchange) fly() (*upstream.Response, *rewrite.Failure) {
	flight := x.board()
	defer flight.land(false) // whatever happens, nobody waits for it any more
	resp, failure := x.attempt()
	flight.land(failure == nil && resp.Status < 300)
	return resp, failure
}

// failsOver turns to the next target if this one has failed in a way that another
// may not. Nothing has reached the client yet. The answer is closed then.
func (x *exchange) failsOver(resp *upstream.Response, failure *rewrite.Failure) bool {
	if len(x.targets.further) == 0 || x.ctx.Err() != nil || failure == nil && !another(resp.Status) {
		return false
	}
	failed := x.record.Provider
	for len(x.targets.further) > 0 {
		before := *x
		x.target, x.targets.further = x.targets.further[0], x.targets.further[1:]
		x.afresh()
		if x.aim() == nil {
			if resp != nil {
				resp.Close()
			}
			x.relay.metrics.FellBack(failed)
			x.record.FellBack = append(x.record.FellBack, failed)
			return true
		}
		// Where the request cannot be sent to, it was not sent.
		left := x.targets.further
		*x = before
		x.targets.further = left
	}
	return false
}

// afresh forgets what was made of the request for a target, so that it can be aimed
// again.
func (x *exchange) afresh() {
	x.warmth, x.translation, x.counting, x.rescued, x.prompt, x.ahead = nil, nil, nil, false, nil, nil
	x.forgetting, x.disowning, x.aside = false, false, nil
	x.record.Losses, x.record.Spoken = nil, rewrite.Opaque
	x.vendor, x.speaks = x.client, x.req.Dialect
}

// another reports a status that another provider may not answer with: what the
// request itself is to blame for is for the client to hear.
func another(status int) bool {
	switch status {
	case 401, 402, 403, 404, 408, 429:
		return true
	}
	return status >= 500
}

// settle keeps the choice of a target that has answered.
func (x *exchange) settle() {
	t := &x.targets
	if t.place == (lineage.Head{}) {
		return
	}
	name := targetName(&x.target)
	notes := map[lineage.Head][]byte{}
	if name != t.chosen {
		notes[t.place] = []byte(name)
	}
	if x.translation != nil && x.translation.kept.keeps() {
		notes[x.afterReply(x.translation.kept.name)] = []byte(name)
	}
	if len(notes) > 0 {
		// Without its memory the conversation begins with the first target again.
		_ = x.relay.memory.Note(x.ctx, notes)
	}
}
