package relay

import (
	"net/url"
	"strings"

	"warmpath/gateway/catalog"
	"warmpath/gateway/upstream"
	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/completions"
	"warmpath/rewrite/converse"
	"warmpath/rewrite/gemini"
	"warmpath/rewrite/responses"
)

// codec is how a dialect is turned into the form that all share, and back: the
// first half for clients that speak it, the second for providers.
type codec struct {
	decodeRequest func(body []byte, provider string) (*rewrite.Conversation, error)
	// member is what a request calls a setting of the hub.
	member      func(c *rewrite.Conversation, setting string) string
	encoder     func(o replyOptions) streamEncoder
	encodeReply func(dst []byte, r *rewrite.Reply, o replyOptions) []byte
	// appendFault writes an error of another dialect's provider.
	appendFault func(dst []byte, status int, f *rewrite.Fault) []byte
	// mark begins the names of replies that have none from their provider.
	mark string

	encodeRequest func(c *rewrite.Conversation, p *catalog.Provider, losses *rewrite.Losses) ([]byte, error)
	decoder       func(provider string) streamDecoder
	decodeReply   func(body []byte, provider string, yield func(*rewrite.Event)) error
	// path is where a conversation is sent, beneath the provider's address.
	path func(c *rewrite.Conversation) string
	// fields go with every request.
	fields []upstream.Field
	// toolName is what a tool is called there; nil where it keeps its name.
	toolName func(namespace, name string) string
}

// streamDecoder reads the stream of one reply.
type streamDecoder interface {
	Event(name, data []byte, yield func(*rewrite.Event))
	Close(yield func(*rewrite.Event))
}

// streamEncoder writes the stream of one reply.
type streamEncoder interface {
	Append(dst []byte, e *rewrite.Event) []byte
}

// replyOptions are what a reply is written with: see the dialects' EncoderOptions.
type replyOptions struct {
	provider, model, id string
	request             *rewrite.Conversation
	// keep says that the reply is kept, under its id.
	events, keep bool
	// told is what was done to keep the prefix warm.
	told   []rewrite.Member
	losses *rewrite.Losses
	// report is what the tap reads of the provider's reply to its call.
	report *rewrite.Report
	call   int
}

var codecs = map[rewrite.Dialect]*codec{
	rewrite.Messages: {
		anthropic.DecodeRequest, anthropic.MemberOf,
		func(o replyOptions) streamEncoder { return anthropic.NewEncoder(o.anthropic()) },
		func(dst []byte, r *rewrite.Reply, o replyOptions) []byte {
			return anthropic.EncodeReply(dst, r, o.anthropic())
		},
		anthropic.AppendFault, "msg_",
		func(c *rewrite.Conversation, p *catalog.Provider, losses *rewrite.Losses) ([]byte, error) {
			able := p.Abilities(c.Model)
			switch {
			case c.Dialect == rewrite.Messages:
			case able.Reference:
				c.AnchorTools(losses)
			default:
				c.SettleTools()
			}
			if c.Dialect != rewrite.Messages && !able.Text {
				c.TellInstructions(losses)
			}
			return anthropic.EncodeRequest(c, p.Name, losses)
		},
		func(p string) streamDecoder { return anthropic.NewDecoder(p) }, anthropic.DecodeReply,
		func(*rewrite.Conversation) string { return "/v1/messages" },
		[]upstream.Field{{Name: []byte("anthropic-version"), Value: []byte("2023-06-01")}}, nil,
	},
	rewrite.Completions: {
		completions.DecodeRequest, completions.MemberOf,
		func(o replyOptions) streamEncoder { return completions.NewEncoder(o.completions()) },
		func(dst []byte, r *rewrite.Reply, o replyOptions) []byte {
			return completions.EncodeReply(dst, r, o.completions())
		},
		completions.AppendFault, "chatcmpl-",
		func(c *rewrite.Conversation, p *catalog.Provider, losses *rewrite.Losses) ([]byte, error) {
			return p.Habits.EncodeRequest(c, p.Name, losses)
		},
		func(p string) streamDecoder { return completions.NewDecoder(p) }, completions.DecodeReply,
		func(*rewrite.Conversation) string { return "/v1/chat/completions" }, nil, nil,
	},
	rewrite.Responses: {
		responses.DecodeRequest, responses.MemberOf,
		func(o replyOptions) streamEncoder { return responses.NewEncoder(o.responses()) },
		func(dst []byte, r *rewrite.Reply, o replyOptions) []byte {
			return responses.EncodeReply(dst, r, o.responses())
		},
		responses.AppendFault, "resp_",
		func(c *rewrite.Conversation, p *catalog.Provider, losses *rewrite.Losses) ([]byte, error) {
			return responses.EncodeRequest(c, p.Name, losses)
		},
		func(p string) streamDecoder { return responses.NewDecoder(p) }, responses.DecodeReply,
		func(*rewrite.Conversation) string { return "/v1/responses" }, nil, nil,
	},
	rewrite.Gemini: {
		gemini.DecodeRequest, gemini.MemberOf,
		func(o replyOptions) streamEncoder { return gemini.NewEncoder(o.gemini()) },
		func(dst []byte, r *rewrite.Reply, o replyOptions) []byte {
			return gemini.EncodeReply(dst, r, o.gemini())
		},
		gemini.AppendFault, "",
		func(c *rewrite.Conversation, p *catalog.Provider, losses *rewrite.Losses) ([]byte, error) {
			c.SettleTools()
			return gemini.EncodeRequest(c, p.Name, losses)
		},
		func(p string) streamDecoder { return gemini.NewDecoder(p) }, gemini.DecodeReply,
		func(c *rewrite.Conversation) string {
			path := "/v1beta/models/" + url.PathEscape(c.Model)
			if c.Stream {
				return path + ":streamGenerateContent?alt=sse"
			}
			return path + ":generateContent"
		}, nil, nil,
	},
	rewrite.Converse: {
		encodeRequest: func(c *rewrite.Conversation, p *catalog.Provider, losses *rewrite.Losses) ([]byte, error) {
			able := p.Abilities(c.Model)
			if able.Reference {
				c.AnchorTools(losses)
			} else {
				c.SettleTools()
			}
			if !able.Text {
				c.TellInstructions(losses)
			}
			return converse.EncodeRequest(c, p.Name, losses)
		},
		decoder: func(p string) streamDecoder { return converse.NewDecoder(p) }, decodeReply: converse.DecodeReply,
		toolName: converse.ToolName,
		path: func(c *rewrite.Conversation) string {
			if c.Stream {
				return modelPath(c.Model) + "/converse-stream"
			}
			return modelPath(c.Model) + "/converse"
		},
	},
}

// modelPath is where Bedrock serves a model. Colons and slashes of its name are
// escaped too.
func modelPath(model string) string {
	return "/model/" + strings.ReplaceAll(url.QueryEscape(model), "+", "%20")
}

func (o *replyOptions) anthropic() anthropic.EncoderOptions {
	return anthropic.EncoderOptions{Provider: o.provider, Model: o.model, ID: o.id, Losses: o.losses}
}

func (o *replyOptions) completions() completions.EncoderOptions {
	return completions.EncoderOptions{Provider: o.provider, Request: o.request, Model: o.model, ID: o.id, Losses: o.losses}
}

func (o *replyOptions) responses() responses.EncoderOptions {
	return responses.EncoderOptions{Provider: o.provider, Request: o.request, Model: o.model, ID: o.id, Keep: o.keep, Events: o.events, Continuity: o.told, Losses: o.losses, Report: o.report, Call: o.call}
}

func (o *replyOptions) gemini() gemini.EncoderOptions {
	return gemini.EncoderOptions{Provider: o.provider, Model: o.model, ID: o.id, Losses: o.losses}
}
