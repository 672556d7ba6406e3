package relay

import (
	"bytes"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"warmpath/cache/lineage"
	"warmpath/gateway/tools"
	"warmpath/gateway/upstream"
	"warmpath/rewrite"
)

// A provider may refuse a request only because of tools that the gateway has put into
// it: a model takes none, or dislikes a schema, or has its bound on their number. The
// client has asked for none of them, so its request goes out once more without.

// aside says that the tools of the route were set aside for a request, and what for.
type aside struct {
	place toolsPlace
	// own is how many tools the client has, and teaches that other requests would be
	// refused in the same way.
	own     int
	teaches bool
	// restored says that there were calls in its history that the client does not know
	// of. Without them it is like one whose ledger was lost.
	restored bool
}

// setsAside asks the target once more, without tools of the gateway's and without what
// the client was not told of its history, if it may have refused the request for them.
// The answer is closed then.
func (x *exchange) setsAside(resp *upstream.Response, failure *rewrite.Failure) bool {
	if failure != nil || x.set == nil || x.aside != nil || x.ctx.Err() != nil {
		return false
	}
	blames := blamed(resp.Status)
	if blames == blamesNothing {
		return false
	}
	x.ahead = x.readAhead(resp)
	about := saysTools(x.ahead) || x.translation.chain.hiddenOf().named(x.ahead)
	if blames == blamesPerhaps && !about {
		return false
	}
	before := *x
	x.afresh()
	x.aside = &aside{
		place:    x.toolsPlace(before.set),
		own:      ownTools(x.req.Dialect, x.asked),
		restored: before.restored,
		teaches:  before.offered && !before.restored && (about || resp.Status != 413 && !saysLong(x.ahead)),
	}
	if x.aim() != nil || bytes.Equal(x.out.Body, before.out.Body) {
		*x = before
		return false
	}
	resp.Close()
	return true
}

// wentWithout notes that a request was answered once the tools were set aside: only then
// were they at fault.
func (x *exchange) wentWithout(resp *upstream.Response, failure *rewrite.Failure) {
	if x.aside == nil || failure != nil || resp.Status >= 300 {
		return
	}
	x.relay.metrics.Retreated("tools")
	if x.aside.teaches {
		x.relay.disliked.add(x.aside.place, x.aside.own, x.record.Arrived)
	}
}

// saysTools reports a refusal that is about tools, in whatever words.
func saysTools(refusal []byte) bool {
	words := bytes.ToLower(refusal)
	return bytes.Contains(words, []byte("tool")) || bytes.Contains(words, []byte("function"))
}

// saysLong reports a refusal that is about the length of a prompt.
func saysLong(refusal []byte) bool {
	words := bytes.ToLower(refusal)
	for _, word := range []string{"token", "context", "too long", "too large", "length"} {
		if bytes.Contains(words, []byte(word)) {
			return true
		}
	}
	return false
}

// ownTools is how many tools a client offers.
func ownTools(d rewrite.Dialect, asked []byte) (n int) {
	all := gjson.GetBytes(asked, "tools")
	if !all.IsArray() {
		return 0
	}
	if d != rewrite.Gemini {
		return len(all.Array())
	}
	all.ForEach(func(_, tool gjson.Result) bool {
		n += max(1, len(either(tool, "functionDeclarations", "function_declarations").Array()))
		return true
	})
	return n
}

// toolsPlace is a list of tools at a model.
type toolsPlace struct {
	provider, model string
	list            lineage.Head
}

// toolsPlace is where it is remembered whether the target takes a set.
func (x *exchange) toolsPlace(set *tools.Set) toolsPlace {
	return toolsPlace{x.target.Provider.Name, x.target.Model, listHead(encodeList(set.Definitions()))}
}

// dislikes reports a set that the target has refused, beside no more tools of a client's
// than there are now.
func (x *exchange) dislikes(set *tools.Set) bool {
	return !x.relay.disliked.empty() &&
		x.relay.disliked.has(x.toolsPlace(set), ownTools(x.req.Dialect, x.asked), x.record.Arrived)
}

// disliked remembers which lists of tools were refused at which models, as long as other
// refusals.
type disliked struct {
	mu    sync.RWMutex
	found map[toolsPlace]dislike
}

// dislike is the least number of tools of a client's beside which a list was refused, and
// when last.
type dislike struct {
	own int
	at  time.Time
}

func (d *disliked) empty() bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return len(d.found) == 0
}

func (d *disliked) add(place toolsPlace, own int, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.found == nil {
		d.found = map[toolsPlace]dislike{}
	}
	for known, f := range d.found {
		if now.Sub(f.at) >= believed {
			delete(d.found, known)
		}
	}
	if f, ok := d.found[place]; ok {
		own = min(own, f.own)
	}
	d.found[place] = dislike{own, now}
}

func (d *disliked) has(place toolsPlace, own int, now time.Time) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	f, ok := d.found[place]
	return ok && own >= f.own && now.Sub(f.at) < believed
}
