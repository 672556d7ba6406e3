package mcp

import (
	"encoding/base64"
	"mime"
	"net/http"
	"strings"

	"warmpath/rewrite/audience"
)

// mediaType is a media type without its parameters, in lower case.
func mediaType(text string) string {
	if media, _, err := mime.ParseMediaType(text); err == nil {
		return media
	}
	media, _, _ := strings.Cut(text, ";")
	return strings.ToLower(strings.TrimSpace(media))
}

// textual reports whether bytes of a media type are text. The one image that is no
// provider takes as an image.
func textual(media string) bool { return audience.IsText(media) || media == "image/svg+xml" }

// base64Of is data in the spelling that providers take; ok is false if it is none.
func base64Of(data string) (text string, ok bool) {
	if begin, rest, found := strings.Cut(data, ";base64,"); found && strings.HasPrefix(begin, "data:") {
		data = rest
	}
	bytes, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		bytes, err = base64.RawStdEncoding.DecodeString(data)
	}
	if err != nil || len(bytes) == 0 {
		return "", false
	}
	return base64.StdEncoding.EncodeToString(bytes), true
}

// guess is the media type of data that comes without one.
func guess(data string) string {
	const most = 1024
	begin, err := base64.StdEncoding.DecodeString(data[:min(len(data), most)])
	if err != nil {
		return "application/octet-stream"
	}
	return mediaType(http.DetectContentType(begin))
}
