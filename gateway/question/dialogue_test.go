package question_test

import (
	"strings"
	"testing"

	"warmpath/gateway/question"
	"warmpath/rewrite"
)

func TestLine(t *testing.T) {
	choice := ask(question.Choice, "Which?", "alpha", "Beta")
	titled := question.Question{Key: "q1", Kind: question.Choice, Text: "Which?", Options: []question.Option{{Value: "a", Label: "Alpha, the first"}, {Value: "b", Label: "Beta"}}}
	multi := ask(question.Multi, "Which?", "alpha", "beta", "gamma ray", "delta, epsilon")
	text := ask(question.Text, "What?")
	confirm := ask(question.Confirm, "Sure?")
	optional := func(q question.Question) question.Question {
		q.Optional = true
		return q
	}
	ruled := func(schema string) question.Question {
		q := text
		q.Schema = rewrite.JSON(schema)
		return q
	}
	few := multi
	few.Schema = rewrite.JSON(`{"type":"array","minItems":1,"maxItems":2}`)
	const number, label, yesNo = "Please type a number from 1 to 2", "Please type numbers or labels", "Please answer y or n"
	for name, c := range map[string]struct {
		question question.Question
		line     string
		want     string // the answer, or, where none is due, what is said in asking again
	}{
		"TL-01 a number":                 {choice, "2", `"Beta"`},
		"TL-01 the first":                {choice, " 1 \r\n", `"alpha"`},
		"TL-02 a label":                  {choice, "beta", `"Beta"`},
		"TL-02 a label, its value":       {titled, "BETA", `"b"`},
		"TL-02 a value":                  {titled, "a", `"a"`},
		"TL-02 a label with a comma":     {titled, "alpha, the first", `"a"`},
		"TL-03 beyond the last":          {choice, "3", number},
		"TL-03 zero":                     {choice, "0", number},
		"TL-03 negative":                 {choice, "-1", number},
		"TL-03 unknown":                  {choice, "gamma", number},
		"TL-03 a part of a label":        {choice, "alph", number},
		"TL-03 one of many unknown":      {multi, "1, zeta", label},
		"TL-03 one of many beyond":       {multi, "1 9", label},
		"TL-04 commas":                   {multi, "2,1", `["alpha","beta"]`},
		"TL-04 spaces":                   {multi, "3 1", `["alpha","gamma ray"]`},
		"TL-04 both, and twice":          {multi, "2, 1 2,", `["alpha","beta"]`},
		"TL-04 labels":                   {multi, "Gamma Ray, alpha", `["alpha","gamma ray"]`},
		"TL-04 a label with a comma":     {multi, "delta, epsilon", `["delta, epsilon"]`},
		"TL-04 none":                     {multi, "none", `[]`},
		"TL-04 too few":                  {few, "none", "needs at least 1 option"},
		"TL-04 too many":                 {few, "1 2 3", "may have at most 2 options"},
		"TL-05 y":                        {confirm, "y", `true`},
		"TL-05 yes":                      {confirm, "YES", `true`},
		"TL-05 n":                        {confirm, "n", `false`},
		"TL-05 no":                       {confirm, " no ", `false`},
		"TL-05 maybe":                    {confirm, "maybe", yesNo},
		"TL-06 the whole line":           {text, "  a, \"b\" \\ 1 ", `"  a, \"b\" \\ 1 "`},
		"TL-06 a number":                 {text, "1", `"1"`},
		"TL-06 no UTF-8":                 {text, "a\xff", "\"a\uFFFD\""},
		"TL-06 an email address":         {ruled(`{"type":"string","format":"email"}`), "a@example.com", `"a@example.com"`},
		"TL-06 no email address":         {ruled(`{"type":"string","format":"email"}`), "a", "has to be an email address"},
		"TL-06 an address":               {ruled(`{"type":"string","format":"uri"}`), "https://example.com/x", `"https://example.com/x"`},
		"TL-06 no address":               {ruled(`{"type":"string","format":"uri"}`), "example", "has to be a whole address"},
		"TL-06 a date":                   {ruled(`{"type":"string","format":"date"}`), "2026-02-28", `"2026-02-28"`},
		"TL-06 no date":                  {ruled(`{"type":"string","format":"date"}`), "2026-02-30", "has to be a date"},
		"TL-06 a date and time":          {ruled(`{"type":"string","format":"date-time"}`), "2026-02-28T10:00:00+01:00", `"2026-02-28T10:00:00+01:00"`},
		"TL-06 no date and time":         {ruled(`{"type":"string","format":"date-time"}`), "2026-02-28", "has to be a date and time"},
		"TL-06 long enough":              {ruled(`{"type":"string","minLength":2}`), "éé", `"éé"`},
		"TL-06 too short":                {ruled(`{"type":"string","minLength":2}`), "é", "needs at least 2 characters"},
		"TL-06 too long":                 {ruled(`{"type":"string","maxLength":1}`), "ab", "may have at most 1 character."},
		"TL-06 a pattern":                {ruled(`{"type":"string","pattern":"^[a-z]+$"}`), "ab", `"ab"`},
		"TL-06 not the pattern":          {ruled(`{"type":"string","pattern":"^[a-z]+$"}`), "a1", "has to match ^[a-z]+$"},
		"TL-06 a whole number":           {ruled(`{"type":"integer"}`), " 42 ", `42`},
		"TL-06 no whole number":          {ruled(`{"type":"integer"}`), "4.5", "has to be a whole number"},
		"TL-06 a number in words":        {ruled(`{"type":"integer"}`), "four", "has to be a whole number"},
		"TL-06 a fraction":               {ruled(`{"type":"number"}`), "-0.50", `-0.50`},
		"TL-06 no number of JSON":        {ruled(`{"type":"number"}`), "0x10", "has to be a number"},
		"TL-06 infinite":                 {ruled(`{"type":"number"}`), "Inf", "has to be a number"},
		"TL-06 below the least":          {ruled(`{"type":"number","minimum":0.5}`), "0", "has to be at least 0.5"},
		"TL-06 above the most":           {ruled(`{"type":"integer","maximum":10}`), "11", "has to be at most 10"},
		"TL-06 not above":                {ruled(`{"type":"integer","exclusiveMinimum":0}`), "0", "has to be above 0"},
		"TL-06 not below":                {ruled(`{"type":"integer","exclusiveMaximum":10}`), "10", "has to be below 10"},
		"TL-07 default of a choice":      {with(choice, `"Beta"`), "", `"Beta"`},
		"TL-07 default of many":          {with(multi, `["beta"]`), " ", `["beta"]`},
		"TL-07 default of a text":        {with(text, `"x"`), "\n", `"x"`},
		"TL-07 default of yes or no":     {with(confirm, `false`), "", `false`},
		"TL-07 choice without a default": {choice, "", number},
		"TL-07 many without a default":   {multi, "", `[]`},
		"TL-07 many, but one is due":     {few, "", "needs at least 1 option"},
		"TL-07 text without a default":   {text, "", "Please type an answer"},
		"TL-07 yes or no without one":    {confirm, "", yesNo},
		"TL-07 what may be left open":    {optional(choice), "", ``},
		"TL-08 labels that are numbers":  {ask(question.Choice, "How many?", "2", "1"), "1", `"2"`},
		"TL-08 a label beyond them":      {ask(question.Choice, "How many?", "10", "20"), "20", `"20"`},
	} {
		t.Run(name, func(t *testing.T) {
			answer, again := c.question.Line(c.line)
			got := string(answer) + again
			if answer != nil && again != "" {
				t.Fatalf("both an answer and a reason to ask again: %s, %q", answer, again)
			}
			if asked := strings.HasPrefix(again, "Please ") || strings.HasPrefix(again, "That will not do: the answer "); asked != (again != "") || again != "" && !strings.HasSuffix(again, ".") {
				t.Errorf("asks again with %q", again)
			}
			if again == "" && got != c.want || again != "" && !strings.Contains(got, c.want) || again != "" && c.want == "" {
				t.Errorf("Line(%q) = %s, %q; want %s", c.line, answer, again, c.want)
			}
		})
	}
}

func TestDialogue(t *testing.T) {
	questions, problem := question.Normalize(rewrite.JSON(question.Example))
	if problem != "" {
		t.Fatal(problem)
	}
	// play types lines and gives all that was shown.
	play := func(d *question.Dialogue, lines ...string) string {
		var b strings.Builder
		for _, line := range lines {
			text, _, ok := d.Next()
			if !ok {
				t.Fatalf("the dialogue is over before %q", line)
			}
			b.WriteString(text + line + "\n")
			if again := d.Line(line); again != "" {
				b.WriteString(again + "\n")
			}
		}
		return b.String()
	}
	t.Run("TL-09 one after the other", func(t *testing.T) {
		d := question.NewDialogue(questions)
		golden(t, "dialogue.txt", play(d, "", "4", "2 1", "", "billing", "perhaps", "y"))
		if _, _, more := d.Next(); more {
			t.Error("there is more to ask")
		}
		outcome, content := d.Outcome()
		if want := `{"q1":"PostgreSQL","q2":["unit","lint"],"q3":"billing","q4":true}`; outcome != question.Answered || string(content) != want {
			t.Errorf("%s %s, want %s", outcome, content, want)
		}
	})
	t.Run("TL-10 aborted at the third question", func(t *testing.T) {
		d := question.NewDialogue(questions)
		play(d, "", "1")
		d.Abort()
		if _, _, more := d.Next(); more {
			t.Error("there is more to ask")
		}
		d.Line("billing")
		d.Decline()
		if outcome, content := d.Outcome(); outcome != question.Cancelled || content != nil {
			t.Errorf("%s %s, want all cancelled", outcome, content)
		}
	})
	t.Run("declined", func(t *testing.T) {
		d := question.NewDialogue(questions)
		play(d, "")
		d.Decline()
		if outcome, content := d.Outcome(); outcome != question.Declined || content != nil {
			t.Errorf("%s %s, want all declined", outcome, content)
		}
	})
	t.Run("nothing to ask", func(t *testing.T) {
		d := question.NewDialogue(nil)
		if _, _, more := d.Next(); more {
			t.Error("there is something to ask")
		}
		if outcome, content := d.Outcome(); outcome != question.Answered || string(content) != `{}` {
			t.Errorf("%s %s", outcome, content)
		}
	})
	t.Run("what a form asks", func(t *testing.T) {
		questions, err := question.FromForm(rewrite.JSON(`{"properties":{"port":{"type":"integer","title":"Port","default":80},"ratio":{"type":"number","title":"Ratio"},` +
			`"password":{"type":"string","title":"Password","default":"hidden"},"tags":{"type":"array","title":"Tags","items":{"type":"string","enum":["a"]},"default":[]}}}`))
		if err != nil {
			t.Fatal(err)
		}
		d := question.NewDialogue(questions)
		shown := play(d, "8080", "", "", "")
		golden(t, "dialogue_form.txt", shown)
		if strings.Contains(shown, "hidden") {
			t.Error("a secret's default is shown")
		}
		if outcome, content := d.Outcome(); outcome != question.Answered || string(content) != `{"port":8080,"password":"hidden","tags":[]}` {
			t.Errorf("%s %s", outcome, content)
		}
	})
	t.Run("secrets are typed unseen", func(t *testing.T) {
		d := question.NewDialogue([]question.Question{{Key: "a", Kind: question.Text, Text: "A"}, {Key: "b", Kind: question.Text, Text: "B", Secret: true}})
		for _, want := range []bool{false, true} {
			if _, unseen, _ := d.Next(); unseen != want {
				t.Errorf("typed unseen: %v, want %v", unseen, want)
			}
			d.Line("x")
		}
	})
}
