package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/fixtures/provider"
	"warmpath/fixtures/provider/anthropic"
)

// played is a gateway that keeps its conversations, in front of a simulated provider.
func played(t *testing.T, more string) *served {
	t.Helper()
	simulated := httptest.NewServer(anthropic.New(provider.New(provider.Options{}), anthropic.Options{}))
	t.Cleanup(simulated.Close)
	file := filepath.Join(t.TempDir(), "warmpath.yaml")
	writeFile(t, file, anyPorts+"data: memory\nlog: {events: memory}\nproviders: {anthropic: {base_url: "+simulated.URL+"}}\n"+more)
	t.Setenv("WARMPATH_CONFIG", file)
	s := startServing(t, file, nil)
	t.Cleanup(func() {
		s.signals <- syscall.SIGTERM
		s.end(t)
	})
	return s
}

// ask sends a request and gives the name of its conversation, and what the model says.
func (s *served) ask(t *testing.T, messages string) (conversation, content string) {
	t.Helper()
	body := `{"model":"claude-opus-5-5","max_tokens":1000,"tools":[{"name":"shell","input_schema":{"type":"object"}}],"messages":[` + messages + `]}`
	request, err := http.NewRequest(http.MethodPost, s.clients+"/v1/messages", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("x-api-key", "sk-test")
	request.Header.Set("anthropic-version", "2023-06-01")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("status %d: %s (%v)", response.StatusCode, text, err)
	}
	return response.Header.Get("warmpath-conversation"), gjson.GetBytes(text, "content").Raw
}

// A conversation is drawn as it goes on just as it is when it is over.
func TestWatch(t *testing.T) {
	s := played(t, "display: {inline_results: 1}\n")
	const first = `{"role":"user","content":"DO[say let me *look*; call shell {\"command\":\"ls\"}]"}`
	conversation, reply := s.ask(t, first)
	if conversation == "" {
		t.Fatal("the conversation has no name")
	}
	admin := strings.TrimPrefix(s.admin, "http://")
	stdout, stderr := newOutput(), newOutput()
	interrupts, code := make(chan os.Signal), make(chan int, 1)
	go func() {
		code <- watchWith([]string{"--admin", admin, conversation}, strings.NewReader(""), stdout, stderr, interrupts)
	}()
	stderr.await(t, `→ shell {"command":"ls"}`)
	id := gjson.Get(reply, `#(type=="tool_use").id`).Raw
	s.ask(t, first+`,{"role":"assistant","content":`+reply+`},{"role":"user","content":[{"type":"tool_result","tool_use_id":`+id+`,"content":[`+
		`{"type":"text","text":"a\u001b[2J\nb"}]},{"type":"text","text":"DO[say all is **done**]"}]}`)
	stdout.await(t, "\nall is **done**\n\n")
	interrupts <- os.Interrupt
	if code := <-code; code != exitOK {
		t.Errorf("exit code %d: %s", code, stderr)
	}

	var out, err bytes.Buffer
	if code := watchWith([]string{"--admin", admin, "--follow=false", "last"}, strings.NewReader(""), &out, &err, nil); code != exitOK {
		t.Fatalf("exit code %d: %s", code, &err)
	}
	if diff := cmp.Diff(out.String(), stdout.String()); diff != "" {
		t.Errorf("standard output (-replayed +live):\n%s", diff)
	}
	if diff := cmp.Diff(err.String(), stderr.String()); diff != "" {
		t.Errorf("standard error (-replayed +live):\n%s", diff)
	}
	golden(t, filepath.Join("watch", "stdout.txt"), out.String())
	golden(t, filepath.Join("watch", "stderr.txt"), err.String())
}

func TestWatchLists(t *testing.T) {
	s := played(t, "")
	watch := func(args ...string) (int, string, string) {
		var out, err bytes.Buffer
		code := watchWith(append([]string{"--admin", s.admin}, args...), strings.NewReader(""), &out, &err, nil)
		return code, out.String(), err.String()
	}
	if code, out, err := watch(); code != exitOK || out != "The log has no conversations.\n" || err != "" {
		t.Errorf("%d, %q, %q", code, out, err)
	}
	conversation, _ := s.ask(t, `{"role":"user","content":"DO[say hello]"}`)
	code, out, _ := watch()
	lines := strings.Split(out, "\n")
	if code != exitOK || len(lines) != 3 || !strings.HasPrefix(lines[1], conversation+"  ") || !strings.HasSuffix(lines[1], "1      claude-opus-5-5") {
		t.Errorf("%d, %q", code, out)
	}
	t.Run("in the view of users", func(t *testing.T) {
		if code, out, err := watch("--view", "user", "--follow=false", conversation); code != exitOK || !strings.Contains(out, "hello") || err != "· model claude-opus-5-5\n" {
			t.Errorf("%d, %q, %q", code, out, err)
		}
	})
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"two conversations":           {[]string{"a", "b"}, exitUsage, "wants one conversation at most"},
		"an unknown view":             {[]string{"--view", "native", "a"}, exitUsage, "a view that is raw, user or portable"},
		"an unknown conversation":     {[]string{"conv_none"}, exitFailure, "the gateway answered 404: the log of conversations has no conversation of this name"},
		"IR-09 chat for the model":    {[]string{"--results", `{"assistant":"chat"}`, "a"}, exitFailure, "--results is chat for the assistant"},
		"results that are none":       {[]string{"--results", "some", "a"}, exitFailure, "--results is no bound"},
		"reasoning that is chat":      {[]string{"--reasoning", "chat", "a"}, exitFailure, "--reasoning is no bound"},
		"unknown controls":            {[]string{"--controls", "keep", "a"}, exitFailure, "--controls is unknown"},
		"a configuration that is not": {[]string{"--config", "/nowhere.yaml", "a"}, exitFailure, "reading the configuration"},
	} {
		t.Run(name, func(t *testing.T) {
			if code, out, err := watch(c.args...); code != c.code || !strings.Contains(err, c.want) || out != "" {
				t.Errorf("%d, %q, %q; want %d with %q", code, out, err, c.code, c.want)
			}
		})
	}
}

// People answer what a model asks by typed lines, and the log tells of it whoever looks
// at it later.
func TestWatchAnswers(t *testing.T) {
	s := played(t, "routes: {\"*\": {tools: {builtin: [ask_user]}}}\nprompts: {expiry: 20s}\n")
	const first = `{"role":"user","content":"DO[say hello]"}`
	conversation, reply := s.ask(t, first)
	admin := strings.TrimPrefix(s.admin, "http://")
	stdout, stderr := newOutput(), newOutput()
	interrupts, code := make(chan os.Signal), make(chan int, 1)
	lines, typed := io.Pipe()
	defer typed.Close()
	go func() {
		code <- watchWith([]string{"--admin", admin, "--answer", conversation}, lines, stdout, stderr, interrupts)
	}()
	go func() { _, _ = io.WriteString(typed, "2\n") }()
	body := `{"model":"claude-opus-5-5","max_tokens":1000,"tools":[{"name":"shell","input_schema":{"type":"object"}}],"messages":[` + first + `,{"role":"assistant","content":` + reply + `},` +
		`{"role":"user","content":"DO[call ask_user {\"questions\":[{\"kind\":\"choice\",\"text\":\"Which database?\",\"options\":[\"PostgreSQL\",\"SQLite\"]}]}; then; say all is **done**]"}]}`
	request, err := http.NewRequest(http.MethodPost, s.clients+"/v1/messages", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("x-api-key", "sk-test")
	request.Header.Set("anthropic-version", "2023-06-01")
	request.Header.Set("warmpath-capabilities", "prompt.form")
	request.Header.Set("warmpath-wait", "20s")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err != nil || !bytes.Contains(text, []byte("all is **done**")) {
		t.Fatalf("the client reads %s (%v)", text, err)
	}
	stdout.await(t, "\nall is **done**\n\n")
	interrupts <- os.Interrupt
	if code := <-code; code != exitOK {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if got := stderr.String(); !strings.Contains(got, "? ask_user of builtin") || !strings.Contains(got, "Which database?") {
		t.Errorf("asked with %s", got)
	}

	var out, log bytes.Buffer
	if code := watchWith([]string{"--admin", admin, "--follow=false", conversation}, strings.NewReader(""), &out, &log, nil); code != exitOK {
		t.Fatalf("exit code %d: %s", code, &log)
	}
	for _, screen := range []string{log.String(), stderr.String()} {
		if !strings.Contains(screen, "· people are asked: question: ask_user: Which database?\n") || !strings.Contains(screen, "· the question was answered\n") {
			t.Errorf("it is told as %s", screen)
		}
	}
}
