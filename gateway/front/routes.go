package front

import (
	"bytes"
	"slices"
	"strings"

	"warmpath/gateway/relay"
	"warmpath/rewrite"
)

// route is what a path asks for.
type route struct {
	dialect   rewrite.Dialect
	operation relay.Operation
	provider  string // named by the path, else empty
	path      []byte // raw, beneath the provider's address
	read      []byte // the same as servers read it
	model     string // where the path holds it
	modelSpan rewrite.Span
	holds     bool // results of tools, although it is forwarded unread
	found     bool
	failure   *rewrite.Failure
}

// fixed are the paths that are recognized as they stand, beneath a provider's
// prefix too. Whatever begins with a dialect's collection but is not listed
// belongs to the dialect and is forwarded unread.
var fixed = map[string]route{
	"/v1/messages":               {dialect: rewrite.Messages, operation: relay.OpGenerate},
	"/v1/messages/count_tokens":  {dialect: rewrite.Messages, operation: relay.OpCountTokens},
	"/v1/chat/completions":       {dialect: rewrite.Completions, operation: relay.OpGenerate},
	"/v1/responses":              {dialect: rewrite.Responses, operation: relay.OpGenerate},
	"/v1/responses/input_tokens": {dialect: rewrite.Responses, operation: relay.OpCountTokens},
	"/v1/responses/compact":      {dialect: rewrite.Responses, operation: relay.OpCompact},
	"/v1/embeddings":             {dialect: rewrite.Completions, operation: relay.OpEmbed},
}

// collections are the paths whose members are forwarded unread.
var collections = []struct {
	prefix  string
	dialect rewrite.Dialect
}{
	{"/v1/messages/", rewrite.Messages},
	{"/v1/chat/completions/", rewrite.Completions},
	{"/v1/responses/", rewrite.Responses},
	{"/v1/conversations/", rewrite.Responses},
}

// isConversation reports a path of a conversation that the provider keeps, which its
// first items and further ones are sent to.
func isConversation(path []byte) bool {
	rest, ok := bytes.CutPrefix(path, []byte("/v1/conversations"))
	return ok && (len(rest) == 0 || bytes.HasSuffix(rest, []byte("/items")) && bytes.Count(rest, []byte("/")) == 2)
}

// prefixes name a provider in front of a path that it gets unchanged.
var prefixes = []string{"anthropic", "openai", "gemini"}

// caller is the dialect of a client, told by its headers, for the paths that
// several dialects share.
type caller struct{ anthropic, gemini bool }

// find reads a raw path. Only POST reaches the operations; other methods on
// their paths are forwarded unread. A path of another spelling is read as providers
// read it, and forwarded as it came.
func find(raw []byte, post bool, who caller) route {
	spelled, ok := spell(raw)
	if !ok {
		return route{failure: refused("The path holds a % that begins no escape. Write %25 for a percent sign.")}
	}
	rest, from := spelled.read, 0
	provider, beneath, named := explicit(rest)
	if named {
		from, rest = len(rest)-len(beneath), orRoot(beneath)
	}
	r := look(rest, post, who)
	if r.provider, r.found = provider, r.found || named; same(r.read, rest) {
		r.path, r.modelSpan = orRoot(spelled.raw(raw, from)), spelled.span(r.modelSpan, from)
	} else {
		r.path = r.read // a model that stood outside of its collection
	}
	if post && !r.looked() && r.found {
		if loose := loosely(rest); !bytes.Equal(loose, rest) && look(loose, post, who).looked() {
			r.failure = refused("The path is spelled so that a provider may read it as " + string(loose) + ". Write it like that.")
		}
	}
	return r
}

// looked reports that the body is looked through for results of tools.
func (r route) looked() bool { return r.operation != relay.OpOther || r.holds }

func same(a, b []byte) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// look reads a path beneath a provider's address.
func look(path []byte, post bool, who caller) route {
	path = collected(path, post)
	r := beneath(path, post, who)
	r.read = path
	return r
}

// collected puts a model of Gemini's dialect into the collection of models. The AI
// SDK does so itself only for names without a slash, such as one that leads with a
// provider's name.
func collected(path []byte, post bool) []byte {
	const beta = "/v1beta/"
	named, ok := bytes.CutPrefix(path, []byte(beta))
	if !ok || !post {
		return path
	}
	first, _, slash := bytes.Cut(named, []byte("/"))
	switch string(first) {
	case "models", "tunedModels", "publishers", "projects", "dynamic":
		return path
	}
	switch colon := bytes.LastIndexByte(named, ':'); {
	case !slash || colon < 0:
		return path
	case string(named[colon:]) == ":generateContent", string(named[colon:]) == ":streamGenerateContent", string(named[colon:]) == ":countTokens":
		return slices.Concat([]byte(beta+"models/"), named)
	}
	return path
}

// explicit splits /anthropic/… and /p/NAME/… into provider and rest.
func explicit(path []byte) (provider string, rest []byte, ok bool) {
	first, rest := segment(path)
	if string(first) == "p" {
		name, rest := segment(rest)
		return string(name), rest, len(name) > 0
	}
	for _, prefix := range prefixes {
		if string(first) == prefix {
			return prefix, rest, true
		}
	}
	return "", nil, false
}

func orRoot(rest []byte) []byte {
	if len(rest) == 0 {
		return []byte("/")
	}
	return rest
}

// segment splits the first path segment from the rest, which keeps its slash.
func segment(path []byte) (first, rest []byte) {
	if len(path) == 0 || path[0] != '/' {
		return nil, path
	}
	path = path[1:]
	if cut := bytes.IndexByte(path, '/'); cut >= 0 {
		return path[:cut], path[cut:]
	}
	return path, nil
}

// beneath recognizes a vendor's own path. Clients put their base URL with or
// without the version, so a missing /v1 is no difference here.
func beneath(path []byte, post bool, who caller) route {
	if r, ok := fixed[string(path)]; ok {
		return r.by(post)
	}
	if r := gemini(path, post); r.found {
		return r
	}
	if !bytes.HasPrefix(path, []byte("/v1/")) {
		path = append([]byte("/v1"), path...)
		if r, ok := fixed[string(path)]; ok {
			return r.by(post)
		}
	}
	if isConversation(path) {
		return route{dialect: rewrite.Responses, holds: post, found: true}
	}
	for _, collection := range collections {
		if bytes.HasPrefix(path, []byte(collection.prefix)) {
			return route{dialect: collection.dialect, holds: post && string(path) == "/v1/messages/batches", found: true}
		}
	}
	if string(path) == "/v1/models" || bytes.HasPrefix(path, []byte("/v1/models/")) {
		return route{dialect: who.dialect(), found: true}
	}
	return route{}
}

func (r route) by(post bool) route {
	if !post {
		r.operation = relay.OpOther
	}
	r.found = true
	return r
}

func (c caller) dialect() rewrite.Dialect {
	switch {
	case c.anthropic:
		return rewrite.Messages
	case c.gemini:
		return rewrite.Gemini
	}
	return rewrite.Completions
}

// holding reports a path of Gemini's whose body holds a conversation, whatever the
// model is a member of.
func holding(rest []byte) bool {
	switch colon := bytes.LastIndexByte(rest, ':'); strings.ToLower(string(rest[colon+1:])) {
	case "/cachedcontents":
		return colon < 0
	case "generatecontent", "streamgeneratecontent", "counttokens", "batchgeneratecontent":
		return colon > 0
	}
	return false
}

// gemini recognizes /v1beta/… and the model methods under /v1.
func gemini(path []byte, post bool) route {
	version, rest := segment(path)
	beta := string(version) == "v1beta" || string(version) == "v1alpha"
	if !beta && string(version) != "v1" {
		return route{}
	}
	const models = "/models/"
	colon := bytes.LastIndexByte(rest, ':')
	r := route{dialect: rewrite.Gemini, holds: post && holding(rest)}
	r.found = beta || r.holds
	if !bytes.HasPrefix(rest, []byte(models)) || colon < len(models) {
		return r
	}
	start := len(path) - len(rest) + len(models)
	r.modelSpan = rewrite.Span{Start: start, End: len(path) - len(rest) + colon}
	r.model = string(path[r.modelSpan.Start:r.modelSpan.End])
	r.found = true
	if !post {
		return r
	}
	switch string(rest[colon+1:]) {
	case "generateContent", "streamGenerateContent":
		r.operation, r.holds = relay.OpGenerate, false
	case "countTokens":
		r.operation, r.holds = relay.OpCountTokens, false
	}
	return r
}
