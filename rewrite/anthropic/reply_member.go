package anthropic

import (
	"slices"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// betweenThoughts separates the parts of a thought.
const betweenThoughts = "\n\n"

// writeCallHead writes the members of a call up to its input.
func writeCallHead(w *splice.Writer, call *rewrite.Call) {
	w.Text("type", "tool_use")
	w.Name("id")
	w.String(call.ID)
	w.Name("name")
	w.String(toolName(call.Namespace, call.Name))
}

// writeCarrier writes a payload into a redacted thought.
func writeCarrier(w *splice.Writer, p *rewrite.Payload, ending string) {
	w.Open('{')
	w.Text("type", "redacted_thinking")
	w.Text("data", p.Envelope()+ending)
	w.Close('}')
}

// signature is what signs a thought that is shown.
func signature(p *rewrite.Payload, native bool) string {
	switch {
	case p.Empty():
		return plainSign()
	case !native:
		return p.Envelope()
	}
	b, _ := readBlock(p.Value)
	return b.text(fieldSignature)
}

// writeCitation writes a source. One that another provider has found is told as
// a search result, whose closed field holds what that provider needs back.
func writeCitation(w *splice.Writer, a *rewrite.Attribution, native bool) {
	if native {
		w.Raw(a.Payload.Value)
		return
	}
	p := a.Payload
	if p.Empty() {
		p = rewrite.Payload{Format: plainSource, Value: rewrite.JSON("null")}
	}
	w.Open('{')
	w.Text("type", "web_search_result_location")
	w.Name("cited_text")
	w.String(a.Excerpt)
	w.Name("url")
	w.String(a.URL)
	w.Name("title")
	w.String(a.Title)
	w.Text("encrypted_index", p.Envelope())
	w.Close('}')
}

// The members of a usage that the hub has fields for, and of objects within it.
var (
	usageMembers = []string{"input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"}
	usageDetails = map[string][]string{
		"cache_creation":        {"ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"},
		"output_tokens_details": {"thinking_tokens"},
	}
)

// writeUsage writes what was used, and what else a provider of this dialect has said of
// it. This dialect counts the input that no cache had apart from the rest.
func writeUsage(w *splice.Writer, u *rewrite.Usage, own []byte) {
	written := []string{"input_tokens", "output_tokens"}
	count := func(name string, c rewrite.Count) {
		if c.Known {
			written = append(written, name)
			writeCount(w, name, c)
		}
	}
	w.Open('{')
	fresh := u.InputFresh
	if !fresh.Known && u.InputTotal.Known {
		fresh = rewrite.Tokens(u.InputTotal.N - u.CacheRead.N - u.CacheWrite.N)
	}
	w.Name("input_tokens")
	w.Int(fresh.N)
	count("cache_creation_input_tokens", u.CacheWrite)
	count("cache_read_input_tokens", u.CacheRead)
	if u.CacheWrite5m.Known || u.CacheWrite1h.Known {
		written = append(written, "cache_creation")
		w.Name("cache_creation")
		w.Open('{')
		w.Name("ephemeral_5m_input_tokens")
		w.Int(u.CacheWrite5m.N)
		w.Name("ephemeral_1h_input_tokens")
		w.Int(u.CacheWrite1h.N)
		w.Rest(splice.Field(own, "cache_creation"), "ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")
		w.Close('}')
	}
	w.Name("output_tokens")
	w.Int(u.OutputTotal.N)
	if u.Reasoning.Known {
		written = append(written, "output_tokens_details")
		w.Name("output_tokens_details")
		w.Open('{')
		writeCount(w, "thinking_tokens", u.Reasoning)
		w.Rest(splice.Field(own, "output_tokens_details"), "thinking_tokens")
		w.Close('}')
	}
	w.Rest(own, written...)
	w.Close('}')
}

func writeCount(w *splice.Writer, name string, c rewrite.Count) {
	if c.Known {
		w.Name(name)
		w.Int(c.N)
	}
}

// named are members of replies that the hub carries under their own names.
var named = []string{"container", "context_management", "diagnostics", "input_transformations"}

// writeExtra writes the members that this dialect has for what the hub has no
// field for, but those that were written; those of other dialects have no meaning here.
func writeExtra(w *splice.Writer, extra []rewrite.Member, written ...string) {
	written = append(written, "usage")
	for i := range extra {
		if m := &extra[i]; slices.Contains(named, m.Name) && !slices.Contains(written, m.Name) {
			written = append(written, m.Name)
			w.Value(m.Name, m.Value)
		}
	}
	rewrite.Messages.EachOwned(extra, "", func(name string, value rewrite.JSON) {
		if !slices.Contains(written, name) {
			w.Value(name, value)
		}
	})
}

// writeStop writes why a reply has ended, in this dialect's words, and gives the name of
// a member that not every reply has, if it has written it.
func writeStop(w *splice.Writer, s *rewrite.Stop, calls bool) (written string) {
	w.Text("stop_reason", stopWord(s, calls))
	w.Name("stop_sequence")
	if s.Sequence != "" {
		w.String(s.Sequence)
	} else {
		w.Literal("null")
	}
	if typeOf(s.Details) == "refusal" {
		w.Value("stop_details", s.Details)
		return "stop_details"
	}
	return ""
}

func stopWord(s *rewrite.Stop, calls bool) string {
	var r rewrite.Report
	readStop(splice.AppendString(nil, s.Word), &r)
	if r.Stop == s.Reason && r.Stop != rewrite.StopUnknown && r.Stop != rewrite.StopOther {
		return s.Word
	}
	switch s.Reason {
	case rewrite.StopTools:
		return "tool_use"
	case rewrite.StopLength:
		return "max_tokens"
	case rewrite.StopPause:
		return "pause_turn"
	case rewrite.StopFilter, rewrite.StopRefusal:
		return "refusal"
	case rewrite.StopCompaction:
		return "compaction"
	}
	switch {
	case calls:
		return "tool_use"
	case s.Sequence != "":
		return "stop_sequence"
	}
	return "end_turn"
}

// faultType is this dialect's word for a provider's error.
func faultType(f *rewrite.Fault) string {
	words := strings.ToLower(f.Type + " " + f.Code)
	switch f.Type {
	case "invalid_request_error", "authentication_error", "billing_error", "permission_error", "not_found_error",
		"request_too_large", "conflict_error", "rate_limit_error", "api_error", "timeout_error", "overloaded_error":
		return f.Type
	}
	switch {
	case strings.Contains(words, "rate_limit"), strings.Contains(words, "resource_exhausted"), strings.Contains(words, "quota"), strings.Contains(words, "throttl"):
		return "rate_limit_error"
	case strings.Contains(words, "overloaded"), strings.Contains(words, "unavailable"):
		return "overloaded_error"
	case strings.Contains(words, "timeout"), strings.Contains(words, "deadline"):
		return "timeout_error"
	case strings.Contains(words, "invalid"), strings.Contains(words, "validation"):
		return "invalid_request_error"
	}
	return "api_error"
}
