package audience_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite"
	"warmpath/rewrite/audience"
)

func TestFor(t *testing.T) {
	for name, c := range map[string]struct {
		annotations    string
		provider, user bool
	}{
		"AUD-01 no annotations":                  {``, true, true},
		"AUD-02 the user":                        {`{"audience":["user"]}`, false, true},
		"AUD-03 the assistant":                   {`{"audience":["assistant"]}`, true, false},
		"AUD-04 both":                            {`{"audience":["user","assistant"]}`, true, true},
		"AUD-05 an empty list":                   {`{"audience":[ ]}`, true, true},
		"AUD-06 only unknown names":              {`{"audience":["system","auditor"]}`, false, false},
		"AUD-06 a name in capitals":              {`{"audience":["User"]}`, false, false},
		"AUD-06 an unknown name and the user":    {`{"audience":["auditor","user"]}`, false, true},
		"AUD-06 no names":                        {`{"audience":[7,null,["assistant"]]}`, false, false},
		"AUD-06 an object":                       {`{"audience":{"assistant":true}}`, false, false},
		"AUD-06 a number":                        {`{"audience":1}`, false, false},
		"AUD-06 no name at all":                  {`{"audience":""}`, false, false},
		"AUD-07 one name without a list":         {`{"audience":"user"}`, false, true},
		"AUD-07 the assistant without a list":    {`{"audience":"assistant"}`, true, false},
		"AUD-08 other annotations":               {`{"priority":0.5,"lastModified":"2026-01-01T00:00:00Z"}`, true, true},
		"AUD-08 null":                            {`{"audience":null}`, true, true},
		"AUD-08 null annotations":                {`null`, true, true},
		"AUD-02 its name in escapes":             {`{"\u0061udience":["\u0075ser"]}`, false, true},
		"AUD-02 twice, and the last is for both": {`{"audience":["user"],"audience":["user","assistant"]}`, false, true},
		"AUD-02 twice, and the first is":         {`{"audience":"assistant","audience":["user"]}`, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			provider, user := audience.For(rewrite.JSON(c.annotations))
			if provider != c.provider || user != c.user {
				t.Errorf("for the provider %t and the user %t, want %t and %t", provider, user, c.provider, c.user)
			}
		})
	}
}

func TestSplit(t *testing.T) {
	part := func(text, annotations string) rewrite.Part {
		return rewrite.Part{Text: text, MIME: "text/markdown", Annotations: rewrite.JSON(annotations)}
	}
	const user, assistant = `{"audience":["user"]}`, `{"audience":["assistant"]}`
	all := []rewrite.Part{
		part("1", ""), part("2", user), part("3", assistant), part("4", `{"audience":[]}`), part("", ""), part("6", `{"audience":["nobody"]}`),
		{Kind: rewrite.PartImage, MIME: "image/png", Media: rewrite.Media{Data: "AAAA"}, Annotations: rewrite.JSON(user)},
	}
	before := append([]rewrite.Part(nil), all...)
	provider, forUser := audience.Split(all)

	t.Run("AUD-14 the order stays", func(t *testing.T) {
		want := []rewrite.Part{part("1", ""), part("3", ""), part("4", "")}
		for i := range want {
			want[i].Annotations = nil
		}
		if diff := cmp.Diff(want, provider); diff != "" {
			t.Error("for the provider:", diff)
		}
		if diff := cmp.Diff([]rewrite.Part{all[0], all[1], all[3], all[4], all[6]}, forUser); diff != "" {
			t.Error("for the user:", diff)
		}
	})
	t.Run("AUD-15 again it is the same, and the result is as it was", func(t *testing.T) {
		again, _ := audience.Split(provider)
		if diff := cmp.Diff(provider, again); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(before, all); diff != "" {
			t.Error(diff)
		}
	})
}

func TestTold(t *testing.T) {
	secret := rewrite.Part{Text: "for people", Annotations: rewrite.JSON(`{"audience":["user"]}`)}
	for name, c := range map[string]struct {
		parts  []rewrite.Part
		failed bool
		want   string
	}{
		"PH-01 all for the user":                {[]rewrite.Part{secret, secret}, false, "Tool executed successfully."},
		"PH-02 all for the user, and it failed": {[]rewrite.Part{secret}, true, "Tool failed."},
		"PH-04 nothing":                         {nil, false, "Tool executed successfully."},
		"PH-06 an empty text":                   {[]rewrite.Part{{}, secret}, false, "Tool executed successfully."},
		"PH-07 something":                       {[]rewrite.Part{secret, {Text: "ok"}}, false, "ok"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff([]rewrite.Part{{Text: c.want}}, audience.Told(c.parts, c.failed)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
