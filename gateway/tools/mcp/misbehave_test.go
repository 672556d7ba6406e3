package mcp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"warmpath/gateway/tools"
)

func TestAServerThatPrintsIsUnderstood(t *testing.T) {
	s, log := started(t, Options{}, program("chatty", "chatty", "API_KEY=key-3f9a17c2"))
	if got := call(t, t.Context(), s, "mcp__chatty__echo", `{"text":"hello"}`); got.Failed || texts(got) != "hello" {
		t.Fatalf("%+v\n%s", got, log)
	}
	until(t, "the log of its error output", func() bool { return strings.Contains(log.String(), "the key is") })
	for _, want := range []string{"Server starting on stdio ...", "a line of JSON that is no mess", "now at tools/call", "the key is *** [31mred[0m"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not have %q:\n%s", want, log)
		}
	}
	if strings.Contains(log.String(), "key-3f9a17c2") || strings.Contains(log.String(), "\x1b") {
		t.Errorf("the log has a secret or a control character:\n%s", log)
	}
}

func TestAnOldServerIsGreetedTheOldWay(t *testing.T) {
	for _, kind := range []string{"deaf", "fragile"} {
		t.Run(kind, func(t *testing.T) {
			config := program("old", kind)
			config.Connect = 8 * time.Second
			s, log := started(t, Options{}, config)
			if got := call(t, t.Context(), s, "mcp__old__echo", `{"text":"hello"}`); got.Failed || texts(got) != "hello" {
				t.Errorf("%+v\n%s", got, log)
			}
		})
	}
}

func TestAServerThatIsAwayHoldsUpNobodyElse(t *testing.T) {
	mute, absent := program("mute", "mute"), Config{Name: "absent", Command: "/no/such/program"}
	mute.Connect = time.Second
	s, log := started(t, Options{})
	began := time.Now()
	s.Configure([]Config{mute, absent, program("good", "plain")})
	if took := time.Since(began); took >= mute.Connect {
		t.Errorf("the start has taken %s", took)
	}
	if got := call(t, t.Context(), s, "mcp__good__echo", `{"text":"hello"}`); got.Failed {
		t.Errorf("%+v", got)
	}
	for _, name := range []string{"mute", "absent"} {
		until(t, name+" is down", func() bool { return s.named(name).status().State == Down })
		if got := s.named(name).run(t.Context(), "echo", tools.Call{}); !got.Failed || texts(got) != `The MCP server "`+name+`" is not available at the moment. Go on without its tools, or try again later.` {
			t.Errorf("%+v", got)
		}
	}
	if strings.Contains(log.String(), "/no/such") {
		t.Errorf("the log has the command:\n%s", log)
	}
}

// A server that hangs holds up the first requests only briefly, however long it may take
// to start. Once it is there its tools are on offer.
func TestAServerThatHangsIsHardlyWaitedFor(t *testing.T) {
	mute := program("mute", "mute")
	mute.Connect = time.Hour
	s, _ := started(t, Options{FirstList: 50 * time.Millisecond})
	s.Configure([]Config{program("good", "plain"), mute})
	until(t, "the good one is up", func() bool { return s.named("good").status().State == Up })
	for range 2 {
		if all := s.Tools(t.Context(), []string{"mute", "good"}); len(all) != 1 || all[0].Name != "mcp__good__echo" {
			t.Errorf("%d tools", len(all))
		}
	}
	if status := s.named("mute").status(); status.State != Connecting {
		t.Errorf("it hangs no more: %+v", status)
	}
}

func TestAServerThatIsLateIsOnOffer(t *testing.T) {
	s, _ := started(t, Options{FirstList: time.Nanosecond}, program("late", "plain"))
	lists := s.Lists()
	s.Tools(t.Context(), []string{"late"})
	until(t, "it is up", func() bool { return s.named("late").status().State == Up })
	if all := s.Tools(t.Context(), []string{"late"}); len(all) != 1 || s.Lists() == lists {
		t.Errorf("%d tools, after %d lists and %d", len(all), lists, s.Lists())
	}
}

func (s *Servers) named(name string) *server {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, server := range s.servers {
		if server.config.Name == name {
			return server
		}
	}
	return nil
}

func TestAServerThatDiesIsStartedAgain(t *testing.T) {
	var mu sync.Mutex
	var outcomes []string
	s, log := started(t, Options{Observe: func(_, outcome string, _ time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		outcomes = append(outcomes, outcome)
	}}, program("mortal", "mortal"))
	if got := call(t, t.Context(), s, "mcp__mortal__echo", `{"text":"hello"}`); got.Failed {
		t.Fatalf("%+v\n%s", got, log)
	}
	got := call(t, t.Context(), s, "mcp__mortal__echo", `{"text":"die"}`)
	if want := `The connection to the MCP server "mortal" was lost during the call, which may have had effects.`; !got.Failed || texts(got) != want {
		t.Errorf("%+v", got)
	}
	// The list stays, and so does what a model is offered.
	if all := s.Tools(t.Context(), []string{"mortal"}); len(all) != 1 {
		t.Errorf("%d tools", len(all))
	}
	if got := call(t, t.Context(), s, "mcp__mortal__echo", `{"text":"back"}`); got.Failed || texts(got) != "back" {
		t.Errorf("%+v\n%s", got, log)
	}
	mu.Lock()
	defer mu.Unlock()
	if got := strings.Join(outcomes, " "); got != "ok broken ok" {
		t.Errorf("outcomes %s", got)
	}
}

func TestAMessageThatIsTooLargeEndsTheConnection(t *testing.T) {
	s, log := started(t, Options{}, program("huge", "huge"))
	if got := call(t, t.Context(), s, "mcp__huge__echo", `{"text":"x"}`); !got.Failed || !strings.Contains(texts(got), `"huge" was lost during the call`) {
		t.Errorf("%v\n%s", got.Failed, log)
	}
	until(t, "it is up again", func() bool { return s.Status()[0].State == Up })
}

// notes are the lines that a server has written down.
func notes(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Fields(strings.ReplaceAll(strings.TrimSpace(string(text)), " ", "="))
}

func TestACallThatEndsIsCancelledAtTheServer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "notes")
	config := program("stuck", "stuck", "NOTES="+file)
	s, log := started(t, Options{}, config)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		until(t, "the call arrives", func() bool { return len(notes(t, file)) == 1 })
		cancel()
	}()
	if got := call(t, ctx, s, "mcp__stuck__echo", `{"text":"x"}`); !got.Failed || texts(got) != "The call was cancelled." {
		t.Errorf("%+v", got)
	}
	until(t, "the server is told", func() bool { return len(notes(t, file)) == 2 })
	if got := notes(t, file); !strings.HasPrefix(got[1], "notifications/cancelled=") || got[1] == "notifications/cancelled=" {
		t.Errorf("%v\n%s", got, log)
	}
}

func TestACallHasItsTime(t *testing.T) {
	config := program("stuck", "stuck", "NOTES="+filepath.Join(t.TempDir(), "notes"))
	config.Timeout = 100 * time.Millisecond
	s, _ := started(t, Options{}, config)
	if got := call(t, t.Context(), s, "mcp__stuck__echo", `{"text":"x"}`); !got.Failed || texts(got) != `The MCP server "stuck" has not answered within 100ms. The call may have had effects.` {
		t.Errorf("%+v", got)
	}
	if s.Status()[0].State != Up {
		t.Error("one call's time has ended the connection for all others")
	}
}

func TestNothingIsLeftOfAServer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "notes")
	s, _ := started(t, Options{}, program("clinging", "clinging", "NOTES="+file))
	s.Tools(t.Context(), []string{"clinging"})
	s.Stop()
	lines := notes(t, file)
	if len(lines) < 2 {
		t.Fatal(lines)
	}
	for _, line := range lines {
		_, number, _ := strings.Cut(line, "=")
		pid, _ := strconv.Atoi(number)
		until(t, line+" is gone", func() bool { return gone(pid) })
	}
}

// gone reports whether a process has ended: a child of one that was killed may have
// nobody yet who reaps it.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestAListThatChangesIsReadAgain(t *testing.T) {
	s, _ := started(t, Options{}, program("growing", "growing"))
	names := func() (all []string) {
		for _, tool := range s.Tools(t.Context(), []string{"growing"}) {
			all = append(all, strings.TrimPrefix(tool.Name, "mcp__growing__"))
		}
		return all
	}
	for n := range 12 {
		want := ""
		for i := range n + 1 {
			want += fmt.Sprintf(" tool%d", i)
		}
		until(t, "the list with"+want, func() bool { return len(names()) == n+1 })
		call(t, t.Context(), s, "mcp__growing__tool0", `{}`)
	}
	until(t, "the last list", func() bool { return len(names()) == 13 })
	if got := strings.Join(names(), " "); got != "tool0 tool1 tool10 tool11 tool12 tool2 tool3 tool4 tool5 tool6 tool7 tool8 tool9" {
		t.Errorf("the order is %s", got)
	}
}
