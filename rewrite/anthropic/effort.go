package anthropic

import (
	"fmt"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// effort sets the effort at the top level, or takes it away.
func (p *patch) effort(level string) error {
	config := p.body[p.config.Start:p.config.End]
	value := quote(nil, level)
	if splice.Null(config) {
		if level != "" {
			p.member("output_config", p.config, append(append([]byte(`{"effort":`), value...), '}'), true)
		}
		return nil
	}
	var members []configured
	own := -1
	if err := splice.Members(config, func(name []byte, key, value rewrite.Span) bool {
		if string(name) == "effort" {
			own = len(members)
		}
		members = append(members, configured{key.Start + p.config.Start, value.Start + p.config.Start, value.End + p.config.Start})
		return true
	}); err != nil {
		return fmt.Errorf("reading output_config: %w", err)
	}
	switch {
	case own < 0 && level != "":
		p.addEffort(config, value)
	case own >= 0 && level != "":
		p.edits = append(p.edits, splice.Edit{Span: rewrite.Span{Start: members[own].value, End: members[own].end}, Text: value})
	case own > 0:
		p.edits = append(p.edits, splice.Edit{Span: rewrite.Span{Start: members[own-1].end, End: members[own].end}})
	case own == 0 && len(members) > 1:
		p.edits = append(p.edits, splice.Edit{Span: rewrite.Span{Start: members[0].name, End: members[1].name}})
	case own == 0:
		p.edits = append(p.edits, splice.Edit{Span: rewrite.Span{Start: members[0].name, End: members[0].end}})
	}
	return nil
}

// configured is where a member of the configuration stands: its name, its value
// and its end.
type configured struct{ name, value, end int }

// addEffort adds the effort to a configuration that has none.
func (p *patch) addEffort(config, value []byte) {
	member := `"effort":` + string(value)
	if splice.Empty(config) {
		p.edits = append(p.edits, splice.Edit{Span: p.config, Text: []byte("{" + member + "}")})
		return
	}
	p.edits = append(p.edits, insertMember(config, p.config.Start, member))
}
