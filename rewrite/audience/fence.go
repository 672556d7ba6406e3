package audience

import "strings"

// Fence puts a text between fences that name its language, as far as the media type
// tells it. The fence is longer than any in the text, which cannot break out of it.
func Fence(mime, text string) string {
	longest, run := 2, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		if run++; run > longest {
			longest = run
		}
	}
	fence := strings.Repeat("`", longest+1)
	end := "\n"
	if text == "" || strings.HasSuffix(text, "\n") {
		end = ""
	}
	return fence + language(mime) + "\n" + text + end + fence
}

// languages are the names of media types in fences.
var languages = map[string]string{
	"c": "c", "c++": "cpp", "c++src": "cpp", "cpp": "cpp", "csharp": "csharp", "csrc": "c", "css": "css", "csv": "csv",
	"diff": "diff", "dockerfile": "dockerfile", "ecmascript": "javascript", "go": "go", "html": "html", "java": "java",
	"java-source": "java", "javascript": "javascript", "json": "json", "jsx": "jsx", "kotlin": "kotlin", "lua": "lua",
	"markdown": "markdown", "patch": "diff", "perl": "perl", "php": "php", "python": "python", "ruby": "ruby", "rust": "rust",
	"scala": "scala", "sh": "bash", "shellscript": "bash", "sql": "sql", "swift": "swift", "toml": "toml", "tsx": "tsx",
	"typescript": "typescript", "xml": "xml", "yaml": "yaml", "zig": "zig",
}

// language is the name of what a media type is written in; empty where it has none.
func language(mime string) string {
	mime, _, _ = strings.Cut(mime, ";")
	kind, name, _ := strings.Cut(strings.ToLower(strings.TrimSpace(mime)), "/")
	if kind != "text" && kind != "application" {
		return ""
	}
	name = strings.TrimPrefix(strings.TrimPrefix(name, "x-"), "vnd.")
	if _, suffix, structured := strings.Cut(name, "+"); structured && languages[name] == "" {
		name = suffix
	}
	return languages[name]
}
