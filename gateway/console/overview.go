package console

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"warmpath/rewrite/continuity"
)

// overview is the first page.
type overview struct {
	*snapshot
	Threads []*thread
}

// recent is what counts as now, in minutes.
const recent = 5

// Now is what the cache did in the last minutes, Hour in the last hour, and All since
// the gateway has started.
func (o *overview) Now() cacheTokens { return sum(o.hour[max(len(o.hour)-recent, 0):]) }

// Hour is what the cache did in the last hour.
func (o *overview) Hour() cacheTokens { return sum(o.hour) }

// All is what it did since the start.
func (o *overview) All() cacheTokens { return o.numbers.Cache }

// Chart is the last hour.
func (o *overview) Chart() hourChart { return chartOf(o.hour) }

// N are the numbers.
func (o *overview) N() *numbers { return o.numbers }

// FailedShare is the part of all requests that ended badly.
func (o *overview) FailedShare() string { return percent(o.numbers.Failed, o.numbers.Requests) }

// Providers lists those that are configured.
func (o *overview) Providers() string {
	return cmp.Or(strings.Join(o.status.Providers, ", "), "none configured")
}

// Servers are the MCP servers.
func (o *overview) Servers() []ToolServer { return o.status.ToolServers }

// missRow is a reason of misses, with whose doing they were.
type missRow struct {
	Reason string
	meaning
	Count, Tokens int64
	By            []missCount
	// Part is how much of the tokens of all misses it is, of 1000.
	Part int64
}

// ordinary reports whether a miss breaks nothing: a first turn, and a prompt that is too
// short to be kept.
func ordinary(reason string) bool {
	return reason == string(continuity.ColdMiss) || reason == string(continuity.ShortMiss)
}

// Breaks are the reasons of those that cost something, the most expensive first.
func (o *overview) Breaks() []missRow { return o.misses(false) }

// Ordinary are the reasons of the others.
func (o *overview) Ordinary() []missRow { return o.misses(true) }

func (o *overview) misses(usual bool) (rows []missRow) {
	most := int64(1)
	for _, m := range o.numbers.Misses {
		if ordinary(m.Reason) != usual {
			continue
		}
		i := slices.IndexFunc(rows, func(r missRow) bool { return r.Reason == m.Reason })
		if i < 0 {
			i = len(rows)
			rows = append(rows, missRow{Reason: m.Reason, meaning: meaningOf(m.Reason)})
		}
		row := &rows[i]
		row.Count += m.Count
		row.Tokens += m.Tokens
		row.By = append(row.By, m)
		most = max(most, row.Tokens)
	}
	for i := range rows {
		rows[i].Part = rows[i].Tokens * 1000 / most
	}
	slices.SortStableFunc(rows, func(a, b missRow) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(b.Count, a.Count))
	})
	return rows
}

// Who is the culprit in plain words.
func (m missCount) Who() string {
	if c, ok := culprits[m.By]; ok {
		return c.Title
	}
	return m.By
}

// culprit is one of those whose doing misses were.
type culprit struct {
	By string
	meaning
	Count, Tokens int64
	Part          int64 // of 1000
}

// Culprits are all of them, in one order, with what they have done.
func (o *overview) Culprits() (list []culprit) {
	all := int64(0)
	for _, by := range []string{"client", "gateway", "provider", "unknown"} {
		c := culprit{By: by, meaning: culprits[by]}
		for _, m := range o.numbers.Misses {
			if m.By == by && !ordinary(m.Reason) {
				c.Count += m.Count
				c.Tokens += m.Tokens
			}
		}
		all += c.Tokens
		list = append(list, c)
	}
	for i := range list {
		if all > 0 {
			list[i].Part = list[i].Tokens * 1000 / all
		}
	}
	return list
}

// modelRow is a model as it is shown.
type modelRow struct {
	*modelNumbers
	Bar   bar
	Spark boxes
}

// Models are those that have answered, the one with the most input first.
func (o *overview) Models() (rows []modelRow) {
	for i := range o.numbers.Models {
		m := &o.numbers.Models[i]
		rows = append(rows, modelRow{m, barOf(m.Cache, 0), spark(o.hour, modelName{m.Provider, m.Model})})
	}
	return rows
}

// Price is what the model has cost, as far as its prices are known.
func (m *modelNumbers) Price() string {
	switch {
	case m.Unpriced == 0:
		return dollars(m.Cost)
	case m.Cost == 0:
		return "no price"
	}
	return "≥ " + dollars(m.Cost)
}

// Outcome counts the replies that met the cache so.
func (m *modelNumbers) Outcome(name string) int64 { return m.Outcomes[name] }

// moneyRow is what a model has cost, by what for.
type moneyRow struct {
	*modelNumbers
	Parts []moneyPart
}

// moneyPart is a part of a bar of a width of 1000.
type moneyPart struct {
	Kind    string
	X, Size int64
	Amount  float64
}

// kinds are what money goes to, in the order of the bars, and in plain words.
var kinds = []struct{ name, words string }{
	{"read", "input read from the cache"}, {"write", "input written to the cache"}, {"fresh", "other input"},
	{"output", "output"}, {"hosted", "tools of the provider"}, {"charged", "as charged by the provider"},
}

// moneyKind is an entry of the legend.
type moneyKind struct {
	Name, Words string
	Amount      float64
}

// Kinds are those that money went to.
func (o *overview) Kinds() (list []moneyKind) {
	for _, k := range kinds {
		if amount := o.numbers.Spent[k.name]; amount > 0 {
			list = append(list, moneyKind{k.name, k.words, amount})
		}
	}
	return list
}

// maxMoney is how many models the money is shown of.
const maxMoney = 8

// Money are the models that have cost most.
func (o *overview) Money() (rows []moneyRow) {
	for i := range o.numbers.Models {
		if m := &o.numbers.Models[i]; m.Cost > 0 {
			rows = append(rows, moneyRow{modelNumbers: m})
		}
	}
	slices.SortStableFunc(rows, func(a, b moneyRow) int { return cmp.Compare(b.modelNumbers.Cost, a.modelNumbers.Cost) })
	rows = rows[:min(len(rows), maxMoney)]
	for i := range rows {
		m, x := rows[i].modelNumbers, int64(0)
		most := rows[0].modelNumbers.Cost
		for _, k := range kinds {
			if amount := m.Spent[k.name]; amount > 0 {
				size := max(int64(amount/most*1000), 1)
				rows[i].Parts = append(rows[i].Parts, moneyPart{k.name, x, size, amount})
				x += size
			}
		}
	}
	return rows
}

// Uptime is how long the gateway has run.
func (s *snapshot) Uptime() string { return uptime(s.at.Sub(s.status.Started)) }

// Ready, Version and Mode are of the process.
func (s *snapshot) Ready() bool { return s.ready }

// Version is what is running.
func (s *snapshot) Version() string { return s.status.Version }

// Mode is the gateway's.
func (s *snapshot) Mode() string { return s.status.Mode }

// At is when the snapshot was taken.
func (s *snapshot) At() time.Time { return s.at }
