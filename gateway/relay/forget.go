package relay

import (
	"bytes"

	"warmpath/gateway/upstream"
	"warmpath/rewrite"
)

// forgets leaves out the reasoning that Bedrock will not take back, because its
// client has edited what stood before it or has gone on from another's. A history
// that holds it would be refused for ever. It returns false if the refusal is none
// of that, or there is nothing to leave out.
func (x *exchange) forgets(resp *upstream.Response) bool {
	if x.stays() && x.translation.chain.calls > 0 {
		return false // the request that began the chain is not the one that was refused
	}
	if resp.Status != 400 || x.forgetting || x.translation == nil || x.speaks != rewrite.Converse || x.mode() != rewrite.ModeOn {
		return false
	}
	x.ahead = x.readAhead(resp)
	if !bytes.Contains(x.ahead, []byte(saysForeign)) {
		return false
	}
	before := *x
	x.forgetting, x.ahead = true, nil
	if x.aim() != nil || bytes.Equal(x.out.Body, before.out.Body) {
		*x = before
		x.forgetting = true
		return false
	}
	x.relay.metrics.Retreated("bound_thinking")
	return true
}
