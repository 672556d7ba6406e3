package responses

import (
	"slices"
	"strconv"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// Page says which items of a list are asked for.
type Page struct {
	// Ascending gives the oldest first; otherwise the newest come first.
	Ascending bool
	// Limit is the most items to give, and After the item that they come after.
	Limit int
	After string
}

// AppendInputItems appends the list of the items that a reply was asked with: all
// of the past's, and those of its own request. Each has an id, a type and, if it
// is a message, a list of parts, as the vendor gives them.
func AppendInputItems(dst []byte, name string, past []Past, own []byte, find func(id string) []byte, page Page) []byte {
	var ids []string
	var items [][]byte
	base := strings.TrimPrefix(name, "resp"+madeHere)
	splice.Elements(allItems(past, own, find), func(item []byte) bool {
		id, listed := listed(item, "item"+madeHere+base+"_"+strconv.Itoa(len(items)))
		ids, items = append(ids, id), append(items, listed)
		return true
	})
	if !page.Ascending {
		slices.Reverse(ids)
		slices.Reverse(items)
	}
	from := 0
	if page.After != "" {
		from = slices.Index(ids, page.After) + 1
	}
	to := min(len(items), from+page.Limit)
	w := splice.WriteTo(dst)
	w.Literal(`{"object":"list","data":[`)
	for _, item := range items[from:to] {
		w.Raw(item)
	}
	w.Close(']')
	for _, end := range [...]struct {
		name string
		at   int
	}{{"first_id", from}, {"last_id", to - 1}} {
		if from == to {
			w.Name(end.name)
			w.Literal("null")
		} else {
			w.Text(end.name, ids[end.at])
		}
	}
	w.Name("has_more")
	w.Bool(to < len(items))
	w.Close('}')
	return w.Bytes()
}

// listed is an item as lists have it, and its id, which is the given one if it has
// none.
func listed(item []byte, id string) (string, []byte) {
	var i itemFields
	splice.Fields(item, i.set)
	w := splice.Writer{}
	w.Open('{')
	if text := splice.Text(i.id); text != "" {
		id = text
	} else {
		w.Text("id", id)
	}
	if splice.Null(i.kind) {
		w.Literal(`"type":"message"`)
	}
	kind := splice.Text(i.kind)
	splice.Fields(item, func(key, value []byte) bool {
		switch {
		case string(key) == "id" && splice.Empty(value), string(key) == "type" && splice.Null(value):
			return true
		case string(key) == "content" && (kind == "" || kind == "message") && len(value) > 0 && value[0] == '"':
			part := "input_text"
			if splice.Text(i.role) == rewrite.RoleAssistant.String() {
				part = "output_text"
			}
			w.Name("content")
			w.Literal(`[{"type":"` + part + `"`)
			w.Value("text", value)
			if part == "output_text" {
				w.Literal(`"annotations":[]`)
			}
			w.Close('}')
			w.Close(']')
			return true
		}
		w.Name(string(key))
		w.Raw(value)
		return true
	})
	w.Close('}')
	return id, w.Bytes()
}

// AppendDeleted appends the answer to who has a reply forgotten.
func AppendDeleted(dst []byte, name string) []byte {
	w := splice.WriteTo(dst)
	w.Open('{')
	w.Text("id", name)
	w.Literal(`"object":"response","deleted":true}`)
	return w.Bytes()
}
