package view_test

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite"
	"warmpath/rewrite/transcript"
	"warmpath/rewrite/view"
)

// log numbers events and writes them.
func log(events ...transcript.Event) (raw [][]byte) {
	for i := range events {
		events[i].Seq, events[i].Turn, events[i].Time = int64(i+1), 1, time.Unix(1_800_000_000, 0)
		raw = append(raw, transcript.Append(nil, &events[i]))
	}
	return raw
}

func text(words string) []transcript.Block { return []transcript.Block{{Type: "text", Text: words}} }

// block is a block of a tool's, for an audience.
func block(words, audience string) transcript.Block {
	b := transcript.Block{Type: "text", Text: words}
	if audience != "" {
		b.Annotations = json.RawMessage(`{"audience":` + audience + `}`)
	}
	return b
}

func users(u view.UserEvents) (all []string) {
	for i := range u.Len() {
		_, _, event := u.Event(i)
		all = append(all, event)
	}
	return all
}

// Each row of the user view's table.
func TestUV01(t *testing.T) {
	for name, c := range map[string]struct {
		event transcript.Event
		kept  bool
	}{
		"UV-01 turn_start":               {transcript.Event{Type: transcript.TurnStart, Dialect: "messages"}, true},
		"UV-01 chat_request":             {transcript.Event{Type: transcript.ChatRequest, Role: "user", Content: text("hi")}, true},
		"UV-01 chat_response message":    {transcript.Event{Type: transcript.ChatResponse, Kind: transcript.Message, Content: text("hi")}, true},
		"UV-01 chat_response structured": {transcript.Event{Type: transcript.ChatResponse, Kind: transcript.Structured, Content: text("{}")}, true},
		"UV-01 chat_response reasoning":  {transcript.Event{Type: transcript.ChatResponse, Kind: transcript.Reasoning, Content: text("hm")}, false},
		"UV-01 chat_response of no kind": {transcript.Event{Type: transcript.ChatResponse, Content: text("hm")}, false},
		"UV-01 tool_call_request":        {transcript.Event{Type: transcript.ToolCallRequest, Name: "tell_user", Arguments: json.RawMessage(`{}`)}, false},
		"UV-01 tool_call_response":       {transcript.Event{Type: transcript.ToolCallResponse, Content: text("fine")}, true},
		"UV-01 tool_call_response empty": {transcript.Event{Type: transcript.ToolCallResponse}, false},
		"UV-01 inquiry_request":          {transcript.Event{Type: transcript.InquiryRequest, Data: json.RawMessage(`{}`)}, false},
		"UV-01 inquiry_response":         {transcript.Event{Type: transcript.InquiryResponse, Data: json.RawMessage(`{}`)}, false},
		"UV-01 config":                   {transcript.Event{Type: transcript.Config, Content: text("be careful")}, false},
		"UV-01 hosted_activity":          {transcript.Event{Type: transcript.HostedActivity, Name: "web_search", State: "completed"}, false},
		"UV-01 directive":                {transcript.Event{Type: transcript.Directive, Content: text("be careful")}, false},
		"UV-01 opaque":                   {transcript.Event{Type: transcript.Opaque, Payload: &transcript.Payload{Format: "x/y", Value: json.RawMessage(`1`)}}, false},
		"UV-01 usage":                    {transcript.Event{Type: transcript.Usage}, false},
		"UV-01 error":                    {transcript.Event{Type: transcript.Error}, false},
		"UV-01 turn_end":                 {transcript.Event{Type: transcript.TurnEnd}, false},
		"UV-01 of another version":       {transcript.Event{Type: "something"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			raw := log(c.event)
			var want []string
			if c.kept {
				want = []string{string(raw[0])}
			}
			if diff := cmp.Diff(want, users(view.User(raw, false))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUserViewOfToolResponses(t *testing.T) {
	all := []transcript.Block{
		block("for all", ""), block("for people", `["user"]`), block("for the model", `["assistant"]`),
		block("for both", `["user","assistant"]`), block("for none", `[]`), block("for nobody known", `["robot"]`), block("one name", `"user"`),
	}
	whole := transcript.Event{
		Type: transcript.ToolCallResponse, Source: transcript.FromRequest, ID: "i1", CallID: "c1", Name: "look", Runner: "client", Content: all,
		Payload: &transcript.Payload{Format: "messages/block", Value: json.RawMessage(`{"secret":"for the model"}`)},
	}
	raw := log(transcript.Event{Type: transcript.TurnStart}, whole)
	for name, c := range map[string]struct {
		explicit bool
		want     []string
	}{
		"UV-05 ids, time and order stay": {false, []string{"for all", "for people", "for both", "for none", "one name"}},
		"UV-05 explicit only":            {true, []string{"for people", "for both", "one name"}},
	} {
		t.Run(name, func(t *testing.T) {
			shown := users(view.User(raw, c.explicit))
			got, err := transcript.Parse([]byte(shown[1]))
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, b := range got.Content {
				texts = append(texts, b.Text)
			}
			if diff := cmp.Diff(c.want, texts); diff != "" {
				t.Error(diff)
			}
			want, _ := transcript.Parse(raw[1])
			if want.Content, got.Content, want.Payload = nil, nil, nil; !cmp.Equal(want, got) {
				t.Error(cmp.Diff(want, got))
			}
			if strings.Contains(shown[1], "for the model") {
				t.Errorf("users see what is for the model: %s", shown[1])
			}
		})
	}
}

func TestUserViewLeavesOut(t *testing.T) {
	for name, events := range map[string][]transcript.Event{
		"UV-06 the view knows no style: a hidden tool's blocks are shown": nil,
		"UV-07 a response with only an acknowledgement vanishes": {
			{Type: transcript.ToolCallResponse, Name: "tell_user", Content: []transcript.Block{block("Message shown to user.", `["assistant"]`)}},
		},
		"UV-08 an unanswered call leaves nothing": {{Type: transcript.ToolCallRequest, Name: "look", Arguments: json.RawMessage(`{}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			if events == nil {
				// What is shown is decided by the events alone: there is nothing else to
				// give to the projection.
				if got := reflect.TypeOf(view.User); got.NumIn() != 2 || got.In(0) != reflect.TypeOf([][]byte(nil)) || got.In(1).Kind() != reflect.Bool {
					t.Errorf("the projection takes %v", got)
				}
				return
			}
			if got := users(view.User(log(events...), false)); len(got) != 0 {
				t.Errorf("shown: %s", got)
			}
		})
	}
}

func TestTellUserIsSeenAsItsMessage(t *testing.T) {
	shown := users(view.User(log(transcript.Event{Type: transcript.ToolCallResponse, Name: "tell_user", Content: []transcript.Block{
		{Type: "text", Text: "# Hello", MIME: "text/markdown", Annotations: json.RawMessage(`{"audience":["user"]}`)},
		block("Message shown to user.", `["assistant"]`),
	}}), true))
	want := `"content":[{"type":"text","text":"# Hello","mimeType":"text/markdown","annotations":{"audience":["user"]}}]`
	if len(shown) != 1 || !strings.Contains(shown[0], want) {
		t.Errorf("shown: %s", shown)
	}
}

// The projection is a type that cannot be made into anything that is rewritten, and
// nothing of the rewriting half takes it or knows it.
func TestUV09(t *testing.T) {
	t.Run("UV-09 no conversion", func(t *testing.T) {
		u := reflect.TypeFor[view.UserEvents]()
		for _, other := range []reflect.Type{
			reflect.TypeFor[rewrite.JSON](), reflect.TypeFor[[]byte](), reflect.TypeFor[string](), reflect.TypeFor[[][]byte](),
			reflect.TypeFor[rewrite.Conversation](), reflect.TypeFor[[]rewrite.Item](), reflect.TypeFor[rewrite.Reply](), reflect.TypeFor[[]transcript.Event](),
		} {
			if u.ConvertibleTo(other) || u.AssignableTo(other) {
				t.Errorf("user events can be made into %v", other)
			}
		}
		for i := range u.NumField() {
			if u.Field(i).IsExported() {
				t.Errorf("the field %s can be taken out of user events", u.Field(i).Name)
			}
		}
	})
	t.Run("UV-09 no rewriter knows it", func(t *testing.T) {
		root := filepath.Join("..", "..")
		files := 0
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			inside, _ := filepath.Rel(root, path)
			reads := strings.HasPrefix(inside, filepath.Join("gateway", "console")) || strings.HasPrefix(inside, "cmd") || strings.HasPrefix(inside, filepath.Join("rewrite", "view"))
			if d.IsDir() || !strings.HasSuffix(path, ".go") || reads || strings.HasPrefix(inside, ".") {
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			files++
			for _, imported := range file.Imports {
				if name, _ := strconv.Unquote(imported.Path.Value); name == "warmpath/rewrite/view" {
					t.Errorf("%s imports %s: views are for those that show them", path, name)
				}
			}
			return nil
		})
		if err != nil || files < 200 {
			t.Errorf("%d files: %v", files, err)
		}
	})
}

func TestPortable(t *testing.T) {
	native := &transcript.Payload{Provider: "claude", Format: "messages/block", Value: json.RawMessage(`{"encrypted_index":"E"}`)}
	raw := log(
		transcript.Event{Type: transcript.TurnStart},
		transcript.Event{Type: transcript.ChatRequest, Role: "user", Path: "messages[0]", Content: []transcript.Block{{Type: "text", Text: "What?"}, {Type: "image", Data: "AAAA"}}},
		transcript.Event{Type: transcript.ChatResponse, Kind: transcript.Reasoning, Content: text("hm")},
		transcript.Event{Type: transcript.HostedActivity, ID: "s1", Name: "web_search", State: "completed", Input: json.RawMessage(`{"query":"x"}`), Payload: native,
			Sources: []transcript.Citation{{URL: "https://a", Payload: native}}},
		transcript.Event{Type: transcript.ChatResponse, Kind: transcript.Message, Content: []transcript.Block{{
			Type: "text", Text: "That.", Citations: []transcript.Citation{{URL: "https://a", Title: "A", Start: 0, End: 4, Payload: native}}, Payload: native,
		}}},
		transcript.Event{Type: transcript.ToolCallRequest, Name: "look"},
		transcript.Event{Type: transcript.Usage},
	)
	shown, err := view.Portable(raw)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range shown {
		got = append(got, string(s.JSON))
	}
	want := []string{
		`{"seq":1,"turn":1,"time":"2027-01-15T08:00:00Z","type":"turn_start"}`,
		`{"seq":2,"turn":1,"time":"2027-01-15T08:00:00Z","type":"chat_request","role":"user","content":[{"type":"text","text":"What?"}]}`,
		`{"seq":4,"turn":1,"time":"2027-01-15T08:00:00Z","type":"hosted_activity","id":"s1","name":"web_search","state":"completed","input":{"query":"x"},"sources":[{"url":"https://a"}]}`,
		`{"seq":5,"turn":1,"time":"2027-01-15T08:00:00Z","type":"chat_response","kind":"message","content":[{"type":"text","text":"That.","citations":[{"url":"https://a","title":"A","end":4}]}]}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What a provider made is given byte for byte, whatever its spelling.
func TestNative(t *testing.T) {
	odd := "{ \"b\":1.0,\n\t\"a\" : \"\\u00e9\\/\", \"a\":2 }"
	raw := log(
		transcript.Event{Type: transcript.ChatResponse, Kind: transcript.Message, Content: []transcript.Block{{
			Type: "text", Text: "x", Citations: []transcript.Citation{{URL: "u", Payload: &transcript.Payload{Format: "messages/citation", Value: json.RawMessage(`[1]`)}}},
		}}},
		transcript.Event{Type: transcript.HostedActivity, ID: "s1", Call: 2, Payload: &transcript.Payload{Provider: "claude", Format: "messages/block", Version: "1", Value: json.RawMessage(odd)}},
	)
	shown, err := view.Native(raw)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range shown {
		got = append(got, string(s.JSON))
	}
	want := []string{
		`{"seq":1,"turn":1,"time":"2027-01-15T08:00:00Z","type":"chat_response","at":"content.0.citations.0","format":"messages/citation","value":[1]}`,
		`{"seq":2,"turn":1,"call":2,"time":"2027-01-15T08:00:00Z","type":"hosted_activity","id":"s1","at":"payload","provider":"claude","format":"messages/block","version":"1","value":` + odd + `}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
