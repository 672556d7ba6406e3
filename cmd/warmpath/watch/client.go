package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"warmpath/rewrite/sse"
	"warmpath/rewrite/transcript"
)

// Client asks the admin address of a gateway.
type Client struct {
	base, token string
	http        http.Client
}

// NewClient gives a client of an admin address, which may lack its scheme. The token
// may be empty.
func NewClient(admin, token string) *Client {
	if !strings.Contains(admin, "://") {
		admin = "http://" + admin
	}
	return &Client{base: strings.TrimSuffix(admin, "/"), token: token}
}

// StatusError is an answer of the gateway's that is none.
type StatusError struct {
	Status  int
	Message string
}

// Error is the status and what the gateway has said.
func (e *StatusError) Error() string {
	return fmt.Sprintf("the gateway answered %d: %s", e.Status, e.Message)
}

// answerTime is how long an answer that is not followed may take.
const answerTime = 30 * time.Second

// do sends a request and gives the answer if its status is 200.
func (c *Client) do(ctx context.Context, method, path, accept string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", c.base, err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", accept)
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("asking the gateway: %w; give its admin address with --admin", err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	return nil, &StatusError{resp.StatusCode, said(text)}
}

// said is the message of an error: that of an object, or the text as it is.
func said(body []byte) string {
	var refusal struct {
		Error struct{ Message string }
	}
	if json.Unmarshal(body, &refusal) == nil && refusal.Error.Message != "" {
		return refusal.Error.Message
	}
	return strings.TrimSpace(string(body))
}

// mostAnswer bounds an answer, in bytes: a page has at most 8 MiB of events and one
// more.
const mostAnswer = 64 << 20

// get reads an answer of JSON.
func (c *Client) get(ctx context.Context, path string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	resp, err := c.do(ctx, http.MethodGet, path, "application/json", nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, mostAnswer)).Decode(into); err != nil {
		return fmt.Errorf("reading the gateway's answer: %w", err)
	}
	return nil
}

// Conversation is what the log knows of one.
type Conversation struct {
	ID      string    `json:"id"`
	Updated time.Time `json:"updated"`
	Turns   int64     `json:"turns"`
	Events  int64     `json:"events"`
	Model   string    `json:"model"`
}

// Conversations lists so many that the log has, the newest first.
func (c *Client) Conversations(ctx context.Context, limit int) ([]Conversation, error) {
	var answer struct {
		Conversations []Conversation `json:"conversations"`
	}
	err := c.get(ctx, "/api/conversations?limit="+strconv.Itoa(limit), &answer)
	return answer.Conversations, err
}

// Log is the log of one conversation, as a view shows it.
type Log struct {
	Client       *Client
	Conversation string
	// View is raw, user or portable; empty is raw. Explicit, in the view user, leaves
	// out what names nobody.
	View     string
	Explicit bool
}

func (l *Log) path(after int64, limit bool) string {
	query := url.Values{"after": {strconv.FormatInt(after, 10)}}
	if l.View != "" {
		query.Set("view", l.View)
	}
	if l.Explicit {
		query.Set("explicit", "1")
	}
	if limit {
		query.Set("limit", "500")
	}
	return "/api/conversations/" + url.PathEscape(l.Conversation) + "/events?" + query.Encode()
}

// Replay gives the events that the log has behind a number, in order, and the number
// of the last one it knows of.
func (l *Log) Replay(ctx context.Context, after int64, each func(*transcript.Event)) (last int64, err error) {
	for {
		var page struct {
			Events []json.RawMessage `json:"events"`
			Next   *int64            `json:"next"`
		}
		if err := l.Client.get(ctx, l.path(after, true), &page); err != nil {
			return after, err
		}
		for _, text := range page.Events {
			e, err := transcript.Parse(text)
			if err != nil {
				return after, err
			}
			each(e)
			after = max(after, e.Seq)
		}
		if page.Next == nil {
			return after, nil
		}
		after = max(after, *page.Next)
	}
}

// Follow gives the events behind a number as they happen, until the context ends or
// the gateway ends the stream. It gives the number of the last one.
func (l *Log) Follow(ctx context.Context, after int64, each func(*transcript.Event)) (last int64, err error) {
	err = l.Client.stream(ctx, l.path(after, false), func(name string, data []byte) error {
		if name == "open" {
			return nil
		}
		e, err := transcript.Parse(data)
		if err != nil {
			return err
		}
		each(e)
		after = max(after, e.Seq)
		return nil
	})
	return after, err
}

// stream reads a stream of events until it ends, which is io.EOF, or one of them
// fails.
func (c *Client) stream(ctx context.Context, path string, each func(name string, data []byte) error) error {
	resp, err := c.do(ctx, http.MethodGet, path, "text/event-stream", nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	splitter := sse.Splitter{Max: mostEvent}
	var failed error
	chunk := make([]byte, 32<<10)
	for {
		n, err := resp.Body.Read(chunk)
		splitter.Feed(chunk[:n], func(e sse.Event) {
			if failed == nil {
				failed = each(string(e.Name), e.Data)
			}
		})
		switch {
		case failed != nil:
			return failed
		case errors.Is(err, io.EOF):
			return io.EOF
		case err != nil:
			return fmt.Errorf("following the gateway: %w", err)
		}
	}
}

// mostEvent bounds one event of a stream, in bytes.
const mostEvent = 16 << 20
