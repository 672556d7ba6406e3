package gemini

import (
	"strconv"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// end writes the last frame, or the document.
func (n *Encoder) end(e *rewrite.Event) {
	n.ended = true
	if !n.whole {
		n.dst = append(n.dst, "data: "...)
	}
	w := splice.WriteTo(n.dst)
	w.Open('{')
	w.Name("candidates")
	w.Open('[')
	w.Open('{')
	w.Name("content")
	w.Open('{')
	w.Name("parts")
	w.Open('[')
	if parts := n.parts.Bytes(); len(parts) > 0 {
		w.Raw(parts)
	} else {
		w.Literal(`{"text":""}`)
	}
	w.Close(']')
	w.Literal(`"role":"model"`)
	w.Close('}')
	w.Text("finishReason", finishWord(&e.Stop))
	n.cites.write(&w)
	if e.Reply != nil {
		n.extra = append(n.extra, e.Reply.Extra...)
	}
	for _, m := range n.extra {
		switch m.Name {
		case "continuationToken", "citationMetadata":
			w.Value(m.Name, m.Value)
		}
	}
	writeOwn(&w, n.extra, ofCandidate)
	w.Literal(`"index":0`)
	w.Close('}')
	w.Close(']')
	writeUsage(&w, &n.usage, rewrite.Gemini.Owned(n.extra, "usageMetadata"))
	n.names(&w)
	writeOwn(&w, n.extra, "")
	w.Close('}')
	if n.dst = w.Bytes(); !n.whole {
		n.dst = append(n.dst, "\n\n"...)
	}
}

// fail ends the reply with an error of the provider's.
func (n *Encoder) fail(f *rewrite.Fault) {
	n.ended = true
	code, word := faultStatus(f)
	if !n.whole {
		n.dst = append(n.dst, "data: "...)
	}
	w := splice.WriteTo(n.dst)
	w.Open('{')
	w.Name("error")
	w.Open('{')
	w.Name("code")
	w.Int(int64(code))
	w.Name("message")
	w.String(f.Message)
	w.Text("status", word)
	w.Close('}')
	w.Close('}')
	if n.dst = w.Bytes(); !n.whole {
		n.dst = append(n.dst, "\n\n"...)
	}
}

// faultStatus is this dialect's number and word for a provider's error.
func faultStatus(f *rewrite.Fault) (code int, word string) {
	if code, err := strconv.Atoi(f.Code); err == nil && 400 <= code && code < 600 {
		if f.Type != "" && f.Type == strings.ToUpper(f.Type) {
			return code, f.Type
		}
		return code, statusWord(code)
	}
	words := strings.ToLower(f.Type + " " + f.Code)
	code = 500
	switch {
	case strings.Contains(words, "rate_limit"), strings.Contains(words, "exhausted"), strings.Contains(words, "quota"), strings.Contains(words, "throttl"):
		code = 429
	case strings.Contains(words, "overloaded"), strings.Contains(words, "unavailable"):
		code = 503
	case strings.Contains(words, "timeout"), strings.Contains(words, "deadline"):
		code = 504
	case strings.Contains(words, "invalid"), strings.Contains(words, "validation"):
		code = 400
	}
	return code, statusWord(code)
}

// finishWord is why a reply has ended, in this dialect's words.
func finishWord(s *rewrite.Stop) string {
	r := rewrite.Report{ToolCall: s.Reason == rewrite.StopTools}
	readFinish(splice.AppendString(nil, s.Word), &r)
	if r.Stop == s.Reason && r.Stop != rewrite.StopUnknown && s.Word == strings.ToUpper(s.Word) {
		return s.Word
	}
	switch s.Reason {
	case rewrite.StopLength:
		return "MAX_TOKENS"
	case rewrite.StopFilter, rewrite.StopRefusal:
		return "SAFETY"
	case rewrite.StopMalformed:
		return "MALFORMED_FUNCTION_CALL"
	case rewrite.StopOther, rewrite.StopError:
		return "OTHER"
	}
	return "STOP"
}

// writeUsage writes what was used. This dialect counts thoughts apart from the
// answer, and what hosted tools have added apart from the prompt. What a provider of
// this dialect has said besides is added.
func writeUsage(w *splice.Writer, u *rewrite.Usage, own []byte) {
	if !u.Known() {
		return
	}
	count := func(name string, c rewrite.Count) {
		if c.Known {
			w.Name(name)
			w.Int(c.N)
		}
	}
	w.Name("usageMetadata")
	w.Open('{')
	count("promptTokenCount", less(u.InputTotal, u.ToolInput))
	count("cachedContentTokenCount", u.CacheRead)
	count("toolUsePromptTokenCount", u.ToolInput)
	count("candidatesTokenCount", less(u.OutputTotal, u.Reasoning))
	count("thoughtsTokenCount", u.Reasoning)
	count("totalTokenCount", u.InputTotal.Plus(u.OutputTotal))
	w.Rest(own, usageMembers...)
	w.Close('}')
}
