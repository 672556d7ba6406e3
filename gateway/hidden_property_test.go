package gateway_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/cache/disk"
	"warmpath/fixtures/provider"
	providers "warmpath/fixtures/provider/server"
	"warmpath/gateway"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/rewrite"
)

var hiddenSessions = flag.Int("hidden", 2, "random conversations with hidden calls for each pair of dialects")

// mortal is a gateway in front of every provider that is killed and begins anew on
// what it has on disk.
type mortal struct {
	t      testing.TB
	core   *provider.Core
	origin string
	folder string
	routes map[string]catalog.RouteRow
	base   string
	stop   func()
}

func newMortal(t testing.TB, routes map[string]catalog.RouteRow) *mortal {
	m := &mortal{t: t, core: provider.New(provider.Options{}), folder: t.TempDir(), routes: routes, stop: func() {}}
	server := httptest.NewServer(providers.New(m.core))
	t.Cleanup(server.Close)
	m.origin = server.URL
	m.boot()
	t.Cleanup(func() { m.stop() })
	return m
}

// boot kills the gateway and begins another.
func (m *mortal) boot() {
	m.t.Helper()
	m.stop()
	snapshot, problems := catalog.Build(catalog.Settings{Routes: m.routes, Providers: everyRow(m.origin)})
	if len(problems) > 0 {
		m.t.Fatal(problems)
	}
	store, err := disk.Open(m.folder, disk.Options{})
	if err != nil {
		m.t.Fatal(err)
	}
	g, base, _ := startWith(m.t, m.origin, gateway.Options{Store: store}, func(cfg *config.Config) {
		cfg.Catalog, cfg.Quiet = snapshot, true
		keepsReplies(cfg)
	})
	m.base, m.stop = base, func() { _ = g.Stop(m.t.Context()) }
}

// loses forgets all that the gateway has on disk.
func (m *mortal) loses() {
	m.stop()
	m.stop, m.folder = func() {}, m.t.TempDir()
	m.boot()
}

// step is something that the model does: says a text, or calls a tool of somebody's.
type step struct{ kind, text string }

// scripted is what a model does in the rounds of a turn.
type scripted [][]step

// script is it in the language of the simulated models.
func (s scripted) script() string {
	var rounds []string
	for _, round := range s {
		var steps []string
		for _, step := range round {
			switch step.kind {
			case "tell":
				steps = append(steps, fmt.Sprintf("call tell_user {\"message\":%q}", step.text))
			case "call":
				steps = append(steps, "call clock "+step.text)
			default:
				steps = append(steps, step.kind+" "+step.text)
			}
		}
		rounds = append(rounds, strings.Join(steps, "; "))
	}
	return strings.Join(rounds, "; then; ")
}

// replies are the replies that the client gets: their words, and how many calls each
// has.
func (s scripted) replies() (words []string, calls []int) {
	said, called := "", 0
	for i, round := range s {
		for _, step := range round {
			switch step.kind {
			case "say", "tell":
				said += step.text
			case "call":
				called++
			}
		}
		if called > 0 || i == len(s)-1 {
			words, calls = append(words, strings.Join(strings.Fields(said), "")), append(calls, called)
			said, called = "", 0
		}
	}
	return words, calls
}

// randomTurn is what a model may do in one turn.
func randomTurn(rng *rand.Rand, turn int) (s scripted) {
	for n := range rng.IntN(4) {
		var round []step
		if rng.IntN(2) == 0 {
			round = append(round, step{"think", fmt.Sprint(10 + rng.IntN(20))})
		}
		if rng.IntN(2) == 0 {
			round = append(round, step{"say", fmt.Sprintf("Part %d of %d.", n, turn)})
		}
		for range 1 + rng.IntN(3) {
			if rng.IntN(3) == 0 {
				round = append(round, step{"call", []string{`{"zone":"CET"}`, `{}`, `{"zone":"\u00e9", "n":1.50}`}[rng.IntN(3)]})
			} else {
				round = append(round, step{"tell", []string{"**News** of Zürich", "It is\nso.", "x", strings.Repeat("long ", 40) + "."}[rng.IntN(4)]})
			}
		}
		s = append(s, round)
	}
	last := []step{{"say", fmt.Sprintf("Turn %d is over.", turn)}}
	if rng.IntN(2) == 0 {
		last = append([]step{{"think", "15"}}, last...)
	}
	return append(s, last)
}

// answersAll appends the reply, and results of its calls. It says how many there were.
func answersAll(c *rewrite.Conversation, items []rewrite.Item) (calls int) {
	c.Items = append(c.Items, items...)
	for i := range items {
		if call := items[i].Call; items[i].Kind == rewrite.ItemCall {
			calls++
			c.Items = append(c.Items, rewrite.Item{Kind: rewrite.ItemResult, Call: rewrite.Call{ID: call.ID, Name: call.Name}, Parts: []rewrite.Part{{Text: "noon"}}})
		}
	}
	return calls
}

// Whatever the model does in its turns, and whenever the gateway is killed: the
// provider never refuses, finds all that it was sent before at the beginning of what
// it is sent, and the client reads what the model says, with what it is told beside.
func TestHiddenCallsOfRandomTurns(t *testing.T) {
	m := newMortal(t, map[string]catalog.RouteRow{"*": {Builtin: []string{"tell_user"}}})
	for from, client := range speakers {
		for to, model := range models {
			for n := range *hiddenSessions {
				t.Run(fmt.Sprintf("WS-05 TU-07 TU-08 %s to %s %d", from, to, n), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(uint64(n), uint64(from)*16+uint64(to)))
					c := &rewrite.Conversation{Dialect: from, Model: model, Stream: rng.IntN(2) == 0, System: []rewrite.Part{{Text: fmt.Sprintf("You are careful, %d.", n)}}}
					offers(c)
					if to == rewrite.Completions {
						c.Model = "chat/gpt-5.1"
					}
					c.Thinking = rewrite.Thinking{Effort: "high"}
					seen := len(m.core.Log.All())
					var before []string
					for turn := range 5 {
						s := randomTurn(rng, turn)
						c.Items = append(c.Items, rewrite.Item{Parts: []rewrite.Part{{Text: fmt.Sprintf("Turn %d of %d. DO[%s]", turn, n, s.script())}}})
						words, calls := s.replies()
						for i := range words {
							if rng.IntN(3) == 0 {
								m.boot()
							}
							reply, _ := client.ask(t, m.base, c)
							said := strings.Join(strings.Fields(strings.Join(spoken(reply), "")), "")
							if said != words[i] {
								t.Errorf("turn %d: the client reads %q, want %q of %s", turn, said, words[i], s.script())
							}
							if got := answersAll(c, reply.Items); got != calls[i] {
								t.Errorf("turn %d: the client is to answer %d calls, want %d", turn, got, calls[i])
							}
							for _, r := range m.core.Log.All()[seen:] {
								seen++
								if r.Verdict.Status != 200 {
									t.Fatalf("turn %d: the provider says %+v of %s", turn, r.Verdict, r.Body)
								}
								now := atoms(r.Body)
								for i := range before {
									if i >= len(now) || now[i] != before[i] {
										t.Fatalf("turn %d: piece %d differs:\n%s", turn, i, cmp.Diff(before, now[:min(len(now), len(before))]))
									}
								}
								before = now
							}
						}
					}
				})
			}
		}
	}
}
