package catalog

import (
	"strings"

	"warmpath/rewrite/completions"
)

// habits are the fields of completions.Habits by their names in configuration.
var habits = []struct {
	name string
	of   func(*completions.Habits) *bool
}{
	{"max_tokens", func(h *completions.Habits) *bool { return &h.OlderBound }},
	{"plain_tool_choice", func(h *completions.Habits) *bool { return &h.PlainChoice }},
	{"no_strict", func(h *completions.Habits) *bool { return &h.NoStrict }},
	{"cache_breakpoints", func(h *completions.Habits) *bool { return &h.Marks }},
	{"cache_key", func(h *completions.Habits) *bool { return &h.CacheKey }},
	{"cache_control", func(h *completions.Habits) *bool { return &h.CacheControl }},
	{"web_search_options", func(h *completions.Habits) *bool { return &h.SearchOptions }},
	{"openrouter_tools", func(h *completions.Habits) *bool { return &h.RouterTools }},
	{"groq_tools", func(h *completions.Habits) *bool { return &h.GroqTools }},
}

// HabitNames lists habits as they are written in configuration.
func HabitNames(h completions.Habits) (names []string) {
	for _, habit := range habits {
		if *habit.of(&h) {
			names = append(names, habit.name)
		}
	}
	return names
}

// habits reads the list.
func (r Row) habits(report func(message string, path ...string)) (h completions.Habits) {
	for _, name := range r.Habits {
		known := false
		for _, habit := range habits {
			if habit.name == name {
				*habit.of(&h), known = true, true
			}
		}
		if !known {
			all := completions.Habits{OlderBound: true, PlainChoice: true, NoStrict: true, Marks: true, CacheControl: true, CacheKey: true, SearchOptions: true, RouterTools: true, GroqTools: true}
			report("has an unknown habit "+quote(name)+"; write some of "+strings.Join(HabitNames(all), ", "), "habits")
		}
	}
	return h
}
