package console

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"mime"
	"path"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"
)

//go:embed assets
var assets embed.FS

// contentPolicy lets the page load its own style and icon and nothing else: no
// script runs, nothing is fetched from outside, no page may frame it.
const contentPolicy = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

var page = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"count":   grouped,
	"share":   func(c cacheTokens) string { return percent(c.Read, c.total()) },
	"bar":     barOf,
	"percent": percent,
	"seconds": shortSeconds,
}).ParseFS(assets, "assets/page.html"))

func (s *Server) page(ctx *fasthttp.RequestCtx) {
	n, err := numbersOf(s.config.Gatherer)
	if err != nil {
		text(ctx, fasthttp.StatusInternalServerError, "the metrics could not be gathered")
		return
	}
	status := s.config.Status()
	var out bytes.Buffer
	err = page.Execute(&out, struct {
		*numbers
		Status Status
		Ready  bool
		Uptime string
	}{n, status, s.config.Ready(), time.Since(status.Started).Truncate(time.Second).String()})
	if err != nil {
		panic("BUG: the page does not fit its numbers: " + err.Error())
	}
	ctx.Response.Header.Set("Content-Security-Policy", contentPolicy)
	ctx.Response.Header.Set("Referrer-Policy", "no-referrer")
	ctx.SetContentType("text/html; charset=utf-8")
	ctx.SetBody(out.Bytes())
}

// static serves an embedded file by name.
func static(ctx *fasthttp.RequestCtx, name string) {
	body, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic("BUG: not embedded: " + name)
	}
	ctx.SetContentType(mime.TypeByExtension(path.Ext(name)))
	ctx.Response.Header.Set("Cache-Control", "max-age=3600")
	ctx.SetBody(body)
}

// segment is one part of a cache bar, in units of a thousandth of its width.
type segment struct {
	Class    string
	X, Width int64
}

func barOf(c cacheTokens) []segment {
	total := c.total()
	if total == 0 {
		return nil
	}
	var bar []segment
	done := int64(0)
	for _, part := range []struct {
		class  string
		tokens int64
	}{{"read", c.Read}, {"write", c.Write}, {"fresh", c.Fresh}} {
		from := done * 1000 / total
		done += part.tokens
		bar = append(bar, segment{part.class, from, done*1000/total - from})
	}
	return bar
}

// percent is a share with one decimal; of nothing it is unknown, not zero.
func percent(part, whole int64) string {
	if whole == 0 {
		return "–"
	}
	return strconv.FormatFloat(100*float64(part)/float64(whole), 'f', 1, 64) + " %"
}

// grouped is a number with its thousands apart.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "\u202f" + digits[i:]
	}
	return digits
}

func shortSeconds(s float64) string {
	switch {
	case s == 0:
		return "–"
	case s < 1e-3:
		return fmt.Sprintf("%.0f µs", s*1e6)
	case s < 1:
		return fmt.Sprintf("%g ms", s*1e3)
	}
	return fmt.Sprintf("%g s", s)
}
