package audience

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// What a model reads in place of a result of which nothing is left. The words are
// constants, so that a prefix stays the same, and do not tell that something was
// withheld: a model would try the call again.
const (
	Succeeded = "Tool executed successfully."
	Failed    = "Tool failed."
)

// The names that an audience may have. All others are unknown.
const (
	people = "user"
	model  = "assistant"
)

// For reports whether a block with these annotations is for the provider, and
// whether it is for the people who use the client. A block that names no audience is
// for both. One name may stand without a list. Who is known to neither side gets
// nothing; nor does anything but names or null in the audience's place, or an
// audience that stands twice and is told differently: who cannot be sure keeps it
// back.
func For(annotations rewrite.JSON) (provider, user bool) {
	provider, user = true, true
	splice.Fields(annotations, func(key, value []byte) bool {
		if string(key) == "audience" {
			p, u := named(value)
			provider, user = provider && p, user && u
		}
		return true
	})
	return provider, user
}

// named reads an audience. An empty list says nothing: some libraries leave it out
// when they write it again.
func named(audience []byte) (provider, user bool) {
	if splice.Null(audience) {
		return true, true
	}
	if audience[0] != '[' {
		return Is(audience, model), Is(audience, people)
	}
	none := true
	splice.Elements(audience, func(name []byte) bool {
		none = false
		provider, user = provider || Is(name, model), user || Is(name, people)
		return true
	})
	return provider || none, user || none
}

// Split gives what of a result is for the provider and what is for the user, each in
// the order of the result, which is left as it is. What goes to the provider has no
// annotations, which none takes. Text that is empty is nothing: providers refuse it.
func Split(parts []rewrite.Part) (provider, user []rewrite.Part) {
	for i := range parts {
		forProvider, forUser := For(parts[i].Annotations)
		if forProvider && !blank(&parts[i]) {
			part := parts[i]
			part.Annotations = nil
			provider = append(provider, part)
		}
		if forUser {
			user = append(user, parts[i])
		}
	}
	return provider, user
}

// blank reports a text without a character.
func blank(p *rewrite.Part) bool {
	return p.Kind == rewrite.PartText && p.Text == "" && p.Payload.Empty()
}

// Told is what the provider gets of a result: what is for it, or the words that
// stand for nothing.
func Told(parts []rewrite.Part, failed bool) []rewrite.Part {
	if provider, _ := Split(parts); len(provider) > 0 {
		return provider
	}
	return []rewrite.Part{{Text: Placeholder(failed)}}
}

// Placeholder is what stands for a result of which nothing is left.
func Placeholder(failed bool) string {
	if failed {
		return Failed
	}
	return Succeeded
}
