package config

import (
	"math"
	"time"
)

// setting is one scalar of the configuration: what it is called in the file,
// on the command line and in the environment, and which field it fills.
type setting struct {
	// key is the dotted path in the file. flag and env are empty where there
	// is no such way to set it.
	key, flag, env string
	// initial is the default as it would be written in a file.
	initial string
	// help is the flag's sentence; the word in backquotes names its value.
	help string
	// secret says that the value is a reference to a secret, or one itself.
	secret bool
	field  func(*Config) value
}

// settings are all scalars, in the order in which they are explained.
var settings = []setting{
	{
		key: "listen", flag: "listen", env: "WARMPATH_LISTEN", initial: "127.0.0.1:8787",
		help:  "`address` for clients, as host:port",
		field: func(c *Config) value { return word{&c.Listen} },
	},
	{
		key: "admin", flag: "admin", env: "WARMPATH_ADMIN", initial: "127.0.0.1:9464",
		help:  "`address` for metrics, health and the console, as host:port",
		field: func(c *Config) value { return word{&c.Admin} },
	},
	{
		key: "mode", flag: "mode", env: "WARMPATH_MODE", initial: "on",
		help:  "`mode`: off forwards and measures, observe also checks bodies and reports what it would do, on keeps caches warm",
		field: func(c *Config) value { return modeOf{&c.Mode} },
	},
	{
		// The default depends on the user, see dataFolder.
		key: "data", flag: "data", env: "WARMPATH_DATA",
		help:  "`folder` for what must survive a restart, or the word memory",
		field: func(c *Config) value { return word{&c.Data} },
	},
	{
		key: "store", flag: "store", env: "WARMPATH_STORE", secret: true,
		help:  "`redis://host:port` that several gateways share, in place of the data folder",
		field: func(c *Config) value { return credential{&c.Store} },
	},
	{
		key: "quiet", flag: "quiet", env: "WARMPATH_QUIET", initial: "false",
		help:  "print no line for each request",
		field: func(c *Config) value { return truth{&c.Quiet} },
	},
	{
		key: "events", flag: "events", env: "WARMPATH_EVENTS",
		help:  "`file` to add a line of JSON to for each call of a provider, - for standard output in place of the lines for people",
		field: func(c *Config) value { return word{&c.Events} },
	},
	{
		key: "otlp", flag: "otlp", env: "WARMPATH_OTLP",
		help:  "`address` of an OpenTelemetry collector that metrics and spans are sent to, as http://host:4318",
		field: func(c *Config) value { return word{&c.Collector} },
	},
	{
		key: "admin_token", env: "WARMPATH_ADMIN_TOKEN", secret: true,
		field: func(c *Config) value { return credential{&c.AdminToken} },
	},
	{
		key: "continuity.early_betas", flag: "early-betas", env: "WARMPATH_EARLY_BETAS", initial: "true",
		help:  "send the betas that later edits would need from the first request on",
		field: func(c *Config) value { return truth{&c.Continuity.EarlyBetas} },
	},
	{
		key: "continuity.marks", flag: "marks", env: "WARMPATH_MARKS", initial: "true",
		help:  "mark the end of prompts for agents that leave it unmarked",
		field: func(c *Config) value { return truth{&c.Continuity.Marks} },
	},
	{
		key: "continuity.echoes", flag: "echoes", env: "WARMPATH_ECHOES", initial: "true",
		help:  "keep messages that agents write otherwise when they send them again, to send them as they were",
		field: func(c *Config) value { return truth{&c.Continuity.Echoes} },
	},
	{
		key: "continuity.cold_wait", flag: "cold-wait", env: "WARMPATH_COLD_WAIT", initial: "2s",
		help:  "the `time` that a request waits at most for another one with the same cold prefix, 0s for none",
		field: func(c *Config) value { return span{&c.Continuity.ColdWait, true} },
	},
	{
		key: "continuity.diagnostics", flag: "diagnostics", env: "WARMPATH_DIAGNOSTICS", initial: "edited",
		help:  "`when` to ask the provider why its cache missed: never, only in conversations that it has edited itself (edited), or always",
		field: func(c *Config) value { return askingOf{&c.Continuity.Diagnostics} },
	},
	{
		key: "replies.keep", flag: "replies", env: "WARMPATH_REPLIES", initial: "true",
		help:  "keep translated replies for clients that go on from them by previous_response_id",
		field: func(c *Config) value { return truth{&c.Replies.Keep} },
	},
	{
		key: "replies.ttl", flag: "replies-ttl", env: "WARMPATH_REPLIES_TTL", initial: "720h",
		help:  "the `time` that each of these replies is kept",
		field: func(c *Config) value { return life{&c.Replies.TTL} },
	},
	{
		key: "explain.context", flag: "explain-context", env: "WARMPATH_EXPLAIN_CONTEXT", initial: "false",
		help:  "keep up to 80 bytes on either side of what a request has changed, for the record of it",
		field: func(c *Config) value { return truth{&c.Records.Context} },
	},
	{
		key: "log.events", flag: "log-events", env: "WARMPATH_LOG_EVENTS", initial: "off",
		help:  "`where` to keep what is said in conversations, prompts and replies included, for the console: off, memory or disk (in the data folder)",
		field: func(c *Config) value { return keptOf{&c.Log.Events} },
	},
	{key: "log.size", flag: "log-size", env: "WARMPATH_LOG_SIZE", initial: "256MiB",
		help: "the `size` that this log has at most; the oldest goes first",
		field: func(c *Config) value {
			return bytes[int64]{field: &c.Log.Size, least: 1 << 20, most: 1 << 40}
		}},
	{key: "log.age", flag: "log-age", env: "WARMPATH_LOG_AGE", initial: "168h",
		help:  "the `time` that an event stays in this log",
		field: func(c *Config) value { return life{&c.Log.Age} }},
	{
		key: "prompts.expiry", flag: "prompt-expiry", env: "WARMPATH_PROMPT_EXPIRY", initial: "50s",
		help:  "the `time` that people have to answer what a tool asks",
		field: func(c *Config) value { return span{&c.Prompts.Expiry, false} },
	},
	{key: "prompts.grace", initial: "5s", field: func(c *Config) value {
		return span{&c.Prompts.Grace, true}
	}},
	{key: "tools.bytes", initial: "1MiB", field: func(c *Config) value {
		return bytes[int]{field: &c.Tools.Bytes, least: 1 << 10, most: 64 << 20}
	}},
	{key: "tools.timeout", initial: "1m", field: func(c *Config) value {
		return span{&c.Tools.Timeout, false}
	}},
	{key: "limits.body", initial: "64MiB", field: func(c *Config) value {
		return bytes[int64]{field: &c.Limits.Body, least: 1 << 10, most: 1 << 30}
	}},
	{key: "limits.decoded_body", initial: "64MiB", field: func(c *Config) value {
		return bytes[int64]{field: &c.Limits.DecodedBody, least: 1 << 10, most: 1 << 30}
	}},
	{key: "limits.bodies_in_flight", initial: "auto", field: func(c *Config) value {
		return bytes[int64]{field: &c.Limits.BodiesInFlight, least: 1 << 10, most: math.MaxInt64, auto: quarterOfMemory}
	}},
	{key: "limits.headers", initial: "8KiB", field: func(c *Config) value {
		return bytes[int]{field: &c.Limits.Headers, least: 1 << 10, most: 1 << 20}
	}},
	{key: "limits.connections", initial: "10000", field: func(c *Config) value {
		return count{&c.Limits.Connections, 1, 1 << 20}
	}},
	duration("timeouts.header", "10s", func(t *Timeouts) *time.Duration { return &t.Header }),
	duration("timeouts.body", "1m", func(t *Timeouts) *time.Duration { return &t.Body }),
	duration("timeouts.idle", "2m", func(t *Timeouts) *time.Duration { return &t.Idle }),
	duration("timeouts.write", "1m", func(t *Timeouts) *time.Duration { return &t.Write }),
	duration("timeouts.upstream_connect", "10s", func(t *Timeouts) *time.Duration { return &t.UpstreamConnect }),
	duration("timeouts.upstream_header", "10m", func(t *Timeouts) *time.Duration { return &t.UpstreamHeader }),
	duration("timeouts.upstream_idle", "5m", func(t *Timeouts) *time.Duration { return &t.UpstreamIdle }),
	duration("timeouts.store", "50ms", func(t *Timeouts) *time.Duration { return &t.Store }),
	{key: "timeouts.heartbeat", initial: "15s", field: func(c *Config) value {
		return span{&c.Timeouts.Heartbeat, true}
	}},
	{
		key: "timeouts.drain", flag: "drain", env: "WARMPATH_DRAIN", initial: "30s",
		help:  "the `time` that requests may go on for after the gateway was asked to stop",
		field: func(c *Config) value { return span{&c.Timeouts.Drain, true} },
	},
	{
		key: "retries", flag: "retries", env: "WARMPATH_RETRIES", initial: "2",
		help:  "the `number` of times a failed attempt may be repeated before the reply has begun",
		field: func(c *Config) value { return count{&c.Retries, 0, 10} },
	},
}

// duration is a timeout that only the file sets, and that cannot be zero.
func duration(key, initial string, field func(*Timeouts) *time.Duration) setting {
	return setting{key: key, initial: initial, field: func(c *Config) value {
		return span{field(&c.Timeouts), false}
	}}
}
