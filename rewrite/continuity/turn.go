package continuity

import "encoding/binary"

// Turn is what is remembered of a request and the beginning of its reply, to
// tell what the next one changes and what it should find in the provider's
// cache. It holds digests and numbers, and no text but the reply's ID.
type Turn struct {
	// Started is when the request arrived, in seconds since 1970: lifetimes in the
	// provider's cache count from there.
	Started int
	// Lifetime is how long what it wrote to the cache stays there, in seconds.
	Lifetime int
	// Cached is the number of tokens that the provider said it had read from its
	// cache or written to it, if it Reported that.
	Cached   int
	Reported bool
	// Asked says that the provider was asked for a diagnosis, and so can compare
	// the next request with it; Previous is the ID of the reply that it was asked
	// about, if any, and Reply that of the turn's own.
	Asked           bool
	Previous, Reply string
	// Params and Betas are digests of what else takes part in the cache's key: the
	// betas as sent, and Own those of the client alone.
	Params     Params
	Betas, Own uint64
	// Tools and System are digests of the client's own lists, and Spelled has four
	// bytes for each of its messages, as they were written.
	Tools, System uint64
	Spelled       []byte
}

// NewTurn takes the digests of a request.
func NewTurn(facts *Facts) *Turn {
	t := &Turn{
		Params: facts.Params, Tools: printTools(facts.Tools), System: printSections(facts.Sections),
		Spelled: make([]byte, 0, spelling*len(facts.Messages)),
	}
	for i := range facts.Messages {
		t.Spelled = append(t.Spelled, facts.Messages[i].Exact[:spelling]...)
	}
	return t
}

// spelling is how many bytes of a digest tell how a message was written: the
// same message is written in a few ways at most.
const spelling = 4

func printTools(tools []Tool) uint64 {
	h := uint64(fnvBasis)
	for i := range tools {
		h = mix(h, tools[i].Exact)
	}
	return h
}

func printSections(sections []Section) uint64 {
	h := uint64(fnvBasis)
	for i := range sections {
		if !sections[i].Volatile {
			h = mix(h, sections[i].Exact)
		}
	}
	return h
}

// mix adds a digest to one of a list.
func mix(h uint64, element Hash) uint64 {
	h = (h ^ binary.LittleEndian.Uint64(element[:8])) * fnvPrime
	return h ^ h>>29
}

// Lists reports whether the client's tools and its system prompt are those of the
// turn, as they are written.
func (t *Turn) Lists(facts *Facts) (tools, system bool) {
	return t.Tools == printTools(facts.Tools), t.System == printSections(facts.Sections)
}

// Respelled is the index of the first message in a range that was written
// differently in the turn, or is another, -1 if there is none.
func (t *Turn) Respelled(messages []Message, from, to int) int {
	for i := from; i < min(to, len(messages), len(t.Spelled)/spelling); i++ {
		if string(t.Spelled[spelling*i:spelling*(i+1)]) != string(messages[i].Exact[:spelling]) {
			return i
		}
	}
	return -1
}
