package lineage_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"warmpath/cache"
	"warmpath/cache/lineage"
	"warmpath/rewrite/continuity"
)

// Whatever was seen before, a request goes through the same histories.
func TestRememberedHeadsAreTheSame(t *testing.T) {
	l := lineage.New(cache.NewMemory(1<<20), time.Hour)
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(2, uint64(i)))
			for range 500 {
				scope := fmt.Sprint("scope", random.IntN(2))
				messages := long(random.IntN(40))
				if len(messages) > 0 && random.IntN(2) == 0 {
					messages[random.IntN(len(messages))].Meaning = hash(fmt.Sprint(random.IntN(3)))
				}
				if len(messages) > 0 && random.IntN(4) == 0 {
					messages[random.IntN(len(messages))].Reminders = &continuity.Reminders{Rest: hash("rest")}
				}
				if want, got := lineage.Heads(scope, messages), l.Heads(scope, messages); !slices.Equal(got, want) {
					t.Errorf("%s, %d messages: %x, want %x", scope, len(messages), got, want)
					return
				}
			}
		})
	}
	wait.Wait()
}

func BenchmarkHeads(b *testing.B) {
	messages := long(500)
	b.Run("anew", func(b *testing.B) {
		for b.Loop() {
			lineage.Heads("scope", messages)
		}
	})
	b.Run("next turn", func(b *testing.B) {
		l := lineage.New(cache.NewMemory(1<<20), time.Hour)
		for i := 0; b.Loop(); i++ {
			l.Heads("scope", messages[:498+i%3])
		}
	})
}
