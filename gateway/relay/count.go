package relay

import (
	"net/url"

	"warmpath/gateway/upstream"
	"warmpath/metrics"
	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/converse"
	"warmpath/rewrite/gemini"
	"warmpath/rewrite/responses"
)

// counter is how a dialect has the tokens of a prompt counted.
type counter struct {
	path   func(model string) string
	ask    func(body []byte, model string) []byte
	read   func(reply []byte) (n int64, ok bool)
	answer func(dst []byte, n int64) []byte
	// asked is what a client's body asks about, nil for the body itself.
	asked func(body []byte) []byte
}

// counters are those of the dialects that count at all.
var counters = map[rewrite.Dialect]*counter{
	rewrite.Messages: {
		func(string) string { return "/v1/messages/count_tokens" },
		func(body []byte, _ string) []byte { return anthropic.CountRequest(body) },
		anthropic.ReadCount, anthropic.AppendCount, nil,
	},
	rewrite.Responses: {
		func(string) string { return "/v1/responses/input_tokens" },
		func(body []byte, _ string) []byte { return responses.CountRequest(body) },
		responses.ReadCount, responses.AppendCount, nil,
	},
	rewrite.Gemini: {
		func(model string) string { return "/v1beta/models/" + url.PathEscape(model) + ":countTokens" },
		gemini.CountRequest, gemini.ReadCount, gemini.AppendCount, gemini.CountedRequest,
	},
	rewrite.Converse: {
		path: func(model string) string { return modelPath(converse.CountModel(model)) + "/count-tokens" },
		ask:  func(body []byte, _ string) []byte { return converse.CountRequest(body) },
		read: converse.ReadCount,
	},
}

// counting is a request for the number of tokens in a prompt that is in another
// dialect than the provider's.
type counting struct {
	client, vendor *counter
	// estimate is given where the provider counts nothing.
	estimate int64
}

// perToken is how many bytes of a request are about one token: the usual rule for
// English text and code.
const perToken = 4

// countTokens makes the request by which the provider counts the tokens of the client's
// prompt.
func (x *exchange) countTokens() *rewrite.Failure {
	codec, body := codecs[x.req.Dialect], x.asked
	if asked := counters[x.req.Dialect].asked; asked != nil {
		body = asked(body)
	}
	c, err := codec.decodeRequest(body, "")
	if err != nil {
		return badJSON(err)
	}
	if failure := overfull(c); failure != nil {
		return failure
	}
	c.Model, c.Stream = x.target.Model, false
	x.offer(c)
	var losses rewrite.Losses
	body, err = x.encode(c, &losses)
	if err != nil {
		return badJSON(err)
	}
	n := &counting{client: counters[x.req.Dialect], vendor: counters[x.target.Dialect]}
	x.counting, x.record.Spoken = n, x.target.Dialect
	if n.vendor == nil {
		n.estimate = int64(len(body)+perToken-1) / perToken
		return nil
	}
	x.vendor, x.speaks, x.path = &dialects[x.target.Dialect], x.target.Dialect, metrics.PathTranslate
	x.point(n.vendor.path(c.Model), false)
	x.out.Body = n.vendor.ask(body, c.Model)
	x.translation = &translation{client: codec, vendor: codecs[x.target.Dialect]}
	if x.translates() {
		x.translatedFields()
	} else {
		x.fields(true)
	}
	return nil
}

// estimates reports a request that its provider cannot answer.
func (x *exchange) estimates() bool { return x.counting != nil && x.counting.vendor == nil }

// answerEstimate answers for a provider that counts nothing; nil where it does.
func (x *exchange) answerEstimate() *Reply {
	if !x.estimates() {
		return nil
	}
	x.record.Status = 200
	whole := x.counting.client.answer(nil, x.counting.estimate)
	x.finish()
	defer x.recycle()
	return &Reply{Status: 200, Whole: whole, Length: int64(len(whole)), Fields: []upstream.Field{
		{Name: []byte("Content-Type"), Value: []byte("application/json")},
		{Name: []byte(lossesField), Value: []byte("input_tokens (an estimate: the provider counts none)")},
	}}
}
