package gateway_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// echoing is how an agent writes again what it has sent or heard.
type echoing struct {
	// spelling is that of the provider's calls: as they came, sorted, or in
	// another order each time.
	spelling string
	// reminds adds a reminder to the words of each turn and to each result, and
	// fleeting leaves them out of all but the newest message; forgot says that it
	// did that once.
	reminds, fleeting, forgot bool
	shuffles                  *rand.Rand
	// effort is that of the next turns; empty leaves it to the model.
	effort string
}

var spellings = []string{"as it came", "sorted", "shuffled", "shuffled"}

// echoMoods are those of an agent that writes its past otherwise.
var echoMoods = map[string]func(*agent){
	"spells its past otherwise": func(a *agent) { a.echo.spelling = spellings[a.pick(len(spellings))] },
	"reminds":                   func(a *agent) { a.echo.reminds = !a.echo.reminds },
	"forgets its reminders":     func(a *agent) { a.echo.fleeting, a.echo.forgot = true, true },
	"changes its effort": func(a *agent) {
		// On other models that costs the cache of all messages, whoever says it.
		if level := []string{"low", "medium", "high"}[a.pick(3)]; a.model != "claude-opus-4-8" {
			a.rewound = a.rewound || a.echo.effort == ""
			a.echo.effort = level
		}
	},
	// No message can say this, so that it costs what it costs straight.
	"leaves its effort":   func(a *agent) { a.rewound, a.echo.effort = a.rewound || a.echo.effort != "", "" },
	"keeps its reminders": func(a *agent) { a.echo.fleeting = false },
}

// rewriting is how a rover writes its past: with other orders of arguments each
// time, with a reminder in words and results, and without those of the past.
type rewriting struct{ respells, reminds, forgets bool }

var againRoves = map[string]func(*rover){
	"FB-54 spells its past otherwise": func(r *rover) { r.again.respells = !r.again.respells },
	"FB-22 forgets its reminders":     func(r *rover) { r.again.forgets = true },
	"remembers its reminders":         func(r *rover) { r.again.forgets = false },
	"reminds itself":                  func(r *rover) { r.again.reminds = !r.again.reminds },
}

func init() {
	maps.Copy(moods, echoMoods)
	maps.Copy(roves, againRoves)
}

// remind adds a reminder to the newest message.
func (r *rover) remind() {
	if !r.again.reminds {
		return
	}
	last := len(r.history) - 1
	content, ok := r.history[last]["content"].([]any)
	if !ok || r.history[last]["role"] != "user" {
		return
	}
	for i, b := range content {
		if block := maps.Clone(b.(object)); block["type"] == "tool_result" {
			block["content"] = "done\n\n" + noteOpen + "Files may be stale." + noteShut
			content = slices.Clone(content)
			content[i] = block
		}
	}
	r.history = slices.Clone(r.history)
	r.history[last] = object{"role": "user", "content": append(slices.Clip(content), textBlock(fmt.Sprint(noteOpen, "It is turn ", r.turn, ".", noteShut)))}
}

// write writes messages as the agent does now.
func (w rewriting) write(messages []object) {
	for i, m := range messages {
		content, ok := m["content"].([]any)
		switch {
		case !ok:
		case m["role"] == "user" && w.forgets && i < len(messages)-1:
			if left := forgetful(content); len(left) > 0 {
				m["content"] = left
			}
		case m["role"] == "assistant" && w.respells:
			content = slices.Clone(content)
			for j, b := range content {
				block := maps.Clone(b.(object))
				if input, ok := block["input"].(object); ok {
					block["input"] = backwards(input, len(messages))
				}
				content[j] = block
			}
			m["content"] = content
		}
	}
}

// backwards writes an object with its members in another order every other time.
func backwards(input object, n int) json.RawMessage {
	names := slices.Sorted(maps.Keys(input))
	if n%4 < 2 {
		slices.Reverse(names)
	}
	var members []string
	for _, name := range names {
		value, _ := json.Marshal(input[name])
		members = append(members, strconv.Quote(name)+":"+string(value))
	}
	return json.RawMessage("{" + strings.Join(members, ",") + "}")
}

const noteOpen, noteShut = "<system-reminder>", "</system-reminder>"

// remind adds a reminder to what the user says. Some say the same each time.
func (a *agent) remind(blocks []any) []any {
	if !a.echo.reminds {
		return blocks
	}
	text := fmt.Sprintf("%s\nMind the list of turn %d.\n%s", noteOpen, a.turn/2, noteShut)
	return append(blocks, map[string]any{"type": "text", "text": text})
}

// unsettled reports a history that may be another agent's, for all that is in it:
// what was dropped from it is not put back, so that the prefix breaks as it does
// straight.
func (a *agent) unsettled() bool {
	return a.echo.forgot && !slices.ContainsFunc(a.history, func(m message) bool {
		content, ok := m.Content.(json.RawMessage)
		return ok && (strings.Contains(string(content), `"tool_use"`) || strings.Contains(string(content), `"thinking"`))
	})
}

// noted is a tool's result with a reminder behind it.
func (a *agent) noted(result string) string {
	if !a.echo.reminds {
		return result
	}
	return result + "\n\n" + noteOpen + "Files may be stale." + noteShut
}

// echoed is the history as the agent writes it now.
func (a *agent) echoed() []message {
	messages := slices.Clone(a.history)
	for i := range messages {
		m := &messages[i]
		switch content := m.Content.(type) {
		case json.RawMessage:
			m.Content = a.respell(content)
		case []any:
			if a.echo.fleeting && i < len(messages)-1 {
				m.Content = forgetful(content)
			}
		}
	}
	return messages
}

// forgetful is what a user said without the reminders.
func forgetful(blocks []any) (left []any) {
	for _, b := range blocks {
		block := maps.Clone(b.(map[string]any))
		if text, ok := block["text"].(string); ok && strings.HasPrefix(text, noteOpen) {
			continue
		}
		if text, ok := block["content"].(string); ok {
			block["content"], _, _ = strings.Cut(text, "\n\n"+noteOpen)
		}
		left = append(left, block)
	}
	return left
}

// respell writes the arguments of calls in another way.
func (a *agent) respell(content json.RawMessage) any {
	if a.echo.spelling == "" || a.echo.spelling == "as it came" {
		return content
	}
	if a.echo.shuffles == nil {
		a.echo.shuffles = rand.New(rand.NewPCG(1, 1))
	}
	var blocks []map[string]json.RawMessage
	if err := json.Unmarshal(content, &blocks); err != nil {
		panic(err)
	}
	for _, block := range blocks {
		if input, ok := block["input"]; ok {
			block["input"] = a.reorder(input)
		}
	}
	return blocks
}

func (a *agent) reorder(object json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		panic(err)
	}
	names := slices.Sorted(maps.Keys(members))
	if a.echo.spelling == "shuffled" {
		a.echo.shuffles.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	}
	var out []string
	for _, name := range names {
		value := string(members[name])
		if number, err := strconv.ParseFloat(value, 64); err == nil {
			value = strconv.FormatFloat(number, 'g', -1, 64)
		}
		out = append(out, strconv.Quote(name)+":"+value)
	}
	return json.RawMessage("{" + strings.Join(out, ",") + "}")
}

var changedNotes = regexp.MustCompile(`(no longer applies|applies again): (\d+)`)

// notesChanged is what is said of reminders, in shorthand.
func notesChanged(text string) string {
	short := "[reminders"
	for _, change := range changedNotes.FindAllStringSubmatch(text, -1) {
		sign := " -"
		if change[1] == "applies again" {
			sign = " +"
		}
		short += sign + change[2]
	}
	return short + "]"
}

// inForce are the reminders in blocks of their own that the model goes by, each
// once, and those that it was sent: all that stand in the user's messages, less
// those that were withdrawn by their number.
func inForce(body string) (notes []string, err error) {
	var request struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(body), &request); err != nil {
		return nil, err
	}
	var all []string // inner ones are empty
	for _, m := range request.Messages {
		var blocks []map[string]any
		if json.Unmarshal(m.Content, &blocks) != nil {
			continue
		}
		for _, block := range blocks {
			text, _ := block["text"].(string)
			switch {
			case m.Role == "user" && strings.HasPrefix(text, noteOpen):
				all = append(all, text)
			case m.Role == "user":
				inner, _ := json.Marshal(block)
				for range strings.Count(string(inner), `\u003csystem-reminder\u003e`) {
					all = append(all, "")
				}
			case m.Role == "system" && strings.HasPrefix(text, "<reminders-changed>"):
				for _, change := range changedNotes.FindAllStringSubmatch(text, -1) {
					n, _ := strconv.Atoi(change[2])
					if n > len(all) {
						return nil, fmt.Errorf("reminder %d of %d is withdrawn", n, len(all))
					}
					text, gone := strings.CutPrefix(all[n-1], "gone ")
					if gone == (change[1] == "no longer applies") || text == "" {
						return nil, fmt.Errorf("reminder %d (%q) %s", n, all[n-1], change[1])
					}
					if all[n-1] = text; !gone {
						all[n-1] = "gone " + text
					}
				}
			}
		}
	}
	for _, text := range all {
		if text != "" && !strings.HasPrefix(text, "gone ") {
			notes = append(notes, text)
		}
	}
	slices.Sort(notes)
	return slices.Compact(notes), nil
}
