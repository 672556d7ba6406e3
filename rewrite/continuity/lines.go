package continuity

import (
	"slices"
	"strings"
)

// maxTable bounds the work of comparing two texts: beyond as many pairs of
// lines the part between the first and the last difference is one hunk.
const maxTable = 1 << 18

// compare finds where two texts differ, line by line, in order. Lines are what
// agents change: a date, a status, a rule.
func compare(old, new string) []hunk {
	a, b := strings.Split(old, "\n"), strings.Split(new, "\n")
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	endA, endB := len(a), len(b)
	for endA > start && endB > start && a[endA-1] == b[endB-1] {
		endA, endB = endA-1, endB-1
	}
	a, b = a[start:endA], b[start:endB]
	if len(a) == 0 && len(b) == 0 {
		return nil
	}
	if len(a)*len(b) > maxTable {
		return trimmed([]hunk{{strings.Join(a, "\n"), strings.Join(b, "\n")}})
	}
	return trimmed(table(a, b))
}

// trimmed drops hunks of which nothing but empty lines is left: they say
// nothing to the model.
func trimmed(hunks []hunk) []hunk {
	return slices.DeleteFunc(hunks, func(h hunk) bool {
		return strings.TrimSpace(h.old) == "" && strings.TrimSpace(h.new) == ""
	})
}

// table compares by the longest common subsequence.
func table(a, b []string) []hunk {
	width := len(b) + 1
	longest := make([]int32, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i*width+j] = longest[(i+1)*width+j+1] + 1
			} else {
				longest[i*width+j] = max(longest[(i+1)*width+j], longest[i*width+j+1])
			}
		}
	}
	var hunks []hunk
	var old, new []string
	flush := func() {
		if len(old)+len(new) > 0 {
			hunks = append(hunks, hunk{strings.Join(old, "\n"), strings.Join(new, "\n")})
		}
		old, new = nil, nil
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			flush()
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && longest[(i+1)*width+j] >= longest[i*width+j+1]:
			old = append(old, a[i])
			i++
		default:
			new = append(new, b[j])
			j++
		}
	}
	flush()
	return hunks
}
