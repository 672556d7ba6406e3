package rewrite

// ToolKind is who runs a tool, and what it is called with.
type ToolKind uint8

// The kinds of tools.
const (
	// ToolFunction is run by the client, with a JSON object.
	ToolFunction ToolKind = iota
	// ToolCustom is run by the client, with free text.
	ToolCustom
	// ToolHosted is run by the provider.
	ToolHosted
)

// Tool is an entry of a conversation's catalogue.
type Tool struct {
	Kind ToolKind
	// Path is where it stood in a client's request.
	Path              Path
	Name, Description string
	// Namespace groups tools where the provider does.
	Namespace string
	// Schema is the JSON Schema of the arguments; empty for none.
	Schema JSON
	Strict Switch
	// Grammar is what the free text of a custom tool has to be.
	Grammar Grammar
	// Deferred tools are not offered until something adds them.
	Deferred bool
	// Capability is what a hosted tool does, by the names of Hosted.Name, and Hosting
	// what else is asked of it.
	Capability string
	Hosting    Hosting
	// Payload is the definition in its dialect, which holds whatever has no field
	// here.
	Payload Payload
	Mark    Mark
}

// Grammar is a grammar of free text; an empty Definition is none.
type Grammar struct {
	// Syntax is how it is written: lark or regex.
	Syntax, Definition string
}

// ToolChoice is which tools the model may or must call.
type ToolChoice struct {
	// Mode is auto, none, any (some tool) or tool (the one that is named); empty
	// is the provider's own.
	Mode string
	Name string
	// Allowed narrows the choice to some of the tools; nil to none.
	Allowed []string
	// Payload is the choice in its dialect where it says more than the rest.
	Payload Payload
}
