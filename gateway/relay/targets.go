package relay

import (
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"warmpath/cache/lineage"
	"warmpath/gateway/catalog"
	"warmpath/gateway/upstream"
	"warmpath/rewrite"
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
	if x.relay.memory == nil || x.req.Operation != OpGenerate {
		return
	}
	x.targets.place = lineage.Seal(lineage.Head{}, 0, strings.Join([]string{
		"target", tenant(x.req.Fields), x.facts.Model, x.conversation(),
	}, "\x00")).Head
	notes, err := x.relay.memory.Notes(x.ctx, x.targets.place)
	if err != nil || notes[0] == nil {
		return
	}
	x.targets.chosen = string(notes[0])
	for i, target := range further {
		if targetName(&target) == x.targets.chosen {
			further[i], x.target = x.target, target
			return
		}
	}
}

// targetName is a target's name in what is kept.
func targetName(t *catalog.Target) string { return t.Provider.Name + "/" + t.Model }

// conversation is what tells the conversations of a tenant apart well enough to
// keep each with its provider: the client's name for it, or how it begins.
func (x *exchange) conversation() string {
	if name := session(x.req.Fields); name != "" {
		return name
	}
	root := gjson.ParseBytes(x.asked)
	if key := root.Get("prompt_cache_key"); key.Type == gjson.String {
		return "key\x00" + key.Str
	}
	for _, history := range []string{"messages", "input", "contents"} {
		if at := root.Get(history); at.Exists() {
			return "opening\x00" + firstWords(at)
		}
	}
	return ""
}

// firstWords are the texts of the first message of the user's, which an agent may
// mark otherwise with every turn.
func firstWords(history gjson.Result) string {
	if history.Type == gjson.String {
		return history.Str
	}
	var words strings.Builder
	history.ForEach(func(_, message gjson.Result) bool {
		if role := message.Get("role"); role.Exists() && role.Str != "user" {
			return true
		}
		content := message.Get("content")
		if !content.Exists() {
			content = message.Get("parts")
		}
		words.WriteString(content.Str)
		content.ForEach(func(_, part gjson.Result) bool {
			words.WriteString(part.Get("text").Str)
			return true
		})
		return words.Len() == 0
	})
	return words.String()
}

// reach asks the targets of the request, one after the other, until one of them
// answers it for good.
func (x *exchange) reach() (*upstream.Response, *rewrite.Failure) {
	for {
		resp, failure := x.fly()
		if !x.failsOver(resp, failure) {
			return resp, failure
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
		x.warmth, x.translation, x.rescued, x.prompt, x.ahead = nil, nil, false, nil, nil
		x.record.Losses, x.record.Spoken = nil, rewrite.Opaque
		x.client, x.vendor, x.speaks = before.client, before.client, x.req.Dialect
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
	if name == t.chosen {
		return
	}
	// Without its memory the conversation begins with the first target again.
	_ = x.relay.memory.Note(x.ctx, map[lineage.Head][]byte{t.place: []byte(name)})
}
