// Package otlp sends what the gateway measures to a collector of OpenTelemetry: every
// metric under its name, and a span for each request. Names are those of the
// conventions for generative AI where they have one. Nothing of a prompt or a reply
// is sent.
package otlp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Config is where to. How often metrics are sent and with which headers is said by
// the variables that OpenTelemetry has for that (OTEL_METRIC_EXPORT_INTERVAL,
// OTEL_EXPORTER_OTLP_HEADERS).
type Config struct {
	// Endpoint is the collector's address, http://host:4318 as a rule. The paths of
	// traces and metrics are added to it.
	Endpoint string
	// Version is the gateway's.
	Version string
	// Log is told once when the collector stops taking what is sent, and once when it
	// takes it again.
	Log *slog.Logger
}

// CheckEndpoint says what is wrong with a collector's address.
func CheckEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.User != nil {
		return errors.New("is not an address of a collector; write http://host:4318")
	}
	return nil
}

// Exporter sends metrics and spans until it is closed.
type Exporter struct {
	meters *sdkmetric.MeterProvider
	spans  *sdktrace.TracerProvider
	tracer trace.Tracer
}

// Open begins to send what a gatherer has. A collector that is not there is no error:
// what could not be sent is sent again for a while, and then given up.
func Open(ctx context.Context, c Config, gatherer prometheus.Gatherer) (*Exporter, error) {
	if err := CheckEndpoint(c.Endpoint); err != nil {
		return nil, fmt.Errorf("the endpoint %w", err)
	}
	base := strings.TrimSuffix(c.Endpoint, "/")
	told := &told{log: c.Log}
	metrics, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(base+"/v1/metrics"),
		otlpmetrichttp.WithCompression(otlpmetrichttp.GzipCompression))
	if err != nil {
		return nil, fmt.Errorf("preparing to send metrics: %w", err)
	}
	spans, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(base+"/v1/traces"),
		otlptracehttp.WithCompression(otlptracehttp.GzipCompression))
	if err != nil {
		return nil, fmt.Errorf("preparing to send spans: %w", err)
	}
	who := resource.NewSchemaless(attribute.String("service.name", "warmpath"), attribute.String("service.version", c.Version))
	reader := sdkmetric.NewPeriodicReader(metricsTo{metrics, told},
		sdkmetric.WithProducer(renamed{bridge.NewMetricProducer(bridge.WithGatherer(gatherer))}))
	e := &Exporter{
		meters: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithResource(who)),
		// The client's own decision is kept; without one, everything is sent.
		spans: sdktrace.NewTracerProvider(sdktrace.WithBatcher(spansTo{spans, told}), sdktrace.WithResource(who),
			sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.AlwaysSample()))),
	}
	e.tracer = e.spans.Tracer("warmpath", trace.WithInstrumentationVersion(c.Version))
	return e, nil
}

// Close sends what is left and ends. A nil Exporter has nothing to do.
func (e *Exporter) Close(ctx context.Context) error {
	if e == nil {
		return nil
	}
	return errors.Join(e.spans.Shutdown(ctx), e.meters.Shutdown(ctx))
}

// told tells of a collector that takes nothing more, and of one that does again.
type told struct {
	log  *slog.Logger
	lost atomic.Bool
}

// of takes the outcome of an attempt to send and gives nil: everybody has been told
// who needs to be.
func (t *told) of(err error) error {
	if t.log == nil {
		return nil
	}
	switch {
	case err != nil && !errors.Is(err, context.Canceled) && !t.lost.Swap(true):
		t.log.Warn("the collector takes nothing, and lacks what is measured until it does", "cause", err)
	case err == nil && t.lost.Swap(false):
		t.log.Info("the collector takes what is measured again")
	}
	return nil
}

type metricsTo struct {
	sdkmetric.Exporter
	told *told
}

func (m metricsTo) Export(ctx context.Context, all *metricdata.ResourceMetrics) error {
	return m.told.of(m.Exporter.Export(ctx, all))
}

type spansTo struct {
	sdktrace.SpanExporter
	told *told
}

func (s spansTo) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	return s.told.of(s.SpanExporter.ExportSpans(ctx, spans))
}
