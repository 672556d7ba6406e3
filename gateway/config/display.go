package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"warmpath/gateway/display"
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// LoadDisplay reads only how conversations are shown, and is indifferent to what is
// wrong with the rest of the file: who looks at conversations need not be able to read
// the keys of who runs the gateway. Without a file the settings are the usual ones. The
// error holds all faults, as Problems, unless the file cannot be read at all.
func LoadDisplay(s *Sources) (display.Settings, error) {
	l := &loader{sources: s}
	data, err := l.open()
	if err != nil {
		return display.Settings{}, err
	}
	l.root = l.read(data)
	settings := l.display()
	l.problems = slices.DeleteFunc(l.problems, func(p Problem) bool {
		return p.Key != "" && p.Key != "display" && !strings.HasPrefix(p.Key, "display.")
	})
	if len(l.problems) > 0 {
		l.problems.sort()
		return display.Settings{}, l.problems
	}
	return settings, nil
}

// open reads the file that the sources name, if they do.
func (l *loader) open() ([]byte, error) {
	if l.name = l.sources.File; l.name == "" {
		l.name = l.sources.variable("WARMPATH_CONFIG")
	}
	if l.name == "" {
		return nil, nil
	}
	data, err := os.ReadFile(l.name)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	return data, nil
}

// display reads the section of that name.
func (l *loader) display() display.Settings {
	section := l.root.at("display")
	if section == nil {
		return display.Settings{}
	}
	settings, err := display.Parse(section.json())
	if fault, ok := errors.AsType[*display.Fault](err); ok {
		path := append([]string{"display"}, fault.Path...)
		at := l.root.nearest(path)
		for i := range path {
			path[i] = shown(path[i])
		}
		l.report(at, strings.Join(path, "."), fault.Message)
		return display.Settings{}
	}
	return settings
}

// json is an entry as JSON: mappings in the order of their names, and texts.
func (e *entry) json() rewrite.JSON {
	var w splice.Writer
	e.write(&w)
	return w.Bytes()
}

func (e *entry) write(w *splice.Writer) {
	if e.children == nil {
		w.String(e.text)
		return
	}
	w.Open('{')
	for _, name := range slices.Sorted(maps.Keys(e.children)) {
		w.Name(name)
		e.children[name].write(w)
	}
	w.Close('}')
}

// explainDisplay writes what is set of the display, as it is written in the file.
func explainDisplay(s *display.Settings) yaml.MapSlice {
	rows := yaml.MapSlice{}
	if s.Controls != 0 {
		rows = append(rows, item("controls", s.Controls.String()))
	}
	if s.Reasoning != nil {
		rows = append(rows, item("reasoning", written(s.Reasoning.String())))
	}
	rows = append(rows, explainTool(s.Every)...)
	if s.Errors != nil {
		rows = append(rows, item("errors", yaml.MapSlice{explainResults(s.Errors)}))
	}
	tools := yaml.MapSlice{}
	for _, name := range slices.Sorted(maps.Keys(s.Tools)) {
		tools = append(tools, item(name, explainTool(s.Tools[name])))
	}
	if len(tools) > 0 {
		rows = append(rows, item("tools", tools))
	}
	return rows
}

func explainTool(row display.Row) yaml.MapSlice {
	rows := yaml.MapSlice{}
	if row.Results != nil {
		rows = append(rows, explainResults(row.Results))
	}
	style := yaml.MapSlice{}
	if row.Header != nil {
		style = append(style, item("header", onOrOff(*row.Header)))
	}
	if row.Hidden != nil {
		style = append(style, item("hidden", onOrOff(*row.Hidden)))
	}
	if len(style) > 0 {
		rows = append(rows, item("style", style))
	}
	return rows
}

func explainResults(r *display.Results) yaml.MapItem {
	if r.User == r.Assistant {
		return item("inline_results", written(r.User.String()))
	}
	return item("inline_results", yaml.MapSlice{item("user", written(r.User.String())), item("assistant", written(r.Assistant.String()))})
}
