package anthropic

// portable is what other dialects are told of a tool whose schema the vendor
// keeps and whose work is the client's.
type portable struct{ name, description, schema string }

// portables are those tools by family. Their schemas are what the vendor's
// models call them with; the newest names of the tools stand for an absent one.
var portables = map[string]portable{
	"bash": {
		"bash", "Runs a command in a shell that keeps its state between calls.",
		`{"type":"object","properties":{"command":{"type":"string","description":"The command to run."},"restart":{"type":"boolean","description":"Set to true to start the shell anew instead."}}}`,
	},
	"text_editor": {
		"str_replace_based_edit_tool", "Views, creates and edits text files.",
		`{"type":"object","properties":{"command":{"type":"string","enum":["view","create","str_replace","insert"]},"path":{"type":"string","description":"The file or folder."},` +
			`"file_text":{"type":"string","description":"The content of a file that is created."},"old_str":{"type":"string","description":"The text to replace, which stands once in the file."},` +
			`"new_str":{"type":"string","description":"What replaces it."},"insert_line":{"type":"integer","description":"The line after which text is inserted."},` +
			`"insert_text":{"type":"string","description":"The text that is inserted."},"view_range":{"type":"array","items":{"type":"integer"},"description":"The first and the last line to view."}},"required":["command","path"]}`,
	},
	"memory": {
		"memory", "Keeps notes in files below /memories from one conversation to the next.",
		`{"type":"object","properties":{"command":{"type":"string","enum":["view","create","str_replace","insert","delete","rename"]},"path":{"type":"string"},"view_range":{"type":"array","items":{"type":"integer"}},` +
			`"file_text":{"type":"string"},"old_str":{"type":"string"},"new_str":{"type":"string"},"insert_line":{"type":"integer"},"insert_text":{"type":"string"},"old_path":{"type":"string"},"new_path":{"type":"string"}},"required":["command"]}`,
	},
}
