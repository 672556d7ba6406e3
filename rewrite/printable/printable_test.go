package printable_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"warmpath/rewrite/printable"
)

func TestText(t *testing.T) {
	for name, c := range map[string]struct{ in, strip, colour, visible string }{
		"plain":                      {"a\tb\nc é 界 🙂", "a\tb\nc é 界 🙂", "a\tb\nc é 界 🙂", "a\tb\nc é 界 🙂"},
		"colour":                     {"a\x1b[31mb\x1b[0mc", "abc", "a\x1b[31mb\x1b[0mc", "a␛[31mb␛[0mc"},
		"colour that does not end":   {"a\x1b[1;31mb", "ab", "a\x1b[1;31mb\x1b[0m", "a␛[1;31mb"},
		"colour by number":           {"\x1b[38;5;8mb\x1b[m", "b", "\x1b[38;5;8mb\x1b[m", "␛[38;5;8mb␛[m"},
		"colour by parts":            {"\x1b[48;2;8;8;8;38:5:8mb", "b", "\x1b[48;2;8;8;8;38:5:8mb\x1b[0m", "␛[48;2;8;8;8;38:5:8mb"},
		"colour that is cut":         {"\x1b[38;5mb", "b", "b", "␛[38;5mb"},
		"conceal":                    {"a\x1b[8mb\x1b[28m", "ab", "ab\x1b[28m\x1b[0m", "a␛[8mb␛[28m"},
		"conceal among colours":      {"\x1b[31;08;1mb\x1b[0m", "b", "\x1b[31;1mb\x1b[0m", "␛[31;08;1mb␛[0m"},
		"conceal in parts":           {"\x1b[8:1mb", "b", "b", "␛[8:1mb"},
		"other sequences of m":       {"\x1b[>4;2mb\x1b[?4m\x1b[1 m", "b", "b", "␛[>4;2mb␛[?4m␛[1 m"},
		"cursor":                     {"a\x1b[2J\x1b[1;1H\x1b[?25lb\x1b[3A\x1b[K", "ab", "ab", "a␛[2J␛[1;1H␛[?25lb␛[3A␛[K"},
		"reset and charsets":         {"a\x1bcb\x1b(0c\x1b#8", "abc", "abc", "a␛cb␛(0c␛#8"},
		"saved cursor":               {"a\x1b7b\x1b8", "ab", "ab", "a␛7b␛8"},
		"window title":               {"a\x1b]0;title\x07b", "ab", "ab", "a␛]0;title␇b"},
		"clipboard":                  {"a\x1b]52;c;aGk=\x1b\\b", "ab", "ab", "a␛]52;c;aGk=␛\\b"},
		"link":                       {"\x1b]8;;https://example.com\x07text\x1b]8;;\x07", "text", "text", "␛]8;;https://example.com␇text␛]8;;␇"},
		"string without an end":      {"a\x1b]0;title", "a0;title", "a0;title", "a␛]0;title"},
		"string over several lines":  {"a\x1b]0;b\nc\x07d", "a0;b\ncd", "a0;b\ncd", "a␛]0;b\nc␇d"},
		"string that is broken off":  {"a\x1b]0;b\x1b[2Jc", "ac", "ac", "a␛]0;b␛[2Jc"},
		"one that C1 breaks off":     {"a\u009d0;b\u009b2Jc", "ac", "ac", "a<U+009D>0;b<U+009B>2Jc"},
		"DCS":                        {"a\x1bPq#0\x1b\\b", "ab", "ab", "a␛Pq#0␛\\b"},
		"APC, PM and SOS":            {"a\x1b_x\x1b\\b\x1b^x\x1b\\c\x1bXx\x1b\\d", "abcd", "abcd", "a␛_x␛\\b␛^x␛\\c␛Xx␛\\d"},
		"a bell ends no DCS":         {"a\x1bPx\x07y", "axy", "axy", "a␛Px␇y"},
		"C1":                         {"a\u009b2Jb\u009d0;t\u009cc\u0090x\u009cd\u0085e", "abcde", "abcde", "a<U+009B>2Jb<U+009D>0;t<U+009C>c<U+0090>x<U+009C>d<U+0085>e"},
		"C1 that sets a colour":      {"\u009b31mb", "b", "\x1b[31mb\x1b[0m", "<U+009B>31mb"},
		"C0":                         {"a\x00b\x07c\x08d\x0be\x0cf\x0eg", "abcdefg", "abcdefg", "a␀b␇c␈d␋e␌f␎g"},
		"carriage returns":           {"good\rbad\r\nx", "goodbad\nx", "goodbad\nx", "good␍bad␍\nx"},
		"DEL":                        {"a\x7fb", "ab", "ab", "a␡b"},
		"an escape at the end":       {"a\x1b", "a", "a", "a␛"},
		"an escape before an escape": {"a\x1b\x1b[2Jb", "ab", "ab", "a␛␛[2Jb"},
		"an escape before a letter":  {"a\x1bé", "aé", "aé", "a␛é"},
		"a sequence that is cut":     {"a\x1b[31", "a", "a", "a␛[31"},
		"a sequence over a line end": {"a\x1b[31\nm", "a\nm", "a\nm", "a␛[31\nm"},
		"order of characters":        {"a\u202eb\u2066c", "abc", "abc", "a<U+202E>b<U+2066>c"},
		"joined characters":          {"👩\u200d💻", "👩\u200d💻", "👩\u200d💻", "👩\u200d💻"},
		"no UTF-8":                   {"a\xff\x9bb", "a\uFFFD\uFFFDb", "a\uFFFD\uFFFDb", "a\uFFFD\uFFFDb"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, way := range []struct {
				what, want string
				style      printable.Style
			}{
				{"strip", c.strip, printable.Style{}},
				{"strip all but colours", c.colour, printable.Style{Colour: true}},
				{"visualise", c.visible, printable.Style{Mode: printable.Visualise}},
				{"off", c.in, printable.Style{Mode: printable.Off}},
			} {
				if got := way.style.Text(c.in); got != way.want {
					t.Errorf("%s: %q, want %q", way.what, got, way.want)
				}
			}
		})
	}
}

func TestVisualiseKeepsColours(t *testing.T) {
	s := printable.Style{Mode: printable.Visualise, Colour: true}
	if got, want := s.Text("\x1b[31ma\x1b[8;1mb\x1b[2Jc\x1b[0m"), "\x1b[31ma␛[8;1mb␛[2Jc\x1b[0m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What never ends is not searched for its end again and again: that would take
// longer than a test may.
func TestTextIsLinear(t *testing.T) {
	for _, part := range []string{"\x1b]", "\u009d", "\x1bP", "\u009b1", "\x1b[1", "\x1b"} {
		for _, mode := range []printable.Mode{printable.Strip, printable.Visualise} {
			if got := (printable.Style{Mode: mode, Colour: true}).Text(strings.Repeat(part, 1<<19)); strings.Contains(got, "\x1b") {
				t.Errorf("%s leaves escapes of %q", mode, part)
			}
		}
	}
}

func TestLine(t *testing.T) {
	if got, want := (printable.Style{}).Line("a\r\n\tb\x1b[2J"), "a  b"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// obeyed is what a terminal does something about, but for colours.
var (
	colours = regexp.MustCompile("\x1b\\[([0-9;:]*)m")
	obeyed  = regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u202a-\u202e\u2066-\u2069]")
	conceal = regexp.MustCompile(`^(.*;)?0*8([;:].*)?$`)
	numbers = regexp.MustCompile(`[345]8;(5;\d*|2;\d*;\d*;\d*)`)
)

func FuzzText(f *testing.F) {
	for _, seed := range []string{"a\x1b[31;8mb", "\x1b]8;;x\x07y\x1b\\", "\u009b38;5;8;8m", "\x1bP\x1b_\x1b\\", "\x1b[38;2;1;2;8m\r\n", "\xff\x1b["} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, mode := range []printable.Mode{printable.Strip, printable.Visualise} {
			if got := (printable.Style{Mode: mode}).Text(text); obeyed.MatchString(got) || !utf8.ValidString(got) {
				t.Errorf("%s leaves something to obey: %q", mode, got)
			}
			s := printable.Style{Mode: mode, Colour: true}
			got := s.Text(text)
			for _, set := range colours.FindAllStringSubmatch(got, -1) {
				if conceal.MatchString(numbers.ReplaceAllString(set[1], "")) {
					t.Errorf("%s conceals: %q", mode, got)
				}
			}
			if obeyed.MatchString(colours.ReplaceAllString(got, "")) {
				t.Errorf("%s leaves something to obey besides colours: %q", mode, got)
			}
			if again := s.Text(got); again != got {
				t.Errorf("%s changes what is fit: %q becomes %q", mode, got, again)
			}
			if line := s.Line(text); strings.ContainsAny(line, "\n\t") {
				t.Errorf("%s gives more than a line: %q", mode, line)
			}
		}
	})
}
