package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"warmpath/cmd/warmpath/watch"
	"warmpath/fixtures/session/imports"
	"warmpath/fixtures/session/report"
)

// sessionFlags are the flags that only a report takes.
type sessionFlags struct {
	json, failOnBreak, all, client bool
}

// pair tells the comparison of two requests, each a file of its own, from the report
// of a session.
func pair(args []string) bool {
	return len(args) == 2 && !slices.ContainsFunc(args, func(arg string) bool {
		if info, err := os.Stat(arg); err == nil && info.IsDir() {
			return true
		}
		name := strings.TrimSuffix(arg, ".gz")
		return arg == "-" || name != arg || slices.Contains([]string{".jsonl", ".ndjson", ".har", ".log"}, filepath.Ext(name))
	})
}

// shapes is what can be read, for those who gave something else.
const shapes = `It reads JSON Lines and JSON lists, one record each: request bodies as they are; {"request": …, "response": …},
{"body": …} or {"request_body": "…"}, as objects or as text of JSON; LiteLLM's standard logging payload; exports of
Helicone and Langfuse; Bedrock's log of invocations; lines of batches. It reads HAR files, and tapes of warmpath record.
Requests are those of Messages, Chat Completions, Responses and Gemini's generateContent.`

// explainSession reports on the requests of a past session.
func explainSession(names []string, flags sessionFlags, stdin io.Reader, stdout, stderr io.Writer) int {
	r, log, err := readSession(names, flags.client, stdin, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "warmpath explain:", err)
		return exitFailure
	}
	if r.Totals.Turns == 0 {
		fmt.Fprintf(stderr, "warmpath explain: there is no request in %s\n", strings.Join(names, ", "))
		fmt.Fprintln(stderr, unreadable(log))
		return exitFailure
	}
	if flags.json {
		err = writeReport(stdout, r, log)
	} else {
		d := drawing{to: stdout, paint: coloured(stdout), width: watch.TerminalOf(stdout, stderr, showsColour).Width, all: flags.all}
		d.report(r, log)
	}
	switch {
	case err != nil:
		fmt.Fprintln(stderr, "warmpath explain:", err)
		return exitFailure
	case flags.failOnBreak && r.Totals.Breaks > 0:
		return exitBreaks
	}
	return exitOK
}

// unreadable says why a log gave nothing.
func unreadable(log *imports.Log) string {
	if log.Diary != "" {
		return "The file is " + log.Diary + ": it keeps what was said, but not the requests, which have the tools and the system prompt as well.\n" +
			"Record the requests: start the agent through warmpath record, or through a proxy that writes a HAR file."
	}
	return shapes
}

// readSession reads all files, and reports faults as they are found.
func readSession(names []string, client bool, stdin io.Reader, stderr io.Writer) (*report.Report, *imports.Log, error) {
	faults := faultLines{to: stderr}
	total := int64(0)
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
	}
	bar := newMeter(stderr, "looking through", total)
	log, err := imports.Open(names, stdin, client, bar.add, faults.note)
	bar.done()
	if err != nil {
		return nil, nil, err
	}
	book := report.New()
	bar = newMeter(stderr, "reading", log.Bytes)
	err = log.Each(bar.at, func(c *imports.Call) error {
		err := book.Add(c)
		if errors.Is(err, report.ErrRequest) {
			log.Faulty++
			faults.note(imports.Fault{Place: c.Place, Why: err.Error()})
			return nil
		}
		return err
	})
	bar.done()
	faults.end()
	if err = errors.Join(err, log.Close()); err != nil {
		return nil, nil, err
	}
	return book.Report(), log, nil
}

// mostFaults is how many are told one by one.
const mostFaults = 10

// faultLines tells of records that could not be read, as soon as nothing else is drawn.
type faultLines struct {
	to    io.Writer
	first []imports.Fault
	more  int
}

func (f *faultLines) note(fault imports.Fault) {
	if len(f.first) == mostFaults {
		f.more++
		return
	}
	f.first = append(f.first, fault)
}

// end tells the first of them, in the order in which they stand.
func (f *faultLines) end() {
	slices.SortStableFunc(f.first, func(a, b imports.Fault) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Record, b.Record), cmp.Compare(a.Line, b.Line))
	})
	for _, fault := range f.first {
		fmt.Fprintln(f.to, fault.Error())
	}
	if f.more > 0 {
		fmt.Fprintf(f.to, "… and %d more that could not be read\n", f.more)
	}
}

// meter is a line of progress over bytes.
type meter struct {
	line *progress
	read int64
	seen int64
}

// meterStep is how many bytes make a step.
const meterStep = 1 << 20

func newMeter(to io.Writer, what string, of int64) *meter {
	return &meter{line: newProgress(to, what+" MiB", int(of/meterStep))}
}

// add counts bytes that have been read.
func (m *meter) add(n int64) { m.at(m.read + n) }

// at says how many bytes have been read in all.
func (m *meter) at(read int64) {
	for m.read = read; m.seen < read/meterStep; m.seen++ {
		m.line.step()
	}
}

func (m *meter) done() { m.line.done() }

// writeReport writes a report for tools.
func writeReport(to io.Writer, r *report.Report, log *imports.Log) error {
	encoder := json.NewEncoder(to)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(struct {
		*report.Report
		Records   int  `json:"records"`
		Unread    int  `json:"records_unread"`
		Others    int  `json:"records_of_other_things"`
		InTheTime bool `json:"ordered_by_time"`
	}{r, log.Records, log.Faulty, log.Passed, log.Timed})
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}
