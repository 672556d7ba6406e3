package relay

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"warmpath/rewrite"
)

// asAsked names losses by the request that the client has sent, where turns were
// recalled into it: what stands in those is of the reply that it goes on from.
func asAsked(losses []rewrite.Loss, asked, whole []byte) {
	if len(losses) == 0 {
		return
	}
	input := gjson.GetBytes(asked, "input")
	own := 1 // a text is one item
	if input.IsArray() {
		own = len(input.Array())
	}
	recalled := len(gjson.GetBytes(whole, "input").Array()) - own
	if recalled <= 0 {
		return
	}
	for i := range losses {
		rest, ok := strings.CutPrefix(losses[i].Path, "input.")
		if !ok {
			continue
		}
		number, rest, _ := strings.Cut(rest, ".")
		n, err := strconv.Atoi(number)
		switch {
		case err != nil:
		case n < recalled:
			losses[i].Path = "previous_response_id"
		case !input.IsArray():
			losses[i].Path = "input"
		default:
			losses[i].Path = strings.TrimSuffix("input."+strconv.Itoa(n-recalled)+"."+rest, ".")
		}
	}
}
