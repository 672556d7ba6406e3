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
	model     string // where the path holds it
	modelSpan rewrite.Span
	found     bool
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
}

// prefixes name a provider in front of a path that it gets unchanged.
var prefixes = []string{"anthropic", "openai", "gemini"}

// caller is the dialect of a client, told by its headers, for the paths that
// several dialects share.
type caller struct{ anthropic, gemini bool }

// find reads a raw path. Only POST reaches the operations; other methods on
// their paths are forwarded unread.
func find(path []byte, post bool, who caller) route {
	if provider, rest, ok := explicit(path); ok {
		rest = collected(rest, post)
		r := beneath(rest, post, who)
		r.provider, r.path, r.found = provider, rest, true
		return r
	}
	path = collected(path, post)
	r := beneath(path, post, who)
	r.path = path
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
	case "models", "tunedModels", "publishers", "projects":
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
		return string(name), orRoot(rest), len(name) > 0
	}
	for _, prefix := range prefixes {
		if string(first) == prefix {
			return prefix, orRoot(rest), true
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
	for _, collection := range collections {
		if bytes.HasPrefix(path, []byte(collection.prefix)) {
			return route{dialect: collection.dialect, found: true}
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

// gemini recognizes /v1beta/… and the model methods under /v1.
func gemini(path []byte, post bool) route {
	version, rest := segment(path)
	beta := string(version) == "v1beta" || string(version) == "v1alpha"
	if !beta && string(version) != "v1" {
		return route{}
	}
	r := route{dialect: rewrite.Gemini, found: beta}
	const models = "/models/"
	colon := bytes.LastIndexByte(rest, ':')
	if !bytes.HasPrefix(rest, []byte(models)) || colon < len(models) {
		return r
	}
	start := len(path) - len(rest) + len(models)
	r.modelSpan = rewrite.Span{Start: start, End: len(path) - len(rest) + colon}
	r.model = strings.ReplaceAll(string(path[r.modelSpan.Start:r.modelSpan.End]), "%2F", "/")
	r.found = true
	if !post {
		return r
	}
	switch string(rest[colon+1:]) {
	case "generateContent", "streamGenerateContent":
		r.operation = relay.OpGenerate
	case "countTokens":
		r.operation = relay.OpCountTokens
	}
	return r
}
