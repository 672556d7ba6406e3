package ledger

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"warmpath/cache"
	"warmpath/rewrite"
)

// filled gives every field of a value something, lists two elements.
func filled(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Name != "Path" { // it is the client's request's
				filled(v.Field(i), n)
			}
		}
	case reflect.String:
		v.SetString(strings.Repeat("é", *n%7+1))
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes(bytes.Repeat([]byte{'{', byte(*n)}, *n%5+1))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		filled(v.Index(0), n)
		filled(v.Index(1), n)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(int64(*n) * 1000)
	case reflect.Uint8:
		v.SetUint(uint64(*n%2 + 1))
	default:
		panic("BUG: no value for " + v.Type().String())
	}
}

func TestCodecKeepsEveryField(t *testing.T) {
	var e Entry
	n := 0
	filled(reflect.ValueOf(&e).Elem(), &n)
	got, ok := decode(encode(&e))
	if diff := cmp.Diff(&e, got); diff != "" || !ok {
		t.Error(ok, diff)
	}
	empty, ok := decode(encode(&Entry{}))
	if diff := cmp.Diff(&Entry{}, empty); diff != "" || !ok {
		t.Error(ok, diff)
	}
}

func FuzzDecode(f *testing.F) {
	var e Entry
	n := 0
	filled(reflect.ValueOf(&e).Elem(), &n)
	f.Add(encode(&e))
	f.Add(encode(&Entry{}))
	f.Fuzz(func(t *testing.T, encoded []byte) {
		e, ok := decode(encoded)
		if !ok {
			return
		}
		again, ok := decode(encode(e))
		if diff := cmp.Diff(e, again); diff != "" || !ok {
			t.Error(diff)
		}
	})
}

// conversation is one of texts, of the user and of the model in turn. What begins with
// ! is a call of that identifier, with its result.
func conversation(texts ...string) *rewrite.Conversation {
	c := &rewrite.Conversation{}
	for i, text := range texts {
		c.Items = append(c.Items, rewrite.Item{Role: rewrite.Role(i % 2), Parts: []rewrite.Part{{Text: text}}})
		if id, is := strings.CutPrefix(text, "!"); is {
			c.Items[i] = rewrite.Item{Kind: rewrite.ItemCall, Call: rewrite.Call{ID: id, Name: "clock"}}
			if i%2 == 0 {
				c.Items[i].Kind = rewrite.ItemResult
			}
		}
	}
	return c
}

// newest is the last reply of a conversation, and of is what was kept of it.
func newest(c *rewrite.Conversation) *rewrite.Run {
	runs := c.Runs(false)
	for i := range runs {
		if runs[i].To == len(c.Items) {
			return &runs[i]
		}
	}
	return &runs[len(runs)-2]
}

func of(text string) *Entry {
	return &Entry{Items: []rewrite.Item{{Kind: rewrite.ItemCall, Call: rewrite.Call{ID: "h", Name: "hidden", Arguments: rewrite.JSON(`{"text":"` + text + `"}`)}}}}
}

func TestFindKnowsRepliesAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		saved, asked []string
		tenant       string
		found        bool
	}{
		"as it was":                       {[]string{"hi", "One. Two."}, []string{"hi", "One. Two.", "go on"}, "a", true},
		"with other white space":          {[]string{"hi\nthere", "One.\n\nTwo."}, []string{" hi there", "One. Two. ", "go on"}, "a", true},
		"another reply":                   {[]string{"hi", "One."}, []string{"hi", "Two.", "go on"}, "a", false},
		"another turn":                    {[]string{"hi", "One."}, []string{"ho", "One.", "go on"}, "a", false},
		"another tenant":                  {[]string{"hi", "One."}, []string{"hi", "One.", "go on"}, "b", false},
		"an edited history":               {[]string{"hi", "One.", "and", "Two."}, []string{"(a summary)", "Fine.", "and", "Two.", "go on"}, "a", true},
		"another turn before a call":      {[]string{"hi", "!c1"}, []string{"hi (reminder)", "!c1", "!c1"}, "a", true},
		"another call":                    {[]string{"hi", "!c1"}, []string{"hi", "!c2", "!c2"}, "a", false},
		"in the middle of a conversation": {[]string{"hi", "One."}, []string{"hi", "One.", "go on", "Two.", "go on"}, "a", true},
	} {
		t.Run(name, func(t *testing.T) {
			l := New(cache.NewMemory(1<<20), time.Hour)
			if err := l.Save(t.Context(), "a", newest(conversation(tc.saved...)), of("it")); err != nil {
				t.Fatal(err)
			}
			runs := conversation(tc.asked...).Runs(false)
			entries, err := l.Find(t.Context(), tc.tenant, runs[:len(runs)-1])
			if err != nil {
				t.Fatal(err)
			}
			var found []*Entry
			for _, e := range entries {
				if e != nil {
					found = append(found, e)
				}
			}
			if tc.found != (len(found) == 1) {
				t.Fatalf("%d were found", len(found))
			}
			if tc.found {
				if diff := cmp.Diff(of("it"), found[0]); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// Of two replies that look alike, each is found by what stands before it.
func TestFindTellsRepliesApart(t *testing.T) {
	l := New(cache.NewMemory(1<<20), time.Hour)
	one, two := conversation("a", "Fine.", "go on", "Done."), conversation("b", "Fine.", "go on", "Done.")
	for name, c := range map[string]*rewrite.Conversation{"one": one, "two": two} {
		if err := l.Save(t.Context(), "t", newest(c), of(name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]*rewrite.Conversation{"one": one, "two": two} {
		found, err := l.Find(t.Context(), "t", []rewrite.Run{*newest(c)})
		if diff := cmp.Diff([]*Entry{of(name)}, found); diff != "" || err != nil {
			t.Error(err, diff)
		}
	}
}

// What was found by less than all of its history is found by that the next time, and
// what is of use lives on.
func TestFindKeepsWhatIsOfUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(cache.NewMemory(1<<20), 4*time.Hour)
		if err := l.Save(t.Context(), "t", newest(conversation("hi", "One.")), of("it")); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			time.Sleep(3 * time.Hour)
			found, err := l.Find(t.Context(), "t", []rewrite.Run{*newest(conversation("hi", "One."))})
			if err != nil || found[0] == nil {
				t.Fatal(found, err)
			}
		}
		time.Sleep(5 * time.Hour)
		if found, err := l.Find(t.Context(), "t", []rewrite.Run{*newest(conversation("hi", "One."))}); err != nil || found[0] != nil {
			t.Error(found, err)
		}
	})
}

// broken is a store that loses or spoils what it has, or answers with an error.
type broken struct {
	cache.Store
	spoil func(key string, value []byte) ([]byte, error)
}

func (b *broken) GetMany(ctx context.Context, keys ...string) ([][]byte, error) {
	values, err := b.Store.GetMany(ctx, keys...)
	for i := range values {
		if err == nil && values[i] != nil {
			values[i], err = b.spoil(keys[i], values[i])
		}
	}
	return values, err
}

func TestLargeEntriesAreWholeOrLost(t *testing.T) {
	large := make([]byte, 3*room)
	rng := rand.NewChaCha8([32]byte{})
	_, _ = rng.Read(large)
	e := of(string(large))
	run := newest(conversation("hi", "One."))
	store := &broken{Store: cache.NewMemory(8 << 20), spoil: func(_ string, value []byte) ([]byte, error) { return value, nil }}
	l := New(store, time.Hour)
	if err := l.Save(t.Context(), "t", run, e); err != nil {
		t.Fatal(err)
	}
	found, err := l.Find(t.Context(), "t", []rewrite.Run{*run})
	if err != nil || !reflect.DeepEqual([]*Entry{e}, found) {
		t.Fatal("it comes back otherwise", err)
	}
	for name, spoil := range map[string]func(string, []byte) ([]byte, error){
		"a piece is gone": func(key string, v []byte) ([]byte, error) { return map[bool][]byte{true: v}[len(key) < 20], nil },
		"a piece is another's": func(key string, v []byte) ([]byte, error) {
			return append(bytes.Clone(v[:len(v)-1]), v[len(v)-1]^1), nil
		},
		"a head is short": func(_ string, v []byte) ([]byte, error) { return v[:5], nil },
	} {
		t.Run(name, func(t *testing.T) {
			store.spoil = spoil
			if found, err := l.Find(t.Context(), "t", []rewrite.Run{*run}); err != nil || found[0] != nil {
				t.Error(found[0] != nil, err)
			}
		})
	}
	down := errors.New("down")
	store.spoil = func(string, []byte) ([]byte, error) { return nil, down }
	if found, err := l.Find(t.Context(), "t", []rewrite.Run{*run}); !errors.Is(err, down) || found[0] != nil {
		t.Error(found, err)
	}
	if err := l.Save(t.Context(), "t", run, of(strings.Repeat("x", MaxEntry))); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}
