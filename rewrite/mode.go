package rewrite

// Mode says how much is done to keep prompt caches warm.
type Mode uint8

// The modes, each with more than the one before. Off forwards and measures,
// Observe also checks bodies, plans what could be done and reports it, On does
// it.
const (
	ModeOff Mode = iota
	ModeObserve
	ModeOn
)

// Modes lists every mode, for tables and messages.
var Modes = []Mode{ModeOff, ModeObserve, ModeOn}

// String is the mode's name in configuration and headers.
func (m Mode) String() string {
	switch m {
	case ModeObserve:
		return "observe"
	case ModeOn:
		return "on"
	case ModeOff:
		return "off"
	}
	return "off"
}

// ParseMode is the inverse of String; ok is false for an unknown name.
func ParseMode(name string) (m Mode, ok bool) {
	for _, m := range Modes {
		if m.String() == name {
			return m, true
		}
	}
	return ModeOff, false
}
