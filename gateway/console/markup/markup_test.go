package markup_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"warmpath/gateway/console/markup"
)

// hostile are texts that try to be more than a text, one a line; \n is a line break.
// A real browser is shown them in fixtures/browser.
var hostile = func() []string {
	text, err := os.ReadFile("testdata/hostile.txt")
	if err != nil {
		panic(err)
	}
	return strings.Split(strings.TrimSpace(strings.ReplaceAll(string(text), `\n`, "\n")), "\n")
}()

func TestHTML(t *testing.T) {
	for name, tc := range map[string]struct{ source, want string }{
		"words":            {"a *b* **c** ~~d~~ `e`", "<p>a <em>b</em> <strong>c</strong> <del>d</del> <code>e</code></p>"},
		"headings go down": {"# a\n\n### b", "<h4>a</h4>\n<h6>b</h6>"},
		"a fence":          {"```js\nlet a = \"<b>\";\n```", "<pre><code>let a = &#34;&lt;b&gt;&#34;;\n</code></pre>"},
		"a list":           {"3. a\n4. b", "<ol start=\"3\">\n<li>a</li>\n<li>b</li>\n</ol>"},
		"a table":          {"|a|\n|:-:|\n|b|", "<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>b</td>\n</tr>\n</tbody>\n</table>"},
		"a link":           {"[a](https://b.example/?c=d&e)", `<p><a href="https://b.example/?c=d&amp;e" rel="noreferrer noopener" target="_blank">a</a></p>`},
		"a bare address":   {"see https://b.example", `<p>see <a href="https://b.example" rel="noreferrer noopener" target="_blank">https://b.example</a></p>`},
		"an image":         {"![a *cat*](https://b.example/cat.png)", `<p><a href="https://b.example/cat.png" rel="noreferrer noopener" target="_blank">image: a <em>cat</em></a></p>`},
		"a place here":     {"[a](#prompts) [b](/metrics)", "<p>a b</p>"},
		"an image in a link": {"[![a](https://b.example/c.png)](https://d.example)",
			`<p><a href="https://d.example" rel="noreferrer noopener" target="_blank"><em>image: a</em></a></p>`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.TrimSpace(string(markup.HTML(tc.source))); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// harmless fails unless a page may have the HTML in it: only elements and attributes
// that do nothing, and addresses that are only followed by hand.
func harmless(t *testing.T, source, made string) {
	t.Helper()
	elements := regexp.MustCompile(`^(p|br|hr|h4|h5|h6|em|strong|del|code|pre|blockquote|ul|ol|li|table|thead|tbody|tr|th|td|a)$`)
	address := regexp.MustCompile(`^(?i:https?:|mailto:)`)
	z := html.NewTokenizer(strings.NewReader(made))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.CommentToken, html.DoctypeToken:
			t.Errorf("%q: a comment or a doctype in %s", source, made)
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			token := z.Token()
			if !elements.MatchString(token.Data) {
				t.Errorf("%q: an element %s in %s", source, token.Data, made)
			}
			for _, a := range token.Attr {
				switch {
				case token.Data == "a" && a.Key == "href" && address.MatchString(a.Val):
				case token.Data == "a" && (a.Key == "rel" && strings.Contains(a.Val, "noreferrer") || a.Key == "target"):
				case token.Data == "ol" && a.Key == "start":
				default:
					t.Errorf("%q: an attribute %s=%q in %s", source, a.Key, a.Val, made)
				}
			}
		default:
		}
	}
}

func TestHarmless(t *testing.T) {
	for _, source := range hostile {
		harmless(t, source, string(markup.HTML(source)))
	}
}

func FuzzHarmless(f *testing.F) {
	for _, source := range hostile {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) { harmless(t, source, string(markup.HTML(source))) })
}
