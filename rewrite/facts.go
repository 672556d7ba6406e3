package rewrite

// Span is a half-open range of byte offsets into a request body.
type Span struct{ Start, End int }

// Len is the number of bytes in the span.
func (s Span) Len() int { return s.End - s.Start }

// Facts is what routing needs to know of a request, read without decoding it.
type Facts struct {
	// Model is the model as the client named it, unescaped; empty when absent.
	Model string
	// ModelSpan covers the JSON string of the model, quotes included, so that
	// it can be replaced in place. It is empty where the model stands in the
	// path.
	ModelSpan Span
	// Stream says that the client asked for server-sent events.
	Stream bool
}
