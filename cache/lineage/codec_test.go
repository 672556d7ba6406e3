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

func TestEveryFieldIsWritten(t *testing.T) {
	s := filled(t)
	value := encode([]*continuity.State{s, {}, s})
	got, ok := decode(value)
	if !ok {
		t.Fatal("what was written cannot be read")
	}
	if diff := cmp.Diff([]*continuity.State{s, {}, s}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again := encode(got); !bytes.Equal(again, value) {
		t.Error("equal states give other bytes")
	}
}

// Where flags share a byte, one could stand for another.
func TestFlagsAreTheirOwn(t *testing.T) {
	tests := map[string]continuity.State{
		"sealed": {Sealed: true}, "bound": {Bound: true}, "drop": {Drop: true}, "prior": {Prior: &continuity.Prior{}},
		"offered":  {Tools: []continuity.FrozenTool{{Offered: true}}},
		"deferred": {Tools: []continuity.FrozenTool{{Deferred: true}}},
		"named":    {Tools: []continuity.FrozenTool{{Named: true}}},
		"fixed":    {Tools: []continuity.FrozenTool{{Fixed: true}}},
		"volatile": {Sections: []continuity.FrozenSection{{Volatile: true}}},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := decode(encode([]*continuity.State{&want}))
			if diff := cmp.Diff([]*continuity.State{&want}, got); !ok || diff != "" {
				t.Errorf("%t (-want +got):\n%s", ok, diff)
			}
		})
	}
}

// What was in effect before the newest edits is mostly what is in effect now.
func TestPriorToolsTakeLittle(t *testing.T) {
	s := &continuity.State{}
	for i := range 100 {
		s.Tools = append(s.Tools, continuity.FrozenTool{Name: fmt.Sprint("tool ", i), Meaning: continuity.Hash{byte(i)}})
	}
	without := len(encode([]*continuity.State{s}))
	prior := append([]continuity.FrozenTool(nil), s.Tools[:99]...)
	prior[7].Meaning[1] = 1
	s.Prior = &continuity.Prior{Tools: prior}
	value := encode([]*continuity.State{s})
	if more := len(value) - without; more > 99+64 {
		t.Errorf("%d bytes for 99 tools of which 98 are known", more)
	}
	if got, ok := decode(value); !ok || !cmp.Equal(got[0], s) {
		t.Error("another state is read")
	}
}

func TestOtherVersionsAreNotRead(t *testing.T) {
	value := encode([]*continuity.State{filled(t)})
	for i := range header {
		other := bytes.Clone(value)
		other[i]++
		if _, ok := decode(other); ok {
			t.Errorf("another byte %d of the header is read", i)
		}
	}
	for end := range value {
		if _, ok := decode(value[:end]); ok {
			t.Errorf("the first %d bytes of %d are read", end, len(value))
		}
	}
	if _, ok := decode(append(value, 0)); ok {
		t.Error("one byte more is read")
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
	f.Add(encode(nil)[len(header):])
	f.Add(encode([]*continuity.State{filled(f)})[len(header):])
	f.Add(encode([]*continuity.State{{}, {Edits: []continuity.Edit{{After: 1}}}})[len(header):])
	f.Fuzz(func(t *testing.T, rest []byte) {
		states, ok := decode(append([]byte(header), rest...))
		if !ok {
			return
		}
		again, ok := decode(encode(states))
		if diff := cmp.Diff(states, again); !ok || diff != "" {
			t.Errorf("%t (-once +again):\n%s", ok, diff)
		}
	})
}

func BenchmarkState(b *testing.B) {
	s := &continuity.State{Conversation: "conv_0123456789abcdef", Model: "claude-opus-5-5", Sent: 500}
	for i := range 100 {
		s.Tools = append(s.Tools, continuity.FrozenTool{Name: fmt.Sprint("mcp__server__tool_", i), Offered: true})
	}
	for i := range 60 {
		s.Edits = append(s.Edits, continuity.Edit{After: 8 * i, Bytes: bytes.Repeat([]byte("x"), 200)})
	}
	value := encode([]*continuity.State{s})
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			encode([]*continuity.State{s})
		}
		b.ReportMetric(float64(len(value)), "bytes")
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, ok := decode(value); !ok {
				b.Fatal("unreadable")
			}
		}
	})
}
