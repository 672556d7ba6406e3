package console

import (
	"bytes"
	"embed"
	"html/template"
	"time"

	"github.com/valyala/fasthttp"

	"warmpath/gateway/prompt"
)

//go:embed assets
var assets embed.FS

// contentPolicy lets a page load what is embedded here, and talk to where it came
// from. No script but those files runs, nothing is fetched from elsewhere, no page may
// frame it.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// pages are the templates. They escape by where a value stands; the one thing that is
// HTML already comes from package markup.
var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"percent": percent, "grouped": grouped, "compact": compact, "dollars": dollars, "seconds": shortSeconds, "counted": counted,
	"stamp": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"clock": func(t time.Time) string { return t.UTC().Format(time.TimeOnly) + " UTC" },
	"hm":    func(t time.Time) string { return t.UTC().Format("15:04") },
	"day":   func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") + " UTC" },
	"int64": func(n int) int64 { return int64(n) },
}).ParseFS(assets, "assets/*.html"))

// page is a whole page: a frame around parts that are renewed by themselves.
type page struct {
	Title string
	// Kind is overview or conversation, and Query what the live stream is asked for.
	Kind, Query string
	*snapshot
	// Cards are the prompts that are open.
	Cards []*card
	// Content is what the parts are made of.
	Content any
	// Login says that there is a session to end.
	Login bool
	Parts []string
}

// The parts of the pages, in their order.
var (
	overviewParts     = []string{"now", "numbers", "misses", "money", "conversations", "models", "rest"}
	conversationParts = []string{"summary", "turns", "talk"}
)

// Part renders one of the parts.
func (p *page) Part(name string) (template.HTML, error) {
	text, err := draw(name, p)
	return template.HTML(text), err //nolint:gosec // a template has made it
}

// draw executes a template.
func draw(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	err := pages.ExecuteTemplate(&b, name, data)
	return b.Bytes(), err
}

// protect sets the headers that keep a page to itself.
func protect(h *fasthttp.ResponseHeader) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
}

// show answers with a page.
func (s *Server) show(ctx *fasthttp.RequestCtx, name string, data any) {
	body, err := draw(name, data)
	if err != nil {
		text(ctx, fasthttp.StatusInternalServerError, "the page could not be made")
		return
	}
	protect(&ctx.Response.Header)
	ctx.SetContentType("text/html; charset=utf-8")
	ctx.SetBody(body)
}

// front answers with the overview.
func (s *Server) front(ctx *fasthttp.RequestCtx, cards []*card) {
	snap, err := s.look()
	if err != nil {
		text(ctx, fasthttp.StatusInternalServerError, "the metrics could not be gathered")
		return
	}
	p := s.overviewPage(snap)
	p.Cards, p.Login = cards, s.loggedIn(ctx)
	s.show(ctx, "page", p)
}

func (s *Server) overviewPage(snap *snapshot) *page {
	return &page{
		Title: "warmpath", Kind: "overview", snapshot: snap, Parts: overviewParts,
		Content: &overview{snap, threadsOf(s.config.Requests(), maxThreads, maxColumns)},
	}
}

// cards are the prompts that are open.
func cards(views []prompt.View) (list []*card) {
	for i := range views {
		list = append(list, newCard(&views[i]))
	}
	return list
}
