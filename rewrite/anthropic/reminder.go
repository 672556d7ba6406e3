package anthropic

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/continuity"
	"warmpath/rewrite/splice"
)

// The tag of a text that an agent adds to a user's message.
const reminderOpen, reminderShut = "<system-reminder>", "</system-reminder>"

// maxReminders bounds those of one message. What has more of them is text about
// reminders.
const maxReminders = 64

// reminders finds those of a user's message in canonical form. An agent can leave
// out blocks of text that are nothing else, and what ends the last text of a
// tool's result. All others are only counted, as inner ones. Nil means that there
// is none. Rest stays empty if the message has nothing that can be left out, or
// nothing else.
func reminders(message []byte) *continuity.Reminders {
	if n := bytes.Count(message, []byte(reminderOpen)); n == 0 || n > maxReminders {
		return nil
	}
	var content rewrite.Span
	_ = splice.Members(message, func(name []byte, _, value rewrite.Span) bool {
		if string(name) == "content" {
			content = value
		}
		return true
	})
	found := new(continuity.Reminders)
	var rest [][]byte
	loose := 0
	splice.Elements(message[content.Start:content.End], func(block []byte) bool {
		kind, text, inner := parts(block)
		left, tail := block, []continuity.Reminder(nil)
		switch {
		case kind == "text" && isReminder(text):
			left, tail = nil, []continuity.Reminder{{Meaning: sum([]byte(strings.TrimSpace(text)))}}
		case kind == "tool_result" && inner.Len() > 0:
			left, tail = withoutTail(block, inner)
		}
		for range bytes.Count(block, []byte(reminderOpen)) - len(tail) {
			found.Each = append(found.Each, continuity.Reminder{Meaning: sum(block), Inner: true})
		}
		found.Each = append(found.Each, tail...)
		if loose += len(tail); left != nil {
			rest = append(rest, left)
		}
		return true
	})
	if loose > 0 && len(rest) > 0 {
		text := append(append([]byte(nil), message[:content.Start]...), list(rest)...)
		found.Rest = sum(append(text, message[content.End:]...))
	}
	return found
}

// sum is the hash of text.
func sum(text []byte) (hash continuity.Hash) {
	digest := sha256.Sum256(text)
	copy(hash[:], digest[:])
	return hash
}

// isReminder reports a text that is one reminder from its beginning to its end.
func isReminder(text string) bool {
	text = strings.TrimSpace(text)
	inside, ok := strings.CutPrefix(text, reminderOpen)
	if !ok {
		return false
	}
	return strings.Index(inside, reminderShut) == len(inside)-len(reminderShut)
}

// parts reads of a canonical block its type, the text of a plain one, and where
// the last text in the content of a result stands.
func parts(block []byte) (kind, text string, inner rewrite.Span) {
	var last rewrite.Span
	members := 0
	_ = splice.Members(block, func(name []byte, _, value rewrite.Span) bool {
		members++
		switch string(name) {
		case "type":
			kind = splice.Text(block[value.Start:value.End])
		case "text":
			text = splice.Text(block[value.Start:value.End])
		case "content":
			last = lastElement(block, value)
		}
		return true
	})
	if kind == "text" && members != 2 {
		return "", "", rewrite.Span{}
	}
	if last.Len() > 0 {
		_ = splice.Members(block[last.Start:last.End], func(name []byte, _, value rewrite.Span) bool {
			if string(name) == "text" {
				inner = rewrite.Span{Start: last.Start + value.Start, End: last.Start + value.End}
			}
			return true
		})
	}
	return kind, text, inner
}

// lastElement is the span of the last element of the canonical array at a span,
// if that is an object.
func lastElement(block []byte, array rewrite.Span) (last rewrite.Span) {
	at := array.Start + 1
	splice.Elements(block[array.Start:array.End], func(value []byte) bool {
		last = rewrite.Span{Start: at, End: at + len(value)}
		at = last.End + len(",")
		return true
	})
	if last.Len() > 0 && block[last.Start] != '{' {
		return rewrite.Span{}
	}
	return last
}

// withoutTail gives the block of a result without the reminders that end the
// text at a span, and these. A text that is nothing else stays.
func withoutTail(block []byte, at rewrite.Span) (left []byte, tail []continuity.Reminder) {
	text := splice.Text(block[at.Start:at.End])
	for {
		whole := strings.TrimSpace(text)
		start := strings.LastIndex(whole, reminderOpen)
		if start < 0 || !isReminder(whole[start:]) {
			break
		}
		rest := strings.TrimRight(whole[:start], " \t\r\n")
		if rest == "" {
			break
		}
		tail = append(tail, continuity.Reminder{Meaning: sum([]byte(whole[start:])), Inner: true})
		// What stands in front of the text stays as it is.
		text = text[:strings.Index(text, whole)] + rest
	}
	if len(tail) == 0 {
		return block, nil
	}
	slices.Reverse(tail)
	return splice.Apply(nil, block, []splice.Edit{{Span: at, Text: quote(nil, text)}}), tail
}

// spelledOneWay reports arguments in canonical form that every library spells
// alike: none, or a single one that is a word or a string of plain letters.
func spelledOneWay(arguments []byte) bool {
	if len(arguments) == 0 || arguments[0] != '{' {
		return false
	}
	members, plain := 0, true
	splice.Fields(arguments, func(name, value []byte) bool {
		members++
		switch value[0] {
		case '"':
			plain = !bytes.ContainsFunc(value[1:len(value)-1], respelled)
		case 't', 'f', 'n':
		default:
			plain = false
		}
		plain = plain && !bytes.ContainsFunc(name, respelled)
		return members < 2
	})
	return members < 2 && plain
}

// respelled reports what libraries write in more than one way in a string.
func respelled(r rune) bool { return r >= 0x7f || r == '\\' || r == '<' || r == '>' || r == '&' }
