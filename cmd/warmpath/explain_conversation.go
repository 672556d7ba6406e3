package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"warmpath/gateway/console"
	"warmpath/rewrite/continuity"
)

// explainConversation asks a running gateway what it made of a conversation, or
// of its newest requests if none is named, and prints a line for each request.
func explainConversation(admin, token, conversation string, asJSON bool, stdout io.Writer) error {
	requests, err := fetchRequests(admin, token, conversation)
	if err != nil {
		return err
	}
	slices.Reverse(requests)
	if asJSON {
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(requests)
	}
	if len(requests) == 0 {
		fmt.Fprintln(stdout, "No such request is remembered. The gateway remembers the newest thousand since its start.")
		return nil
	}
	drawRequests(stdout, requests)
	return nil
}

func fetchRequests(admin, token, conversation string) ([]console.Request, error) {
	query := url.Values{"limit": {"1000"}}
	if conversation != "all" {
		query.Set("conversation", conversation)
	}
	if !strings.Contains(admin, "://") {
		admin = "http://" + admin
	}
	req, err := http.NewRequest(http.MethodGet, strings.TrimSuffix(admin, "/")+"/api/requests?"+query.Encode(), nil)
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", admin, err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	client := http.Client{Timeout: 10 * time.Second}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("asking the gateway: %w; give its admin address with --admin", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		return nil, fmt.Errorf("the gateway answered %d: %s", resp.StatusCode, strings.TrimSpace(string(text)))
	}
	var list struct{ Requests []console.Request }
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		return nil, fmt.Errorf("reading the gateway's answer: %w", err)
	}
	return list.Requests, nil
}

// drawRequests prints a bar for each request, with what was done under it.
func drawRequests(to io.Writer, requests []console.Request) {
	paint := coloured(to)
	var most int64 = 1
	for _, r := range requests {
		most = max(most, tokensIn(r).total())
	}
	for _, r := range requests {
		fmt.Fprintf(to, "%6d  %s  %s  %s\n", r.ID, r.Arrived.Local().Format(time.TimeOnly), bar(tokensIn(r), most, paint), r.Model)
		if missed := missedBy(r); missed != "" {
			fmt.Fprintf(to, "        %s\n", paint(2, missed))
		}
		drawChanges(to, r, paint)
		if done := doneTo(r); done != "" {
			fmt.Fprintf(to, "        %s\n", paint(len(inks), done))
		}
	}
	if said := legend(requests, paint); said != "" {
		fmt.Fprintf(to, "\n%s\n", said)
	}
}

// legend says what the marks mean that have been used.
func legend(requests []console.Request, paint func(int, string) string) string {
	var all turnUsage
	used := map[string]bool{}
	for _, r := range requests {
		u := tokensIn(r)
		all.cached, all.written, all.rest = all.cached+u.cached, all.written+u.written, all.rest+u.rest
		for _, change := range shown(r) {
			used[change.Kind] = true
		}
	}
	var said []string
	for i, ink := range []struct {
		tokens int64
		means  string
	}{{all.cached, "from the cache"}, {all.written, "written to it"}, {all.rest, "neither"}} {
		if ink.tokens > 0 {
			said = append(said, paint(i, inks[i].block)+" "+ink.means)
		}
	}
	for _, kind := range []struct{ kind, means string }{
		{"added", "added"}, {"removed", "removed"}, {"changed", "changed"}, {"moved", "moved"}, {"respelled", "the same, written otherwise"},
	} {
		if used[kind.kind] {
			said = append(said, signs[kind.kind]+" "+kind.means)
		}
	}
	return strings.Join(said, "   ")
}

// shown are the changes of a request that are told of. That something is written
// otherwise than before is what agents do all the time: it is told of where the
// cache has missed.
func shown(r console.Request) []console.Change {
	if r.Continuity == nil {
		return nil
	}
	changes := slices.Clone(r.Continuity.Changes)
	if r.Miss == nil {
		changes = slices.DeleteFunc(changes, func(c console.Change) bool { return c.Kind == "respelled" })
	}
	return changes
}

// missedBy says why a request found less in the cache than had been put there.
func missedBy(r console.Request) string {
	m := r.Miss
	if m == nil {
		return ""
	}
	said := m.Reason
	if m.Expected > 0 {
		said = fmt.Sprintf("missed %s of %s cached tokens: %s", thousands(m.Missed), thousands(m.Expected), m.Reason)
	}
	if m.By != "client" {
		said += ", by the " + m.By
	}
	if m.Source == "provider" {
		said += ", says the provider"
	}
	return said
}

// drawChanges lists what the client changed since the turn before.
func drawChanges(to io.Writer, r console.Request, paint func(int, string) string) {
	c, changes := r.Continuity, shown(r)
	if len(changes) == 0 {
		return
	}
	for _, change := range changes {
		line := signs[change.Kind] + " " + change.Path
		if change.Tool != "" {
			line += " " + change.Tool
		}
		if change.At != nil {
			line += fmt.Sprintf(" at byte %d", *change.At)
		}
		fmt.Fprintf(to, "        %s\n", line)
		drawLines(to, "          ", change.Old, "-", func(s string) string { return paint(2, s) })
		drawLines(to, "          ", change.New, "+", func(s string) string { return paint(0, s) })
	}
	if c.Unlisted > 0 {
		fmt.Fprintf(to, "        … %d changes more\n", c.Unlisted)
	}
	if c.Stake > 0 {
		kept := ""
		if c.Saved > 0 {
			kept = ", " + paint(0, thousands(c.Saved)+" read from the cache all the same")
		}
		fmt.Fprintf(to, "        about %s tokens at stake%s\n", thousands(c.Stake), kept)
	}
}

func tokensIn(r console.Request) turnUsage {
	value := func(n *int64) int64 {
		if n == nil {
			return 0
		}
		return *n
	}
	return turnUsage{cached: value(r.Read), written: value(r.Written), rest: value(r.Fresh)}
}

// doneTo says in words what was made of a request; nothing for one that went as
// it came.
func doneTo(r console.Request) string {
	var said []string
	if r.Status >= 400 {
		said = append(said, fmt.Sprintf("status %d (%s)", r.Status, r.Reason))
	}
	c := r.Continuity
	if c == nil {
		return strings.Join(said, ", ")
	}
	add := func(when bool, format string, args ...any) {
		if when {
			said = append(said, fmt.Sprintf(format, args...))
		}
	}
	add(c.Began != "" && c.Began != string(continuity.Fresh), "prefix begins anew: %s", c.Began)
	add(c.FrozenTools, "tools as first sent")
	add(c.FrozenSystem, "system prompt as first sent")
	add(c.Again > 0, "%s as first sent", counted(c.Again, "message"))
	add(c.Effort != "", "effort %s by a message", c.Effort)
	add(len(c.Removed) > 0, "withdraws %s", strings.Join(c.Removed, ", "))
	add(len(c.Added) > 0, "adds %s", strings.Join(c.Added, ", "))
	add(c.Defined > 0, "redefines %s", counted(c.Defined, "tool"))
	add(c.Texts > 0, "says %s of the system prompt", counted(c.Texts, "change"))
	add(c.Asked && r.Diagnosis != "", "the provider says: %s", r.Diagnosis)
	add(c.Observed, "only observed")
	add(len(c.Retreats) > 0, "retreats: %s", strings.Join(c.Retreats, ", "))
	add(c.Repaired, "leaves out thinking of a lost prefix")
	return strings.Join(said, ", ")
}
