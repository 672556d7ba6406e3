// Package catalog knows providers, their addresses and their models. Providers
// and model names are rows of data: the embedded ones, merged with what the
// configuration says. A Snapshot is built once per load and never changes, so
// requests read it without locks.
package catalog
