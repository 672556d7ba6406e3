package rewrite_test

import (
	"testing"

	"warmpath/rewrite"
)

func TestFreeText(t *testing.T) {
	for _, text := range []string{"", "*** Begin Patch\n+é🙂 <b>\"\\", "{\"input\":\"a\"}"} {
		if got, ok := rewrite.UnwrapFreeText(rewrite.WrapFreeText([]byte(text))); !ok || got != text {
			t.Errorf("%q became %q, %v", text, got, ok)
		}
	}
	for _, arguments := range []string{``, `null`, `{}`, `{"input":1}`, `{"input":null}`, `{"input":"a","b":1}`, `["a"]`, `{"input":"a"`} {
		if got, ok := rewrite.UnwrapFreeText(rewrite.JSON(arguments)); ok {
			t.Errorf("%s holds %q", arguments, got)
		}
	}
}
