// Package markup makes HTML of the Markdown that models and tools have written, so
// that it can stand in a page: whatever it says, no script runs, nothing is fetched,
// and links tell nobody where they were followed from.
package markup

import (
	"bytes"
	"html/template"
	"net/url"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// markdown knows no HTML: what stands in a text as such is left out by the renderer,
// and the policy below would take it out once more.
var markdown = goldmark.New(goldmark.WithExtensions(
	extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone)),
	extension.Strikethrough, extension.Linkify,
))

// policy is all that a text may become. There is no attribute in it but the address of
// a link and where a list begins to count.
var policy = func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h4", "h5", "h6", "em", "strong", "del", "code", "pre", "blockquote", "ul", "ol", "li",
		"table", "thead", "tbody", "tr", "th", "td")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("mailto")
	for _, scheme := range []string{"http", "https"} {
		p.AllowURLSchemeWithCustomPolicy(scheme, func(u *url.URL) bool { return u.Host != "" })
	}
	p.RequireParseableURLs(true)
	p.RequireNoReferrerOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	return p
}()

// topLevel is the level of a text's own first headings: above them are those of the
// page and of its sections.
const topLevel = 4

// HTML is a text in Markdown as HTML that may stand in a page. An image becomes a link
// to it, since to show it would be to fetch it.
func HTML(source string) template.HTML {
	src := []byte(source)
	root := markdown.Parser().Parse(text.NewReader(src))
	tame(root)
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, src, root); err != nil {
		// A renderer fails only when its writer does, and a buffer does not.
		panic("BUG: rendering Markdown: " + err.Error())
	}
	return template.HTML(policy.SanitizeBytes(b.Bytes())) //nolint:gosec // this is what the policy is for
}

// tame moves headings below those of the page, and makes links of images.
func tame(root ast.Node) {
	var images []*ast.Image
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Heading:
			if entering {
				n.Level = min(n.Level+topLevel-1, 6)
			}
		case *ast.Image:
			if entering {
				images = append(images, n)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, image := range images {
		var link ast.Node = ast.NewEmphasis(1)
		if !linked(image) {
			to := ast.NewLink()
			to.Destination = image.Destination
			link = to
		}
		link.AppendChild(link, ast.NewString([]byte("image: ")))
		for child := image.FirstChild(); child != nil; {
			next := child.NextSibling()
			link.AppendChild(link, child)
			child = next
		}
		image.Parent().ReplaceChild(image.Parent(), image, link)
	}
}

// linked reports whether a node stands in a link, in which there can be no other one.
func linked(n ast.Node) bool {
	for n = n.Parent(); n != nil; n = n.Parent() {
		if n.Kind() == ast.KindLink {
			return true
		}
	}
	return false
}
