package gateway_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"warmpath/fixtures/legal"
	"warmpath/fixtures/provider"
)

var roverCount = flag.Int("rovers", 20, "random `agents` to play in TestNeverWorseThanStraight")

// TestNeverWorseThanStraight plays each agent twice, straight to the provider and
// through the gateway: what succeeds straight must succeed through, and so must
// what straight is refused for thinking that is bound to another prefix. What is
// wrong with a request is told alike on both ways.
func TestNeverWorseThanStraight(t *testing.T) {
	t.Parallel()
	const turns = 12
	_, straightTo := simulated(t)
	core, origin := simulated(t)
	nodes := twoNodes(t, origin)
	names := slices.Sorted(maps.Keys(roves))
	tally := map[string]int{}
	var straightUsage, throughUsage usage
	for seed := range *roverCount {
		key := fmt.Sprint("rover-", seed)
		straight, through := newRover(uint64(seed), key, straightTo), newRover(uint64(seed), key, nodes...)
		var did []string
		chance := rand.New(rand.NewPCG(uint64(seed), 4))
		for range turns {
			through.rng, straight.rng = again(seed, straight.turn), again(seed, straight.turn)
			for range chance.IntN(3) {
				name := names[chance.IntN(len(names))]
				did = append(did, name)
				roves[name](straight)
				roves[name](through)
			}
			straight.say()
			through.say()
			did = append(did, "|")
			for goesOn, rounds := true, 0; goesOn && rounds < 4; rounds++ {
				where := fmt.Sprintf("seed %d on %s, after %q", seed, through.model, did)
				if rounds == 0 && seed%3 == 0 {
					count(t, where, straight, through)
				}
				wantStatus, wantContent, wantMessage := straight.post(t, "/v1/messages", straight.body())
				before := lastNumber(core)
				status, content, message := through.post(t, "/v1/messages", through.body())
				record := lastRecord(core)
				for _, refused := range since(core, before) {
					if refused.Verdict.Status != 200 && status == 200 {
						tally["refused on the way: "+kindOf(refused.Verdict.Message)]++
					}
				}
				if status == 200 {
					for _, v := range legal.Check([]byte(record.Body), betasOf(record), "") {
						t.Errorf("%s: illegal: %+v\n%s", where, v, short(record.Body))
					}
				}
				switch {
				case wantStatus == 200 && status != 200:
					t.Fatalf("%s: straight succeeds, through is refused: %s\nsent: %s\nupstream: %s", where, message, text(through.body()), short(record.Body))
				case wantStatus == 200:
					tally["both succeed"]++
					straight.hear(wantContent)
					goesOn = through.hear(content)
				case strings.Contains(wantMessage, "bound to a different conversation"):
					if status != 200 {
						t.Fatalf("%s: through is refused as straight is: %s\nupstream: %s", where, message, short(record.Body))
					}
					tally["only through succeeds"]++
					through.hear(content)
					goesOn = false
					straight.forget()
					if status, content, message := straight.post(t, "/v1/messages", straight.body()); status != 200 {
						t.Fatalf("%s: %s", where, message)
					} else {
						straight.hear(content)
					}
				default:
					tally["both are refused"]++
					if status == 200 {
						// No harm, but then the two have different histories.
						tally["only through succeeds otherwise"]++
						t.Logf("%s: straight is refused: %s", where, wantMessage)
					} else if unnumbered(message) != unnumbered(wantMessage) {
						t.Errorf("%s: straight says\n%s\nthrough\n%s", where, wantMessage, message)
					}
					straight.history = straight.history[:len(straight.history)-1]
					through.history = through.history[:len(through.history)-1]
					straight.mend()
					through.mend()
					goesOn = false
				}
			}
		}
		straightUsage.read, straightUsage.total = straightUsage.read+straight.usage.read, straightUsage.total+straight.usage.total
		throughUsage.read, throughUsage.total = throughUsage.read+through.usage.read, throughUsage.total+through.usage.total
		if lost := straight.usage.share() - through.usage.share(); lost > 0.03 {
			t.Logf("agent %d on %v reads %.1f%% less through, after %q", seed, through.models, 100*lost, did)
		}
	}
	t.Logf("%d agents: %.2f%% of the input came from the cache straight, %.2f%% through", *roverCount, 100*straightUsage.share(), 100*throughUsage.share())
	if throughUsage.share() < straightUsage.share() {
		t.Error("less comes from the cache through")
	}
	for _, what := range slices.Sorted(maps.Keys(tally)) {
		t.Logf("%6d %s", tally[what], what)
	}
	if tally["both succeed"] < *roverCount || tally["only through succeeds"] == 0 || tally["both are refused"] == 0 {
		t.Errorf("the agents try too little: %v", tally)
	}
}

var numbers = regexp.MustCompile(`sim\d+`)

// unnumbered leaves out what differs from run to run.
func unnumbered(message string) string { return numbers.ReplaceAllString(message, "sim") }

func lastNumber(core *provider.Core) int {
	last, _ := core.Log.Last()
	return last.Number
}

func since(core *provider.Core, number int) []provider.Record {
	records := core.Log.All()
	at := slices.IndexFunc(records, func(r provider.Record) bool { return r.Number > number })
	if at < 0 {
		return nil
	}
	return records[at:]
}

var places = regexp.MustCompile(`messages\.\d+(\.content\.\d+)?`)

// kindOf is a refusal without its place.
func kindOf(message string) string {
	if len(message) > 150 {
		message = message[:100] + "..." + message[len(message)-50:]
	}
	return places.ReplaceAllString(unnumbered(message), "messages.N")
}

func text(v any) string {
	out, _ := json.Marshal(v)
	return short(string(out))
}

// count asks both ways how long the prompt is.
func count(t *testing.T, where string, straight, through *rover) {
	t.Helper()
	ask := func(r *rover) (int, string) {
		body := r.body()
		for _, name := range []string{"max_tokens", "stream", "stop_sequences"} {
			delete(body, name)
		}
		status, _, message := r.post(t, "/v1/messages/count_tokens", body)
		return status, message
	}
	wantStatus, wantMessage := ask(straight)
	if status, message := ask(through); wantStatus == 200 && status != 200 {
		t.Fatalf("%s: counting: straight succeeds, through is refused: %s", where, message)
	} else if status != 200 && unnumbered(message) != unnumbered(wantMessage) && !strings.Contains(wantMessage, "bound to") {
		t.Errorf("%s: counting: straight says\n%s\nthrough\n%s", where, wantMessage, message)
	}
}
