// Package relay is the life of one request: it peeks at what the client sent,
// resolves who shall answer, tries until somebody does, and lets the reply's
// bytes through while a tap reads what they report. It knows neither sockets
// nor configuration files.
package relay
