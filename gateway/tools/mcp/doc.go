// Package mcp has the tools of configured MCP servers: it starts the servers or
// connects to them, keeps their lists of tools, calls the tools, and makes parts
// of what they give. It is the only package that knows the protocol's library.
package mcp
