package continuity

import "slices"

// toolPlan is what the tools of a request come to.
type toolPlan struct {
	pieces []Piece // what to send; nil is what the client sent
	frozen []FrozenTool
	change Directive
	reason Reason // why the frozen tools cannot be kept
}

// planTools compares a request's tools with those in effect. The entries go out
// as they were first sent and in that order; what is new is appended as deferred
// entries, which are no part of the prefix, and offered by directive. Deferred
// entries of the client's own come, go and change as it likes.
func planTools(before []FrozenTool, tools []Tool, able Abilities, room gap) toolPlan {
	p := toolPlan{frozen: append([]FrozenTool(nil), before...)}
	at := make(map[string]int, len(before))
	for i, tool := range before {
		at[tool.Name] = i
	}
	asked := make(map[string]int, len(tools))
	for i := range tools {
		tool := &tools[i]
		if _, twice := asked[tool.Name]; twice {
			// The provider's answer to this is better than any of ours.
			return toolPlan{reason: ToolsChanged}
		}
		asked[tool.Name] = i
		can := false
		if known, ok := at[tool.Name]; ok {
			can = p.keep(&p.frozen[known], tool, able)
		} else {
			can = p.add(tool)
		}
		if !can {
			return toolPlan{reason: ToolsChanged}
		}
	}
	if !p.withdraw(asked) || p.change.tools() && !able.Reference || !anchored(p.frozen) && p.change.tools() {
		return toolPlan{reason: ToolsChanged}
	}
	if p.change.tools() && room != anything {
		// There is no place for it yet: this request goes out as if nothing had
		// changed, and the next one finds the same difference.
		return p.held(before, tools, asked)
	}
	p.arrange(tools, asked)
	return p
}

// withdraw takes away what the client no longer has. It returns false where no
// directive can.
func (p *toolPlan) withdraw(asked map[string]int) bool {
	left := p.frozen[:0]
	for _, tool := range p.frozen {
		_, ok := asked[tool.Name]
		switch {
		case ok:
		case tool.Deferred && !tool.Named:
			continue
		case tool.Offered && tool.Fixed:
			return false
		case tool.Offered:
			tool.Offered, tool.Named = false, true
			p.change.Remove = append(p.change.Remove, tool.Name)
		}
		left = append(left, tool)
	}
	p.frozen = left
	return true
}

// anchored reports whether any entry is part of the prefix, as one must be.
func anchored(tools []FrozenTool) bool {
	return slices.ContainsFunc(tools, func(t FrozenTool) bool { return !t.Deferred })
}

// add offers a tool that was never there. It returns false where no directive
// can.
func (p *toolPlan) add(tool *Tool) bool {
	p.frozen = append(p.frozen, FrozenTool{
		Name: tool.Name, Family: tool.Family, Meaning: tool.Meaning, Exact: tool.Exact, Fixed: tool.Fixed,
		Offered: !tool.Deferred, Deferred: true, Named: !tool.Deferred,
	})
	if !tool.Deferred {
		p.change.Add = append(p.change.Add, tool.Name)
	}
	return tool.Deferred || !tool.Fixed
}

// keep compares a tool with the one in effect under its name. It returns false
// where no directive can say the difference.
func (p *toolPlan) keep(known *FrozenTool, tool *Tool, able Abilities) bool {
	switch {
	case tool.Deferred && known.Deferred && !known.Named:
		// No part of the prefix: the client may write it anew.
		known.Family, known.Meaning, known.Exact = tool.Family, tool.Meaning, tool.Exact
	case known.Meaning != tool.Meaning:
		if !able.Define || known.Family != tool.Family || tool.Deferred || known.Fixed || tool.Fixed {
			return false
		}
		known.Meaning, known.Offered, known.Named = tool.Meaning, true, true
		p.change.Define = append(p.change.Define, tool.Span)
	case !known.Offered && !tool.Deferred:
		if known.Fixed {
			return false
		}
		known.Offered, known.Named = true, true
		p.change.Add = append(p.change.Add, tool.Name)
	}
	return true
}

// held sends what was there before and changes nothing.
func (p *toolPlan) held(before []FrozenTool, tools []Tool, asked map[string]int) toolPlan {
	h := toolPlan{frozen: before}
	h.arrange(tools, asked)
	return h
}

// arrange finds the bytes of each frozen entry: in the request where it still
// has them as they were, else among what was kept. Pieces stay nil if that
// comes to exactly what the client sent.
func (p *toolPlan) arrange(tools []Tool, asked map[string]int) {
	same := len(tools) == len(p.frozen)
	pieces := make([]Piece, len(p.frozen))
	for i, frozen := range p.frozen {
		j, ok := asked[frozen.Name]
		if ok && tools[j].Exact == frozen.Exact {
			pieces[i] = Piece{Span: tools[j].Span, Deferred: frozen.Deferred && !tools[j].Deferred}
			same = same && i == j && !pieces[i].Deferred
			continue
		}
		same = false
		pieces[i] = Piece{Kept: frozen.Exact, Deferred: frozen.Deferred}
	}
	if !same {
		p.pieces = pieces
	}
}

// freeze takes the tools of a first request as they are.
func freeze(tools []Tool) []FrozenTool {
	frozen := make([]FrozenTool, len(tools))
	for i := range tools {
		frozen[i] = FrozenTool{
			Name: tools[i].Name, Family: tools[i].Family, Meaning: tools[i].Meaning, Exact: tools[i].Exact,
			Offered: !tools[i].Deferred, Deferred: tools[i].Deferred, Fixed: tools[i].Fixed,
		}
	}
	return frozen
}
