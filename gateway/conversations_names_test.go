package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/gateway/config"
	"warmpath/rewrite"
)

// talk is a conversation under way.
type talk struct {
	t      testing.TB
	base   string
	client speaker
	c      *rewrite.Conversation
	key    []string // header lines of its own
	name   string   // the last that was told
}

func beginTalk(t testing.TB, base string, from rewrite.Dialect, model string, header ...string) *talk {
	return &talk{t: t, base: base, client: speakers[from], c: &rewrite.Conversation{Dialect: from, Model: model}, key: header}
}

// says sends something and takes the reply into the history.
func (k *talk) says(words string) *talk {
	k.t.Helper()
	k.c.Items = append(k.c.Items, rewrite.Item{Parts: []rewrite.Part{{Text: words}}})
	reply, header := k.client.ask(k.t, k.base, k.c, k.key...)
	k.name = header.Get("Warmpath-Conversation")
	k.c.Items = append(k.c.Items, reply.Items...)
	return k
}

// fork is the same conversation, which goes on elsewhere.
func (k *talk) fork() *talk {
	other, c := *k, *k.c
	c.Items = append([]rewrite.Item(nil), k.c.Items...)
	other.c = &c
	return &other
}

// ways are from which dialect to which provider conversations are named: with a
// lineage, without, and translated.
var ways = [][2]rewrite.Dialect{
	{rewrite.Messages, rewrite.Messages}, {rewrite.Completions, rewrite.Completions}, {rewrite.Responses, rewrite.Messages},
	{rewrite.Gemini, rewrite.Gemini}, {rewrite.Messages, rewrite.Responses},
}

func eachWay(t *testing.T, test func(t *testing.T, begin func(header ...string) *talk, user func(name string) []string)) {
	g, base := logging(t, config.KeptInMemory, nil)
	for _, way := range ways {
		t.Run(fmt.Sprintf("%s to %s", way[0], way[1]), func(t *testing.T) {
			// Each has a key of its own, so that none knows what the others say.
			key := "sk-" + way[0].String() + "-" + way[1].String()
			test(t, func(header ...string) *talk {
				own := []string{"X-Api-Key", key, "X-Goog-Api-Key", key, "Authorization", "Bearer " + key}
				return beginTalk(t, base, way[0], models[way[1]], append(own, header...)...)
			}, func(name string) (said []string) {
				events, _ := logged(t, g, name, "?view=user")
				for i := range events {
					if events[i].Type != "turn_start" {
						said = append(said, events[i].Content[0].Text)
					}
				}
				return said
			})
		})
	}
}

// Two that begin with the same words are two, however alike they go on.
func TestTheSameWordsBeginTwoConversations(t *testing.T) {
	eachWay(t, func(t *testing.T, begin func(...string) *talk, user func(string) []string) {
		const hello = "Hello. DO[say Hi.]"
		one, two := begin().says(hello), begin().says(hello)
		if one.name == "" || one.name == two.name {
			t.Fatalf("they are called %q and %q", one.name, two.name)
		}
		one.says("I am one. DO[say Hi, one.]")
		two.says("I am two. DO[say Hi, two.]")
		third := begin().says(hello)
		for who, k := range map[string]*talk{"one": one, "two": two} {
			want := []string{hello, "Hi.", "I am " + who + ". DO[say Hi, " + who + ".]", "Hi, " + who + "."}
			if diff := cmp.Diff(want, user(k.name)); diff != "" {
				t.Errorf("%s: %s", who, diff)
			}
		}
		if diff := cmp.Diff([]string{hello, "Hi."}, user(third.name)); diff != "" {
			t.Errorf("a third: %s", diff)
		}
	})
}

// Who goes on from an earlier place goes on with the conversation, and what was said
// until there is not said again.
func TestAForkGoesOnWithItsConversation(t *testing.T) {
	eachWay(t, func(t *testing.T, begin func(...string) *talk, user func(string) []string) {
		trunk := begin().says("A tree. DO[say A trunk.]")
		branch := trunk.fork()
		trunk.says("Left. DO[say A leaf.]")
		branch.says("Right. DO[say A bird.]")
		if branch.name != trunk.name {
			t.Fatalf("they are called %q and %q", trunk.name, branch.name)
		}
		branch.says("Further. DO[say It flies.]")
		want := []string{"A tree. DO[say A trunk.]", "A trunk.", "Left. DO[say A leaf.]", "A leaf.", "Right. DO[say A bird.]", "A bird.", "Further. DO[say It flies.]", "It flies."}
		if diff := cmp.Diff(want, user(branch.name)); diff != "" || branch.name != trunk.name {
			t.Errorf("%q and %q: %s", trunk.name, branch.name, diff)
		}
	})
}

// The client's own name wins, the same for one client and another for each other. The
// name that was told is taken for what it is.
func TestClientsNameTheirConversations(t *testing.T) {
	eachWay(t, func(t *testing.T, begin func(...string) *talk, user func(string) []string) {
		mine := begin("Warmpath-Conversation", t.Name()).says("One. DO[say Yes.]")
		again := begin("Warmpath-Conversation", t.Name()).says("Another beginning. DO[say Indeed.]")
		if mine.name == "" || again.name != mine.name {
			t.Errorf("one name is told as %q and %q", mine.name, again.name)
		}
		if other := begin("Warmpath-Conversation", t.Name()+"2").says("One. DO[say Yes.]"); other.name == mine.name {
			t.Errorf("two names are told as %q", other.name)
		}
		plain := begin().says("Two. DO[say No.]")
		if told := begin("Warmpath-Conversation", plain.name).says("Three. DO[say Well.]"); told.name != plain.name {
			t.Errorf("%q is told as %q", plain.name, told.name)
		}
		if diff := cmp.Diff([]string{"Two. DO[say No.]", "No.", "Three. DO[say Well.]", "Well."}, user(plain.name)); diff != "" {
			t.Error(diff)
		}
		stranger := []string{"Warmpath-Conversation", plain.name, "X-Api-Key", "sk-stranger", "X-Goog-Api-Key", "sk-stranger", "Authorization", "Bearer sk-stranger"}
		if theirs := begin(stranger...).says("Four. DO[say Who?]"); theirs.name == plain.name {
			t.Error("another client has written to the conversation")
		}
	})
}

// A stranger who sends the history of another goes on with nothing of his.
func TestConversationsAreTheirTenants(t *testing.T) {
	eachWay(t, func(t *testing.T, begin func(...string) *talk, user func(string) []string) {
		mine := begin().says("Mine. DO[say Yours.]")
		theirs := mine.fork()
		theirs.key = []string{"X-Api-Key", "sk-stranger", "X-Goog-Api-Key", "sk-stranger", "Authorization", "Bearer sk-stranger"}
		theirs.c.Items = append(theirs.c.Items, rewrite.Item{Parts: []rewrite.Part{{Text: "And mine? DO[say No.]"}}})
		// A provider may find a signature in it that it has made for another.
		if _, _, header := theirs.client.send(t, theirs.base, theirs.c, theirs.key...); header.Get("Warmpath-Conversation") == mine.name {
			t.Errorf("both are called %q", mine.name)
		}
		if diff := cmp.Diff([]string{"Mine. DO[say Yours.]", "Yours."}, user(mine.name)); diff != "" {
			t.Error(diff)
		}
	})
}

// What was refused is sent again, and is the same turn's words.
func TestARequestThatFailedIsSentAgain(t *testing.T) {
	eachWay(t, func(t *testing.T, begin func(...string) *talk, user func(string) []string) {
		k := begin().says("Begin. DO[say Yes.]")
		k.c.Items = append(k.c.Items, rewrite.Item{Parts: []rewrite.Part{{Text: "More. DO[status 422 no]"}}})
		k.client.send(t, k.base, k.c, k.key...)
		k.client.send(t, k.base, k.c, k.key...)
		want := []string{"Begin. DO[say Yes.]", "Yes.", "More. DO[status 422 no]"}
		if diff := cmp.Diff(want, user(k.name)); diff != "" {
			t.Error(diff)
		}
		k.c.Items = k.c.Items[:len(k.c.Items)-1]
		k.says("Else. DO[say Fine.]")
		k.says("Else. DO[say Fine.]") // the same words again are words
		want = append(want, "Else. DO[say Fine.]", "Fine.", "Else. DO[say Fine.]", "Fine.")
		if diff := cmp.Diff(want, user(k.name)); diff != "" {
			t.Error(diff)
		}
	})
}

// Clients of the Responses API that go on from a reply by its name, kept here or at
// the provider, go on with its conversation.
func TestRepliesNameTheirConversation(t *testing.T) {
	g, base := logging(t, config.KeptInMemory, keepReplies)
	for _, model := range []string{models[rewrite.Responses], models[rewrite.Messages], models[rewrite.Gemini]} {
		t.Run(model, func(t *testing.T) {
			ask := func(input, previous string) (id, name string) {
				body := fmt.Sprintf(`{"model":%q,"input":%q`, model, input)
				if previous != "" {
					body += fmt.Sprintf(`,"previous_response_id":%q`, previous)
				}
				req, _ := http.NewRequest("POST", base+"/v1/responses", strings.NewReader(body+"}"))
				req.Header.Set("Authorization", "Bearer sk")
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				reply, err := io.ReadAll(resp.Body)
				if err != nil || resp.StatusCode != 200 {
					t.Fatalf("status %d, %v: %s", resp.StatusCode, err, reply)
				}
				return gjson.GetBytes(reply, "id").Str, resp.Header.Get("Warmpath-Conversation")
			}
			first, name := ask("yes DO[say One.]", "")
			second, again := ask("yes DO[say One.]", first)
			_, third := ask("Three. DO[say Three.]", second)
			if name == "" || again != name || third != name {
				t.Fatalf("the conversation is called %q, %q and %q", name, again, third)
			}
			events, _ := logged(t, g, name, "?view=user")
			want := []string{
				"turn_start 1", "chat_request yes DO[say One.]", "chat_response message One.",
				"turn_start 1", "chat_request yes DO[say One.]", "chat_response message One.",
				"turn_start 1", "chat_request Three. DO[say Three.]", "chat_response message Three.",
			}
			if diff := cmp.Diff(want, eventLines(events)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Many conversations at once do not mix.
func TestManyConversationsAtOnce(t *testing.T) {
	g, base := logging(t, config.KeptInMemory, nil)
	var wg sync.WaitGroup
	var mu sync.Mutex
	names := map[string]bool{}
	for i := range 12 {
		way := ways[i%len(ways)]
		wg.Go(func() {
			k := beginTalk(t, base, way[0], models[way[1]])
			k.c.Stream = i%2 == 0
			var want []string
			for turn := range 4 {
				words := fmt.Sprintf("Go on. DO[say %d %d]", i, turn)
				if turn == 0 {
					words = "Begin. DO[say Begun.]"
				}
				k.says(words)
				want = append(want, "turn_start 1", "chat_request "+words, "chat_response message "+strings.TrimSuffix(words[strings.Index(words, "say ")+4:], "]"))
			}
			events, _ := logged(t, g, k.name, "?view=user")
			if diff := cmp.Diff(want, eventLines(events)); diff != "" {
				t.Errorf("%d: %s", i, diff)
			}
			mu.Lock()
			defer mu.Unlock()
			names[k.name] = true
		})
	}
	wg.Wait()
	if len(names) != 12 {
		t.Errorf("%d conversations have %d names", 12, len(names))
	}
}
