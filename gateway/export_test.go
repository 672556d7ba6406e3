package gateway

// EndLog ends the log of conversations before the gateway does.
func (g *Gateway) EndLog() { g.closeTranscripts() }
