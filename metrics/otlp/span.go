package otlp

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"warmpath/rewrite"
)

// Call is a request that is over, as its span tells of it. It never holds content.
type Call struct {
	Began    time.Time
	Duration time.Duration
	// Parent is the client's traceparent header, empty for none.
	Parent string
	// Operation is chat, generate_content, embeddings or another word of the
	// conventions; Dialect is the client's.
	Operation, Dialect string
	Provider, Model    string
	// ResponseModel, ResponseID and Stop are the provider's; empty for none.
	ResponseModel, ResponseID, Stop string
	// Conversation is the gateway's name for it.
	Conversation string
	// Status is what the client was answered, and Failure a word of a closed set for
	// why it was an error; empty for none.
	Status  int
	Failure string
	Usage   rewrite.Usage
	// Cache is the outcome at the provider's cache, and Miss why it was none.
	Cache, Miss string
	Retries     int
	FirstToken  time.Duration
	Stream      bool
	// Earlier are calls of providers before the one that answered.
	Earlier []Attempt
}

// Attempt is a call of a provider that has failed.
type Attempt struct {
	Provider, Model, Failure string
	Status                   int
	Duration                 time.Duration
}

var parents = propagation.TraceContext{}

// Call sends the span of a request that is over. A nil Exporter sends none.
func (e *Exporter) Call(c *Call) {
	if e == nil {
		return
	}
	ctx := parents.Extract(context.Background(), propagation.MapCarrier{"traceparent": c.Parent})
	name := c.Operation
	if c.Model != "" {
		name += " " + c.Model
	}
	_, span := e.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(c.Began), trace.WithAttributes(c.attributes()...))
	end := c.Began.Add(c.Duration)
	at := c.Began
	for i := range c.Earlier {
		a := &c.Earlier[i]
		at = at.Add(a.Duration)
		if at.After(end) {
			at = end
		}
		span.AddEvent("warmpath.attempt", trace.WithTimestamp(at), trace.WithAttributes(
			attribute.String("gen_ai.provider.name", ProviderName(a.Provider)), attribute.String("gen_ai.request.model", a.Model),
			attribute.Int("http.response.status_code", a.Status), attribute.String("error.type", a.Failure),
		))
	}
	if c.FirstToken > 0 {
		span.AddEvent("warmpath.first_token", trace.WithTimestamp(c.Began.Add(min(c.FirstToken, c.Duration))))
	}
	if c.Failure != "" {
		span.SetStatus(codes.Error, c.Failure)
	}
	span.End(trace.WithTimestamp(end))
}

// attributes are those of the conventions, and ours.
func (c *Call) attributes() []attribute.KeyValue {
	all := []attribute.KeyValue{
		attribute.String("gen_ai.operation.name", c.Operation),
		attribute.String("gen_ai.provider.name", ProviderName(c.Provider)),
		attribute.Int("http.response.status_code", c.Status),
		attribute.Bool("gen_ai.request.stream", c.Stream),
	}
	text := func(name, value string) {
		if value != "" {
			all = append(all, attribute.String(name, value))
		}
	}
	text("gen_ai.request.model", c.Model)
	text("gen_ai.response.model", c.ResponseModel)
	text("gen_ai.response.id", c.ResponseID)
	text("gen_ai.conversation.id", c.Conversation)
	text("error.type", c.Failure)
	text("warmpath.dialect", c.Dialect)
	text("warmpath.cache", c.Cache)
	text("warmpath.miss", c.Miss)
	if c.Stop != "" {
		all = append(all, attribute.StringSlice("gen_ai.response.finish_reasons", []string{c.Stop}))
	}
	if c.Retries > 0 {
		all = append(all, attribute.Int("http.request.resend_count", c.Retries))
	}
	for _, u := range [...]struct {
		name string
		n    rewrite.Count
	}{
		{"gen_ai.usage.input_tokens", c.Usage.InputTotal}, {"gen_ai.usage.output_tokens", c.Usage.OutputTotal},
		{"gen_ai.usage.cache_read.input_tokens", c.Usage.CacheRead}, {"gen_ai.usage.cache_creation.input_tokens", c.Usage.CacheWrite},
		{"gen_ai.usage.reasoning.output_tokens", c.Usage.Reasoning},
	} {
		if u.n.Known {
			all = append(all, attribute.Int64(u.name, u.n.N))
		}
	}
	return all
}
