package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/continuity"
	"warmpath/rewrite/splice"
)

const explainUsage = `usage: warmpath explain [flags] FILE...
       warmpath explain [flags] OLDER.json NEWER.json
       warmpath explain [flags] --conversation ID

Reports how the requests of a past session met the provider's prompt cache:
which turn broke it, what had changed, what that cost, and what the gateway
would have made of it. FILE is a log with a request on each line (.jsonl), a
HAR file, a folder with such files, a tape, or - for the standard input; .gz is
unpacked. Requests of Messages, Chat Completions, Responses and Gemini are told
by their shape, and put together to conversations. Where the log has the
provider's numbers they are what counts; the others are estimates. Nothing
leaves this machine.

With two .json files it compares two successive Messages request bodies of one
conversation in detail: what differs, where the prefix breaks, how many tokens
are processed again, and what the gateway would send instead, or why it would
take the newer one for another conversation.

With --conversation it asks a running gateway what it made of each request of a
conversation, whose name is in the reply header warmpath-conversation, or of all
requests with the name all.

The exit code is 0, or 1 if nothing could be read, 2 for a wrong command line,
and 3 if a turn broke the prefix and --fail-on-break is given.

`

// explain reports on a past session, compares two requests, or asks a gateway.
func explain(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("explain", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "print JSON for tools")
	conversation := flags.String("conversation", "", "ask a running gateway about this conversation")
	failOnBreak := flags.Bool("fail-on-break", false, "exit with 3 if a turn broke the prefix, for CI")
	all := flags.Bool("all", false, "draw every turn of a large log, not only those that broke")
	client := flags.Bool("client", false, "of a tape, report on what clients sent, not on what the gateway made of it")
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
	if flags.NArg() == 0 {
		fmt.Fprintln(stderr, "warmpath explain: wants a log, or two files, the older request and the newer; see warmpath help explain")
		return exitUsage
	}
	if !pair(flags.Args()) {
		return explainSession(flags.Args(), sessionFlags{json: *asJSON, failOnBreak: *failOnBreak, all: *all, client: *client}, os.Stdin, stdout, stderr)
	}
	e, err := explainFiles(flags.Arg(0), flags.Arg(1))
	if err != nil {
		fmt.Fprintln(stderr, "warmpath explain:", err)
		if _, other := errors.AsType[*otherDialect](err); other {
			return exitUsage
		}
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
	// Tiers are the same by part of the older prompt, in its order.
	Tiers []explainedTier `json:"tiers"`
	// Through is what the gateway would do.
	Through explainedPlan `json:"through_warmpath"`
}

type explainedTier struct {
	Tier string `json:"tier"`
	Kept int64  `json:"tokens_kept"`
	Lost int64  `json:"tokens_lost"`
}

type explainedDifference struct {
	Tier string `json:"tier"`
	Path string `json:"path"`
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"`
	// At is the byte of the newer file at which the two differ first, or of the
	// older one for what is gone; null beside the prompt. Bytes is the size of the
	// element, and Tokens an estimate of that.
	At     *int  `json:"at_byte"`
	Bytes  int   `json:"bytes,omitempty"`
	Tokens int64 `json:"tokens,omitempty"`
	// Old and New are the lines of a text that differ, or what stands around the
	// difference.
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`
}

type explainedPlan struct {
	// Keeps says that the prefix stays as it was.
	Keeps  bool   `json:"keeps_prefix"`
	Reason string `json:"reason,omitempty"`
	Frozen bool   `json:"frozen"`
	// Apart says that the request goes out as it came, as a conversation of its own.
	Apart bool `json:"apart"`
	// Does says in words what the gateway would do.
	Does []string `json:"does"`
	// Assumes says what cannot be known from two bodies.
	Assumes []string `json:"assumes,omitempty"`
	// Directives are the messages that are appended, if any.
	Directives []json.RawMessage `json:"directives,omitempty"`
	Tokens     int64             `json:"tokens_appended"`
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
		e.Differences = append(e.Differences, located(d, older, newer))
	}
	for _, w := range c.Tiers {
		e.Tiers = append(e.Tiers, explainedTier{string(w.Tier), tokensOf(w.Kept), tokensOf(w.Lost)})
	}
	if c.Breaks != nil {
		e.Breaks, e.Reason = c.At, string(c.Breaks.Tier)+"_changed"
	}
	return e, nil
}

// excerpt is how many bytes are shown on either side of a difference.
const excerpt = 40

// located finds where in the files a difference stands, and what stands there
// where the difference does not say it in lines.
func located(d continuity.Difference, older, newer []byte) explainedDifference {
	e := explainedDifference{Tier: string(d.Tier), Path: d.Path, Kind: d.Kind, Name: d.Name, Old: d.Old, New: d.New}
	before, after := older[d.Before.Start:d.Before.End], newer[d.After.Start:d.After.End]
	element, start, at := after, d.After.Start, 0
	switch {
	case len(after) == 0 && len(before) == 0:
		return e
	case len(after) == 0:
		element, start = before, d.Before.Start
	case len(before) > 0 && d.Kind != "moved":
		var was int
		at, was = anthropic.FirstDifference(before, after)
		if d.Old+d.New == "" {
			e.Old, e.New = around(before, was), around(after, at)
		}
	}
	at += start
	e.At, e.Bytes, e.Tokens = &at, len(element), tokensOf(len(element))
	return e
}

// around is what stands around a place, on one line.
func around(text []byte, at int) string {
	from, to := max(0, at-excerpt), min(len(text), at+excerpt)
	cut := strings.ToValidUTF8(string(text[from:to]), "�")
	if from > 0 {
		cut = "…" + cut
	}
	if to < len(text) {
		cut += "…"
	}
	return strings.ReplaceAll(cut, "\n", " ")
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
	if dialect := dialectOf(body); dialect != "Messages" {
		return nil, nil, &otherDialect{file, dialect}
	}
	facts, err := anthropic.ReadFacts(body)
	if err != nil {
		return nil, nil, fmt.Errorf("%s does not read as a Messages request: %w; give two bodies of POST /v1/messages", file, err)
	}
	return body, facts, nil
}
