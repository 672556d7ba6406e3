package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	"warmpath/gateway/catalog"
	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/continuity"
	"warmpath/rewrite/splice"
)

const explainUsage = `usage: warmpath explain [flags] OLDER.json NEWER.json
       warmpath explain [flags] --conversation ID

Compares two successive Messages request bodies of one conversation: what
differs, where the provider's prompt cache breaks, how many tokens are processed
again for it, and what the gateway would send instead. Nothing leaves this
machine.

With --conversation it asks a running gateway what it made of each request of a
conversation, whose name is in the reply header warmpath-conversation, or of all
requests with the name all.

`

// explain compares two requests offline.
func explain(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("explain", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "print JSON for tools")
	conversation := flags.String("conversation", "", "ask a running gateway about this conversation")
	admin := flags.String("admin", cmp.Or(os.Getenv("WARMPATH_ADMIN"), "127.0.0.1:9464"), "the gateway's admin `address`")
	if code, ok := parseFlags(flags, explainUsage, args, stdout, stderr); !ok {
		return code
	}
	if *conversation != "" {
		if err := explainConversation(*admin, os.Getenv("WARMPATH_ADMIN_TOKEN"), *conversation, *asJSON, stdout); err != nil {
			fmt.Fprintln(stderr, "warmpath explain:", err)
			return exitFailure
		}
		return exitOK
	}
	if flags.NArg() != 2 {
		fmt.Fprintln(stderr, "warmpath explain: wants two files, the older request and the newer; see warmpath help explain")
		return exitUsage
	}
	e, err := explainFiles(flags.Arg(0), flags.Arg(1))
	if err != nil {
		fmt.Fprintln(stderr, "warmpath explain:", err)
		return exitFailure
	}
	if *asJSON {
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(e); err != nil {
			return exitFailure
		}
		return exitOK
	}
	drawExplanation(stdout, e)
	return exitOK
}

// explanation is what explain found, as it is printed for tools.
type explanation struct {
	Differences []explainedDifference `json:"differences"`
	// Common and Newer count messages.
	Common int `json:"messages_in_common"`
	Newer  int `json:"messages_newer"`
	// Breaks is the path where the prefix breaks, empty if it does not.
	Breaks string `json:"prefix_breaks_at,omitempty"`
	Reason string `json:"reason,omitempty"`
	// The tokens are estimates, four bytes each.
	TokensKept int64 `json:"tokens_kept"`
	TokensLost int64 `json:"tokens_lost"`
	// Through is what the gateway would do.
	Through explainedPlan `json:"through_warmpath"`
}

type explainedDifference struct {
	Tier string `json:"tier"`
	Path string `json:"path"`
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"`
	Old  string `json:"old,omitempty"`
	New  string `json:"new,omitempty"`
}

type explainedPlan struct {
	// Keeps says that the prefix stays as it was.
	Keeps  bool   `json:"keeps_prefix"`
	Reason string `json:"reason,omitempty"`
	Frozen bool   `json:"frozen"`
	// Directive is the message that is appended, if any.
	Directive json.RawMessage `json:"directive,omitempty"`
	Tokens    int64           `json:"tokens_appended"`
}

func explainFiles(olderFile, newerFile string) (*explanation, error) {
	older, olderFacts, err := readRequest(olderFile)
	if err != nil {
		return nil, err
	}
	newer, newerFacts, err := readRequest(newerFile)
	if err != nil {
		return nil, err
	}
	c := continuity.Compare(olderFacts, newerFacts, func(old bool, span rewrite.Span) string {
		if old {
			return splice.Text(older[span.Start:span.End])
		}
		return splice.Text(newer[span.Start:span.End])
	})
	e := &explanation{
		Common: c.Common, Newer: c.Newer, TokensKept: tokensOf(c.Kept), TokensLost: tokensOf(c.Lost),
		Differences: []explainedDifference{}, Through: planned(older, newer, olderFacts, newerFacts, c),
	}
	for _, d := range c.Differences {
		e.Differences = append(e.Differences, explainedDifference{string(d.Tier), d.Path, d.Kind, d.Name, d.Old, d.New})
	}
	if c.Breaks != nil {
		e.Breaks, e.Reason = c.At, string(c.Breaks.Tier)+"_changed"
	}
	return e, nil
}

// tokensOf estimates tokens from bytes of JSON.
func tokensOf(n int) int64 { return int64(n+2) / 4 }

func readRequest(file string) ([]byte, *continuity.Facts, error) {
	body, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	body = bytes.TrimSpace(body)
	if fault := splice.Valid(body); fault != nil {
		return nil, nil, fmt.Errorf("%s is not JSON: %w", file, fault)
	}
	facts, err := anthropic.ReadFacts(body)
	if err != nil {
		return nil, nil, fmt.Errorf("%s does not read as a Messages request: %w; give two bodies of POST /v1/messages", file, err)
	}
	return body, facts, nil
}

// planned asks the planner for the newer request, as if the older one had just
// been answered. Abilities are those of the model at its vendor's own endpoint.
func planned(older, newer []byte, olderFacts, newerFacts *continuity.Facts, c *continuity.Comparison) explainedPlan {
	if c.Breaks != nil && (c.Breaks.Tier == continuity.TierModel || c.Breaks.Tier == continuity.TierMessages) {
		return explainedPlan{Reason: string(c.Breaks.Tier) + "_changed"}
	}
	p, _ := catalog.Default().Provider("anthropic")
	able := p.Abilities(newerFacts.Model)
	kept := map[continuity.Hash]string{}
	for _, section := range olderFacts.Sections {
		kept[section.Exact] = splice.Text(older[section.Text.Start:section.Text.End])
	}
	var rendered []byte
	plan := continuity.Continue(continuity.Begin("", nil, continuity.Fresh, olderFacts, able).Next, newerFacts, able, continuity.Reader{
		Now:  func(span rewrite.Span) string { return splice.Text(newer[span.Start:span.End]) },
		Kept: func(hash continuity.Hash) (string, bool) { text, ok := kept[hash]; return text, ok },
		Render: func(d *continuity.Directive) []byte {
			directive := anthropic.Directive{Texts: d.Texts, Remove: d.Remove, Add: d.Add}
			for _, span := range d.Define {
				directive.Define = append(directive.Define, newer[span.Start:span.End])
			}
			rendered = anthropic.Render(directive)
			return rendered
		},
	})
	if plan.Epoch != continuity.None {
		return explainedPlan{Reason: string(plan.Epoch)}
	}
	return explainedPlan{
		Keeps: true, Frozen: plan.Tools != nil || plan.Sections != nil,
		Directive: rendered, Tokens: tokensOf(len(rendered)),
	}
}
