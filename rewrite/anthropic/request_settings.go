package anthropic

import (
	"encoding/base64"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// part reads a block that is content. The provider is that of the model's own
// blocks, and empty for the client's.
func (r *requestReader) part(provider string, b *wireBlock) rewrite.Part {
	part := rewrite.Part{Path: b.at, Mark: b.mark, Annotations: b.annotations}
	known := false
	switch b.kind {
	case "text":
		part.Text = b.text(fieldText)
		splice.Elements(b.values[fieldCitations], func(raw []byte) bool {
			part.Attributions = append(part.Attributions, readCitation(provider, raw))
			return true
		})
		known = !b.beyond(textFields)
	case "image":
		part.Kind = rewrite.PartImage
		known = readSource(b.values[fieldSource], &part) && !b.beyond(imageFields)
	case "document":
		part.Kind = rewrite.PartFile
		known = readSource(b.values[fieldSource], &part) && !b.beyond(fileFields)
		part.Media.Name = b.text(fieldTitle)
	case "search_result":
		part.Text = plainText(b)
	default:
		part.Kind = rewrite.PartOpaque
	}
	if !known {
		part.Payload = payload(provider, b.kind, b.raw)
	}
	return part
}

// readSource reads where an image or a document is; known is false if the part
// does not say it all. The text of a document becomes the part's.
func readSource(source []byte, part *rewrite.Part) (known bool) {
	var kind string
	var data, content []byte
	splice.Fields(source, func(name, value []byte) bool {
		switch string(name) {
		case "type":
			kind = splice.Text(value)
		case "media_type":
			part.MIME = splice.Text(value)
		case "data":
			data = value
		case "url":
			part.Media.URL = splice.Text(value)
		case "file_id":
			part.Media.ID = splice.Text(value)
		case "content":
			content = value
		}
		return true
	})
	switch kind {
	case "base64":
		part.Media.Data = splice.Text(data)
	case "text":
		part.Kind, part.Text = rewrite.PartText, splice.Text(data)
		return false
	case "content":
		part.Kind, part.Text = rewrite.PartText, joinTexts(content)
		return false
	case "url", "file":
	default:
		part.Kind = rewrite.PartOpaque
		return false
	}
	return true
}

// joinTexts is the text of blocks, or of the string that stands for them.
func joinTexts(content []byte) string {
	if text, ok := splice.String(content); ok {
		return string(text)
	}
	var texts []string
	splice.Elements(content, func(raw []byte) bool {
		if b, ok := readBlock(raw); ok && b.kind == "text" {
			texts = append(texts, b.text(fieldText))
		}
		return true
	})
	return strings.Join(texts, "\n")
}

// plainText is what other dialects are given for a search result.
func plainText(b *wireBlock) string {
	texts := []string{b.text(fieldTitle), b.text(fieldSource), joinTexts(b.values[fieldContent])}
	var said []string
	for _, text := range texts {
		if text != "" {
			said = append(said, text)
		}
	}
	return strings.Join(said, "\n")
}

// unpackText is the text of base64 data; ok is false if it is none.
func unpackText(data string) (text string, ok bool) {
	plain, err := base64.StdEncoding.DecodeString(data)
	return string(plain), err == nil
}

// tool reads one entry of the tools.
func (r *requestReader) tool(at rewrite.Path, raw []byte) {
	var kind, server []byte
	tool := rewrite.Tool{Path: at}
	more, object := false, false
	object = splice.Fields(raw, func(name, value []byte) bool {
		if splice.Null(value) {
			return true
		}
		switch string(name) {
		case "type":
			kind, _ = splice.String(value)
		case "name":
			tool.Name = splice.Text(value)
		case "description":
			tool.Description = splice.Text(value)
		case "input_schema":
			tool.Schema = value
		case "strict":
			tool.Strict = rewrite.SwitchOf(string(value) == "true")
		case "defer_loading":
			tool.Deferred = string(value) == "true"
		case "cache_control":
			var plain bool
			if tool.Mark, plain = readMark(value); !plain {
				more = true
			}
		case "mcp_server_name":
			server, more = value, true
		default:
			more = true
		}
		return true
	})
	if !object {
		r.refuse(at.String(), "not a tool; send an object")
		return
	}
	switch family := family(kind); family {
	case "":
	case "bash", "text_editor", "memory", "computer", "computer_toolset", "browser_toolset":
		more = true
		if p, ok := portables[family]; ok {
			tool.Name, tool.Description, tool.Schema = or(tool.Name, p.name), p.description, rewrite.JSON(p.schema)
		}
	default:
		tool.Kind, tool.Capability, more = rewrite.ToolHosted, capability(family), true
		tool.Hosting = hosting(raw)
	}
	if tool.Name == "" {
		tool.Name = splice.Text(server)
	}
	if tool.Name == "" && len(kind) == 0 {
		r.refuse(at.String()+".name", "a tool needs a name")
		return
	}
	if more {
		tool.Payload = payload("", "tool", raw)
	}
	r.c.Tools = append(r.c.Tools, tool)
}

// choice reads which tools the model may call.
func (r *requestReader) choice(value []byte) {
	c, more := &r.c, false
	splice.Fields(value, func(name, value []byte) bool {
		switch string(name) {
		case "type":
			c.Choice.Mode = splice.Text(value)
		case "name":
			c.Choice.Name = splice.Text(value)
		case "disable_parallel_tool_use":
			if !splice.Null(value) {
				c.Parallel = rewrite.SwitchOf(string(value) != "true")
			}
		default:
			more = true
		}
		return true
	})
	if more {
		c.Choice.Payload = payload("", "tool_choice", value)
	}
}

// thinking reads what is asked of the model's reasoning.
func (r *requestReader) thinking(value []byte) {
	t := &r.c.Thinking
	t.Extra = payload("", "thinking_config", value)
	splice.Fields(value, func(name, value []byte) bool {
		switch string(name) {
		case "type":
			t.Mode = rewrite.SwitchOf(splice.Text(value) != "disabled")
		case "budget_tokens":
			t.Budget = value
		case "display":
			if t.Summary = "auto"; splice.Text(value) == "omitted" {
				t.Summary = "none"
			}
		}
		return true
	})
}

// outputConfig is the member that holds settings of several kinds. What has no
// field stands in Extra under its path.
const outputConfig = "output_config"

func (r *requestReader) output(value []byte) {
	splice.Fields(value, func(name, value []byte) bool {
		switch string(name) {
		case "effort":
			r.c.Thinking.Effort = splice.Text(value)
		case "format":
			if !splice.Null(value) {
				r.format(value)
			}
		default:
			r.c.Extra = append(r.c.Extra, rewrite.Member{Name: outputConfig + "." + string(name), Value: value})
		}
		return true
	})
}

// format reads the form that the answer must have.
func (r *requestReader) format(value []byte) {
	splice.Fields(value, func(name, value []byte) bool {
		switch string(name) {
		case "type":
			if splice.Text(value) == "json_schema" {
				r.c.Format.Kind = "schema"
			}
		case "schema":
			r.c.Format.Schema = value
		}
		return true
	})
}

func (r *requestReader) metadata(value []byte) {
	more := false
	splice.Fields(value, func(name, value []byte) bool {
		if string(name) == "user_id" {
			r.c.User = splice.Text(value)
		} else {
			more = true
		}
		return true
	})
	if more {
		r.c.Metadata = value
	}
}
