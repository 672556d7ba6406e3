package responses

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// itemFields are the members of an item, of whatever kind.
type itemFields struct {
	// at is where it stands in a client's request.
	at                                                      rewrite.Path
	kind, id, role, content, phase, status                  []byte
	callID, name, namespace, arguments, input, output       []byte
	summary, encrypted, action, operation, execution, tools []byte
	queries, results, code, failure, serverLabel, errorCode []byte
	payload, blocks, result                                 []byte
	// other says that there is something else, which has no field.
	other bool
}

func (i *itemFields) set(key, value []byte) bool {
	field := i.field(string(key))
	if field == nil {
		i.other = i.other || !splice.Empty(value)
	} else {
		*field = value
	}
	return true
}

func (i *itemFields) field(key string) *[]byte {
	switch key {
	case "type":
		return &i.kind
	case "id":
		return &i.id
	case "role":
		return &i.role
	case "content":
		return &i.content
	case "phase":
		return &i.phase
	case "status":
		return &i.status
	case "call_id":
		return &i.callID
	case "name":
		return &i.name
	case "namespace":
		return &i.namespace
	case "arguments":
		return &i.arguments
	case "input":
		return &i.input
	case "output":
		return &i.output
	case "summary":
		return &i.summary
	case "encrypted_content":
		return &i.encrypted
	case "execution":
		return &i.execution
	case "tools":
		return &i.tools
	}
	return i.rare(key)
}

// rare is field for the members of hosted tools and of our own items.
func (i *itemFields) rare(key string) *[]byte {
	switch key {
	case "action", "actions":
		return &i.action
	case "operation":
		return &i.operation
	case "queries":
		return &i.queries
	case "results":
		return &i.results
	case "result":
		return &i.result
	case "code":
		return &i.code
	case "error":
		return &i.failure
	case "server_label":
		return &i.serverLabel
	case "error_code":
		return &i.errorCode
	case "payload":
		return &i.payload
	case "blocks":
		return &i.blocks
	}
	return nil
}

// readItem reads an item, of a history or of a reply. Kinds that say nothing to
// other providers are opaque.
func (r reader) item(value []byte) (item rewrite.Item, f *fault) {
	var i itemFields
	if !splice.Fields(value, i.set) {
		return item, bad("", "is no object; send an item")
	}
	return r.itemOf(value, &i)
}

func (r reader) itemOf(value []byte, i *itemFields) (item rewrite.Item, f *fault) {
	kind := splice.Text(i.kind)
	item.ID, item.Path = idOf(i.id), i.at
	item.Incomplete = string(i.status) == `"incomplete"`
	switch kind {
	case "message", "":
		return r.message(value, i, item)
	case "reasoning":
		return r.reasoning(value, i, item)
	case "function_call", "custom_tool_call":
		return r.call(value, i, item, kind == "custom_tool_call")
	case "function_call_output", "custom_tool_call_output":
		return r.result(kind, value, i, item)
	case "computer_call", "shell_call", "local_shell_call", "apply_patch_call":
		return r.builtIn(kind, value, i, item), nil
	case "computer_call_output", "shell_call_output", "local_shell_call_output", "apply_patch_call_output":
		item.Kind, item.Call.ID = rewrite.ItemResult, splice.Text(i.callID)
		item.Parts = []rewrite.Part{{Text: readable(i.output)}}
		// It stays with the call, which is the provider's.
		item.Payload = r.payload(kind, value)
		return item, nil
	case "image_generation_call":
		if item.ID == "" && !splice.Empty(i.id) {
			// A picture that was part of a message.
			item.Role = rewrite.RoleAssistant
			item.Parts = []rewrite.Part{{Kind: rewrite.PartImage, Media: rewrite.Media{Data: splice.Text(i.result)}}}
			return item, nil
		}
		r.hosted(kind, i, &item)
	case "tool_search_call":
		if splice.Text(i.execution) != "client" {
			r.hosted(kind, i, &item)
			break
		}
		item.Kind = rewrite.ItemCall
		item.Call = rewrite.Call{ID: splice.Text(i.callID), Name: toolSearch, Arguments: present(i.arguments)}
	case ownMark + "hosted_activity":
		return item, readActivity(i, &item)
	case "configuration_update", "compaction_trigger", "mcp_approval_response":
		item.Kind, item.Payload = rewrite.ItemOpaque, written(kind, value)
		return item, nil
	default:
		if item.Kind = rewrite.ItemOpaque; hosted(kind) {
			r.hosted(kind, i, &item)
		}
	}
	item.Payload = r.payload(kind, value)
	return item, nil
}

// message reads any of the three forms of a message.
func (r reader) message(value []byte, i *itemFields, item rewrite.Item) (rewrite.Item, *fault) {
	switch role := splice.Text(i.role); role {
	case "user":
	case "assistant":
		item.Role, item.Phase = rewrite.RoleAssistant, splice.Text(i.phase)
	case "system", "developer":
		if item.Role = rewrite.RoleSystem; role == "system" {
			item.Voice.Role = role
		}
	case "":
		if item.ID != "" && splice.Null(i.content) {
			item.Kind, item.Payload = rewrite.ItemOpaque, r.payload("item_reference", value)
			return item, nil
		}
		return item, bad("role", "is missing; say who speaks: user, assistant, developer or system")
	default:
		return item, bad("role", "is none of user, assistant, developer and system")
	}
	var f *fault
	if item.Parts, f = r.parts(i.at, "content", i.content); f != nil {
		return item, f.in("content")
	}
	if item.Role == rewrite.RoleAssistant && item.ID != "" {
		item.Payload = r.payload("message", value)
	}
	return item, nil
}

// reasoning reads what the model shows of its reasoning, and keeps the item for
// its provider. What looks like reasoning may hold what another provider made.
func (r reader) reasoning(value []byte, i *itemFields, item rewrite.Item) (rewrite.Item, *fault) {
	item.Kind = rewrite.ItemReasoning
	summary, f := r.parts(i.at, "summary", i.summary)
	if f != nil {
		return item, f.in("summary")
	}
	content, f := r.parts(i.at, "content", i.content)
	if f != nil {
		return item, f.in("content")
	}
	item.Parts = append(summary, content...)
	packed, _ := splice.String(i.encrypted)
	if p, ok := rewrite.OpenEnvelope(string(packed)); ok {
		if splice.Valid(p.Value) != nil {
			return item, bad("encrypted_content", "was changed on its way; send it as it came")
		}
		item.Payload = p
	} else if item.ID != "" || splice.Empty(i.id) || len(packed) > 0 {
		item.Payload = r.payload("reasoning", value)
	}
	return item, nil
}

// call reads a call of a client's tool.
func (r reader) call(value []byte, i *itemFields, item rewrite.Item, custom bool) (rewrite.Item, *fault) {
	item.Kind = rewrite.ItemCall
	item.Call = rewrite.Call{
		ID: splice.Text(i.callID), Name: splice.Text(i.name), Namespace: splice.Text(i.namespace), Custom: custom,
	}
	name, text := "arguments", i.arguments
	if custom {
		name, text = "input", i.input
	}
	content, ok := splice.String(text)
	if !ok && !splice.Null(text) {
		return item, bad(name, "is no text; send it as the string that the model wrote")
	}
	item.Call.Arguments = content
	if item.ID != "" || i.other {
		item.Payload = r.payload(splice.Text(i.kind), value)
	}
	return item, nil
}

// builtIn reads a call of a tool that the provider defines and the client runs.
func (r reader) builtIn(kind string, value []byte, i *itemFields, item rewrite.Item) rewrite.Item {
	item.Kind = rewrite.ItemCall
	item.Call = rewrite.Call{ID: splice.Text(i.callID), Name: kind[:len(kind)-len("_call")], Arguments: present(i.action)}
	if len(item.Call.Arguments) == 0 {
		item.Call.Arguments = present(i.operation)
	}
	if len(item.Call.Arguments) > 0 && item.Call.Arguments[0] != '{' {
		item.Call.Arguments = rewrite.JSON(`{"actions":` + string(item.Call.Arguments) + `}`)
	}
	item.Payload = r.payload(kind, value)
	return item
}

// readable is what a tool gave: its text, or the JSON that it is.
func readable(output []byte) string {
	if text, ok := splice.String(output); ok {
		return string(text)
	}
	if splice.Null(output) {
		return ""
	}
	return string(output)
}
