package gateway

import (
	"context"
	"time"

	"warmpath/gateway/relay"
	"warmpath/metrics/otlp"
	"warmpath/rewrite"
	"warmpath/rewrite/continuity"
)

// lastSpans is how long a collector may take for what is left when the gateway has
// stopped.
const lastSpans = 2 * time.Second

// endSpans sends what is left to the collector. One that takes nothing holds nobody
// up.
func (g *Gateway) endSpans(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSpans)
	defer cancel()
	if err := g.spans.Close(ctx); err != nil {
		g.log.Warn("the collector has not got the last of what was measured", "cause", err)
	}
}

// spanOf is a record as a span tells of it.
func spanOf(r *relay.Record) *otlp.Call {
	call := &otlp.Call{
		Began: r.Arrived, Duration: r.Duration, Parent: r.Parent,
		Operation: operationOf(r), Dialect: r.Dialect.String(), Provider: r.Provider, Model: r.Model,
		ResponseModel: shortened(r.Report.Model), ResponseID: shortened(r.Report.ID),
		Status: r.Status, Usage: r.Report.Usage, Cache: r.Cache.String(), Retries: r.Retries,
		FirstToken: r.TimeToFirstToken, Stream: r.Stream,
	}
	if r.Report.Stop != rewrite.StopUnknown {
		call.Stop = r.Report.Stop.String()
	}
	if r.Reason != rewrite.ReasonNone {
		call.Failure = r.Reason.String()
	}
	if r.Verdict.Miss != continuity.NoMiss {
		call.Miss = string(r.Verdict.Miss)
	}
	if r.Explanation != nil {
		call.Conversation = r.Explanation.Conversation
	}
	for _, a := range r.Earlier {
		call.Earlier = append(call.Earlier, otlp.Attempt{
			Provider: a.Provider, Model: a.Model, Failure: a.Reason.String(), Status: a.Status, Duration: a.Duration,
		})
	}
	return call
}

// operationOf is the conventions' word for what was asked.
func operationOf(r *relay.Record) string {
	switch {
	case r.Operation == relay.OpEmbed:
		return "embeddings"
	case r.Operation != relay.OpGenerate:
		return r.Operation.String()
	case r.Dialect == rewrite.Gemini:
		return "generate_content"
	}
	return "chat"
}
