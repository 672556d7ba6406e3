package main_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The numbered cases of continuity on the Messages API: what changes say (DV),
// where it stands (PL), requests without directives (FL), what stays (SB), what
// models accept (GT), marks (CB), failures seen in other gateways (PB), and what
// agents were seen to do (FB); and those of activities of a provider's own (HA), what
// only it can read (PP), streams and where they end (ST), ranges of sources (RG), what
// is sent back (RP), and usage (US); and of questions as models ask them (NZ), typed
// lines (TL), forms (FM), what comes of them (OC), and what is shown of results (IR),
// what of a tool's result is for whom (AUD), what stands for nothing (PH), and blocks of
// results (BLK); and of prompts: how they are decided and answered (PR), and how they are waited for
// (WT); of what users see of a conversation (UV); and of what models tell them (TU) and
// how that is spliced into replies (WS). Each number is the beginning of
// a test's name.
var numberedCases = map[string]int{
	"DV": 14, "PL": 14, "FL": 7, "SB": 9, "GT": 8, "CB": 5, "PB": 28, "FB": 56,
	"HA": 7, "PP": 6, "ST": 14, "RG": 9, "RP": 8, "US": 5,
	"NZ": 20, "TL": 10, "FM": 10, "OC": 7, "IR": 25,
	"PR": 14, "WT": 12, "UV": 9,
	"AUD": 15, "PH": 8, "BLK": 12, "TU": 8, "WS": 9,
}

// none is for numbers that a list leaves out.
const none = "there is no such case"

// outputs is for what the standard output of a program means, which the gateway never
// reads: its tools are its own and those of tool servers.
const outputs = "the output of a program"

// otherCases are those of the lists that are not proven yet, and why.
var otherCases = map[string]string{
	"PB-08": "marks in Chat Completions", "PB-10": "marks in translations between dialects",
	"PB-09": "routes to several deployments",
	"FB-27": "an agent on Responses", "FB-28": "an agent on Responses", "FB-29": "an agent on Responses", "FB-30": "an agent on Responses",
	"FB-31": "an agent on Responses", "FB-32": "an agent on Responses", "FB-33": "an agent on Responses", "FB-34": "an agent on Responses",
	"FB-35": "an agent on Gemini", "FB-36": "an agent on Gemini", "FB-37": "an agent on Gemini", "FB-38": "an agent on Gemini",
	"FB-39": "an agent on Gemini", "FB-40": "an agent on Gemini", "FB-41": "an agent on Gemini", "FB-42": "an agent on Gemini",
	"FB-54": "an agent on Responses",
	"IR-11": none, "IR-12": none, "IR-13": none, "IR-14": none, "IR-15": none, "IR-16": none, "IR-17": none, "IR-18": none, "IR-19": none,
	"AUD-09": none,
	"BLK-01": outputs, "BLK-02": outputs, "BLK-03": outputs, "BLK-04": outputs, "BLK-09": outputs,
	"WS-01": "vendors' libraries, in a module of their own",
}

var caseNumbers = regexp.MustCompile(`^([A-Z]{2,3}-\d\d[ ,]+)+`)

// TestHouseCases holds the tests against the lists, so that no case is lost.
func TestHouseCases(t *testing.T) {
	tested := map[string]bool{}
	for _, f := range load(t).sources {
		if f.test {
			for _, name := range testNames(f.syntax) {
				for number := range strings.FieldsSeq(caseNumbers.FindString(name)) {
					tested[strings.Trim(number, ",")] = true
				}
			}
		}
	}
	for _, list := range slices.Sorted(maps.Keys(numberedCases)) {
		for n := range numberedCases[list] {
			number := fmt.Sprintf("%s-%02d", list, n+1)
			why, other := otherCases[number]
			switch {
			case other && why == "":
				t.Errorf("case %s is left out without a reason", number)
			case !other && !tested[number]:
				t.Errorf("case %s has no test whose name begins with its number", number)
			}
		}
	}
}

// testNames are the names of subtests in a file: of tables, and of single runs.
// The keys of tables of functions are none: those are moves of random agents.
func testNames(file *ast.File) (names []string) {
	add := func(e ast.Expr) {
		ast.Inspect(e, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if name, err := strconv.Unquote(literal.Value); err == nil {
					names = append(names, name)
				}
			}
			return true
		})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if _, function := n.Value.(*ast.FuncLit); !function {
				add(n.Key)
			}
		case *ast.CompositeLit:
			// The rows of a list of cases begin with their names.
			if len(n.Elts) > 1 && n.Type == nil {
				if name, ok := n.Elts[0].(*ast.BasicLit); ok {
					add(name)
				}
			}
		case *ast.CallExpr:
			if called, ok := n.Fun.(*ast.SelectorExpr); ok && called.Sel.Name == "Run" && len(n.Args) == 2 {
				add(n.Args[0])
			}
		}
		return true
	})
	return names
}
