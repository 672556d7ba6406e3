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

// results are what responses of functions hold, in a request to generate, in one that
// wraps it, or in a batch of them.
func results(body []byte) (all []audience.Result) {
	w := splice.Walk(body)
	contents := func(name string) {
		if name == "contents" {
			all = resultsIn(&w, all)
		}
	}
	within(&w, func(name string) {
		switch name {
		case "contents":
			all = resultsIn(&w, all)
		case "generateContentRequest":
			within(&w, contents)
		case "batch":
			beneath(&w, []string{"inputConfig", "requests", "requests"}, func() {
				each(&w, func() { beneath(&w, []string{"request"}, func() { all = resultsOf(&w, all) }) })
			})
		}
	})
	return all
}

// resultsOf adds those in the request of a batch that a walker stands at.
func resultsOf(w *splice.Walker, all []audience.Result) []audience.Result {
	first := len(all)
	var model []byte
	within(w, func(name string) {
		switch name {
		case "model":
			model = w.Value()
		case "contents":
			all = resultsIn(w, all)
		}
	})
	for i := range all[first:] {
		all[first+i].Model = model
	}
	return all
}

// beneath reads what stands under names, one in the other.
func beneath(w *splice.Walker, names []string, read func()) {
	if len(names) == 0 {
		read()
		return
	}
	within(w, func(name string) {
		if name == names[0] {
			beneath(w, names[1:], read)
		}
	})
}

// resultsIn adds what the responses in contents hold.
func resultsIn(w *splice.Walker, all []audience.Result) []audience.Result {
	each(w, func() {
		within(w, func(name string) {
			if name != "parts" {
				return
			}
			each(w, func() {
				within(w, func(name string) {
					if name == "functionResponse" {
						all = resultOf(w, all)
					}
				})
			})
		})
	})
	return all
}

// each reads the elements of a list, or the one that stands without.
func each(w *splice.Walker, read func()) {
	if w.Next() == '{' {
		read()
		return
	}
	w.Elements(read)
}

// resultOf adds what a response holds: what the function gave, and the media beside
// it, in their order.
func resultOf(w *splice.Walker, all []audience.Result) []audience.Result {
	var of audience.Result
	first := len(all)
	within(w, func(name string) {
		switch start := w.Offset(); name {
		case "id":
			of.Call = w.Value()
		case "response":
			if audience.Skim(w, foreign) {
				value := w.Since(start)
				r := audience.Result{Value: rewrite.Span{Start: start, End: w.Offset()}, Free: true, Failed: failedIn(value)}
				if splice.Empty(value) {
					of.Instead = r.Value
				}
				all = append(all, r)
			}
		case "parts":
			if w.Next() == '[' && audience.Skim(w, foreign) {
				all = append(all, audience.Result{Value: rewrite.Span{Start: start, End: w.Offset()}, Bare: true})
			}
		}
	})
	for i := first; i < len(all); i++ {
		if r := &all[i]; r.Bare {
			r.Call, r.Instead = of.Call, of.Instead
		} else {
			r.Call = of.Call
		}
	}
	return all
}

// failedIn reports what a function gave to be an error.
func failedIn(response []byte) (failed bool) {
	members(response, func(name string, value []byte) {
		failed = failed || name == "error" || name == "isError" && string(value) == "true"
	})
	return failed
}
