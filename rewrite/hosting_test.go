package rewrite_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/rewrite"
	"warmpath/rewrite/completions"
)

// declaring is a request of each dialect that declares tools.
func declaring(d rewrite.Dialect, tools, rest string) string {
	if rest != "" {
		rest = "," + rest
	}
	switch d {
	case rewrite.Messages:
		return `{"model":"m","max_tokens":99,"messages":[{"role":"user","content":"hi"}],"tools":[` + tools + `]` + rest + `}`
	case rewrite.Responses:
		return `{"model":"m","input":"hi","tools":[` + tools + `]` + rest + `}`
	case rewrite.Gemini:
		return `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"tools":[` + tools + `]` + rest + `}`
	}
	if tools != "" {
		rest = `,"tools":[` + tools + `]` + rest
	}
	return `{"model":"m","messages":[{"role":"user","content":"hi"}]` + rest + `}`
}

// written is what a provider gets of a request in another dialect: its tools, what
// stands beside them, and what is lost.
func written(t *testing.T, from, to rewrite.Dialect, habits completions.Habits, model, body string) (tools, choice string, losses []rewrite.Loss) {
	t.Helper()
	c, err := codecs[from].decodeRequest([]byte(body), "")
	if err != nil {
		t.Fatal(err)
	}
	c.Model = model
	var lost rewrite.Losses
	encode := codecs[to].encodeRequest
	if to == rewrite.Completions {
		encode = habits.EncodeRequest
	}
	out, err := encode(c, "p", &lost)
	if err != nil || !gjson.ValidBytes(out) {
		t.Fatal(err, string(out))
	}
	got := gjson.GetManyBytes(out, "tools", "toolConfig", "tool_choice", "web_search_options", "max_tool_calls")
	if tools = got[0].Raw; to == rewrite.Converse {
		tools = got[1].Get("tools").Raw
	}
	for _, beside := range []string{got[3].Raw, got[4].Raw} {
		if beside != "" {
			tools += " " + beside
		}
	}
	choice = got[2].Raw + got[1].Raw
	return strings.TrimSpace(tools), choice, lost.All
}

func told(losses []rewrite.Loss) (lines string) {
	for _, l := range losses {
		if l.Missing {
			lines += "! "
		}
		lines += l.Path + ": " + l.Why + "\n"
	}
	return lines
}

// The tools of each dialect's provider that search the web, and that run code.
const (
	claudeSearches = `{"type":"web_search_20260318","name":"web_search","max_uses":3,"allowed_domains":["a.test","b.test"],"user_location":{"type":"approximate","city":"Zürich","region":"ZH","country":"CH","timezone":"Europe/Zurich"}}`
	gptSearches    = `{"type":"web_search","filters":{"allowed_domains":["a.test"]},"user_location":{"type":"approximate","country":"CH"},"search_context_size":"high"}`
	chatSearches   = `"web_search_options":{"search_context_size":"low","user_location":{"type":"approximate","approximate":{"country":"CH","city":"Bern"}}}`
)

// A client that declares its own dialect's hosted tool gets the one that the
// provider has, as far as both know it. What is restricted or asked for and cannot
// be said is told as a loss. [decide: a restriction that is lost is told, and the
// request goes on, since a search is what was asked for.]
func TestHostedToolsAcrossDialects(t *testing.T) {
	for _, c := range []struct {
		name             string
		from, to         rewrite.Dialect
		tools, rest      string
		habits           completions.Habits
		model            string
		want, wantLosses string
	}{
		{"claude's search on gpt", rewrite.Messages, rewrite.Responses, claudeSearches, "", completions.Habits{}, "m",
			`[{"type":"web_search","filters":{"allowed_domains":["a.test","b.test"]},"user_location":{"type":"approximate","city":"Zürich","region":"ZH","country":"CH","timezone":"Europe/Zurich"}}] 3`, ""},
		{"claude's search on gemini", rewrite.Messages, rewrite.Gemini, claudeSearches, "", completions.Habits{}, "m",
			`[{"googleSearch":{}}]`, "tools.0: offered without its allowed_domains, max_uses, user_location\n"},
		{"two of claude's tools have no common bound", rewrite.Messages, rewrite.Responses, claudeSearches + `,{"type":"code_execution_20250825","name":"code_execution"}`, "", completions.Habits{}, "m",
			`[{"type":"web_search","filters":{"allowed_domains":["a.test","b.test"]},"user_location":{"type":"approximate","city":"Zürich","region":"ZH","country":"CH","timezone":"Europe/Zurich"}},{"type":"code_interpreter","container":{"type":"auto"}}]`,
			"tools.0: offered without its max_uses\n"},
		{"gpt's search on claude", rewrite.Responses, rewrite.Messages, gptSearches, `"max_tool_calls":2`, completions.Habits{}, "m",
			`[{"type":"web_search_20250305","name":"web_search","max_uses":2,"allowed_domains":["a.test"],"user_location":{"type":"approximate","country":"CH"}}]`,
			"tools.0: offered without its search_context_size\n"},
		{"gpt's dated search on claude", rewrite.Responses, rewrite.Messages, `{"type":"web_search_preview_2025_03_11","external_web_access":false}`, "", completions.Habits{}, "m",
			`[{"type":"web_search_20250305","name":"web_search"}]`, "tools.0: offered without its external_web_access\n"},
		{"gpt's interpreter on claude", rewrite.Responses, rewrite.Messages, `{"type":"code_interpreter","container":{"type":"auto"}}`, "", completions.Habits{}, "m",
			`[{"type":"code_execution_20250825","name":"code_execution"}]`, ""},
		{"gpt's interpreter with files on claude", rewrite.Responses, rewrite.Messages, `{"type":"code_interpreter","container":{"type":"auto","file_ids":["f"]}}`, "", completions.Habits{}, "m",
			`[{"type":"code_execution_20250825","name":"code_execution"}]`, "tools.0: offered without its container\n"},
		{"gpt's interpreter on gemini", rewrite.Responses, rewrite.Gemini, `{"type":"code_interpreter","container":{"type":"auto"}}`, "", completions.Habits{}, "m", `[{"codeExecution":{}}]`, ""},
		{"gpt's search for tools on claude", rewrite.Responses, rewrite.Messages, `{"type":"tool_search"},{"type":"function","name":"f","defer_loading":true,"parameters":{"type":"object"}}`, "", completions.Habits{}, "m",
			`[{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"},{"name":"f","input_schema":{"type":"object"},"defer_loading":true}]`, ""},
		{"gpt's search for tools where there is none", rewrite.Responses, rewrite.Completions, `{"type":"tool_search"},{"type":"function","name":"f","defer_loading":true,"parameters":{"type":"object"}}`, "", completions.Habits{}, "m",
			`[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]`, "tools.0: no search for tools: all of them are offered\n"},
		{"gemini's tools on claude", rewrite.Gemini, rewrite.Messages, `{"googleSearch":{},"urlContext":{},"codeExecution":{}}`, "", completions.Habits{}, "m",
			`[{"type":"web_search_20250305","name":"web_search"},{"type":"web_fetch_20250910","name":"web_fetch"},{"type":"code_execution_20250825","name":"code_execution"}]`, ""},
		{"gemini's search on gpt", rewrite.Gemini, rewrite.Responses, `{"google_search":{"exclude_domains":["x.test"],"timeRangeFilter":{}}}`, "", completions.Habits{}, "m",
			`[{"type":"web_search"}]`, "tools.0: offered without its blocked_domains, timeRangeFilter\n"},
		{"chat's search on claude", rewrite.Completions, rewrite.Messages, "", chatSearches, completions.Habits{}, "m",
			`[{"type":"web_search_20250305","name":"web_search","user_location":{"type":"approximate","city":"Bern","country":"CH"}}]`, "tools.0: offered without its search_context_size\n"},
		{"chat's search on gpt", rewrite.Completions, rewrite.Responses, "", chatSearches, completions.Habits{}, "m",
			`[{"type":"web_search","user_location":{"type":"approximate","city":"Bern","country":"CH"},"search_context_size":"low"}]`, ""},
		{"chat's search on gemini", rewrite.Completions, rewrite.Gemini, "", `"web_search_options":{}`, completions.Habits{}, "m", `[{"googleSearch":{}}]`, ""},
		{"gpt's search on chat that searches", rewrite.Responses, rewrite.Completions, gptSearches, "", completions.Habits{SearchOptions: true}, "m",
			`{"user_location":{"type":"approximate","approximate":{"country":"CH"}},"search_context_size":"high"}`, "tools.0: offered without its allowed_domains\n"},
		{"claude's search on openrouter", rewrite.Messages, rewrite.Completions, claudeSearches, "", completions.Habits{RouterTools: true}, "m",
			`[{"type":"openrouter:web_search"}]`, "tools.0: offered without its allowed_domains, max_uses, user_location\n"},
		{"claude's tools on groq", rewrite.Messages, rewrite.Completions, `{"type":"web_search_20250305","name":"web_search"},{"type":"code_execution_20260521","name":"code_execution"}`, "", completions.Habits{GroqTools: true}, "m",
			`[{"type":"browser_search"},{"type":"code_interpreter"}]`, ""},
		{"claude's search on nova", rewrite.Messages, rewrite.Converse, `{"type":"web_search_20250305","name":"web_search"}`, "", completions.Habits{}, "us.amazon.nova-premier-v1:0",
			`[{"systemTool":{"name":"nova_grounding"}}]`, ""},
		{"both lists of domains on claude", rewrite.Responses, rewrite.Messages, `{"type":"web_search","filters":{"allowed_domains":["a"],"blocked_domains":["b"]}}`, "", completions.Habits{}, "m",
			`[{"type":"web_search_20250305","name":"web_search","allowed_domains":["a"]}]`, "tools.0: offered without its blocked_domains\n"},

		// What the provider has none of makes the answer another one.
		{"RP-07 claude's search on chat", rewrite.Messages, rewrite.Completions, `{"type":"web_search_20250305","name":"web_search"}`, "", completions.Habits{}, "m",
			"", "! tools.0: this provider has no tool like web_search\n"},
		{"RP-07 claude's search on bedrock's claude", rewrite.Messages, rewrite.Converse, `{"type":"web_search_20250305","name":"web_search"}`, "", completions.Habits{}, "anthropic.claude-opus-5-5-v1:0",
			"", "! tools.0: this provider has no tool like web_search\n"},
		{"RP-07 gpt's pictures on claude", rewrite.Responses, rewrite.Messages, `{"type":"image_generation"}`, "", completions.Habits{}, "m",
			"", "! tools.0: this provider has no tool like image_generation\n"},
		{"RP-07 gpt's files on gemini", rewrite.Responses, rewrite.Gemini, `{"type":"file_search","vector_store_ids":["v"]}`, "", completions.Habits{}, "m",
			"", "! tools.0: this provider has no tool like file_search\n"},
		{"RP-07 claude's advisor on gpt", rewrite.Messages, rewrite.Responses, `{"type":"advisor_20260301","name":"advisor","model":"x"}`, "", completions.Habits{}, "m",
			"", "! tools.0: this provider has no tool like advisor\n"},
		{"RP-07 gemini's maps on claude", rewrite.Gemini, rewrite.Messages, `{"googleMaps":{}}`, "", completions.Habits{}, "m",
			"", "! tools.0: this provider has no tool like googleMaps\n"},
		{"RP-07 a server of gpt's on claude", rewrite.Responses, rewrite.Messages, `{"type":"mcp","server_label":"wiki","server_url":"https://w.test"}`, "", completions.Habits{}, "m",
			"", "! tools.0: this provider has no tool like wiki\n"},
		{"RP-07 what nobody knows yet", rewrite.Responses, rewrite.Gemini, `{"type":"dream_2030"}`, "", completions.Habits{}, "m",
			"", "! tools.0: this provider has no tool like dream_2030\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tools, _, losses := written(t, c.from, c.to, c.habits, c.model, declaring(c.from, c.tools, c.rest))
			if diff := cmp.Diff(c.want, tools); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.wantLosses, told(losses)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// RP-08: what the client demands is demanded of the provider, or the request is not
// sent: a tool that the provider runs never does for a function, nor nothing at all
// for a tool.
func TestDemandsBesideHostedTools(t *testing.T) {
	const (
		claudes = `{"type":"web_search_20250305","name":"web_search"}`
		claudeF = `{"name":"f","input_schema":{"type":"object"}}`
		gptF    = `{"type":"function","name":"f","parameters":{"type":"object"}}`
		groupF  = `{"type":"namespace","name":"n","tools":[` + gptF + `]}`
		chatF   = `{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}`
		chatG   = `{"type":"function","function":{"name":"g","parameters":{"type":"object"}}}`
		geminiF = `{"functionDeclarations":[{"name":"f"}]},{"googleSearch":{}}`
	)
	for _, c := range []struct {
		name             string
		from, to         rewrite.Dialect
		tools, rest      string
		want, wantLosses string
	}{
		{"RP-08 the search itself on claude", rewrite.Responses, rewrite.Messages, `{"type":"web_search"},` + gptF, `"tool_choice":{"type":"web_search"}`, `{"type":"tool","name":"web_search"}`, ""},
		{"RP-08 the search itself on gpt", rewrite.Messages, rewrite.Responses, claudes + "," + claudeF, `"tool_choice":{"type":"tool","name":"web_search"}`, `{"type":"web_search"}`, ""},
		{"RP-08 the search itself on gemini", rewrite.Messages, rewrite.Gemini, claudes + "," + claudeF, `"tool_choice":{"type":"tool","name":"web_search"}`, "",
			"! tool_choice: a call of a tool that the provider runs cannot be demanded here\n"},
		{"RP-08 some tool, of which there is the search only", rewrite.Messages, rewrite.Gemini, claudes, `"tool_choice":{"type":"any"}`, "",
			"! tool_choice: a call of a tool that the provider runs cannot be demanded here\n"},
		{"RP-08 some tool of both, on gemini", rewrite.Messages, rewrite.Gemini, claudes + "," + claudeF, `"tool_choice":{"type":"any"}`,
			`{"functionCallingConfig":{"mode":"ANY"},"includeServerSideToolInvocations":true}`, ""},
		{"RP-08 some tool of both, on gpt", rewrite.Messages, rewrite.Responses, claudes + "," + claudeF, `"tool_choice":{"type":"any"}`, `"required"`, ""},
		{"RP-08 a function, on gemini", rewrite.Responses, rewrite.Gemini, `{"type":"web_search"},` + gptF, `"tool_choice":{"type":"function","name":"f"}`,
			`{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]},"includeServerSideToolInvocations":true}`, ""},
		{"RP-08 some function, on gpt", rewrite.Completions, rewrite.Responses, chatF + "," + chatG, `"web_search_options":{},"tool_choice":"required"`,
			`{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"f"},{"type":"function","name":"g"}]}`, ""},
		{"RP-08 the only function, on claude", rewrite.Gemini, rewrite.Messages, geminiF, `"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}`, `{"type":"tool","name":"f"}`, ""},
		{"RP-08 one of two functions, on claude", rewrite.Completions, rewrite.Messages, chatF + "," + chatG, `"web_search_options":{},"tool_choice":"required"`, "",
			"! tool_choice: such a call cannot be demanded beside tools that the provider runs\n"},
		{"RP-08 what is not forced, on gemini", rewrite.Responses, rewrite.Gemini, `{"type":"web_search"},` + gptF, `"tool_choice":"auto"`,
			`{"functionCallingConfig":{"mode":"VALIDATED"},"includeServerSideToolInvocations":true}`, ""},
		{"RP-08 what is allowed, on gemini", rewrite.Responses, rewrite.Gemini, `{"type":"web_search"},` + gptF, `"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"},{"type":"web_search"}]}`,
			`{"functionCallingConfig":{"mode":"VALIDATED","allowedFunctionNames":["f"]},"includeServerSideToolInvocations":true}`, ""},
		{"RP-08 the search alone is allowed, on gemini", rewrite.Responses, rewrite.Gemini, `{"type":"web_search"},` + gptF, `"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"web_search"}]}`,
			`{"functionCallingConfig":{"mode":"NONE"},"includeServerSideToolInvocations":true}`, ""},
		{"RP-08 the search alone is demanded by what is allowed, on gemini", rewrite.Responses, rewrite.Gemini, `{"type":"web_search"},` + gptF, `"tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"web_search"}]}`, "",
			"! tool_choice: a call of a tool that the provider runs cannot be demanded here\n"},
		{"RP-08 the only function that is allowed, on gpt", rewrite.Gemini, rewrite.Responses, geminiF, `"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}}`, `{"type":"function","name":"f"}`, ""},
		{"RP-08 a function of a group, on gemini", rewrite.Responses, rewrite.Gemini, `{"type":"web_search"},` + groupF, `"tool_choice":{"type":"function","name":"f"}`,
			`{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["n__f"]},"includeServerSideToolInvocations":true}`, ""},
		{"RP-08 a function of a group, on claude", rewrite.Responses, rewrite.Messages, `{"type":"web_search"},` + groupF, `"tool_choice":{"type":"function","name":"f"}`, `{"type":"tool","name":"n__f"}`, ""},
		{"RP-08 what is forbidden, on gemini", rewrite.Responses, rewrite.Gemini, `{"type":"web_search"},` + gptF, `"tool_choice":"none"`,
			`{"functionCallingConfig":{"mode":"NONE"},"includeServerSideToolInvocations":true}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, choice, losses := written(t, c.from, c.to, completions.Habits{}, "m", declaring(c.from, c.tools, c.rest))
			if diff := cmp.Diff(c.want, choice); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.wantLosses, told(losses)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
