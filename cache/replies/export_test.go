package replies

// HistoryOf is one of so many turns, of which nothing is known but that.
func HistoryOf(turns int) *History { return &History{keys: make([]key, turns), name: "last"} }
