package gateway_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"warmpath/fixtures/series"
	"warmpath/gateway/catalog"
)

// The README has a row for every metric, with how many series it can have at most,
// and their sum for the providers and models that are built in.
func TestReadmeCountsEverySeries(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Metrics\n")
	section, _, _ = strings.Cut(section, "\n### ")
	builtin := catalog.Default()
	all := series.Metrics(&series.Names{Providers: builtin.Providers(), Models: builtin.Models(), Servers: []string{"one"}})
	formulas, total, byModel := map[string]string{}, 0, 0
	for i := range all {
		formulas[all[i].Name], total = all[i].Formula(), total+all[i].Most()
		if strings.Contains(all[i].Formula(), " m") {
			byModel += all[i].Most()
		}
	}
	named := regexp.MustCompile("`((?:warmpath|gen_ai)_[a-z_]+)")
	var seen []string
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if !strings.HasPrefix(line, "| `") || len(cells) != 5 {
			continue
		}
		var want []string
		for _, name := range named.FindAllStringSubmatch(cells[1], -1) {
			seen = append(seen, name[1])
			want = append(want, formulas[name[1]])
		}
		if got := strings.TrimSpace(cells[2]); got != strings.Join(want, ", ") {
			t.Errorf("%s: %s series are said, want %s", cells[1], got, strings.Join(want, ", "))
		}
	}
	for i := range all {
		if n := len(slices.DeleteFunc(slices.Clone(seen), func(name string) bool { return name != all[i].Name })); n != 1 {
			t.Errorf("%s is in %d rows", all[i].Name, n)
		}
	}
	if len(seen) != len(all) {
		t.Errorf("there are %d metrics in the README, and %d", len(seen), len(all))
	}
	pairs := (len(builtin.Providers()) + 1) * (len(builtin.Models()) + 1)
	for _, want := range []string{
		fmt.Sprintf("%d providers and %d models", len(builtin.Providers()), len(builtin.Models())),
		fmt.Sprintf("%d series for a provider and a model", byModel/pairs),
		fmt.Sprintf("%d in all", total), fmt.Sprintf("%d of them", total-byModel),
	} {
		if !strings.Contains(section, want) {
			t.Errorf("the README does not say %q", want)
		}
	}
}
