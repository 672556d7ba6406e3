package continuity

import "bytes"

// paramNames are the members of a request, beside model, tools, system and
// messages, that are known to take part in what the provider caches.
var paramNames = [...]string{
	"tool_choice", "thinking", "output_config", "output_format", "context_management", "speed", "mcp_servers",
}

// Params are digests of the parameters that take part in what the provider
// caches; zero is one that is absent. A parameter that is written differently
// has another digest.
type Params [len(paramNames)]uint64

// Set notes the value of a member of the request, as it is written; members that
// do not matter to a cache are passed over, and null is absence.
func (p *Params) Set(name, value []byte) {
	if string(value) == "null" {
		return
	}
	for i, param := range paramNames {
		if param == string(name) {
			p[i] = fnv(fnvBasis, value) | 1
			return
		}
	}
}

// Without leaves a parameter out.
func (p Params) Without(name string) Params {
	for i, param := range paramNames {
		if param == name {
			p[i] = 0
		}
	}
	return p
}

// The constants of the FNV-1a hash. It is written out because the digests are
// compared across machines, cost nothing, and guard nothing.
const fnvBasis, fnvPrime = 14695981039346656037, 1099511628211

func fnv(h uint64, text []byte) uint64 {
	for _, c := range text {
		h = (h ^ uint64(c)) * fnvPrime
	}
	return h
}

// AddBetas adds the values of a header to the digest of a set of betas, which is
// the same in whatever order they are listed.
func AddBetas(set uint64, header []byte) uint64 {
	for beta := range bytes.SplitSeq(header, []byte(",")) {
		if beta = bytes.TrimSpace(beta); len(beta) > 0 {
			set += fnv(fnvBasis, beta)
		}
	}
	return set
}
