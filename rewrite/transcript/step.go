package transcript

import (
	"crypto/sha256"
	"slices"
	"strings"
	"unicode"

	"warmpath/rewrite"
)

// Mark is a digest of what was said, however it was spelled: one item of the
// client's, or all that the model has said and called in one run.
type Mark [16]byte

// Step is a stretch of a history that is known or new as a whole.
type Step struct {
	// From and To are its items, half-open.
	From, To int
	Mark     Mark
	// Model says that it is the model's. Head is then of the history up to here.
	Model bool
	Head  Mark
}

// Line follows a history step by step. The zero Line is at its beginning; who
// follows it is part of all its marks.
type Line struct {
	Who  string
	head Mark
	run  run
}

// run is what the model says without being spoken to.
type run struct {
	text  strings.Builder
	calls []string
	any   bool
}

// Steps are those of a history. Reasoning and what a provider has run belong to the
// step that they stand in, and are not looked at: clients leave them out.
func (l *Line) Steps(items []rewrite.Item) []Step {
	steps := make([]Step, 0, len(items))
	from := 0
	for i := range items {
		if l.add(&items[i]) {
			continue
		}
		if from < i {
			steps = append(steps, l.step(from, i)...)
		}
		mark := l.client(&items[i])
		steps = append(steps, Step{From: i, To: i + 1, Mark: mark})
		from = i + 1
	}
	if from < len(items) {
		steps = append(steps, l.step(from, len(items))...)
	}
	return steps
}

// step ends a run of the model's; none if it has said nothing.
func (l *Line) step(from, to int) []Step {
	mark, said := l.Reply()
	if !said {
		return nil
	}
	return []Step{{From: from, To: to, Mark: mark, Model: true, Head: l.head}}
}

// Add takes an item of the model's reply.
func (l *Line) Add(i *rewrite.Item) { l.add(i) }

// Reply ends the model's run, which Head then includes. Said is false if it has said
// nothing.
func (l *Line) Reply() (mark Mark, said bool) {
	if !l.run.any {
		return Mark{}, false
	}
	// Calls side by side have no order.
	slices.Sort(l.run.calls)
	words := append([]string{"model", bare(l.run.text.String())}, l.run.calls...)
	l.run = run{}
	mark = l.digest(words...)
	l.head = l.digest("head", string(l.head[:]), string(mark[:]))
	return mark, true
}

// Head is of the history so far.
func (l *Line) Head() Mark { return l.head }

// add takes an item of the model's; false for one of the client's.
func (l *Line) add(i *rewrite.Item) bool {
	switch i.Kind {
	case rewrite.ItemMessage:
		if i.Role != rewrite.RoleAssistant {
			return false
		}
		for j := range i.Parts {
			l.run.text.WriteString(i.Parts[j].Text)
		}
		l.run.any = true
	case rewrite.ItemCall:
		l.run.calls, l.run.any = append(l.run.calls, called(&i.Call)), true
	case rewrite.ItemReasoning, rewrite.ItemHosted, rewrite.ItemOpaque:
	case rewrite.ItemResult, rewrite.ItemDirective:
		return false
	}
	return true
}

// called tells a call from others: by what pairs it with its result, where it has
// such a name.
func called(c *rewrite.Call) string {
	if c.ID != "" {
		return "id\x00" + c.ID
	}
	return "name\x00" + c.Name
}

// client takes an item of the client's. Instructions in mid-conversation come and go,
// and what tools gave is shortened later: neither is part of the head.
func (l *Line) client(i *rewrite.Item) Mark {
	words := []string{i.Kind.String(), i.Role.String(), called(&i.Call)}
	chained := append([]string{"head", string(l.head[:])}, words...)
	for j := range i.Parts {
		p := &i.Parts[j]
		words = append(words, p.Kind.String(), bare(p.Text), p.Media.URL, p.Media.ID, p.Media.Data)
		chained = append(chained, p.Kind.String(), bare(p.Text))
	}
	words = append(append(words, i.Directive.Add...), i.Directive.Remove...)
	switch {
	case i.Kind == rewrite.ItemMessage && i.Role == rewrite.RoleUser:
		l.head = l.digest(chained...)
	case i.Kind == rewrite.ItemResult:
		l.head = l.digest("head", string(l.head[:]), called(&i.Call))
	}
	return l.digest(words...)
}

// Named is a mark of something that has a name.
func (l *Line) Named(kind, name string) Mark { return l.digest("named", kind, name) }

// digest is of words, none of which can be taken for two.
func (l *Line) digest(words ...string) (m Mark) {
	h := sha256.New()
	var length [8]byte
	for _, word := range append(words, l.Who) {
		for i := range length {
			length[i] = byte(len(word) >> (8 * i))
		}
		h.Write(length[:])
		h.Write([]byte(word))
	}
	copy(m[:], h.Sum(nil))
	return m
}

// bare is a text without white space, which clients trim and join differently.
func bare(text string) string {
	if strings.IndexFunc(text, unicode.IsSpace) < 0 {
		return text
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}
