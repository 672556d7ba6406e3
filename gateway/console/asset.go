package console

import (
	"crypto/sha256"
	"encoding/base64"
	"mime"
	"path"

	"github.com/valyala/fasthttp"
)

// asset is an embedded file.
type asset struct {
	body []byte
	kind string
	// tag changes with the body, so that a browser that keeps the file asks whether it
	// is still the same, and a new version is seen at once.
	tag string
}

// files are those that pages load, by name.
var files = func() map[string]*asset {
	all := map[string]*asset{}
	entries, err := assets.ReadDir("assets")
	if err != nil {
		panic("BUG: nothing is embedded: " + err.Error())
	}
	for _, entry := range entries {
		name := entry.Name()
		kind := map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": mime.TypeByExtension(".svg")}[path.Ext(name)]
		if kind == "" {
			continue
		}
		body, err := assets.ReadFile("assets/" + name)
		if err != nil {
			panic("BUG: not embedded: " + name)
		}
		sum := sha256.Sum256(body)
		all[name] = &asset{body, kind, `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
	}
	return all
}()

// static serves an embedded file; false if there is none of this name.
func static(ctx *fasthttp.RequestCtx, name string) bool {
	file := files[name]
	if file == nil {
		return false
	}
	h := &ctx.Response.Header
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", file.tag)
	// An SVG is a document too, where somebody opens it.
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	if string(ctx.Request.Header.Peek("If-None-Match")) == file.tag {
		ctx.SetStatusCode(fasthttp.StatusNotModified)
		return true
	}
	ctx.SetContentType(file.kind)
	ctx.SetBody(file.body)
	return true
}
