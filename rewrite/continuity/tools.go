package continuity

// toolPlan is what the tools of a request come to.
type toolPlan struct {
	pieces []Piece // what to send; nil is what the client sent
	frozen []FrozenTool
	change Directive
	reason Reason // why the frozen tools cannot be kept
	kept   []Hash // frozen entries whose bytes the request no longer has
}

// planTools compares a request's tools with those in effect. The entries go out
// as they were first sent and in that order; what is new is appended as deferred
// entries, which are no part of the prefix, and offered by directive.
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
		known, ok := at[tool.Name]
		if !ok {
			p.add(tool)
			continue
		}
		if !p.keep(&p.frozen[known], tool, able) {
			return toolPlan{reason: ToolsChanged}
		}
	}
	for i := range before {
		if _, ok := asked[before[i].Name]; !ok && p.frozen[i].Offered {
			p.frozen[i].Offered = false
			p.change.Remove = append(p.change.Remove, before[i].Name)
		}
	}
	if p.change.tools() && !able.Reference {
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

// add offers a tool that was never there.
func (p *toolPlan) add(tool *Tool) {
	p.frozen = append(p.frozen, FrozenTool{
		Name: tool.Name, Family: tool.Family, Meaning: tool.Meaning, Exact: tool.Exact,
		Offered: !tool.Deferred, Deferred: true,
	})
	if !tool.Deferred {
		p.change.Add = append(p.change.Add, tool.Name)
	}
}

// keep compares a tool with the one in effect under its name. It returns false
// where no directive can say the difference.
func (p *toolPlan) keep(known *FrozenTool, tool *Tool, able Abilities) bool {
	switch {
	case known.Meaning != tool.Meaning:
		if !able.Define || known.Family != tool.Family || tool.Deferred {
			return false
		}
		known.Meaning, known.Offered = tool.Meaning, true
		p.change.Define = append(p.change.Define, tool.Span)
	case !known.Offered && !tool.Deferred:
		known.Offered = true
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
		p.kept = append(p.kept, frozen.Exact)
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
			Offered: !tools[i].Deferred, Deferred: tools[i].Deferred,
		}
	}
	return frozen
}
