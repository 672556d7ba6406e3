package mcp

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"warmpath/gateway/question"
	"warmpath/gateway/secret"
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// What a server's own lines may take of the log.
const (
	longestLine = 500
	mostLines   = 20
	linesWithin = 10 * time.Second
	// mostAnswers bounds how many secret answers are looked for in them, the last
	// ones, and shortestAnswer those that are no part of any text.
	mostAnswers, shortestAnswer = 64, 4
)

// said takes what a server says beside the protocol to the log: cleaned, cut and not
// too much of it. It is safe for concurrent use.
type said struct {
	log     *slog.Logger
	secrets []string

	mu      sync.Mutex
	answers []string
	since   time.Time
	lines   int
	dropped int
}

// line logs one line, of which was said where.
func (s *said) line(where, text string) {
	if text = s.clean(text, longestLine); text == "" {
		return
	}
	s.mu.Lock()
	now := time.Now()
	if now.Sub(s.since) >= linesWithin {
		s.since, s.lines = now, 0
	}
	dropped := s.dropped
	if s.lines++; s.lines > mostLines {
		s.dropped++
		s.mu.Unlock()
		return
	}
	s.dropped = 0
	s.mu.Unlock()
	attrs := []slog.Attr{slog.String("where", where), slog.String("line", text)}
	if dropped > 0 {
		attrs = append(attrs, slog.Int("left_out", dropped))
	}
	s.log.LogAttrs(context.Background(), slog.LevelInfo, "an MCP server says", attrs...)
}

// hide keeps what people have answered in secret out of the log from now on: a server
// may say what it was told.
func (s *said) hide(questions []question.Question, answers rewrite.JSON) {
	s.mu.Lock()
	defer s.mu.Unlock()
	splice.Fields(answers, func(name, value []byte) bool {
		text, ok := splice.TextOf(value)
		hidden := slices.ContainsFunc(questions, func(q question.Question) bool { return q.Secret && q.Key == string(name) })
		if ok && hidden && len(text) >= shortestAnswer {
			quoted := string(value[1 : len(value)-1])
			s.answers = append(s.answers[max(0, len(s.answers)+2-mostAnswers):], text, quoted)
		}
		return true
	})
}

// clean is a text that may be shown: without secrets and control characters, cut to so
// many bytes.
func (s *said) clean(text string, most int) string {
	for _, value := range s.secrets {
		text = strings.ReplaceAll(text, value, secret.Mask)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, value := range s.answers {
		text = strings.ReplaceAll(text, value, secret.Mask)
	}
	return clean(text, most)
}

// clean is a server's text without control characters, cut to so many bytes.
func clean(text string, most int) string {
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return ' '
		}
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf) {
			return -1
		}
		return r
	}, valid(text)))
	if len(text) > most {
		text = valid(text[:most]) + "..."
	}
	return text
}

// read logs what comes, line by line, until it ends.
func (s *said) read(where string, from io.Reader) {
	lines := bufio.NewReaderSize(from, 4<<10)
	for {
		line, err := lines.ReadSlice('\n')
		s.line(where, string(line))
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = lines.ReadSlice('\n') // the rest of a line is too long to be shown
		}
		if err != nil {
			return
		}
	}
}
