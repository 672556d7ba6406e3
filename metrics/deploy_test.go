package metrics_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"warmpath/metrics"
)

// described is a registerer that keeps the names of what it is given: a metric
// whose labels have no values yet is not gathered.
type described struct {
	prometheus.Registerer
	names map[string]bool
}

var descName = regexp.MustCompile(`^Desc\{fqName: "([^"]+)"`)

func (d *described) MustRegister(collectors ...prometheus.Collector) {
	for _, c := range collectors {
		found := make(chan *prometheus.Desc, 64)
		c.Describe(found)
		close(found)
		for desc := range found {
			d.names[descName.FindStringSubmatch(desc.String())[1]] = true
		}
	}
	d.Registerer.MustRegister(collectors...)
}

// identifiers are the names in PromQL. Recorded ones have colons, ours one of two
// beginnings.
var (
	identifiers = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`)
	ours        = regexp.MustCompile(`^(warmpath|gen_ai_client)_`)
	suffixes    = regexp.MustCompile(`_(bucket|sum|count)$`)
)

// Dashboards and rules show what is exported, all of it, and nothing else. That
// their expressions are right is tested in fixtures/deployment, by Prometheus.
func TestDashboardsAndRulesShowEachMetric(t *testing.T) {
	d := &described{prometheus.NewRegistry(), map[string]bool{}}
	metrics.New(d, nil, nil)
	used := map[string]bool{}
	for _, expr := range slices.Concat(panelQueries(t), ruleQueries(t)) {
		for _, name := range identifiers.FindAllString(expr, -1) {
			if !ours.MatchString(name) {
				continue
			}
			used[suffixes.ReplaceAllString(name, "")] = true
			if !d.names[name] && !d.names[suffixes.ReplaceAllString(name, "")] {
				t.Errorf("nothing exports %s, which is asked for by %s", name, expr)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.names)) {
		if !used[name] {
			t.Errorf("%s is exported, and no panel of deploy/grafana and no rule of deploy/prometheus uses it: give it a panel in fixtures/deployment and write the dashboards with go test -run Dashboards -update there, or remove the metric", name)
		}
	}
}

// panelQueries are the expressions of all panels.
func panelQueries(t *testing.T) (exprs []string) {
	t.Helper()
	for _, file := range files(t, "grafana/*.json") {
		var board struct {
			Panels []struct{ Targets []struct{ Expr string } }
		}
		if err := json.Unmarshal(file, &board); err != nil {
			t.Fatal(err)
		}
		for _, panel := range board.Panels {
			for _, target := range panel.Targets {
				exprs = append(exprs, target.Expr)
			}
		}
	}
	return exprs
}

// exprOf is the expression of a rule: what stands behind the word, and the lines
// below that stand further to the right.
var exprOf = regexp.MustCompile(`(?m)^ {8}expr: (.*\n(?: {9,}\S.*\n)*)`)

// ruleQueries are the expressions of all rules. These are files of YAML, which
// this package has no library for; that nothing is missed is seen by their number.
func ruleQueries(t *testing.T) (exprs []string) {
	t.Helper()
	for _, file := range files(t, "prometheus/*.rules.yml") {
		found := exprOf.FindAllStringSubmatch(string(file), -1)
		if n := len(regexp.MustCompile(`- (record|alert): `).FindAll(file, -1)); n == 0 || n != len(found) {
			t.Fatalf("found %d expressions of %d rules", len(found), n)
		}
		for _, parts := range found {
			exprs = append(exprs, parts[1])
		}
	}
	return exprs
}

func files(t *testing.T, pattern string) (texts [][]byte) {
	t.Helper()
	names, err := filepath.Glob("../deploy/" + pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("found %d files like %s: %v", len(names), pattern, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.TrimSpace(string(text)) == "" {
			t.Fatalf("%s is empty", name)
		}
		texts = append(texts, text)
	}
	return texts
}
