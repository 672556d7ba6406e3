// Package transcript says what happens in a conversation, as events: what was asked
// and answered, tools that were called and what they gave, what the provider and the
// gateway did besides. An event is one JSON object, written once and never changed.
package transcript
