package otlp

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// instruments are the names that the conventions have for metrics which carry a
// Prometheus name elsewhere.
var instruments = map[string]string{
	"gen_ai_client_token_usage":                "gen_ai.client.token.usage",
	"gen_ai_client_operation_duration_seconds": "gen_ai.client.operation.duration",
}

// units of the same, as the conventions write them.
var units = map[string]string{
	"gen_ai.client.token.usage":        "{token}",
	"gen_ai.client.operation.duration": "s",
}

// labels are the names of attributes by those of labels.
var labels = map[attribute.Key]attribute.Key{
	"gen_ai_operation_name": "gen_ai.operation.name",
	"gen_ai_provider_name":  "gen_ai.provider.name",
	"gen_ai_request_model":  "gen_ai.request.model",
	"gen_ai_response_model": "gen_ai.response.model",
	"gen_ai_token_type":     "gen_ai.token.type",
}

// renamed gives metrics the names that the conventions have for them.
type renamed struct{ sdkmetric.Producer }

func (r renamed) Produce(ctx context.Context) ([]metricdata.ScopeMetrics, error) {
	all, err := r.Producer.Produce(ctx)
	for i := range all {
		for j := range all[i].Metrics {
			m := &all[i].Metrics[j]
			name, ok := instruments[m.Name]
			if !ok {
				continue
			}
			m.Name, m.Unit = name, units[name]
			if h, ok := m.Data.(metricdata.Histogram[float64]); ok {
				for k := range h.DataPoints {
					h.DataPoints[k].Attributes = conventional(h.DataPoints[k].Attributes)
				}
			}
		}
	}
	return all, err
}

// conventional gives attributes the names of the conventions, and the provider the
// name that it has there.
func conventional(set attribute.Set) attribute.Set {
	attributes := set.ToSlice()
	for i := range attributes {
		if name, ok := labels[attributes[i].Key]; ok {
			attributes[i].Key = name
		}
		if attributes[i].Key == "gen_ai.provider.name" {
			attributes[i].Value = attribute.StringValue(ProviderName(attributes[i].Value.AsString()))
		}
	}
	return attribute.NewSet(attributes...)
}

// providers are the conventions' names of those whose own name is another one.
var providers = map[string]string{
	"gemini":  "gcp.gemini",
	"bedrock": "aws.bedrock",
	"mistral": "mistral_ai",
	"xai":     "x_ai",
	"vertex":  "gcp.vertex_ai",
}

// ProviderName is the conventions' name of a provider.
func ProviderName(name string) string {
	if known, ok := providers[strings.ToLower(name)]; ok {
		return known
	}
	return name
}
