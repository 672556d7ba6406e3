package metrics

import (
	"slices"
	"strings"
)

// The labels of names outside a closed set.
const (
	labelNone  = "none"
	labelOther = "other"
)

// names is a closed set of label values, each with its index. Its strings are
// its own: the text of a request must not outlive it.
type names struct {
	list  []string
	index map[string]int
}

const (
	indexNone = iota
	indexOther
)

func newNames(given []string) names {
	n := names{list: []string{labelNone, labelOther}, index: make(map[string]int, len(given)+2)}
	sorted := slices.Clone(given)
	slices.Sort(sorted)
	for _, name := range slices.Compact(sorted) {
		if name != "" && name != labelNone && name != labelOther {
			n.list = append(n.list, strings.Clone(name))
		}
	}
	for i, name := range n.list {
		n.index[name] = i
	}
	return n
}

// within panics on a word outside a closed set: what is counted under it would stay
// in memory for ever.
func within(set []string, word string) {
	if !slices.Contains(set, word) {
		panic("BUG: a label outside its closed set: " + word)
	}
}

// find is the index of a name: none for the empty one, other for a strange one.
func (n *names) find(name string) int {
	if name == "" {
		return indexNone
	}
	if i := n.index[name]; i != indexNone {
		return i
	}
	return indexOther // And so is who is called none.
}

// findModel is find for a model as a provider reports it, where a dated
// snapshot counts as the model itself.
func (n *names) findModel(name string) int {
	i := n.find(name)
	if i == indexOther {
		if base := undated(name); base != "" {
			return n.find(base)
		}
	}
	return i
}

// The forms in which providers date a model; 0 stands for a digit.
var dates = [...]string{"-0000-00-00", "-00000000", "@00000000", "-0000", "-000"}

// undated is a model's name without the date or serial number at its end, and
// empty if there is none.
func undated(name string) string {
	for _, form := range dates {
		if cut := len(name) - len(form); cut > 0 && hasForm(name[cut:], form) {
			return name[:cut]
		}
	}
	return ""
}

func hasForm(s, form string) bool {
	for i := range len(form) {
		if digit := s[i] >= '0' && s[i] <= '9'; digit != (form[i] == '0') || !digit && s[i] != form[i] {
			return false
		}
	}
	return true
}
