package gateway_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"warmpath/fixtures/provider"
	"warmpath/gateway"
	"warmpath/gateway/config"
	"warmpath/rewrite"
)

// writings are the ways in which a word of letters and digits might stand somewhere.
func writings(word string) []string {
	all := []string{word, hex.EncodeToString([]byte(word)), url.QueryEscape(word)}
	var escaped strings.Builder
	for _, r := range word {
		fmt.Fprintf(&escaped, `\u%04x`, r)
	}
	all = append(all, escaped.String(), strings.ToUpper(escaped.String()))
	for shift := range 3 {
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("-", shift) + word))
		// What its neighbours have a part in is left out.
		all = append(all, encoded[(shift*8+5)/6:(shift+len(word))*8/6])
	}
	return all
}

func tells(text, word string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(word)) ||
		slices.ContainsFunc(writings(word), func(written string) bool { return strings.Contains(text, written) })
}

// folder is all that stands in the files of a folder.
func folder(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// everything is all that there is to see of a gateway that keeps and tells all that it
// can: by names of where it stands.
type everything struct {
	*people
	log      *buffer
	data     string
	streams  []*buffer
	said     map[string]string
	headers  []string
	requests int
}

func withEverything(t *testing.T, version string, listens bool) *everything {
	t.Helper()
	e := &everything{log: new(buffer), data: t.TempDir(), said: map[string]string{}}
	opts := gateway.Options{Log: slog.New(slog.NewJSONHandler(e.log, &slog.HandlerOptions{Level: slog.LevelDebug - 4}))}
	e.people = withLock(t, opts, lockServer(t, version, listens), func(cfg *config.Config) {
		cfg.Data, cfg.Events = e.data, filepath.Join(e.data, "events.jsonl")
		cfg.Log.Events = config.KeptOnDisk
	})
	e.streams = []*buffer{
		e.look(t, "http://"+e.gateway.AdminAddr()+"/api/prompts/stream"),
		e.look(t, e.base+"/warmpath/v1/prompts/stream", "X-Api-Key", "sk-client"),
	}
	return e
}

// turn has a client say something, whereupon somebody is asked and answers, first with
// what will not do.
func (e *everything) turn(t *testing.T, from rewrite.Dialect, script, wrong, right string) {
	t.Helper()
	s := e.begin(t, from, script, "Warmpath-Capabilities", capable)
	open := e.open(t, from)
	answer := "http://" + e.gateway.AdminAddr() + "/api/prompts/" + open.Get("id").Str + "/answer"
	say := func(body string, want int) {
		status, said := request(t, "POST", answer, body)
		if status != want {
			t.Fatalf("%d %s", status, said)
		}
		e.said[fmt.Sprint("what is said of answer ", len(e.said))] = said.Raw
	}
	say(wrong, 422)
	say(right, 200)
	say(right, 409)
	e.requests++
	e.said[fmt.Sprint("what client ", e.requests, " reads")] = s.rest(t)
	e.said[fmt.Sprint("what client ", e.requests, " sees of prompts")] = open.Raw
	e.headers = append(e.headers, s.header.Get("Warmpath-Conversation"))
}

// places are all of what there is to see, but for what is sent upstream.
func (e *everything) places(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{"the log": e.log.String()}
	for name, text := range e.said {
		all[name] = text
	}
	for i, s := range e.streams {
		all[fmt.Sprint("stream of prompts ", i)] = s.String()
	}
	paths := []string{"/", "/metrics", "/api/status", "/api/requests", "/api/prompts", "/api/conversations"}
	for _, name := range e.headers {
		for _, view := range []string{"raw", "user", "portable", "native"} {
			paths = append(paths, "/api/conversations/"+name+"/events?view="+view)
		}
	}
	_, list := admin(t, e.gateway, "/api/requests")
	for _, r := range gjson.GetBytes(list, "requests").Array() {
		paths = append(paths, "/api/requests/"+r.Get("id").String())
	}
	for _, path := range paths {
		_, body := admin(t, e.gateway, path)
		all[path] = string(body)
	}
	if err := e.gateway.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	for name, text := range folder(t, e.data) {
		all[name] = text
	}
	return all
}

// sent is a request that a provider got, all of it.
func sent(r *provider.Record) string { return fmt.Sprint(r.URL, r.Headers, r.Body) }

// What a person answers in secret reaches the tool that has asked for it, and nothing
// else: neither what is kept, nor what is told, nor the provider.
func TestSecretAnswersAreNowhere(t *testing.T) {
	const code, name = "Kv9wTr4nPzQ8sLmX", "AdaOfTheSearch"
	for _, version := range []string{asksInACall, asksInAResult} {
		for transport, listens := range map[string]bool{"stdio": false, "HTTP": true} {
			t.Run(version+", "+transport, func(t *testing.T) {
				e := withEverything(t, version, listens)
				for from := range speakers {
					e.turn(t, from, opensADoor, `{"action":"accept","content":{"name":7,"passcode":"`+code+`"}}`, `{"action":"accept","content":{"name":"`+name+`","passcode":"`+code+`"}}`)
				}
				upstream := ""
				for _, r := range e.core.Log.All() {
					upstream += sent(&r)
				}
				// The tool had the code, and repeats the name: that is found where it belongs,
				// so that a code that stood there would be.
				if want := fmt.Sprintf("Door 7 is open for %s, whose code has %d characters.", name, len(code)); strings.Count(upstream, want) != len(speakers) {
					t.Fatalf("the tool has given something else: %s", upstream)
				}
				if !listens {
					eventually(t, func() bool { return strings.Contains(e.log.String(), "passcode:***") }, func() string { return "what the server says is not in the log: " + e.log.String() })
				}
				if tells(upstream, code) {
					t.Errorf("the provider got the code")
				}
				var found []string
				for place, text := range e.places(t) {
					if tells(text, code) {
						t.Errorf("the code is in %s", place)
					}
					if !tells(text, name) {
						continue
					}
					if !strings.Contains(place, "/events?view=") && !strings.HasPrefix(place, e.data+"/") || filepath.Base(place) == "events.jsonl" {
						t.Errorf("the name is in %s: %s", place, text)
					}
					found = append(found, strings.TrimPrefix(place, e.data))
				}
				// What the tool gave is kept, so that a code would be that was kept with it.
				for _, file := range []string{"/store.db", "/conversations/000000000001.events"} {
					if !slices.Contains(found, file) {
						t.Errorf("the name is only in %v", found)
					}
				}
			})
		}
	}
}

// What a model asks it is told; nobody else is.
func TestAnswersAreToldToTheModelOnly(t *testing.T) {
	const answer = "Kv9wTr4nPzQ8sLmX"
	const script = `DO[say One.; call ask_user {"questions":[{"kind":"text","text":"What is it called?"}]}; then; say Two.]`
	e := withEverything(t, asksInACall, false)
	for from := range speakers {
		before := len(e.core.Log.All())
		e.turn(t, from, script, `{"action":"accept","content":{"q1":["`+answer+`"]}}`, `{"action":"accept","content":{"q1":"`+answer+`"}}`)
		calls := askedSince(t, e.core, before)
		if len(calls) != 2 || strings.Contains(sent(&calls[0]), answer) || !strings.Contains(calls[1].Body, answer) {
			t.Errorf("%s: the provider got %d requests: %s", from, len(calls), calls[len(calls)-1].Body)
		}
	}
	for place, text := range e.places(t) {
		kept := strings.HasPrefix(place, e.data+"/") && filepath.Base(place) != "events.jsonl"
		if !kept && !strings.Contains(place, "/events?view=") && tells(text, answer) { // where it is what the tool gave
			t.Errorf("the answer is in %s", place)
		}
	}
}
