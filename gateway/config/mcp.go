package config

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"warmpath/gateway/secret"
	"warmpath/gateway/tools/mcp"
)

// serverSchema is what a server of tools is written with.
var serverSchema = &schema{each: &schema{fields: map[string]*schema{
	"command": scalar, "args": {list: true}, "env": {each: scalar}, "url": scalar, "headers": {each: scalar},
	"tools": {list: true}, "timeout": scalar, "connect_timeout": scalar,
}}}

// servers reads the servers of tools, in the order of their names.
func (l *loader) servers(timeout time.Duration) (all []mcp.Config) {
	section := l.root.at("mcp")
	if section == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(section.children)) {
		all = append(all, l.server(name, timeout, section.children[name]))
	}
	return all
}

func (l *loader) server(name string, timeout time.Duration, e *entry) mcp.Config {
	key := "mcp." + shown(name)
	c := mcp.Config{Name: name, Timeout: timeout, Connect: mcp.DefaultConnect, Args: l.list("mcp", name, "args"), Tools: l.list("mcp", name, "tools")}
	if !mcp.ValidName(name) {
		l.problem(l.inFile(e), key, "is not a name for a server; use up to 32 lower-case letters, digits, - and _, with no two _ together")
	}
	command, address := e.at("command"), e.at("url")
	switch {
	case command == nil && address == nil:
		l.problem(l.inFile(e), key, "says not how the server is reached; give it a command or a url")
	case command != nil && address != nil:
		l.problem(l.inFile(address), key+".url", "is given beside a command; a server is reached by one of the two")
	case command != nil && command.text == "":
		l.problem(l.inFile(command), key+".command", "is empty; name a program")
	case command != nil:
		c.Command = command.text
		l.misplaced(e, key, "headers", "are for a server with a url; a program gets env")
	default:
		c.URL = l.sealed(address, key+".url", endpoint)
		l.misplaced(e, key, "args", "are for a server with a command")
		l.misplaced(e, key, "env", "is for a server with a command; one with a url gets headers")
	}
	c.Env = l.sealedAll(e.at("env"), key+".env", variable)
	c.Headers = l.sealedAll(e.at("headers"), key+".headers", header)
	for field, to := range map[string]*time.Duration{"timeout": &c.Timeout, "connect_timeout": &c.Connect} {
		if given := e.at(field); given != nil {
			if err := (span{to, false}).parse(given.text); err != nil {
				l.problem(l.inFile(given), key+"."+field, err.Error())
			}
		}
	}
	return c
}

func (l *loader) misplaced(e *entry, key, field, message string) {
	if given := e.at(field); given != nil {
		l.problem(l.inFile(given), key+"."+field, message)
	}
}

// sealedAll reads values that may be secrets, by name.
func (l *loader) sealedAll(e *entry, key string, check func(name, text string) error) map[string]secret.String {
	if e == nil {
		return nil
	}
	all := map[string]secret.String{}
	for _, name := range slices.Sorted(maps.Keys(e.children)) {
		all[name] = l.sealed(e.children[name], key+"."+shown(name), func(text string) error { return check(name, text) })
	}
	return all
}

// sealed reads a value that may be a secret, or have one for its last word.
func (l *loader) sealed(e *entry, key string, check func(text string) error) secret.String {
	o := l.inFile(e)
	before := ""
	if i := strings.LastIndexByte(o.text, ' '); i >= 0 && (strings.HasPrefix(o.text[i+1:], "env:") || strings.HasPrefix(o.text[i+1:], "file:")) {
		before, o.text = o.text[:i+1], o.text[i+1:]
	}
	text, err := l.fetch(o)
	if err == nil {
		text = before + text
		err = check(text)
	}
	if err != nil {
		l.problem(o, key, err.Error())
		return secret.String{}
	}
	return secret.New(text)
}

// endpoint, variable and header report what is wrong with one. Their errors do not
// repeat it.
func endpoint(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("is no address of a server; write http://host/path or https://host/path")
	}
	return nil
}

func variable(name, text string) error {
	if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(text, 0) {
		return errors.New("is no variable that a program can get")
	}
	return nil
}

func header(name, text string) error {
	for _, c := range []byte(text) {
		if c < ' ' || c > '~' {
			return errors.New("has characters that no header can carry; check that it was copied whole")
		}
	}
	for _, c := range []byte(name) {
		if c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return errors.New("is not the name of a header")
		}
	}
	return nil
}

// checkServers finds routes with servers that are nowhere.
func (l *loader) checkServers(c *Config) {
	if c.Catalog == nil {
		return
	}
	for _, route := range c.Catalog.Routes() {
		for _, name := range route.MCP {
			if !slices.ContainsFunc(c.MCP, func(server mcp.Config) bool { return server.Name == name }) {
				path := []string{"routes", route.Pattern, "tools", "mcp"}
				at := l.root.nearest(path)
				l.problem(origin{where: l.where(at), place: at}, strings.Join(path, "."), "has "+quote(name)+", which is no server of the section mcp")
			}
		}
	}
}

// warnServers are about servers whose keys others can read.
func warnServers(servers []mcp.Config) (warnings []string) {
	for _, server := range servers {
		u, err := url.Parse(server.URL.Reveal())
		if err == nil && u.Scheme == "http" && !Loopback(u.Hostname()+":0") && (len(server.Headers) > 0 || u.RawQuery != "" || u.User != nil) {
			warnings = append(warnings, "what is sent to the MCP server "+server.Name+" goes to "+u.Host+" without encryption: use https in its address")
		}
	}
	return warnings
}

// explainServers writes servers as they are written in the file.
func explainServers(servers []mcp.Config, show writeSecret) yaml.MapSlice {
	rows := yaml.MapSlice{}
	for _, server := range servers {
		var row yaml.MapSlice
		if server.Command != "" {
			row = append(row, item("command", server.Command))
		} else {
			row = append(row, item("url", plainURL(server.URL)))
		}
		for _, list := range []struct {
			name string
			of   []string
		}{{"args", server.Args}, {"tools", server.Tools}} {
			if len(list.of) > 0 {
				row = append(row, item(list.name, list.of))
			}
		}
		for _, secrets := range []struct {
			name string
			of   map[string]secret.String
		}{{"env", server.Env}, {"headers", server.Headers}} {
			var masked yaml.MapSlice
			for _, name := range slices.Sorted(maps.Keys(secrets.of)) {
				masked = append(masked, item(name, show(secrets.of[name])))
			}
			if len(masked) > 0 {
				row = append(row, item(secrets.name, masked))
			}
		}
		row = append(row, item("timeout", formatSpan(server.Timeout)), item("connect_timeout", formatSpan(server.Connect)))
		rows = append(rows, item(server.Name, row))
	}
	return rows
}

// plainURL is an address without what may be a secret in it.
func plainURL(address secret.String) string {
	u, err := url.Parse(address.Reveal())
	if err != nil {
		return address.String()
	}
	text := fmt.Sprintf("%s://%s%s", u.Scheme, u.Host, u.EscapedPath())
	if u.RawQuery != "" {
		text += "?" + secret.Mask
	}
	return text
}
