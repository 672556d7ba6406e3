// Package config loads the configuration from flags, environment, file and
// defaults, in this order of precedence, checks all of it, and explains what is
// wrong with the place and the remedy. What it returns is plain data that the
// other rooms are built from.
package config

import (
	"time"

	"warmpath/gateway/catalog"
	"warmpath/gateway/display"
	"warmpath/gateway/prompt"
	"warmpath/gateway/secret"
	"warmpath/gateway/tools"
	"warmpath/gateway/tools/mcp"
	"warmpath/rewrite"
	"warmpath/rewrite/continuity"
)

// Config is a complete, checked configuration.
type Config struct {
	// Listen is the host:port for clients, and Admin the one for metrics,
	// health and the console.
	Listen, Admin string
	// Mode says how much is done to keep caches warm; providers and requests may
	// each ask for less.
	Mode rewrite.Mode
	// Data is the folder for what must survive a restart, or DataMemory.
	Data string
	// Store is the address of a store that several gateways share, in place of
	// Data; none for a gateway of its own. It may hold a password.
	Store secret.String
	// Quiet leaves out the line for each request.
	Quiet bool
	// Events is the file of the event log, - for standard output, or empty for
	// none.
	Events string
	// Collector is the address of an OpenTelemetry collector, empty for none.
	Collector string
	// AccessKeys are the keys of which a client must present one; with none,
	// every client is let in.
	AccessKeys []secret.String
	// AdminToken is the token that the admin address asks for; none asks for
	// nothing.
	AdminToken secret.String
	Continuity Continuity
	Replies    Replies
	Records    Records
	Log        Log
	// Prompts says how people are asked, and what is done where nobody can be.
	Prompts prompt.Settings
	// Tools bound the calls of tools that the gateway runs.
	Tools    tools.Limits
	Limits   Limits
	Timeouts Timeouts
	// Retries is how often a failed attempt may be repeated before the first
	// byte of its reply.
	Retries int
	// Display is how conversations are shown in a terminal.
	Display display.Settings
	// Catalog has the providers, models, aliases and defaults.
	Catalog *catalog.Snapshot
	// MCP are the servers whose tools routes can have, in the order of their names.
	MCP []mcp.Config
	// Warnings are sentences about settings that are allowed but risky.
	Warnings []string
}

// DataMemory is the value of Config.Data that keeps nothing on disk.
const DataMemory = "memory"

// Continuity says what the gateway may add, in mode On, to requests of agents
// that change nothing.
type Continuity struct {
	// EarlyBetas sends the betas that a later edit would need from the first
	// request on, so that the set does not change half-way.
	EarlyBetas bool
	// Marks marks the end of prompts whose agents mark nothing there.
	Marks bool
	// Echoes keeps the bytes of messages that agents send again otherwise.
	Echoes bool
	// ColdWait is how long a request waits at most for the reply to another one
	// that shares its cold prefix; zero never waits.
	ColdWait time.Duration
	// Diagnostics asks the provider why its cache missed.
	Diagnostics continuity.Asking
}

// Replies says what is kept of translated replies, for clients of the Responses
// API that go on from them by name.
type Replies struct {
	// Keep keeps the replies that their clients do not forbid to keep, with what
	// they were asked.
	Keep bool
	// TTL is how long each is kept, at most; a store may keep it for less.
	TTL time.Duration
}

// Records says what is kept of requests to explain them.
type Records struct {
	// Context keeps a few bytes around what a request has changed. Without it
	// nothing of a prompt is kept.
	Context bool
}

// Log says whether what is said in conversations is kept, and how much of it.
type Log struct {
	// Events is where it is kept.
	Events Kept
	// Size is the most that all of it takes, in bytes, and Age how long it is kept.
	Size int64
	Age  time.Duration
}

// Kept is where something is kept.
type Kept uint8

// The places: nowhere, in memory until the gateway ends, or in the data folder.
const (
	KeptNowhere Kept = iota
	KeptInMemory
	KeptOnDisk
)

// String is the place's name in the file.
func (k Kept) String() string { return [...]string{"off", "memory", "disk"}[k] }

// Limits bound what one client, or all of them together, can make the gateway
// hold. Sizes are in bytes.
type Limits struct {
	// Body is the largest request body, and DecodedBody the largest after its
	// content encoding is undone.
	Body, DecodedBody int64
	// BodiesInFlight is the most that all request bodies together may take.
	BodiesInFlight int64
	// Headers is the most that a request's line and headers may take.
	Headers int
	// Connections is the number of client connections served at once.
	Connections int
}

// Timeouts bound each phase of a request.
type Timeouts struct {
	// Header, Body and Idle are for reading from a client: its header, the
	// whole body, and the wait for its next request. Write is for a single
	// write to it, not for the whole reply.
	Header, Body, Idle, Write time.Duration
	// UpstreamConnect covers dialing and TLS, UpstreamHeader the wait from the
	// end of the request to the header of the reply, UpstreamIdle the silence
	// between two reads of the body.
	UpstreamConnect, UpstreamHeader, UpstreamIdle time.Duration
	// Heartbeat is the silence after which a stream's client gets a frame that
	// its dialect ignores; zero sends none.
	Heartbeat time.Duration
	// Store is how long a request waits for the store of conversations before it
	// goes on without.
	Store time.Duration
	// Drain is how long requests may go on after the gateway was asked to stop.
	Drain time.Duration
}
