package gateway_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"warmpath/fixtures/legal"
	"warmpath/fixtures/provider"
	"warmpath/gateway"
	"warmpath/gateway/config"
	"warmpath/rewrite/anthropic"
)

// behaviour is something that an agent was seen to do between two requests, as
// a session of the same shape: two turns as usual, then the moves with a turn
// behind each, then one more turn. It is played straight to a strict provider
// and through a gateway.
type behaviour struct {
	// model is claude-opus-5-5 unless it is set.
	model string
	// agent makes the agent what it is; nil leaves it as roverLike has it.
	agent func(*rover)
	moves []move
	// forgets says that the model leaves old thinking out of its prompt by itself,
	// and newer that the agent speaks in ways that older models do not take.
	forgets, newer bool
}

// move is what happens before a turn.
type move struct {
	does func(*rover)
	// side is a request of another role, or one that leads nowhere; warm ones read
	// the prefix of the main loop, and all others go out as they came.
	side func(*rover) object
	warm bool
	// said is what the model is told by the gateway, epoch why the prefix begins
	// anew. Empty is nothing, and that the prefix stays.
	said, epoch string
	// rewrites says that the agent takes back what it has sent, so that not all of
	// it can stay.
	rewrites bool
	// sent looks at what reached the provider in the first request of the turn.
	sent func(t *testing.T, client object, record *provider.Record)
}

func roverLike(model, key string, base ...string) *rover {
	r := newRover(0, key, base...)
	r.model, r.marks, r.tools = model, "last", nil
	for _, name := range []string{"Bash", "Edit", "Read", "Write"} {
		r.tools = append(r.tools, r.tool(name))
	}
	r.system = []any{
		textBlock("You are a coding agent." + strings.Repeat("\nA rule that stays.", 300)),
		textBlock("Model: one.\nToday is Monday.\nBranch: main."),
	}
	return r
}

// taped is a behaviour that is being played through a gateway.
type taped struct {
	*rover
	t     *testing.T
	core  *provider.Core
	admin string
	// prompts and bodies are the newest of the main loop, by the model.
	prompts, bodies map[string]string
	told            int // messages of the gateway's own so far
	epochs          map[string]int
	// lax sessions must only succeed: their model takes no directives.
	lax bool
}

func (b behaviour) play(t *testing.T, lax bool) {
	if b.model == "" {
		b.model = "claude-opus-5-5"
		if lax {
			b.model = "claude-sonnet-4-5"
		}
	}
	_, straightTo := simulated(t)
	core, origin := simulated(t)
	g, base, _ := startWith(t, origin, gateway.Options{}, func(cfg *config.Config) { cfg.Quiet = true })
	straight := roverLike(b.model, "key", straightTo)
	through := &taped{t: t, core: core, admin: "http://" + g.AdminAddr(), rover: roverLike(b.model, "key", base), prompts: map[string]string{}, bodies: map[string]string{}, lax: lax}
	if b.agent != nil {
		b.agent(straight)
		b.agent(through.rover)
	}
	moves := append([]move{{epoch: "fresh"}, {}}, b.moves...)
	refused := false
	for _, m := range append(moves, move{}) {
		m.rewrites = m.rewrites || b.forgets
		if m.side != nil {
			straight.post(t, "/v1/messages", m.side(straight))
			through.aside(m.side(through.rover), m.warm)
		}
		if m.does != nil {
			m.does(straight)
			m.does(through.rover)
		}
		refused = straight.turnStraight(t) || refused
		through.turnThrough(&m)
	}
	// Who is refused and forgets its thinking sends less from then on.
	if !refused && straight.usage.share() > through.usage.share() {
		t.Errorf("straight %.2f%% came from the cache, through only %.2f%%", 100*straight.usage.share(), 100*through.usage.share())
	}
}

// begin adds the user's words, by which the model thinks, calls a tool and says
// that it is done.
func (r *rover) begin() {
	r.turn++
	words := fmt.Sprintf("Turn %d. DO[say Done.]", r.turn)
	for _, tool := range r.tools {
		if name, ok := tool["name"].(string); ok && tool["defer_loading"] != true && tool["type"] == nil {
			input := r.input
			if input == "" {
				input = "{}"
			}
			words = fmt.Sprintf("Turn %d. DO[think 10; call %s %s; then; say Done.]", r.turn, name, input)
			break
		}
	}
	r.history = append(slices.Clip(r.history), object{"role": "user", "content": []any{textBlock(words)}})
	r.remind()
	r.history = append(r.history, r.tail...)
	r.tail = nil
}

func (r *rover) turnStraight(t *testing.T) (refused bool) {
	t.Helper()
	r.begin()
	for goesOn := true; goesOn; {
		status, content, message := r.post(t, "/v1/messages", r.body())
		if status == 400 && strings.Contains(message, "bound to a different conversation") {
			refused = true
			r.forget()
			status, content, message = r.post(t, "/v1/messages", r.body())
		}
		if status != 200 {
			t.Fatalf("straight: status %d: %s", status, message)
		}
		goesOn = r.hear(content)
	}
	return refused
}

func (p *taped) turnThrough(m *move) {
	p.t.Helper()
	p.begin()
	for goesOn := true; goesOn; {
		body := p.body()
		status, content, message := p.post(p.t, "/v1/messages", body)
		record := lastRecord(p.core)
		if status != 200 {
			p.t.Fatalf("through: status %d: %s\nupstream: %s", status, message, short(record.Body))
		}
		for _, v := range legal.Check([]byte(record.Body), betasOf(record), "") {
			p.t.Errorf("illegal: %+v", v)
		}
		if !p.lax {
			p.hold(m, body, record)
		}
		if m.sent != nil && !p.lax {
			m.sent(p.t, body, record)
		}
		p.prompts[p.model], p.bodies[p.model] = record.Seen.Prompt, record.Body
		m = &move{rewrites: m.rewrites}
		goesOn = p.hear(content)
	}
}

// hold compares a request with what is wanted of it.
func (p *taped) hold(m *move, body object, record *provider.Record) {
	p.t.Helper()
	began, want := p.newEpochs(), map[string]int{}
	if m.epoch != "" {
		want[m.epoch], p.told = 1, 0
	}
	if !reflect.DeepEqual(began, want) {
		p.t.Errorf("the prefix begins anew for %v, want %v", began, want)
	}
	own := ownMessages(p.t, body, record.Body)
	if said := strings.Join(own[min(p.told, len(own)):], " | "); said != m.said || len(own) < p.told {
		p.t.Errorf("the model is told %q of %q, want %q", said, own, m.said)
	}
	p.told = len(own)
	if last := p.prompts[p.model]; m.epoch == "" && !m.rewrites && !strings.HasPrefix(record.Seen.Prompt, last) {
		p.t.Errorf("the prefix breaks: %s", broken(last, record.Seen.Prompt))
	}
	if last := p.bodies[p.model]; m.epoch == "" && !m.rewrites && last != "" {
		for _, list := range []string{"tools", "system", "messages"} {
			if before, now := elements(last, list), elements(record.Body, list); !strings.HasPrefix(now, before) {
				p.t.Errorf("the bytes of %s change: %s", list, broken(before, now))
			}
		}
	}
}

// elements are the bytes of those of a list that the provider reads at its place,
// without their cache marks. A version line and deferred tools are not. Content
// that is a string is short for a block of text: who goes from one to the other
// with its mark gets its own bytes through.
func elements(body, list string) string {
	var out strings.Builder
	gjson.Get(body, list).ForEach(func(_, element gjson.Result) bool {
		if !element.Get("defer_loading").Bool() && !strings.HasPrefix(element.Get("text").String(), "x-anthropic-billing-header:") {
			raw := string(anthropic.StripMark([]byte(element.Raw)))
			if content := element.Get("content"); content.Type == gjson.String {
				raw = strings.Replace(raw, content.Raw, `[{"text":`+content.Raw+`,"type":"text"}]`, 1)
			}
			out.WriteString(raw + "\n")
		}
		return true
	})
	return out.String()
}

// aside sends what must not move the main loop on.
func (p *taped) aside(body object, warm bool) {
	p.t.Helper()
	if status, _, message := p.post(p.t, "/v1/messages", body); status != 200 {
		p.t.Fatalf("aside: status %d: %s", status, message)
	}
	record := lastRecord(p.core)
	switch {
	case !warm:
		asItCame(p.t, body, record)
	case !p.lax && !strings.HasPrefix(record.Seen.Prompt, p.prompts[p.model]):
		p.t.Errorf("it does not read the main loop's prefix: %s", broken(p.prompts[p.model], record.Seen.Prompt))
	}
	p.newEpochs() // its own
}

// broken is where a prompt leaves the one before it.
func broken(before, now string) string {
	at := 0
	for at < min(len(before), len(now)) && before[at] == now[at] {
		at++
	}
	return fmt.Sprintf("%q became %q", clip(before[max(0, at-60):]), clip(now[max(0, at-60):]))
}

// newEpochs are those since it was asked last, by their reasons.
func (p *taped) newEpochs() map[string]int {
	p.t.Helper()
	_, text := send(p.t, "GET", p.admin+"/metrics", "", "Accept-Encoding", "identity")
	since, now := map[string]int{}, map[string]int{}
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, `warmpath_epochs_total{reason="`)
		if !ok {
			continue
		}
		why, count, _ := strings.Cut(strings.TrimSpace(rest), `"} `)
		if now[why], _ = strconv.Atoi(count); now[why] > p.epochs[why] {
			since[why] = now[why] - p.epochs[why]
		}
	}
	p.epochs = now
	return since
}

// ownMessages are the gateway's messages in a request, in shorthand.
func ownMessages(t *testing.T, client object, upstream string) (own []string) {
	t.Helper()
	type message struct {
		Role    string
		Content any
		Config  struct{ Effort string } `json:"output_config"`
	}
	read := func(text []byte) []message {
		var request struct{ Messages []message }
		if err := json.Unmarshal(text, &request); err != nil {
			t.Fatal(err)
		}
		for i := range request.Messages {
			unmark(request.Messages[i].Content)
		}
		return request.Messages
	}
	text, _ := json.Marshal(client)
	theirs := read(text)
	for _, m := range read([]byte(upstream)) {
		if m.Role == "system" && (len(theirs) == 0 || !reflect.DeepEqual(m, theirs[0])) {
			words := shorthand(m.Content)
			if m.Config.Effort != "" {
				words = strings.TrimSpace(words + " effort=" + m.Config.Effort)
			}
			own = append(own, words)
			continue
		}
		if len(theirs) == 0 || theirs[0].Role != m.Role {
			t.Fatalf("a message of the %s is not the client's", m.Role)
		}
		theirs = theirs[1:]
	}
	if len(theirs) > 0 {
		t.Fatalf("%d messages of the client's are missing", len(theirs))
	}
	return own
}

// unmark takes the cache marks away.
func unmark(value any) {
	switch value := value.(type) {
	case object:
		delete(value, "cache_control")
		for _, v := range value {
			unmark(v)
		}
	case []any:
		for _, v := range value {
			unmark(v)
		}
	}
}

var (
	addedWords   = regexp.MustCompile(`(?s)^<instructions-added>\n(.*)\n</instructions-added>$`)
	removedWords = regexp.MustCompile(`(?s)^<instructions-removed>\n.*?<old>\n(.*)\n</old>\n</instructions-removed>$`)
	changedWords = regexp.MustCompile(`(?s)^<instructions-changed>\n.*?<old>\n(.*)\n</old>\n.*?<new>\n(.*)\n</new>\n</instructions-changed>$`)
)

// shorthand is a directive: +name, -name and =name are tools that are added,
// removed and defined, [+text] and [-text] are lines of the instructions, and
// [text -> text] is what became of them.
func shorthand(content any) string {
	var parts []string
	blocks, _ := content.([]any)
	for _, b := range blocks {
		block := b.(object)
		tool, _ := block["tool"].(object)
		name, _ := tool["name"].(string)
		if definition, ok := tool["definition"].(object); ok {
			name = definition["name"].(string)
		}
		switch {
		case block["type"] == "tool_removal":
			parts = append(parts, "-"+name)
		case tool["type"] == "tool_definition":
			parts = append(parts, "="+name)
		case block["type"] == "tool_addition":
			parts = append(parts, "+"+name)
		case strings.HasPrefix(block["text"].(string), "<reminders-changed>"):
			parts = append(parts, notesChanged(block["text"].(string)))
		default:
			text := addedWords.ReplaceAllString(block["text"].(string), "[+$1]")
			text = removedWords.ReplaceAllString(text, "[-$1]")
			parts = append(parts, changedWords.ReplaceAllString(text, "[$1 -> $2]"))
		}
	}
	return strings.Join(parts, " ")
}
