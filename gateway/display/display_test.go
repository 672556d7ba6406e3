package display_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/gateway/display"
	"warmpath/rewrite"
	"warmpath/rewrite/printable"
)

const (
	toUser  = `{"audience":["user"]}`
	toModel = `{"audience":["assistant"]}`
	toBoth  = `{"audience":["assistant","user"]}`
	toNone  = `{"audience":["operator"]}`
)

func TestResults(t *testing.T) {
	const off, full = display.Off, display.Full
	for name, c := range map[string]struct {
		setting, annotations string
		bound                display.Bound
		speech               bool
	}{
		"IR-01 off and off":            {`{"user":"off","assistant":"off"}`, ``, off, false},
		"IR-02 10 and off":             {`{"user":10,"assistant":"off"}`, ``, 10, false},
		"IR-03 5 and 10":               {`{"user":5,"assistant":10}`, ``, 10, false},
		"IR-04 full and 10":            {`{"user":"full","assistant":10}`, ``, full, false},
		"IR-05 chat and off":           {`{"user":"chat","assistant":"off"}`, ``, full, false},
		"IR-06 missing and off":        {`{"assistant":"off"}`, ``, 10, false},
		"IR-07 0 and 3":                {`{"user":0,"assistant":3}`, ``, 3, false},
		"IR-08 missing and missing":    {`{}`, ``, 10, false},
		"IR-10 off and full":           {`{"user":"off","assistant":"full"}`, ``, full, false},
		"other annotations only":       {`{"user":"off","assistant":3}`, `{"priority":1}`, 3, false},
		"an empty audience":            {`{"user":"off","assistant":3}`, `{"audience":[]}`, 3, false},
		"a null audience":              {`{"user":"off","assistant":3}`, `{"audience":null}`, 3, false},
		"IR-20 for people":             {`{"user":10,"assistant":"off"}`, toUser, 10, false},
		"IR-20 for the model":          {`{"user":10,"assistant":"off"}`, toModel, off, false},
		"IR-20 more for the model":     {`{"user":3,"assistant":10}`, toUser, 3, false},
		"IR-21 for people":             {`{"user":"chat"}`, toUser, full, true},
		"IR-21 for people, by a name":  {`{"user":"chat"}`, `{"audience":"user"}`, full, true},
		"IR-21 for the model":          {`{"user":"chat"}`, toModel, 10, false},
		"IR-22 for people":             {`"off"`, toUser, off, false},
		"IR-22 for the model":          {`"off"`, toModel, off, false},
		"IR-22 for both":               {`"off"`, toBoth, off, false},
		"IR-22 for nobody in special":  {`"off"`, ``, off, false},
		"IR-23 the larger of the two":  {`{"user":2,"assistant":7}`, toBoth, 7, false},
		"IR-23 speech":                 {`{"user":"chat","assistant":"off"}`, toBoth, full, true},
		"for somebody else":            {`"full"`, toNone, off, false},
		"chat ranks with full":         {`{"user":"chat","assistant":"full"}`, ``, full, false},
		"full is no speech for people": {`"full"`, toUser, full, false},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := display.ParseResults(rewrite.JSON(c.setting))
			if err != nil {
				t.Fatal(err)
			}
			if bound, speech := r.Of(rewrite.JSON(c.annotations)); bound != c.bound || speech != c.speech {
				t.Errorf("%s shows %s of a block with %q, as speech %v; want %s, %v", c.setting, bound, c.annotations, speech, c.bound, c.speech)
			}
		})
	}
}

func TestParseResults(t *testing.T) {
	const off, full, chat = display.Off, display.Full, display.Chat
	for name, c := range map[string]struct {
		setting string
		want    display.Results
	}{
		"IR-24 true":               {`true`, display.Results{User: full, Assistant: full}},
		"IR-24 false":              {`false`, display.Results{User: off, Assistant: off}},
		"IR-24 off":                {`"off"`, display.Results{User: off, Assistant: off}},
		"IR-24 full":               {`"full"`, display.Results{User: full, Assistant: full}},
		"IR-24 a number":           {`7`, display.Results{User: 7, Assistant: 7}},
		"IR-24 a number in a text": {`" 7 "`, display.Results{User: 7, Assistant: 7}},
		"IR-24 zero":               {`0`, display.Results{User: off, Assistant: off}},
		"IR-24 truncate":           {`{"truncate":{"lines":3}}`, display.Results{User: 3, Assistant: 3}},
		"IR-24 truncate for one":   {`{"user":{"truncate":{"lines":3}},"assistant":true}`, display.Results{User: 3, Assistant: full}},
		"IR-24 a word in capitals": {`"Full"`, display.Results{User: full, Assistant: full}},
		"chat":                     {`{"user":"chat"}`, display.Results{User: chat, Assistant: 10}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := display.ParseResults(rewrite.JSON(c.setting))
			if got != c.want || err != nil {
				t.Errorf("ParseResults(%s) = %v, %v; want %v", c.setting, got, err, c.want)
			}
		})
	}
	for name, c := range map[string]struct{ setting, want string }{
		"IR-09 chat and chat":      {`{"user":"chat","assistant":"chat"}`, "only user can be chat"},
		"IR-09 chat for the model": {`{"assistant":"chat"}`, "only user can be chat"},
		"IR-09 chat for all":       {`"chat"`, "only user can be chat"},
		"IR-25 an unknown key":     {`{"user":1,"system":2}`, `has "system"; write user or assistant`},
		"IR-25 besides truncate":   {`{"truncate":{"lines":3},"user":1}`, `has "user"`},
		"IR-25 within truncate":    {`{"truncate":{"lines":3,"bytes":1}}`, `has "bytes"`},
		"truncate without lines":   {`{"truncate":{}}`, `has no "lines"`},
		"truncate that is none":    {`{"truncate":3}`, `is no mapping`},
		"a negative number":        {`-1`, "is no bound"},
		"a fraction":               {`1.5`, "is no bound"},
		"a word":                   {`"some"`, "is no bound"},
		"null":                     {`null`, "is no bound"},
		"a list":                   {`[1]`, "is no bound"},
		"a map within":             {`{"user":{"user":1}}`, `has "user"`},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := display.ParseResults(rewrite.JSON(c.setting)); err == nil || !strings.Contains(err.Error(), c.want) || got != (display.Results{User: 10, Assistant: 10}) {
				t.Errorf("ParseResults(%s) = %v, %v; want an error with %q", c.setting, got, err, c.want)
			}
		})
	}
	t.Run("IR-24 what is written is read again", func(t *testing.T) {
		for setting, want := range map[string]string{`true`: "full", `0`: "off", `{"user":"chat","assistant":3}`: "{user: chat, assistant: 3}", `{}`: "10"} {
			if r, err := display.ParseResults(rewrite.JSON(setting)); err != nil || r.String() != want {
				t.Errorf("%s is %s (%v), want %s", setting, r, err, want)
			}
		}
	})
}

func TestSettings(t *testing.T) {
	s, err := display.Parse(rewrite.JSON(` {"controls":"visualise","reasoning":"off","inline_results":5,"style":{"header":"off"},
		"errors":{"inline_results":"full"},
		"tools":{"mcp__*":{"inline_results":"off"},"mcp__files__*":{"style":{"hidden":"on"}},"mcp__files__read":{"inline_results":{"user":"chat"},"style":{"header":true,"hidden":false}},
			"quiet":{"style":{"hidden":true}},"tell_user":{"style":{"header":"on"}},"nothing":null}}`))
	if err != nil {
		t.Fatal(err)
	}
	if s.Controls != printable.Visualise || s.Reasons() != display.Off {
		t.Errorf("controls are %s and reasoning %s", s.Controls, s.Reasons())
	}
	usual := display.Results{User: 10, Assistant: 10}
	for name, c := range map[string]struct {
		tool   string
		failed bool
		want   display.Tool
	}{
		"what holds for all":            {"bash", false, display.Tool{Results: display.Results{User: 5, Assistant: 5}}},
		"a failure shows more":          {"bash", true, display.Tool{Results: display.Results{User: display.Full, Assistant: display.Full}}},
		"a pattern":                     {"mcp__web__get", false, display.Tool{}},
		"the longest pattern":           {"mcp__files__list", false, display.Tool{Results: display.Results{User: 5, Assistant: 5}, Hidden: true}},
		"a name before patterns":        {"mcp__files__read", false, display.Tool{Results: display.Results{User: display.Chat, Assistant: 10}, Header: true}},
		"a failure changes nothing but": {"quiet", true, display.Tool{Results: display.Results{User: display.Full, Assistant: display.Full}, Hidden: true}},
		"tell_user with a header":       {"tell_user", false, display.Tool{Results: display.Results{User: display.Chat}, Header: true}},
		"nothing is said":               {"nothing", false, display.Tool{Results: display.Results{User: 5, Assistant: 5}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, s.Tool(c.tool, c.failed)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("the usual", func(t *testing.T) {
		var s display.Settings
		if got, want := s.Tool("bash", true), (display.Tool{Results: usual, Header: true}); got != want {
			t.Errorf("%v, want %v", got, want)
		}
		if got, want := s.Tool("tell_user", false), (display.Tool{Results: display.Results{User: display.Chat}}); got != want {
			t.Errorf("tell_user: %v, want %v", got, want)
		}
		if s.Reasons() != 10 {
			t.Errorf("reasoning: %s", s.Reasons())
		}
	})
}

func TestSettingsFaults(t *testing.T) {
	for name, c := range map[string]struct{ section, path, want string }{
		"no JSON":              {`{`, "", "is no JSON"},
		"no mapping":           {`[]`, "", "is no mapping"},
		"an unknown setting":   {`{"colour":1}`, "colour", "is not a setting; write one of controls, errors, inline_results, reasoning, style, tools"},
		"unknown controls":     {`{"controls":"keep"}`, "controls", "write strip, visualise or off"},
		"reasoning as chat":    {`{"reasoning":"chat"}`, "reasoning", "is chat"},
		"results":              {`{"inline_results":"chat"}`, "inline_results", "only user can be chat"},
		"IR-25 results by key": {`{"tools":{"x":{"inline_results":{"you":1}}}}`, "tools.x.inline_results", `has "you"`},
		"a header":             {`{"style":{"header":"maybe"}}`, "style.header", "is neither on nor off"},
		"an unknown style":     {`{"tools":{"x":{"style":{"colour":1}}}}`, "tools.x.style.colour", "is not a setting"},
		"a tool":               {`{"tools":{"x":1}}`, "tools.x", "is no mapping"},
		"a pattern":            {`{"tools":{"x*y":{}}}`, "tools.x*y", "is not a pattern"},
		"tools":                {`{"tools":[]}`, "tools", "is no mapping"},
		"errors have no style": {`{"errors":{"style":{"header":"on"}}}`, "errors.style", "is not a setting"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := display.Parse(rewrite.JSON(c.section))
			var fault *display.Fault
			if !errors.As(err, &fault) || strings.Join(fault.Path, ".") != c.path || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want a fault of %q with %q", err, c.path, c.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"inline_results":{"user":{"truncate":{"lines":1}}},"tools":{"a*":{"style":{"header":"on"}}}}`))
	f.Fuzz(func(t *testing.T, section []byte) {
		s, err := display.Parse(section)
		if err == nil {
			s.Tool("a", true)
		}
		if r, err := display.ParseResults(section); err == nil {
			if r.Assistant == display.Chat || r.User < 0 || r.Assistant < 0 {
				t.Errorf("ParseResults(%s) = %v", section, r)
			}
		}
	})
}
