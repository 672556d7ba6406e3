package relay

import (
	"bytes"
	"crypto/sha256"
	"sync"

	"warmpath/gateway/upstream"
	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
)

// A conversation may have been answered by several providers, and holds what only
// one of them can read. Each gets back what it has made itself.

// native is the client's request as its provider can read it: what another one has
// made, and the gateway has packed, is left out. It is the request itself where
// there is nothing of the kind, and in doubt.
func (x *exchange) native() ([]byte, *rewrite.Failure) {
	body, codec := x.asked, codecs[x.req.Dialect]
	if codec == nil || x.req.Operation != OpGenerate || !rewrite.HasEnvelopes(body) {
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

// disowns learns from a refusal of thinking that another provider has made: which
// one it is the provider does not say, so all that there is is left out from now
// on. It returns false if the refusal is none of that, or nothing can be left out.
func (x *exchange) disowns(resp *upstream.Response) bool {
	if resp.Status != 400 || x.disowning || x.translation != nil || x.speaks != rewrite.Messages || x.mode() == rewrite.ModeOff {
		return false
	}
	x.ahead = x.readAhead(resp)
	if !bytes.Contains(x.ahead, []byte(saysForeign)) || bytes.Contains(x.ahead, []byte(saysBound)) {
		return false
	}
	x.disowning = true
	for _, signature := range anthropic.Signatures(x.asked) {
		x.relay.foreign.add(x.target.Provider.Name, signature)
	}
	before := *x
	x.warmth, x.prompt, x.ahead = nil, nil, nil
	if x.aim() != nil || bytes.Equal(x.out.Body, before.out.Body) {
		ahead := before.ahead
		*x = before
		x.ahead = ahead
		return false
	}
	x.relay.metrics.Retreated("foreign_thinking")
	return true
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
