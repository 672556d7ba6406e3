package lineage

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite/continuity"
)

// fill gives every field below v a value of its own that is not zero.
func fill(t testing.TB, v reflect.Value, next *int) {
	t.Helper()
	*next++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), next)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(t, v.Index(i), next)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i), next)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), next)
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *next))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		v.SetUint(uint64(*next%255 + 1))
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
		v.SetInt(int64(*next%127 + 1))
	default:
		t.Fatalf("no state has had a %s yet: teach the test", v.Kind())
	}
}

func filled(t testing.TB) *continuity.State {
	t.Helper()
	s, next := new(continuity.State), 0
	fill(t, reflect.ValueOf(s).Elem(), &next)
	return s
}

// written is a state with what was kept apart of it.
func written(s *continuity.State) (record []byte, parts map[continuity.Hash][]byte) {
	parts = map[continuity.Hash][]byte{}
	record = encode(s, func(hash continuity.Hash, part []byte) { parts[hash] = bytes.Clone(part) })
	return record, parts
}

// read is what written has written.
func read(t testing.TB, record []byte, parts map[continuity.Hash][]byte) *continuity.State {
	t.Helper()
	s, missing, ok := decode(record, func(hash continuity.Hash) []byte { return parts[hash] })
	if !ok || len(missing) > 0 {
		t.Fatalf("what was written cannot be read: %t, %d parts are missing", ok, len(missing))
	}
	return s
}

func again(t testing.TB, s *continuity.State) *continuity.State {
	t.Helper()
	record, parts := written(s)
	return read(t, record, parts)
}

func TestEveryFieldIsWritten(t *testing.T) {
	large := filled(t)
	for i := range large.Edits {
		large.Edits[i].Bytes = bytes.Repeat([]byte{byte(i)}, 2*inlined)
	}
	for _, s := range []*continuity.State{filled(t), large, {}} {
		record, parts := written(s)
		got := read(t, record, parts)
		if diff := cmp.Diff(s, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if twice, _ := written(got); !bytes.Equal(twice, record) {
			t.Error("equal states give other bytes")
		}
	}
}

// Where flags share a byte, one could stand for another.
func TestFlagsAreTheirOwn(t *testing.T) {
	tests := map[string]continuity.State{
		"sealed": {Sealed: true}, "bound": {Bound: true}, "drop": {Drop: true}, "prior": {Prior: &continuity.Prior{}},
		"leveled":   {Leveled: true},
		"offered":   {Tools: []continuity.FrozenTool{{Offered: true}}},
		"deferred":  {Tools: []continuity.FrozenTool{{Deferred: true}}},
		"named":     {Tools: []continuity.FrozenTool{{Named: true}}},
		"fixed":     {Tools: []continuity.FrozenTool{{Fixed: true}}},
		"kept":      {Echoes: []continuity.Echo{{Kept: true}}},
		"inner":     {Echoes: []continuity.Echo{{Reminders: []continuity.Noted{{Reminder: continuity.Reminder{Inner: true}}}}}},
		"withdrawn": {Echoes: []continuity.Echo{{Reminders: []continuity.Noted{{Withdrawn: true}}}}},
		"volatile":  {Sections: []continuity.FrozenSection{{Volatile: true}}},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(&want, again(t, &want)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A conversation of many calls adds a few bytes for each to a state: what was
// noted long ago stands apart, where other states have it already.
func TestEchoesOfALongConversation(t *testing.T) {
	for _, n := range []int{1, full - 1, full, full + 1, 10*full + 3} {
		s := &continuity.State{Sent: 2 * n}
		for i := range n {
			s.Echoes = append(s.Echoes, continuity.Echo{At: 2*i + 1, Exact: continuity.Hash{byte(i), byte(i >> 8)}, Kept: true})
		}
		if diff := cmp.Diff(s, again(t, s)); diff != "" {
			t.Errorf("%d (-want +got):\n%s", n, diff)
		}
		record, parts := written(s)
		if len(record) > 20*full+20*(n/full)+64 || len(parts) != n/full {
			t.Errorf("%d echoes take %d bytes and %d parts", n, len(record), len(parts))
		}
		s.Echoes = append(s.Echoes[:n:n], continuity.Echo{At: 2*n + 1})
		_, more := written(s)
		for hash := range parts {
			if more[hash] == nil {
				t.Errorf("%d echoes: a part changes with one more", n)
			}
		}
	}
}

func TestWhatWasNotWrittenHereIsNotRead(t *testing.T) {
	record, parts := written(filled(t))
	known := func(hash continuity.Hash) []byte { return parts[hash] }
	for end := range record {
		if _, _, ok := decode(record[:end], known); ok {
			t.Errorf("the first %d bytes of %d are read", end, len(record))
		}
	}
	if _, _, ok := decode(append(bytes.Clone(record), 0), known); ok {
		t.Error("one byte more is read")
	}
	for hash, part := range parts {
		parts[hash] = part[:len(part)-1]
		if _, _, ok := decode(record, known); ok {
			t.Error("a part that is cut short is read")
		}
		delete(parts, hash)
		if _, missing, ok := decode(record, known); !ok || len(missing) != 1 || missing[0] != hash {
			t.Errorf("without a part: %t, missing %x, want %x", ok, missing, hash)
		}
		parts[hash] = part
	}
}

func TestOtherVersionsAreAsIfLost(t *testing.T) {
	value := join([][]byte{[]byte("one"), nil, []byte("three")})
	if got := split(value); len(got) != 3 || string(got[2]) != "three" {
		t.Fatalf("%q", got)
	}
	for i := range header {
		other := bytes.Clone(value)
		other[i]++
		if got := split(other); got != nil {
			t.Errorf("another byte %d of the header: %q", i, got)
		}
	}
	type first struct{ A, B bool }
	type second struct{ A, C bool }
	type third struct{ A, B string }
	a, b, c := shape(reflect.TypeFor[first]()), shape(reflect.TypeFor[second]()), shape(reflect.TypeFor[third]())
	if a == b || a == c || b == c {
		t.Errorf("other fields have the same shape: %d %d %d", a, b, c)
	}
}

// FuzzDecode asks that what can be read is read the same once it is written
// again, whatever it is.
func FuzzDecode(f *testing.F) {
	for _, s := range []*continuity.State{filled(f), {}, {Edits: []continuity.Edit{{After: 1}}}} {
		record, parts := written(s)
		var part []byte
		for _, part = range parts {
			f.Add(record, part)
		}
		f.Add(record, part)
	}
	f.Fuzz(func(t *testing.T, record, part []byte) {
		s, missing, ok := decode(record, func(hash continuity.Hash) []byte {
			if hash[0]&1 == 0 {
				return nil
			}
			return part
		})
		if !ok || len(missing) > 0 {
			return
		}
		if diff := cmp.Diff(s, again(t, s)); diff != "" {
			t.Errorf("(-once +again):\n%s", diff)
		}
	})
}

// FuzzSplit asks that records are those that were joined.
func FuzzSplit(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 'x', 0})
	f.Fuzz(func(t *testing.T, rest []byte) {
		records := split(append([]byte(header), rest...))
		if got := split(join(records)); !cmp.Equal(got, records) {
			t.Errorf("%q becomes %q", records, got)
		}
	})
}

// longState is a state in the middle of long work.
func longState() *continuity.State {
	s := &continuity.State{Conversation: "conv_0123456789abcdef", Model: "claude-opus-5-5", Sent: 500}
	for i := range 100 {
		s.Tools = append(s.Tools, continuity.FrozenTool{Name: fmt.Sprint("mcp__server__tool_", i), Meaning: continuity.Hash{byte(i)}, Offered: true})
	}
	for i := range 60 {
		s.Edits = append(s.Edits, continuity.Edit{After: 8 * i, Bytes: bytes.Repeat([]byte{byte(i)}, 200)})
	}
	return s
}

func BenchmarkState(b *testing.B) {
	s := longState()
	record, parts := written(s)
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			encode(s, func(continuity.Hash, []byte) {})
		}
		b.ReportMetric(float64(len(record)), "bytes")
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			read(b, record, parts)
		}
	})
}
