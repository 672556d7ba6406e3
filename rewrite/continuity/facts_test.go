package continuity_test

import (
	"reflect"
	"testing"

	"warmpath/rewrite"
	"warmpath/rewrite/continuity"
)

// A span that Move forgets would point into other bytes once a body has changed
// in front of it.
func TestMoveMovesEverySpan(t *testing.T) {
	for _, element := range []interface{ Move(by int) }{new(continuity.Tool), new(continuity.Section), new(continuity.Message)} {
		v := reflect.ValueOf(element).Elem()
		spans := 0
		for i := range v.NumField() {
			span, ok := v.Field(i).Addr().Interface().(*rewrite.Span)
			if !ok {
				continue
			}
			spans++
			element.Move(7)
			if *span != (rewrite.Span{}) {
				t.Errorf("%s.%s is empty and becomes %v", v.Type(), v.Type().Field(i).Name, *span)
			}
			*span = rewrite.Span{Start: 10, End: 20}
			element.Move(5)
			if *span != (rewrite.Span{Start: 15, End: 25}) {
				t.Errorf("%s.%s is %v, want it moved by 5", v.Type(), v.Type().Field(i).Name, *span)
			}
			*span = rewrite.Span{}
		}
		if spans == 0 {
			t.Errorf("%s has no span", v.Type())
		}
	}
}
