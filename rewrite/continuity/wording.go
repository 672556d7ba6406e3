package continuity

import (
	"strconv"
	"strings"
)

// The wording of text directives is one template for each kind of change. It
// must never change for a conversation under way, and holds nothing but the
// client's own system text. The tags let a reader, and a test, tell the parts.
const (
	addedOpen, addedClose     = "<instructions-added>\n", "\n</instructions-added>"
	changedOpen, changedClose = "<instructions-changed>\nThis earlier text of your instructions:\n<old>\n", "\n</new>\n</instructions-changed>"
	changedMiddle             = "\n</old>\nis replaced by:\n<new>\n"
	removedOpen, removedClose = "<instructions-removed>\nThis earlier text of your instructions no longer applies:\n<old>\n", "\n</old>\n</instructions-removed>"
)

// Reminders are counted, since what they say may come from anywhere: it must not
// be repeated as the operator's.
const (
	remindersOpen, remindersClose = "<reminders-changed>\nOf the <system-reminder> texts in the user's messages so far, counted from the first:", "\n</reminders-changed>"
	remindersGone, remindersBack  = "\nno longer applies: ", "\napplies again: "
)

// remindersChanged says which reminders, by their numbers, no longer apply, and
// which apply again.
func remindersChanged(gone, back []int) string {
	var b strings.Builder
	b.WriteString(remindersOpen)
	each := func(what string, numbers []int) {
		for _, n := range numbers {
			b.WriteString(what)
			b.WriteString(strconv.Itoa(n))
		}
	}
	each(remindersGone, gone)
	each(remindersBack, back)
	b.WriteString(remindersClose)
	return b.String()
}

// hunk is one place where two texts differ.
type hunk struct{ old, new string }

// words says a change to the model.
func (h hunk) words() string {
	switch {
	case h.old == "":
		return addedOpen + h.new + addedClose
	case h.new == "":
		return removedOpen + h.old + removedClose
	}
	return changedOpen + h.old + changedMiddle + h.new + changedClose
}

// say joins the hunks of one section to one text.
func say(hunks []hunk) string {
	var b strings.Builder
	for i, h := range hunks {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(h.words())
	}
	return b.String()
}
