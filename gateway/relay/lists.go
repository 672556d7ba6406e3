package relay

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"warmpath/cache/lineage"
	"warmpath/rewrite"
)

// A conversation is offered the same tools from its first request on: providers keep
// them at the very beginning of what they cache. So it is noted of which list it has
// begun with, and the list under its digest.

// listedFor is how long a note is good before it is made again; it lives longer.
const listedFor = 6 * time.Hour

// keptTool is a tool in a list that is kept. Bytes stay as they are.
type keptTool struct {
	Name, Description string
	Schema            []byte
}

// lists are the tools of the route as the conversation knows them. A server's list may
// have changed since it began: what is new is offered where the model can be told of
// it behind its prefix, and what is gone stays, and fails when it is called.
func (x *exchange) lists(opening bool) []rewrite.Tool {
	now := x.set.Definitions()
	conversation := x.conversation(x.asked)
	if x.relay.memory == nil || conversation == "" {
		return now
	}
	place := lineage.Seal(lineage.Head{}, 0, strings.Join([]string{"tools", x.req.tenant(), x.facts.Model, conversation}, "\x00")).Head
	if opening {
		x.noteList(place, now)
		return now
	}
	notes, err := x.relay.memory.Notes(x.ctx, place)
	if err != nil {
		return now
	}
	known, written, ok := readNote(notes[0])
	if !ok {
		x.noteList(place, now)
		return now
	}
	list := now
	if known != listHead(encodeList(now)) {
		kept, err := x.relay.memory.Notes(x.ctx, known)
		if err != nil || kept[0] == nil {
			return now
		}
		if list = x.merged(decodeList(kept[0]), now); len(list) == 0 {
			return now
		}
	}
	if time.Since(written) > listedFor || listHead(encodeList(list)) != known {
		x.noteList(place, list)
	}
	return list
}

// merged is the list that the conversation goes on with.
func (x *exchange) merged(old, now []rewrite.Tool) []rewrite.Tool {
	able := x.target.Provider.Abilities(x.target.Model)
	if x.target.Dialect != rewrite.Messages || x.mode() != rewrite.ModeOn || !able.Define {
		return old
	}
	for i := range now {
		if !slices.ContainsFunc(old, func(t rewrite.Tool) bool { return t.Name == now[i].Name }) {
			old = append(old, now[i])
		}
	}
	return old
}

// noteList notes of a conversation which list it has. A request that only counts
// leaves nothing behind.
func (x *exchange) noteList(place lineage.Head, list []rewrite.Tool) {
	if x.req.Operation != OpGenerate {
		return
	}
	encoded := encodeList(list)
	head := listHead(encoded)
	// Without the note the conversation is offered what the route has by then.
	_ = x.relay.memory.Note(x.ctx, map[lineage.Head][]byte{
		place: binary.BigEndian.AppendUint64(head[:], uint64(time.Now().Unix())), //nolint:gosec // after 1970
		head:  encoded,
	})
}

// readNote reads which list a conversation has, and when that was noted.
func readNote(note []byte) (head lineage.Head, written time.Time, ok bool) {
	if len(note) != len(head)+8 {
		return head, written, false
	}
	copy(head[:], note)
	return head, time.Unix(int64(binary.BigEndian.Uint64(note[len(head):])), 0), true //nolint:gosec // no later than an int64
}

// listHead is where a list is kept.
func listHead(encoded []byte) lineage.Head {
	sum := sha256.Sum256(encoded)
	return lineage.Seal(lineage.Head{}, 0, "list\x00"+string(sum[:])).Head
}

func encodeList(list []rewrite.Tool) []byte {
	all := make([]keptTool, len(list))
	for i := range list {
		all[i] = keptTool{list[i].Name, list[i].Description, list[i].Schema}
	}
	encoded, _ := json.Marshal(all) // of texts only
	return encoded
}

func decodeList(encoded []byte) (list []rewrite.Tool) {
	var all []keptTool
	if json.Unmarshal(encoded, &all) != nil {
		return nil
	}
	for _, tool := range all {
		list = append(list, rewrite.Tool{Name: tool.Name, Description: tool.Description, Schema: tool.Schema})
	}
	return list
}
