package gateway_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/cache"
	"warmpath/fixtures/legal"
	"warmpath/fixtures/provider"
	"warmpath/fixtures/provider/anthropic"
	"warmpath/gateway"
	"warmpath/gateway/config"
)

// An agent that changes its mind: tools, system prompt and history, as a client
// holds them and sends them anew with each request.
type agent struct {
	rng      *rand.Rand
	model    string
	tools    []string // name, or name=version
	sections []string
	history  []message
	turns    []int // where in the history each turn begins
	rewound  bool
	turn     int
	made     int // tools so far
	echo     echoing
}

type message struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

func newAgent(rng *rand.Rand, model string) *agent {
	return &agent{
		rng: rng, model: model, tools: []string{"alpha", "beta", "gamma"},
		sections: []string{"You are careful.\nToday is 1.\nBe brief." + strings.Repeat("\nA rule that stays.", 200), "House rules:\n- test"},
	}
}

func (a *agent) pick(n int) int { return a.rng.IntN(n) }

// moods are what an agent does to its own past; the names are for failures.
var moods = map[string]func(*agent){
	"adds a tool":     func(a *agent) { a.tools = append(a.tools, a.newTool()) },
	"inserts a tool":  func(a *agent) { a.tools = slices.Insert(a.tools, a.pick(len(a.tools)+1), a.newTool()) },
	"sorts its tools": func(a *agent) { slices.Sort(a.tools) },
	"mixes its tools": func(a *agent) {
		a.rng.Shuffle(len(a.tools), func(i, j int) { a.tools[i], a.tools[j] = a.tools[j], a.tools[i] })
	},
	"brings one back": func(a *agent) { a.offer("alpha") },
	"edits a tool": func(a *agent) {
		i := a.pick(len(a.tools))
		name, _, _ := strings.Cut(a.tools[i], "=")
		a.tools[i] = fmt.Sprint(name, "=", a.turn)
	},
	"another day": func(a *agent) {
		a.sections[0] = strings.Replace(a.sections[0], fmt.Sprintf("Today is %s.", a.day()), fmt.Sprintf("Today is %d.", a.turn+2), 1)
	},
	"adds a section": func(a *agent) { a.sections = append(a.sections, fmt.Sprintf("Mode %d is on.\nMind it.", a.turn)) },
	"moves a section": func(a *agent) {
		a.rng.Shuffle(len(a.sections), func(i, j int) { a.sections[i], a.sections[j] = a.sections[j], a.sections[i] })
		a.head()
	},
	"drops a tool": func(a *agent) {
		if len(a.tools) > 1 {
			i := a.pick(len(a.tools))
			a.tools = slices.Delete(a.tools, i, i+1)
		}
	},
	"drops a section": func(a *agent) {
		if len(a.sections) > 1 {
			a.sections = a.sections[:len(a.sections)-1]
		}
	},
	"rewinds one turn": func(a *agent) {
		if n := len(a.turns); n > 1 {
			a.history, a.turns, a.rewound = a.history[:a.turns[n-1]], a.turns[:n-1], true
		}
	},
	"does nothing": func(*agent) {},
}

func (a *agent) newTool() string {
	a.made++
	return fmt.Sprint("tool", a.made)
}

func (a *agent) offer(name string) {
	if !slices.ContainsFunc(a.tools, func(t string) bool { have, _, _ := strings.Cut(t, "="); return have == name }) {
		a.tools = append(a.tools, name)
	}
}

// head keeps the long section first, which is what the others are compared with.
func (a *agent) head() {
	slices.SortStableFunc(a.sections, func(x, y string) int { return len(y) - len(x) })
}

func (a *agent) day() string {
	_, rest, _ := strings.Cut(a.sections[0], "Today is ")
	day, _, _ := strings.Cut(rest, ".")
	return day
}

var marked = map[string]string{"type": "ephemeral"}

func (a *agent) body() []byte {
	tools := make([]any, len(a.tools))
	for i, tool := range a.tools {
		tools[i] = a.definition(tool)
	}
	system := make([]any, len(a.sections))
	for i, text := range a.sections {
		block := map[string]any{"type": "text", "text": text}
		if i == len(a.sections)-1 {
			block["cache_control"] = marked
		}
		system[i] = block
	}
	messages := a.echoed()
	if last := &messages[len(messages)-1]; last.Role == "user" {
		blocks := slices.Clone(last.Content.([]any))
		block := maps.Clone(blocks[len(blocks)-1].(map[string]any))
		block["cache_control"] = marked
		blocks[len(blocks)-1] = block
		last.Content = blocks
	}
	request := map[string]any{"model": a.model, "max_tokens": 1000, "tools": tools, "system": system, "messages": messages}
	if a.echo.effort != "" {
		request["output_config"] = map[string]any{"effort": a.echo.effort}
	}
	body, err := json.Marshal(request)
	if err != nil {
		panic(err)
	}
	return body
}

func (a *agent) definition(tool string) map[string]any {
	name, version, _ := strings.Cut(tool, "=")
	return map[string]any{"name": name, "description": "Does " + name + version + strings.Repeat(".", 400),
		"input_schema": map[string]any{"type": "object", "properties": map[string]any{"x": map[string]any{"type": "string"}}}}
}

// say adds the user's next words: sometimes they make the model think and call.
func (a *agent) say() {
	a.turn++
	name, _, _ := strings.Cut(a.tools[a.pick(len(a.tools))], "=")
	scripts := []string{
		"DO[text 30]", "DO[think 20; text 20]", "DO[call " + name + " {\"x\":\"1\"}]",
		"DO[think 10; call " + name + " {\"x\":\"2\",\"b\":{\"d\":1.0,\"c\":0.50},\"a\":[\"<é>\"]}; call " + name + " {\"x\":\"3\",\"a\":1}]",
	}
	text := fmt.Sprintf("Turn %d. %s", a.turn, scripts[a.pick(len(scripts))])
	a.turns = append(a.turns, len(a.history))
	a.history = append(a.history, message{"user", a.remind([]any{map[string]any{"type": "text", "text": text}})})
}

// hear adds the reply, and the results of what it called.
func (a *agent) hear(content json.RawMessage) (called bool) {
	a.history = append(a.history, message{"assistant", content})
	var blocks []struct{ Type, ID string }
	if err := json.Unmarshal(content, &blocks); err != nil {
		panic(err)
	}
	var results []any
	for _, b := range blocks {
		if b.Type == "tool_use" {
			results = append(results, map[string]any{"type": "tool_result", "tool_use_id": b.ID, "content": a.noted("done")})
		}
	}
	if len(results) > 0 {
		a.history = append(a.history, message{"user", a.remind(results)})
	}
	return len(results) > 0
}

// simulated is a strict provider whose log can be read.
func simulated(t testing.TB) (core *provider.Core, origin string) {
	core = provider.New(provider.Options{})
	server := httptest.NewServer(anthropic.New(core, anthropic.Options{}))
	t.Cleanup(server.Close)
	return core, server.URL
}

func postMessages(t testing.TB, base, key string, body []byte) (status int, answer []byte, header http.Header) {
	t.Helper()
	req, err := http.NewRequest("POST", base+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", key)
	req.Header.Set("Anthropic-Version", "2023-06-01")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, answer, resp.Header
}

// inEffect is the text that the model goes by, as a sorted list of lines: the
// system prompt with all that was said to have changed.
func inEffect(instructions []string) []string {
	count := map[string]int{}
	add := func(text string, n int) {
		for line := range strings.SplitSeq(text, "\n") {
			count[line] += n
		}
	}
	between := func(text, open, shut string) (inside, rest string) {
		_, rest, _ = strings.Cut(text, open)
		inside, rest, _ = strings.Cut(rest, shut)
		return inside, rest
	}
	for _, text := range instructions {
		if strings.HasPrefix(text, "<reminders-") {
			continue
		}
		if !strings.HasPrefix(text, "<instructions-") {
			add(text, 1)
			continue
		}
		for strings.HasPrefix(strings.TrimLeft(text, "\n"), "<instructions-") {
			text = strings.TrimLeft(text, "\n")
			kind, _, _ := strings.Cut(strings.TrimPrefix(text, "<instructions-"), ">")
			var hunk, old, new string
			hunk, text = between(text, "<instructions-"+kind+">\n", "\n</instructions-"+kind+">")
			switch kind {
			case "added":
				add(hunk, 1)
			case "removed":
				old, _ = between(hunk, "<old>\n", "\n</old>")
				add(old, -1)
			case "changed":
				old, _ = between(hunk, "<old>\n", "\n</old>")
				new, _ = between(hunk, "<new>\n", "\n</new>")
				if new == "" { // the hunk's own end closes it
					_, new, _ = strings.Cut(hunk, "<new>\n")
					new = strings.TrimSuffix(new, "\n</new>")
				}
				add(old, -1)
				add(new, 1)
			}
		}
	}
	var lines []string
	for line, n := range count {
		for range n {
			lines = append(lines, line)
		}
		if n < 0 {
			lines = append(lines, fmt.Sprintf("taken back %d times too often: %s", -n, line))
		}
	}
	slices.Sort(lines)
	return lines
}

// offered are names and descriptions of the tools that the model could call.
func offered(seen *provider.Seen) []string {
	var tools []string
	for _, tool := range seen.Tools {
		var definition struct{ Description string }
		_ = json.Unmarshal(tool.Definition, &definition)
		tools = append(tools, tool.Name+": "+definition.Description)
	}
	slices.Sort(tools)
	return tools
}

func (a *agent) wants() (tools, lines []string) {
	for _, tool := range a.tools {
		definition := a.definition(tool)
		tools = append(tools, fmt.Sprint(definition["name"], ": ", definition["description"]))
	}
	slices.Sort(tools)
	for _, section := range a.sections {
		lines = append(lines, strings.Split(section, "\n")...)
	}
	slices.Sort(lines)
	return tools, lines
}

// shared is a store that several gateways use and none may close.
type shared struct{ cache.Store }

func (shared) Close() error { return nil }

// twoNodes runs two gateways over one store in front of one provider. The store
// has room for all that is played: one that drops what a conversation needs costs
// it its prefix.
func twoNodes(t testing.TB, origin string) []string {
	t.Helper()
	store := shared{cache.NewMemory(1 << 30)}
	var bases []string
	for range 2 {
		_, base, _ := startWith(t, origin, gateway.Options{Store: store}, func(cfg *config.Config) { cfg.Quiet = true })
		bases = append(bases, base)
	}
	return bases
}

var (
	sessionCount = flag.Int("sessions", 30, "random `sessions` to play in TestSessions")
	firstSession = flag.Int("first", 0, "the `seed` of the first session in TestSessions")
)

// usage adds up the input tokens of replies.
type usage struct{ read, total int64 }

func (u *usage) add(answer []byte) (content json.RawMessage) {
	var got struct {
		Content json.RawMessage
		Usage   struct {
			Fresh   int64 `json:"input_tokens"`
			Read    int64 `json:"cache_read_input_tokens"`
			Written int64 `json:"cache_creation_input_tokens"`
		}
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		panic(err)
	}
	u.read, u.total = u.read+got.Usage.Read, u.total+got.Usage.Read+got.Usage.Fresh+got.Usage.Written
	return got.Content
}

func (u usage) share() float64 { return float64(u.read) / float64(max(u.total, 1)) }

// oracle reads everything again that it has read before in a session, whatever
// stands before it: no prompt cache can be better.
type oracle struct {
	usage
	known map[string]bool
}

var blockStart = regexp.MustCompile(`(?m)^<(tool|system|user|assistant|thinking)>`)

func (o *oracle) add(prompt string) {
	starts := blockStart.FindAllStringIndex(prompt, -1)
	for i, at := range starts {
		end := len(prompt)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		block := prompt[at[0]:end]
		tokens := provider.Tokens(block[:len(block)-1])
		if o.total += tokens; o.known[block] {
			o.read += tokens
		}
		o.known[block] = true
	}
}

// session is one agent's, with what it has come to so far.
type session struct {
	agent
	t      *testing.T
	core   *provider.Core
	key    string
	did    []string
	prompt string // of the last request
	epoch  string
	oracle oracle
}

func newSession(t *testing.T, core *provider.Core, key, model string, seed uint64) *session {
	return &session{
		agent: *newAgent(rand.New(rand.NewPCG(seed, 1)), model), t: t, core: core, key: key,
		oracle: oracle{known: map[string]bool{}},
	}
}

func (s *session) where() string {
	return fmt.Sprintf("%s on %s, turn %d, after %q", s.key, s.model, s.turn, s.did)
}

// ask sends the next request through a gateway and holds it to what must hold
// for all of them.
func (s *session) ask(base string, sum *usage) (goesOn bool) {
	s.t.Helper()
	body := s.body()
	status, answer, header := postMessages(s.t, base, s.key, body)
	record := lastRecord(s.core)
	if status != 200 {
		s.t.Fatalf("%s: status %d: %s\nsent upstream: %s", s.where(), status, answer, short(record.Body))
	}
	for _, v := range legal.Check([]byte(record.Body), betasOf(record), "") {
		s.t.Fatalf("%s: illegal: %+v", s.where(), v)
	}
	tools, lines := s.wants()
	if diff := cmp.Diff(tools, offered(record.Seen)); diff != "" {
		s.t.Fatalf("%s: offered tools (-want +got):\n%s\nedits %s", s.where(), diff, header.Get("warmpath-edits"))
	}
	if diff := cmp.Diff(lines, inEffect(record.Seen.Instructions)); diff != "" {
		s.t.Fatalf("%s: instructions in effect (-want +got):\n%s", s.where(), diff)
	}
	wanted, err := inForce(string(body))
	if err != nil {
		s.t.Fatal(err)
	}
	notes, err := inForce(record.Body)
	if diff := cmp.Diff(wanted, notes); err != nil || diff != "" {
		s.t.Fatalf("%s: %v: reminders in force (-want +got):\n%s\nsent %s\nupstream %s", s.where(), err, diff, short(string(body)), short(record.Body))
	}
	if effort := record.Seen.Settings["effort"]; s.echo.effort != "" && s.echo.effort != effort {
		s.t.Fatalf("%s: the effort is %s, want %s", s.where(), effort, s.echo.effort)
	}
	for _, thinking := range record.Seen.Thinking {
		if !thinking.Kept && header.Get("warmpath-repaired") == "" && header.Get("warmpath-epoch") == "0" {
			s.t.Fatalf("%s: thinking dropped: %+v", s.where(), thinking)
		}
	}
	s.samePrefix(record.Seen.Prompt, header.Get("warmpath-conversation")+header.Get("warmpath-epoch"))
	s.oracle.add(record.Seen.Prompt)
	content := sum.add(answer)
	return s.hear(content)
}

// samePrefix is case SB-01: within an epoch a prompt begins with the one before
// it, unless the agent has taken something back that cannot be put back.
func (s *session) samePrefix(prompt, epoch string) {
	s.t.Helper()
	if epoch == s.epoch && !s.rewound && !s.unsettled() && !strings.HasPrefix(prompt, s.prompt) {
		at := 0
		for at < min(len(prompt), len(s.prompt)) && prompt[at] == s.prompt[at] {
			at++
		}
		s.t.Fatalf("%s: the prefix breaks at byte %d of %d:\nbefore ...%s\nnow    ...%s", s.where(), at, len(s.prompt),
			clip(s.prompt[max(0, at-100):]), clip(prompt[max(0, at-100):]))
	}
	s.prompt, s.epoch, s.rewound = prompt, epoch, false
}

func clip(text string) string { return text[:min(len(text), 300)] }

func TestSessions(t *testing.T) {
	t.Parallel()
	t.Run("SB-01 random sessions keep their prefixes", playSessions)
}

// playSessions plays random ones through two gateways that share a store, and holds
// each request to what must hold for all of them. The same agents go straight as
// well, to compare what comes from the cache.
func playSessions(t *testing.T) {
	// A few sessions may be such as have little to gain.
	const twins, enough, tooMany = 100, 30, 5
	p := &playing{}
	var origin string
	p.core, origin = simulated(t)
	_, p.straightTo = simulated(t)
	p.nodes = twoNodes(t, origin)
	p.names = slices.Sorted(maps.Keys(moods))
	failed := 0
	for seed := *firstSession; seed < *firstSession+*sessionCount && failed < tooMany; seed++ {
		if !t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { p.play(t, seed, seed < twins) }) {
			failed++
		}
	}
	if failed > 0 {
		return
	}
	ratio := p.through.share() / p.best.share()
	if *sessionCount >= enough && ratio < 0.97 {
		t.Errorf("only %.4f of what can come from the cache does", ratio)
	}
	t.Logf("%d sessions: of %d input tokens %.2f%% came from the cache through, %.2f%% at best: %.4f of the oracle; straight %.2f%%",
		*sessionCount, p.through.total, 100*p.through.share(), 100*p.best.share(), ratio, 100*p.straight.share())
}

// playing is what random sessions are played through, and what they come to.
type playing struct {
	core                    *provider.Core
	straightTo              string
	nodes, names            []string
	through, straight, best usage
}

// play plays the session of a seed, and its twin straight.
func (p *playing) play(t *testing.T, seed int, twins bool) {
	const turns = 10
	model := []string{"claude-opus-5", "claude-opus-5-5", "claude-sonnet-5-5", "claude-opus-4-8"}[seed%4]
	s := newSession(t, p.core, fmt.Sprint("key-", seed), model, uint64(seed))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("play it again: go test ./gateway -run '^TestSessions$' -args -sessions 1 -first %d", seed)
		}
	})
	twin := newAgent(rand.New(rand.NewPCG(uint64(seed), 1)), model)
	chance := rand.New(rand.NewPCG(uint64(seed), 2))
	for range turns {
		for range chance.IntN(3) {
			name := p.names[chance.IntN(len(p.names))]
			moods[name](&s.agent)
			moods[name](twin)
			s.did = append(s.did, name)
		}
		s.say()
		twin.say()
		s.did = append(s.did, "|")
		for s.ask(p.nodes[chance.IntN(2)], &p.through) {
		}
		for twins && twin.askStraight(t, p.straightTo, s.key, &p.straight) {
		}
	}
	p.best.read, p.best.total = p.best.read+s.oracle.read, p.best.total+s.oracle.total
}

// askStraight sends the next request to the provider itself; refused for its
// thinking, the agent forgets all of it.
func (a *agent) askStraight(t *testing.T, origin, key string, sum *usage) (goesOn bool) {
	t.Helper()
	status, answer, _ := postMessages(t, origin, key, a.body())
	if status == 400 {
		a.forget()
		status, answer, _ = postMessages(t, origin, key, a.body())
	}
	if status != 200 {
		t.Fatalf("straight: status %d: %s", status, answer)
	}
	return a.hear(sum.add(answer))
}

// forget takes the thinking out of the history.
func (a *agent) forget() {
	for i, m := range a.history {
		content, ok := m.Content.(json.RawMessage)
		if !ok {
			continue
		}
		var blocks []map[string]any
		if err := json.Unmarshal(content, &blocks); err != nil {
			panic(err)
		}
		blocks = slices.DeleteFunc(blocks, func(b map[string]any) bool { return b["type"] == "thinking" })
		if len(blocks) == 0 {
			blocks = []map[string]any{{"type": "text", "text": "..."}}
		}
		a.history[i].Content, _ = json.Marshal(blocks)
		a.history[i].Content = json.RawMessage(a.history[i].Content.([]byte))
	}
}

func short(body string) string { return strings.ReplaceAll(body, "\\nA rule that stays.", "") }

func lastRecord(core *provider.Core) *provider.Record {
	record, _ := core.Log.Last()
	return &record
}

func betasOf(record *provider.Record) []string {
	var betas []string
	for _, header := range record.Headers {
		if strings.EqualFold(header[0], "anthropic-beta") {
			for beta := range strings.SplitSeq(header[1], ",") {
				betas = append(betas, strings.TrimSpace(beta))
			}
		}
	}
	return betas
}
