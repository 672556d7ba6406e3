package relay

import (
	"bytes"
	"context"
	"crypto/sha256"
	"sync"

	"warmpath/cache/lineage"
	"warmpath/gateway/upstream"
	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/responses"
	"warmpath/rewrite/splice"
	"warmpath/rewrite/sse"
)

// A conversation may have been answered by several providers, and holds what only
// one of them can read. Each gets back what it has made itself.

// native is the client's request as its provider can read it: what another one has
// made, and the gateway has packed, is left out, and what is the gateway's own is
// said in the provider's words. It is the request itself where
// there is nothing of the kind, and in doubt.
func (x *exchange) native() ([]byte, *rewrite.Failure) {
	body, codec := x.asked, codecs[x.req.Dialect]
	if codec == nil || x.req.Operation != OpGenerate {
		return x.disowned(body), nil
	}
	body, failure := x.goOnElsewhere(body)
	if failure != nil {
		return nil, failure
	}
	if !rewrite.HasEnvelopes(body) && (x.req.Dialect != rewrite.Responses || !responses.Extended(body)) {
		return x.disowned(body), nil
	}
	provider := x.target.Provider
	c, err := codec.decodeRequest(body, provider.Name)
	if err != nil {
		return body, nil
	}
	if x.req.Dialect != rewrite.Gemini {
		c.Model = x.target.Model
	}
	var losses rewrite.Losses
	unpacked, err := codec.encodeRequest(c, provider, &losses)
	if err != nil {
		return body, nil
	}
	losses.Locate(c, codec.member)
	if x.req.Dialect == rewrite.Responses {
		asAsked(losses.All, x.asked, body)
	}
	if failure := x.strict(losses.All); failure != nil {
		return nil, failure
	}
	x.record.Losses = losses.All
	return x.disowned(unpacked), nil
}

// saysForeign is in a refusal of thinking that the provider has not made.
const saysForeign = "Invalid `signature` in `"

// disowned leaves out the thinking that the provider has refused to read before.
func (x *exchange) disowned(body []byte) []byte {
	if x.speaks != rewrite.Messages || x.relay.foreign.empty() {
		return body
	}
	return anthropic.Disown(body, func(signature string) bool {
		return x.relay.foreign.has(x.target.Provider.Name, signature)
	})
}

// disowns leaves thinking out that was refused because another provider has made
// it. It returns false if the refusal is none of that: what the client itself has
// spoilt is for the client to hear.
func (x *exchange) disowns(resp *upstream.Response) bool {
	if resp.Status != 400 || x.disowning || x.translation != nil || x.speaks != rewrite.Messages || x.mode() != rewrite.ModeOn || x.relay.memory == nil {
		return false
	}
	x.ahead = x.readAhead(resp)
	if !bytes.Contains(x.ahead, []byte(saysForeign)) || bytes.Contains(x.ahead, []byte(saysBound)) {
		return false
	}
	x.disowning = true
	signatures := anthropic.Signatures(x.asked)
	heads := make([]lineage.Head, len(signatures))
	for i, signature := range signatures {
		heads[i] = signedBy(signature)
	}
	makers, err := x.relay.memory.Notes(x.ctx, heads...)
	if err != nil {
		return false
	}
	provider, found := x.target.Provider.Name, false
	for i, maker := range makers {
		if len(maker) > 0 && string(maker) != provider {
			x.relay.foreign.add(provider, signatures[i])
			found = true
		}
	}
	if !found {
		return false
	}
	before := *x
	x.warmth, x.prompt, x.ahead = nil, nil, nil
	if x.aim() != nil || bytes.Equal(x.out.Body, before.out.Body) {
		*x = before
		return false
	}
	x.relay.metrics.Retreated("foreign_thinking")
	return true
}

// signedBy is where the maker of a signature is kept.
func signedBy(signature string) lineage.Head {
	return lineage.Seal(lineage.Head{}, 0, "signature\x00"+signature).Head
}

// signs looks a reply through for signatures that no model of Anthropic's has made.
// Nil ones look for nothing.
type signs struct {
	relay *Relay
	ctx   context.Context //nolint:containedctx // the request's own life
	maker string
}

// watchSigns looks through the reply of a provider that is only compatible.
func (x *exchange) watchSigns(status int) {
	if status == 200 && x.speaks == rewrite.Messages && x.target.Provider.Endpoint == "" && x.relay.memory != nil && x.req.Operation == OpGenerate {
		x.tap.signs = &signs{relay: x.relay, ctx: x.ctx, maker: x.target.Provider.Name}
	}
}

func (s *signs) event(e sse.Event) {
	if s != nil {
		s.save(anthropic.EventSeals(e.Name, e.Data))
	}
}

func (s *signs) whole(reply []byte) {
	if s != nil {
		s.save(anthropic.Seals(reply))
	}
}

func (s *signs) save(seals [][]byte) {
	notes := map[lineage.Head][]byte{}
	for _, seal := range seals {
		notes[signedBy(splice.Text(seal))] = []byte(s.maker)
	}
	if len(notes) > 0 {
		// Without it a refusal would reach the client, as it would without us.
		_ = s.relay.memory.Note(s.ctx, notes)
	}
}

// maxForeign bounds how many signatures are remembered, twice.
const maxForeign = 32 << 10

// foreign remembers which signatures of thinking which provider has refused. It
// forgets the oldest half once it is full.
type foreign struct {
	mu         sync.RWMutex
	young, old map[[16]byte]struct{}
}

func (f *foreign) empty() bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return len(f.young)+len(f.old) == 0
}

func (f *foreign) has(provider, signature string) bool {
	key := foreignKey(provider, signature)
	f.mu.RLock()
	defer f.mu.RUnlock()
	_, young := f.young[key]
	_, old := f.old[key]
	return young || old
}

func (f *foreign) add(provider, signature string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.young == nil {
		f.young = map[[16]byte]struct{}{}
	}
	if len(f.young) >= maxForeign {
		f.young, f.old = map[[16]byte]struct{}{}, f.young
	}
	f.young[foreignKey(provider, signature)] = struct{}{}
}

func foreignKey(provider, signature string) [16]byte {
	sum := sha256.Sum256([]byte(provider + "\x00" + signature))
	return [16]byte(sum[:16])
}
