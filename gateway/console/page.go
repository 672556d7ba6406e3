package console

import (
	"cmp"
	"embed"
	"fmt"
	"html"
	"mime"
	"path"
	"strings"
	"time"

	"github.com/valyala/fasthttp"
)

//go:embed assets
var assets embed.FS

// contentPolicy lets the page load its own style and icon and nothing else: no
// script runs, nothing is fetched from outside, no page may frame it.
const contentPolicy = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func (s *Server) page(ctx *fasthttp.RequestCtx) {
	n, err := numbersOf(s.config.Gatherer)
	if err != nil {
		text(ctx, fasthttp.StatusInternalServerError, "the metrics could not be gathered")
		return
	}
	ctx.Response.Header.Set("Content-Security-Policy", contentPolicy)
	ctx.Response.Header.Set("Referrer-Policy", "no-referrer")
	ctx.SetContentType("text/html; charset=utf-8")
	ctx.SetBodyString(render(n, s.config.Status(), s.config.Ready()))
}

// render fills the page. It puts text in place of the words in braces in
// page.html by itself, because the template packages would add 5 MB to the
// program.
func render(n *numbers, status Status, ready bool) string {
	state := `<p class="state bad">not ready</p>`
	if ready {
		state = `<p class="state good">ready</p>`
	}
	return strings.NewReplacer(
		"{state}", state,
		"{version}", html.EscapeString(status.Version),
		"{mode}", html.EscapeString(status.Mode),
		"{uptime}", time.Since(status.Started).Truncate(time.Second).String(),
		"{share}", percent(n.Cache.Read, n.Cache.total()),
		"{requests}", grouped(n.Requests),
		"{in_flight}", grouped(n.InFlight),
		"{streams}", grouped(n.StreamsOpen),
		"{input}", grouped(n.Input),
		"{cache_read}", grouped(n.Cache.Read),
		"{output}", grouped(n.Output),
		"{failed_share}", percent(n.Failed, n.Requests),
		"{failed}", grouped(n.Failed),
		"{overhead}", shortSeconds(n.Overhead),
		"{models}", modelRows(n.Models),
		"{reasons}", reasonRows(n.Reasons),
		"{misses}", missRows(n.Misses),
		"{saved}", grouped(n.Saved),
		"{cost}", dollars(n.Cost),
		"{saved_cost}", dollars(n.SavedCost),
		"{unpriced}", grouped(n.Unpriced),
		"{hosted}", hostedRows(n.Hosted),
		"{providers}", html.EscapeString(cmp.Or(strings.Join(status.Providers, ", "), "none configured")),
	).Replace(asset("page.html"))
}

func modelRows(models []modelNumbers) string {
	if len(models) == 0 {
		return `<tr><td colspan="12" class="empty">No reply yet. Send a request to the gateway and its numbers appear here.</td></tr>` + "\n"
	}
	var b strings.Builder
	for _, m := range models {
		fmt.Fprintf(&b, `<tr><td>%s</td><th scope="row">%s</th><td class="wide">%s</td><td>%s</td>`,
			html.EscapeString(m.Provider), html.EscapeString(m.Model), bar(m.Cache), percent(m.Cache.Read, m.Cache.total()))
		for _, outcome := range []string{"hit", "partial", "miss", "cold", "unreported"} {
			cell(&b, grouped(m.Outcomes[outcome]))
		}
		cell(&b, grouped(m.Input))
		cell(&b, grouped(m.Output))
		cell(&b, costOf(&m))
		b.WriteString("</tr>\n")
	}
	return b.String()
}

// costOf is what a model has cost, as far as its prices are known.
func costOf(m *modelNumbers) string {
	switch {
	case m.Unpriced == 0:
		return dollars(m.Cost)
	case m.Cost == 0:
		return "<small>no price</small>"
	}
	return "≥ " + dollars(m.Cost)
}

func hostedRows(tools []hostedCount) string {
	if len(tools) == 0 {
		return `<tr><td colspan="5" class="empty">None were run.</td></tr>` + "\n"
	}
	var b strings.Builder
	for _, tool := range tools {
		fmt.Fprintf(&b, `<tr><th scope="row">%s</th>`, html.EscapeString(tool.Name))
		for _, state := range []string{"started", "completed", "failed", "abandoned"} {
			cell(&b, grouped(tool.States[state]))
		}
		b.WriteString("</tr>\n")
	}
	return b.String()
}

func reasonRows(reasons []reasonCount) string {
	if len(reasons) == 0 {
		return `<tr><td colspan="2" class="empty">None did.</td></tr>` + "\n"
	}
	var b strings.Builder
	for _, r := range reasons {
		fmt.Fprintf(&b, `<tr><th scope="row">%s</th>`, html.EscapeString(r.Reason))
		cell(&b, grouped(r.Count))
		b.WriteString("</tr>\n")
	}
	return b.String()
}

func missRows(misses []missCount) string {
	if len(misses) == 0 {
		return `<tr><td colspan="4" class="empty">None did.</td></tr>` + "\n"
	}
	var b strings.Builder
	for _, m := range misses {
		fmt.Fprintf(&b, `<tr><th scope="row">%s</th><td>%s</td>`, html.EscapeString(m.Reason), html.EscapeString(m.By))
		cell(&b, grouped(m.Count))
		cell(&b, grouped(m.Tokens))
		b.WriteString("</tr>\n")
	}
	return b.String()
}

func cell(b *strings.Builder, number string) {
	b.WriteString("<td>")
	b.WriteString(number)
	b.WriteString("</td>")
}

// bar draws what the cache did with a model's input, in thousandths of the
// width. Widths are attributes, as the content policy allows no inline style.
func bar(c cacheTokens) string {
	total := c.total()
	if total == 0 {
		return "<small>not reported</small>"
	}
	var b strings.Builder
	b.WriteString(`<svg viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label="input by cache use">`)
	done := int64(0)
	for _, part := range []struct {
		class  string
		tokens int64
	}{{"read", c.Read}, {"write", c.Write}, {"fresh", c.Fresh}} {
		from := done * 1000 / total
		done += part.tokens
		fmt.Fprintf(&b, `<rect class="%s" x="%d" width="%d" height="10"/>`, part.class, from, done*1000/total-from)
	}
	b.WriteString("</svg>")
	return b.String()
}

// static serves an embedded file by name.
func static(ctx *fasthttp.RequestCtx, name string) {
	ctx.SetContentType(mime.TypeByExtension(path.Ext(name)))
	ctx.Response.Header.Set("Cache-Control", "max-age=3600")
	ctx.SetBodyString(asset(name))
}

func asset(name string) string {
	body, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic("BUG: not embedded: " + name)
	}
	return string(body)
}
