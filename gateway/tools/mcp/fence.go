package mcp

import (
	"mime"
	"strings"
)

// languages are the names that fences have for media types of text.
var languages = map[string]string{
	"application/graphql":       "graphql",
	"application/javascript":    "javascript",
	"application/json":          "json",
	"application/sql":           "sql",
	"application/toml":          "toml",
	"application/typescript":    "typescript",
	"application/x-httpd-php":   "php",
	"application/x-javascript":  "javascript",
	"application/x-ndjson":      "json",
	"application/x-python":      "python",
	"application/x-ruby":        "ruby",
	"application/x-sh":          "sh",
	"application/x-toml":        "toml",
	"application/x-typescript":  "typescript",
	"application/x-yaml":        "yaml",
	"application/xhtml+xml":     "html",
	"application/xml":           "xml",
	"application/yaml":          "yaml",
	"image/svg+xml":             "xml",
	"text/css":                  "css",
	"text/csv":                  "csv",
	"text/html":                 "html",
	"text/javascript":           "javascript",
	"text/markdown":             "markdown",
	"text/rust":                 "rust",
	"text/typescript":           "typescript",
	"text/x-c":                  "c",
	"text/x-c++":                "cpp",
	"text/x-c++src":             "cpp",
	"text/x-csharp":             "csharp",
	"text/x-csrc":               "c",
	"text/x-diff":               "diff",
	"text/x-dockerfile":         "dockerfile",
	"text/x-go":                 "go",
	"text/x-java":               "java",
	"text/x-java-source":        "java",
	"text/x-kotlin":             "kotlin",
	"text/x-lua":                "lua",
	"text/x-makefile":           "makefile",
	"text/x-markdown":           "markdown",
	"text/x-patch":              "diff",
	"text/x-perl":               "perl",
	"text/x-php":                "php",
	"text/x-python":             "python",
	"text/x-ruby":               "ruby",
	"text/x-rust":               "rust",
	"text/x-rustsrc":            "rust",
	"text/x-script.python":      "python",
	"text/x-sh":                 "sh",
	"text/x-shellscript":        "sh",
	"text/x-sql":                "sql",
	"text/x-swift":              "swift",
	"text/x-toml":               "toml",
	"text/x-typescript":         "typescript",
	"text/x-yaml":               "yaml",
	"text/x-zig":                "zig",
	"text/xml":                  "xml",
	"text/yaml":                 "yaml",
	"application/vnd.api+json":  "json",
	"application/ld+json":       "json",
	"application/geo+json":      "json",
	"application/schema+json":   "json",
	"application/problem+json":  "json",
	"application/manifest+json": "json",
}

// mediaType is a media type without its parameters, in lower case.
func mediaType(text string) string {
	if media, _, err := mime.ParseMediaType(text); err == nil {
		return media
	}
	media, _, _ := strings.Cut(text, ";")
	return strings.ToLower(strings.TrimSpace(media))
}

// textual reports whether bytes of a media type are text.
func textual(media string) bool {
	return strings.HasPrefix(media, "text/") || languages[media] != "" ||
		strings.HasSuffix(media, "+json") || strings.HasSuffix(media, "+xml") || strings.HasSuffix(media, "+yaml")
}

// fenced puts a text between fences that nothing within it can end.
func fenced(media, text string) string {
	longest, run := 2, 0
	for _, c := range []byte(text) {
		if run++; c != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	end := "\n"
	if text == "" || strings.HasSuffix(text, "\n") {
		end = ""
	}
	return fence + languages[media] + "\n" + text + end + fence
}
