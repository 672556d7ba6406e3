package converse

import (
	"slices"
	"strings"
)

// family is whose model it is: some settings have a place of their own in the
// dialect, others are members of the vendor's own request.
type family uint8

const (
	familyClaude family = iota
	familyNova
	familyOther
)

// regions are what stands before the vendor where a model is served from several
// regions.
var regions = []string{"us", "us-gov", "eu", "apac", "ap", "jp", "au", "ca", "sa", "me", "af", "il", "global"}

// familyOf tells the family by the vendor in a model's name. Names that have none,
// such as those of application inference profiles, are taken for Claude's: that
// they hold a word or not says nothing.
func familyOf(model string) family {
	model = model[strings.LastIndexByte(model, '/')+1:]
	vendor, rest, dotted := strings.Cut(model, ".")
	if dotted && slices.Contains(regions, vendor) {
		vendor, _, dotted = strings.Cut(rest, ".")
	}
	switch {
	case !dotted, vendor == "anthropic":
		return familyClaude
	case vendor == "amazon":
		return familyNova
	}
	return familyOther
}
