package audience

import (
	"crypto/sha256"
	"slices"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// Result is where the content of a tool's result stands in a client's request.
type Result struct {
	// Call is the identifier of its call and Failed its error flag, as far as the
	// dialect has them.
	Call   []byte
	Failed bool
	// Model is the name of the model, in JSON, where it is that of one request of a
	// batch; empty where the request has none of its own.
	Model []byte
	// Value is the content: a list of blocks, or a text that may hold such in JSON.
	Value rewrite.Span
	// Free content is whatever the tool likes. Blocks are known in it by their
	// kinds, wherever they stand.
	Free bool
	// Behind says that JSON in a text may come behind lines of the client's own.
	Behind bool
	// Bare lists may be empty: something else says that there is a result. Where that
	// is an object without members, Instead is it, and is filled if the list is
	// emptied.
	Bare    bool
	Instead rewrite.Span
}

// Words are what the pass has to know of a dialect.
type Words struct {
	// Results are the contents of results in a request that Skim finds to need a look,
	// in their order. The request may be no JSON.
	Results func(body []byte) []Result
	// Foreign are kinds of blocks of the Model Context Protocol that the dialect
	// writes otherwise, and Write appends such a block as it does; ok is false for
	// what it has no place for. Marks are members that a block keeps.
	Foreign []string
	Write   func(dst []byte, p *rewrite.Part) (block []byte, ok bool)
	Marks   []string
}

// Change is what becomes of one result before a provider sees it.
type Change struct {
	// Key is the same for the same result in another request, if its members stand
	// in another order too.
	Key [16]byte
	// Model is the result's own.
	Model []byte
	// Edits are in the order of the request and touch no other result.
	Edits []splice.Edit
	// UserOnly are the blocks that were left out because they are for people alone,
	// Unknown those whose audience nobody knows, and Unsupported those that the
	// dialect has no place for.
	UserOnly, Unknown, Unsupported int
	// Placeholder says that nothing was left.
	Placeholder bool
}

// Find gives what is to be done to the results in a request, in the order of the
// request. A result that has nothing of what the provider must not get, or would not
// take, is not among them. The error is a *splice.SyntaxError of a request that is no
// JSON, which is only found out where there is something to do.
func (w *Words) Find(body []byte) (changes []Change, err error) {
	results := w.Results(body)
	if len(results) == 0 {
		return nil, nil
	}
	if fault := splice.ValidDeep(body); fault != nil {
		return nil, fault
	}
	f := finder{words: w, body: body}
	for i := range results {
		r := &results[i]
		f.change, f.failed, f.touched, f.free = Change{}, r.Failed, false, r.Free
		switch {
		case r.Behind:
			f.behind(r)
		case r.Free:
			f.content(r.Value)
		case body[r.Value.Start] == '"':
			f.string(r.Value)
		default:
			f.list(r)
		}
		if f.touched {
			f.change.Key, f.change.Model = f.key(r), r.Model
			changes = append(changes, f.change)
		}
	}
	return changes, nil
}

// finder finds the change of one result after the other.
type finder struct {
	words  *Words
	body   []byte
	change Change
	failed bool
	free   bool
	// packed is how many texts the body stands in, one within the other.
	packed int
	// touched says that there is something to change.
	touched bool
	blocks  []found
}

// found is a block of a list with what becomes of it.
type found struct {
	rewrite.Span
	fate  fate
	edits []splice.Edit
}

// fate is what becomes of a block.
type fate uint8

const (
	// stays, with edits or without.
	stays fate = iota
	// empty blocks stay if nothing else is changed: some clients send them to
	// providers that take them.
	empty
	// gone is not for the provider.
	gone
)

// list reads a list of blocks.
func (f *finder) list(r *Result) {
	f.blocks = f.blocks[:0]
	elements(f.body, r.Value, func(at rewrite.Span) {
		fate, edits := f.block(at)
		f.blocks = append(f.blocks, found{at, fate, edits})
	})
	if len(f.blocks) == 0 && !r.Bare {
		f.touched = true
	}
	if !f.touched {
		return
	}
	p := newPruning()
	for i := range f.blocks {
		if b := &f.blocks[i]; b.fate == stays {
			p.keep(b.Span, b.edits)
		} else {
			p.leave(b.Span)
		}
	}
	nothing := p.kept < 0
	f.change.Edits = p.done()
	switch {
	case nothing && !r.Bare:
		f.change.Edits = []splice.Edit{f.nothing(r.Value)}
	case nothing && len(f.blocks) > 0 && r.Instead.Len() > 0:
		f.change.Edits = append(f.change.Edits, f.nothingWithin(r.Instead))
		slices.SortFunc(f.change.Edits, func(a, b splice.Edit) int { return a.Start - b.Start })
	}
}

// content reads content that is the tool's own, which is an object.
func (f *finder) content(value rewrite.Span) {
	fate, edits := f.value(value, 0)
	if fate == gone {
		edits = []splice.Edit{f.nothingWithin(value)}
	}
	f.change.Edits = edits
}

// string reads content that is a text.
func (f *finder) string(value rewrite.Span) {
	fate, edits := f.text(value)
	if fate == gone {
		edits = []splice.Edit{f.nothing(value)}
	}
	f.change.Edits = edits
}

// nothing puts the words for nothing in the place of a value.
func (f *finder) nothing(value rewrite.Span) splice.Edit {
	f.change.Placeholder = true
	return splice.Edit{Span: value, Text: splice.AppendString(nil, Placeholder(f.failed))}
}

// nothingWithin is nothing in the place of an object.
func (f *finder) nothingWithin(value rewrite.Span) splice.Edit {
	edit := f.nothing(value)
	name := `{"output":`
	if f.failed {
		name = `{"error":`
	}
	edit.Text = slices.Concat([]byte(name), edit.Text, []byte("}"))
	return edit
}

// key tells a result apart from all others by what it says.
func (f *finder) key(r *Result) (key [16]byte) {
	digest := sha256.New()
	digest.Write(r.Call)
	var members [][]byte
	elements(f.body, r.Value, func(at rewrite.Span) {
		if members = members[:0]; f.body[at.Start] != '{' {
			digest.Write(f.body[at.Start:at.End])
		}
		each(f.body, at, func(m *member) {
			if !slices.Contains(f.words.Marks, m.name) {
				sum := sha256.Sum256(slices.Concat([]byte(m.name), []byte{0}, meaning(f.body[m.value.Start:m.value.End])))
				members = append(members, sum[:])
			}
		})
		slices.SortFunc(members, slices.Compare[[]byte])
		digest.Write(append([]byte{byte(len(members))}, slices.Concat(members...)...))
	})
	if f.body[r.Value.Start] != '[' {
		digest.Write(f.body[r.Value.Start:r.Value.End])
	}
	copy(key[:], digest.Sum(nil))
	return key
}

// meaning is a value without the spelling of its characters.
func meaning(value []byte) []byte {
	if text, ok := splice.String(value); ok {
		return text
	}
	return value
}
