package gemini

import (
	"bytes"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// tool reads a member of an entry of the tools: functions, or a tool that the
// provider runs.
func (r *requestReader) tool(at rewrite.Path, name string, value []byte) {
	if name == "functionDeclarations" {
		r.each(at, name, value, r.function)
		return
	}
	w := splice.WriteTo(nil)
	w.Open('{')
	w.Value(name, value)
	w.Close('}')
	r.c.Tools = append(r.c.Tools, rewrite.Tool{
		Kind: rewrite.ToolHosted, Path: at.In(name), Name: name, Capability: capability(name), Hosting: hosting(value),
		Payload: payload("", "tool", w.Bytes()),
	})
}

func (r *requestReader) function(at rewrite.Path, raw []byte) {
	tool := rewrite.Tool{Path: at}
	more := false
	if !members(raw, func(name string, value []byte) {
		switch name {
		case "name":
			tool.Name = splice.Text(value)
		case "description":
			tool.Description = splice.Text(value)
		case "parametersJsonSchema":
			tool.Schema = value
		case "parameters":
			tool.Schema, more = plainSchema(value), true
		default:
			more = true
		}
	}) {
		r.refuse(at.String(), "not a function; send an object")
		return
	}
	if tool.Name == "" {
		r.refuse(at.String()+".name", "a function needs a name")
		return
	}
	if more {
		tool.Payload = payload("", "function", raw)
	}
	r.c.Tools = append(r.c.Tools, tool)
}

// plainSchema is a schema in the vendor's words as JSON Schema has them: types
// are in small letters there.
func plainSchema(schema []byte) []byte {
	edits := typeEdits(nil, schema, 0)
	if len(edits) == 0 {
		return schema
	}
	return splice.Apply(nil, schema, edits)
}

// typeEdits adds the edits of a schema that begins at base. Properties are
// schemas under names of the user's.
func typeEdits(edits []splice.Edit, schema []byte, base int) []splice.Edit {
	_ = splice.Members(schema, func(name []byte, _, at rewrite.Span) bool {
		value := schema[at.Start:at.End]
		switch camel(name) {
		case "type":
			if text, ok := splice.String(value); ok {
				if small := strings.ToLower(string(text)); small != string(text) {
					edits = append(edits, splice.Edit{Span: rewrite.Span{Start: base + at.Start, End: base + at.End}, Text: splice.AppendString(nil, small)})
				}
			}
		case "items":
			edits = typeEdits(edits, value, base+at.Start)
		case "properties":
			_ = splice.Members(value, func(_ []byte, _, property rewrite.Span) bool {
				edits = typeEdits(edits, value[property.Start:property.End], base+at.Start+property.Start)
				return true
			})
		case "anyOf":
			from := at.Start
			splice.Elements(value, func(option []byte) bool {
				// Elements are found again by their place in the array.
				offset := bytes.Index(schema[from:at.End], option)
				edits = typeEdits(edits, option, base+from+offset)
				from += offset + len(option)
				return true
			})
		}
		return true
	})
	return edits
}

// toolConfig reads which functions the model may call.
func (r *requestReader) toolConfig(value []byte) {
	c := &r.c.Choice
	c.Payload = payload("", "tool_config", value)
	members(value, func(name string, value []byte) {
		if name != "functionCallingConfig" {
			return
		}
		members(value, func(name string, value []byte) {
			switch name {
			case "mode":
				switch mode := splice.Text(value); mode {
				case "ANY", "NONE", "AUTO":
					c.Mode = strings.ToLower(mode)
				case "VALIDATED":
					c.Mode = "auto"
				}
			case "allowedFunctionNames":
				splice.Elements(value, func(name []byte) bool {
					c.Allowed = append(c.Allowed, splice.Text(name))
					return true
				})
			}
		})
	})
	if c.Mode == "any" && len(c.Allowed) == 1 {
		c.Mode, c.Name, c.Allowed = "tool", c.Allowed[0], nil
	}
}

// generationConfig is the member that holds the settings. What has no field
// stands in Extra under its path.
const generationConfig = "generationConfig"

// generation reads a member of the settings.
func (r *requestReader) generation(name string, value []byte) {
	s, f := &r.c.Sampling, &r.c.Format
	switch name {
	case "maxOutputTokens":
		s.MaxTokens = value
	case "temperature":
		s.Temperature = value
	case "topP":
		s.TopP = value
	case "topK":
		s.TopK = value
	case "seed":
		s.Seed = value
	case "presencePenalty":
		s.PresencePenalty = value
	case "frequencyPenalty":
		s.FrequencyPenalty = value
	case "candidateCount":
		s.Candidates = value
	case "responseLogprobs":
		s.LogProbs = rewrite.SwitchOf(string(value) == "true")
	case "logprobs":
		s.TopLogProbs = value
	case "stopSequences":
		splice.Elements(value, func(word []byte) bool {
			s.Stop = append(s.Stop, splice.Text(word))
			return true
		})
	case "thinkingConfig":
		r.thinking(value)
	case "responseMimeType":
		if splice.Text(value) == "application/json" {
			if f.Kind == "" {
				f.Kind = "json"
			}
			return
		}
		r.extra(name, value)
	case "responseJsonSchema":
		f.Kind, f.Schema = "schema", value
	case "responseSchema":
		f.Kind, f.Schema = "schema", plainSchema(value)
		r.extra(name, value)
		r.c.Extra[len(r.c.Extra)-1].Said = true
	default:
		r.extra(name, value)
	}
}

func (r *requestReader) extra(name string, value []byte) {
	r.c.Extra = append(r.c.Extra, rewrite.Member{Name: generationConfig + "." + name, Value: value})
}

// thinking reads what is asked of the model's reasoning.
func (r *requestReader) thinking(value []byte) {
	t := &r.c.Thinking
	t.Extra = payload("", "thinking_config", value)
	members(value, func(name string, value []byte) {
		switch name {
		case "includeThoughts":
			if t.Summary = "none"; string(value) == "true" {
				t.Summary = "auto"
			}
		case "thinkingLevel":
			if t.Effort = strings.ToLower(splice.Text(value)); strings.HasSuffix(t.Effort, "unspecified") {
				t.Mode, t.Effort = rewrite.On, ""
			}
		case "thinkingBudget":
			switch n, ok := splice.Int(value); {
			case ok && n == 0:
				t.Mode = rewrite.Off
			case ok && n > 0:
				t.Mode, t.Budget = rewrite.On, value
			default:
				t.Mode = rewrite.On
			}
		}
	})
}
