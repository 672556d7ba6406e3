package mcp

import (
	"encoding/base64"
	"path"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"warmpath/rewrite"
	"warmpath/rewrite/audience"
)

// mostLinks bounds how many of a result's links are read.
const mostLinks = 16

// content makes parts of a result.
type content struct {
	// read gives what a link leads to, as the result of resources/read.
	read  func(uri string) ([]byte, error)
	parts []rewrite.Part
	// texts are those of the blocks, as the server wrote them.
	texts []string
	links int
	// skipped counts blocks that nothing could be made of.
	skipped int
}

// add makes parts of a tool's result, as its server has sent it: each block in its
// place, with its annotations.
func (c *content) add(result []byte) {
	whole := gjson.ParseBytes(result)
	whole.Get("content").ForEach(func(_, block gjson.Result) bool {
		c.block(block)
		return true
	})
	structured := whole.Get("structuredContent")
	if structured.Exists() && structured.Type != gjson.Null && !twin(structured, c.texts) {
		c.parts = append(c.parts, rewrite.Part{Text: valid(structured.Raw), MIME: "application/json"})
	}
}

func (c *content) block(block gjson.Result) {
	notes := annotations(block)
	switch kind := block.Get("type").Str; kind {
	case "text":
		text := block.Get("text")
		if text.Type != gjson.String {
			c.skipped++
			return
		}
		c.texts = append(c.texts, text.Str)
		c.parts = append(c.parts, rewrite.Part{Text: valid(text.Str), MIME: block.Get("mimeType").Str, Annotations: notes})
	case "image", "audio":
		data, ok := base64Of(block.Get("data").Str)
		if !ok {
			c.skipped++
			return
		}
		media := mediaType(block.Get("mimeType").Str)
		if media == "" {
			media = guess(data)
		}
		part := rewrite.Part{Kind: rewrite.PartImage, MIME: media, Media: rewrite.Media{Data: data}, Annotations: notes}
		if kind == "audio" {
			part.Kind = rewrite.PartAudio
		}
		c.parts = append(c.parts, part)
	case "resource":
		c.resource(block.Get("resource"), block.Get("formatted"), notes)
	case "resource_link":
		c.link(block, notes)
	default:
		c.skipped++
	}
}

// annotations are those of a block, or of the resource within it, as they were
// written; without an audience they say nothing of whom it is for.
func annotations(block gjson.Result) rewrite.JSON {
	for _, at := range []string{"annotations", "resource.annotations"} {
		if notes := block.Get(at); notes.IsObject() {
			return rewrite.JSON(notes.Raw)
		}
	}
	return nil
}

// resource makes a part of a resource: of the text that is meant for a model, where
// there is one, else of what it holds.
func (c *content) resource(resource, formatted gjson.Result, notes rewrite.JSON) {
	media := mediaType(resource.Get("mimeType").Str)
	text, blob, uri := resource.Get("text"), resource.Get("blob"), resource.Get("uri").Str
	switch {
	case formatted.Type == gjson.String:
		c.parts = append(c.parts, rewrite.Part{Text: valid(formatted.Str), Annotations: notes})
	case text.Type == gjson.String:
		c.texts = append(c.texts, text.Str)
		c.parts = append(c.parts, rewrite.Part{Text: audience.Fence(media, valid(text.Str)), Annotations: notes})
	case blob.Type == gjson.String:
		c.blob(uri, media, blob.Str, notes)
	default:
		c.skipped++
	}
}

func (c *content) blob(uri, media, blob string, notes rewrite.JSON) {
	data, ok := base64Of(blob)
	if !ok {
		c.skipped++
		return
	}
	if media == "" {
		media = guess(data)
	}
	part := rewrite.Part{MIME: media, Media: rewrite.Media{Data: data}, Annotations: notes}
	switch family, _, _ := strings.Cut(media, "/"); {
	case textual(media):
		plain, _ := base64.StdEncoding.DecodeString(data)
		part = rewrite.Part{Text: audience.Fence(media, valid(string(plain))), Annotations: notes}
	case family == "image":
		part.Kind = rewrite.PartImage
	case family == "audio":
		part.Kind = rewrite.PartAudio
	case family == "video":
		part.Kind = rewrite.PartVideo
	case media == "application/pdf":
		part.Kind, part.Media.Name = rewrite.PartFile, path.Base(uri)
	default:
		size := strconv.Itoa(base64.StdEncoding.DecodedLen(len(data)))
		part = rewrite.Part{Text: "(The resource " + valid(uri) + " is binary data of type " + media + ", about " + size + " bytes, and is not shown.)", Annotations: notes}
	}
	c.parts = append(c.parts, part)
}

// link reads what a block links to, from the server that gave the link. What cannot
// be read is named.
func (c *content) link(block gjson.Result, notes rewrite.JSON) {
	uri := block.Get("uri").Str
	if uri == "" {
		c.skipped++
		return
	}
	named := "The resource " + valid(uri)
	if name := block.Get("name").Str; name != "" {
		named += " (" + valid(name) + ")"
	}
	if c.links++; c.links > mostLinks || c.read == nil {
		c.parts = append(c.parts, rewrite.Part{Text: named + " was not read.", Annotations: notes})
		return
	}
	result, err := c.read(uri)
	before := len(c.parts)
	if err == nil {
		gjson.GetBytes(result, "contents").ForEach(func(_, resource gjson.Result) bool {
			if !resource.Get("mimeType").Exists() {
				if media := block.Get("mimeType"); media.Type == gjson.String {
					resource = gjson.Parse(`{"mimeType":` + media.Raw + `,` + strings.TrimLeft(resource.Raw, "{ \t\r\n"))
				}
			}
			c.resource(resource, resource.Get("formatted"), notes)
			return true
		})
	}
	if len(c.parts) == before {
		c.parts = append(c.parts, rewrite.Part{Text: named + " could not be read.", Annotations: notes})
	}
}

func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
