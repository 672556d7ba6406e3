package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warmpath/cache"
	"warmpath/cache/redis"
	"warmpath/gateway"
	"warmpath/gateway/config"
	"warmpath/rewrite/continuity"
)

// redisServer starts a real one and gives its address.
func redisServer(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("WARMPATH_REQUIRE") == "all" {
			t.Fatal("redis-server is not installed, and WARMPATH_REQUIRE=all lets no test skip")
		}
		t.Skip("redis-server is not installed")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	_, port, _ := net.SplitHostPort(address)
	cmd := exec.Command(program, "--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no", "--dir", t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	eventually(t, func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, func() string { return "redis-server does not answer" })
	return "redis://" + address
}

// script is what the agent of these tests does before each turn.
var script = []string{"does nothing", "adds a tool", "another day", "sorts its tools", "edits a tool", "drops a tool", "adds a section", "brings one back", "does nothing"}

func TestNodesShareOneStore(t *testing.T) {
	t.Parallel()
	t.Run("SB-02 three gateways send what one would", nodesShareOneStore)
}

// nodesShareOneStore plays one session through three gateways over one Redis,
// and through one alone.
func nodesShareOneStore(t *testing.T) {
	address := redisServer(t)
	core, origin := simulated(t)
	play := func(bases []string, key string) (prompts []string) {
		a := newAgent(rand.New(rand.NewPCG(7, 7)), "claude-opus-5-5")
		for _, mood := range script {
			moods[mood](a)
			a.say()
			for called := true; called; {
				status, answer, _ := postMessages(t, bases[len(prompts)%len(bases)], key, a.body())
				var got struct{ Content json.RawMessage }
				if err := json.Unmarshal(answer, &got); err != nil || status != 200 {
					t.Fatalf("after %q: status %d: %s", mood, status, answer)
				}
				prompts = append(prompts, toolsAndDirectives(lastRecord(core).Body))
				called = a.hear(got.Content)
			}
		}
		return prompts
	}
	quiet := func(cfg *config.Config) { cfg.Quiet = true }
	_, alone, _ := startWith(t, origin, gateway.Options{}, quiet)
	want := play([]string{alone}, "alone")
	var nodes []string
	for range 3 {
		store, err := redis.Open(address, redis.Options{Timeout: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		_, base, _ := startWith(t, origin, gateway.Options{Store: store}, quiet)
		nodes = append(nodes, base)
	}
	diff := ""
	for attempt := range 3 {
		// A store that is slow once costs a miss, and this machine may be busy.
		if diff = cmp.Diff(want, play(nodes, fmt.Sprint("together", attempt))); diff == "" {
			return
		}
	}
	t.Errorf("three gateways send something else (-alone +together):\n%s", diff)
}

// TestForks goes on from one prefix in many ways at once, each with edits of its
// own: all read the whole of it, and none gets the words of another.
func TestForks(t *testing.T) {
	t.Parallel()
	const forks = 6
	core, origin := simulated(t)
	nodes := twoNodes(t, origin)
	trunk := newAgent(rand.New(rand.NewPCG(1, 1)), "claude-opus-5-5")
	next := func(a *agent, base, words string) string {
		a.history = append(a.history, message{"user", []any{textBlock(words + " DO[think 5; call beta {}]")}})
		status, answer, _ := postMessages(t, base, "k", a.body())
		var got struct {
			ID      string
			Content json.RawMessage
		}
		if err := json.Unmarshal(answer, &got); err != nil || status != 200 {
			t.Errorf("%s: status %d: %s", words, status, answer)
			return ""
		}
		a.hear(got.Content)
		return got.ID
	}
	next(trunk, nodes[0], "One.")
	trunk.tools = append(trunk.tools, "delta")
	id := next(trunk, nodes[1], "Two.")
	prompt := func(id string) (string, string) {
		for _, record := range core.Log.All() {
			if record.Verdict.ReplyID == id {
				return record.Seen.Prompt, record.Body
			}
		}
		t.Fatalf("the log has no reply %s", id)
		return "", ""
	}
	shared, _ := prompt(id)
	var all sync.WaitGroup
	ids := make([][]string, forks)
	for i := range forks {
		all.Go(func() {
			a := *trunk
			a.tools = append(a.tools[:len(a.tools):len(a.tools)], fmt.Sprintf("fork%d-tool", i))
			a.sections = append(a.sections[:len(a.sections):len(a.sections)], fmt.Sprintf("fork%d-section", i))
			a.history = a.history[:len(a.history):len(a.history)]
			for turn := range 3 {
				ids[i] = append(ids[i], next(&a, nodes[(i+turn)%2], fmt.Sprintf("Go on, %d.", turn)))
				a.sections = append(a.sections, fmt.Sprintf("fork%d-section-%d", i, turn))
			}
		})
	}
	all.Wait()
	for i := range forks {
		before := shared
		for turn, id := range ids[i] {
			now, body := prompt(id)
			if !strings.HasPrefix(now, before) {
				t.Errorf("fork %d, turn %d: the prefix breaks", i, turn)
			}
			before = now
			for j := range forks {
				if words := fmt.Sprintf("fork%d-", j); i != j && strings.Contains(body, words) {
					t.Errorf("fork %d, turn %d holds words of fork %d", i, turn, j)
				}
			}
		}
	}
}

// deaf is a store that does not answer while it is switched off.
type deaf struct {
	cache.Store
	off atomic.Bool
}

var errDeaf = errors.New("deaf")

func (d *deaf) GetMany(ctx context.Context, keys ...string) ([][]byte, error) {
	if d.off.Load() {
		return nil, errDeaf
	}
	return d.Store.GetMany(ctx, keys...)
}

func TestAStoreThatMissesOneRequest(t *testing.T) {
	t.Parallel()
	t.Run("SB-08 the store misses one request", storeMissesOneRequest)
}

// storeMissesOneRequest: that request goes out as the agent sent it, and the next
// one goes on from what there was before.
func storeMissesOneRequest(t *testing.T) {
	core, origin := simulated(t)
	store := &deaf{Store: cache.NewMemory(64 << 20)}
	_, base, _ := startWith(t, origin, gateway.Options{Store: store}, func(cfg *config.Config) { cfg.Quiet = true })
	a := newAgent(rand.New(rand.NewPCG(3, 3)), "claude-opus-5-5")
	var prompts []string
	for turn := range 5 {
		if turn == 1 {
			a.tools = append(a.tools, "delta")
		}
		a.history = append(a.history, message{"user", []any{textBlock("DO[think 5; call beta {}]")}})
		store.off.Store(turn == 3)
		status, answer, header := postMessages(t, base, "k", a.body())
		var got struct{ Content json.RawMessage }
		if err := json.Unmarshal(answer, &got); err != nil || status != 200 {
			t.Fatalf("turn %d: status %d: %s", turn, status, answer)
		}
		if repaired := header.Get("Warmpath-Repaired"); turn < 3 && repaired != "" {
			t.Errorf("turn %d: repaired by %s", turn, repaired)
		}
		prompts = append(prompts, lastRecord(core).Seen.Prompt)
		a.hear(got.Content)
	}
	if !strings.HasPrefix(prompts[4], prompts[2]) {
		t.Error("after the outage the prefix is not the one from before it")
	}
}

// A Redis that was emptied gets all that the other gateways need, of new
// conversations as well.
func TestAnEmptiedStoreIsFilledAgain(t *testing.T) {
	t.Parallel()
	address := redisServer(t)
	_, origin := simulated(t)
	node := func() string {
		store, err := redis.Open(address, redis.Options{Timeout: 30 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		_, base, _ := startWith(t, origin, gateway.Options{Store: cache.NewGuard(store, cache.GuardOptions{Deadline: 30 * time.Second})}, func(cfg *config.Config) { cfg.Quiet = true })
		return base
	}
	here, there := node(), node()
	// All agents have the same tools and the same prompt.
	play := func(key string, bases ...string) {
		t.Helper()
		a := newAgent(rand.New(rand.NewPCG(7, 7)), "claude-opus-5-5")
		var conversation string
		for i, base := range bases {
			if i == 1 {
				moods["adds a tool"](a)
				moods["another day"](a)
			}
			a.say()
			for called := true; called; {
				status, answer, header := postMessages(t, base, key, a.body())
				var got struct{ Content json.RawMessage }
				if err := json.Unmarshal(answer, &got); err != nil || status != 200 {
					t.Fatalf("status %d: %s", status, answer)
				}
				if now := header.Get("Warmpath-Conversation"); conversation != "" && now != conversation {
					t.Errorf("%s: request %d goes on as %s, was %s", key, i, now, conversation)
				} else {
					conversation = now
				}
				if i > 0 && header.Get("Warmpath-Edits") == "0" {
					t.Errorf("%s: request %d was not edited", key, i)
				}
				called = a.hear(got.Content)
			}
		}
	}
	play("before", here, here, there)
	conn, err := net.Dial("tcp", strings.TrimPrefix(address, "redis://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var ok [5]byte
	if _, err := fmt.Fprint(conn, "FLUSHALL\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, ok[:]); err != nil || string(ok[:]) != "+OK\r\n" {
		t.Fatalf("%q, %v", ok, err)
	}
	play("behind", here, here, node())
	play("at once", here, node())
}

// While the store does not answer, the client's own bytes go out, whatever else
// would be set or asked.
func TestWithoutAStoreTheBytesAreTheClients(t *testing.T) {
	t.Parallel()
	provider := newAsker(t)
	store := &deaf{Store: cache.NewMemory(64 << 20)}
	_, base, _ := startWith(t, provider.URL, gateway.Options{Store: store}, func(cfg *config.Config) {
		cfg.Quiet, cfg.Continuity.Diagnostics = true, continuity.AskAlways
	})
	const turns = 8
	for replies := range turns + 2 {
		own := question(replies, "a b", "")
		store.off.Store(replies == turns)
		if resp, got := send(t, "POST", base+"/v1/messages", own); resp.StatusCode != 200 {
			t.Fatalf("turn %d: %d %s", replies, resp.StatusCode, got)
		}
		body := provider.last(t).body
		edited := strings.Contains(body, `"diagnostics"`) && strings.Count(body, "cache_control") > 1
		switch {
		case replies == turns && body != own:
			t.Errorf("without the store the provider got %s\nwant %s", body, own)
		case replies == turns-1 && !edited:
			t.Errorf("with the store the provider got %s", body)
		}
	}
}
