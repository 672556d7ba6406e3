package gemini

import (
	"warmpath/rewrite"
	"warmpath/rewrite/audience"
	"warmpath/rewrite/splice"
)

// Audience is how results of tools stand in a request. What a function gives is an
// object of its own, so most blocks stand there as they came.
var Audience = audience.Words{
	Results: results,
	Foreign: foreign,
	Write: func(dst []byte, p *rewrite.Part) ([]byte, bool) {
		if p.Kind != rewrite.PartText {
			return dst, false
		}
		w := splice.WriteTo(dst)
		w.Open('{')
		w.Text("type", "text")
		w.Name("text")
		w.String(p.Text)
		w.Close('}')
		return w.Bytes(), true
	},
}

// foreign are the kinds of blocks that this dialect writes otherwise.
var foreign = []string{"resource"}

// results yields what each response of a function holds, in a request to generate
// or in one that wraps it.
func results(body []byte, yield func(audience.Result)) {
	w := splice.Walk(body)
	within(&w, func(name string) {
		switch name {
		case "contents":
			resultsIn(&w, yield)
		case "generateContentRequest":
			within(&w, func(name string) {
				if name == "contents" {
					resultsIn(&w, yield)
				}
			})
		}
	})
}

// resultsIn yields what the responses in contents hold.
func resultsIn(w *splice.Walker, yield func(audience.Result)) {
	each := func(read func()) {
		if w.Next() == '{' { // one may stand without a list
			read()
			return
		}
		w.Elements(read)
	}
	each(func() {
		within(w, func(name string) {
			if name != "parts" {
				return
			}
			each(func() {
				within(w, func(name string) {
					if name == "functionResponse" {
						resultOf(w, yield)
					}
				})
			})
		})
	})
}

// resultOf yields what a response holds: what the function gave, and the media
// beside it.
func resultOf(w *splice.Walker, yield func(audience.Result)) {
	var r audience.Result
	var given, beside []rewrite.Span
	within(w, func(name string) {
		switch start := w.Offset(); name {
		case "id":
			r.Call = w.Value()
		case "response":
			if audience.Skim(w, foreign) {
				given = append(given, rewrite.Span{Start: start, End: w.Offset()})
				r.Failed = failedIn(w.Since(start))
			}
		case "parts":
			if w.Next() == '[' && audience.Skim(w, foreign) {
				beside = append(beside, rewrite.Span{Start: start, End: w.Offset()})
			}
		}
	})
	yieldIn := func(spans []rewrite.Span, of audience.Result) {
		for _, of.Value = range spans {
			yield(of)
		}
	}
	with := r
	with.Bare, r.Free = true, true
	if len(given) > 0 && splice.Empty(w.Text(given[0])) {
		with.Instead = given[0]
	}
	// A result changes nothing that stands before the one that was yielded last.
	if len(given) > 0 && len(beside) > 0 && beside[0].Start < given[0].Start {
		yieldIn(beside, with)
		yieldIn(given, r)
		return
	}
	yieldIn(given, r)
	yieldIn(beside, with)
}

// failedIn reports what a function gave to be an error.
func failedIn(response []byte) (failed bool) {
	members(response, func(name string, value []byte) {
		failed = failed || name == "error" || (name == "isError") && string(value) == "true"
	})
	return failed
}
