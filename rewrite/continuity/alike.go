package continuity

import "strings"

// likest is the index of the text that shares the most lines with another, or
// -1 if none shares a quarter of them.
func likest(among []string, text string) int {
	best, most := -1, 0.25
	for i, candidate := range among {
		if share := common(candidate, text); share >= most {
			best, most = i, share
		}
	}
	return best
}

// common is the share of bytes that two texts have in common, from 0 to 1: whole
// lines wherever they stand, or what they begin and end with, whichever is more.
func common(a, b string) float64 {
	if a == b {
		return 1
	}
	total := max(len(a), len(b))
	count := make(map[string]int)
	for line := range strings.Lines(a) {
		count[strings.TrimRight(line, "\n")]++
	}
	shared := 0
	for line := range strings.Lines(b) {
		if line := strings.TrimRight(line, "\n"); count[line] > 0 {
			count[line]--
			shared += len(line) + 1
		}
	}
	return float64(max(min(shared, total), ends(a, b))) / float64(max(total, 1))
}

// ends is how many bytes two texts begin and end with alike.
func ends(a, b string) int {
	shorter := min(len(a), len(b))
	start := 0
	for start < shorter && a[start] == b[start] {
		start++
	}
	end := 0
	for end < shorter-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	return start + end
}
