package relay

import (
	"slices"

	"github.com/tidwall/gjson"

	"warmpath/rewrite"
)

// unthreaded takes the message thread out of a request that is translated: other
// dialects keep none. A request that goes on with one does not have its history,
// and is answered as by a provider that has lost it, upon which libraries send the
// whole again.
func (x *exchange) unthreaded(c *rewrite.Conversation) *rewrite.Failure {
	if x.req.Dialect != rewrite.Messages || !x.translates() {
		return nil
	}
	at := slices.IndexFunc(c.Extra, func(m rewrite.Member) bool { return m.Name == "thread" })
	if at < 0 {
		return nil
	}
	thread := gjson.ParseBytes(c.Extra[at].Value)
	c.Extra = slices.Delete(c.Extra, at, at+1)
	if thread.Get("type").Str != "continue" {
		return nil
	}
	return &rewrite.Failure{Reason: rewrite.ReasonNotFound, Param: "thread", Code: "thread_not_found",
		Message: "thread: the provider " + x.record.Provider + " keeps no threads. Send the whole conversation."}
}
