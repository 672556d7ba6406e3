package config

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"

	"warmpath/gateway/catalog"
	"warmpath/metrics/otlp"
)

// check finds what is wrong with settings in the light of others. Settings
// that could not be read are still at zero, and are not reported twice.
func (l *loader) check(c *Config) {
	l.address("listen", c.Listen)
	l.address("admin", c.Admin)
	if c.Listen == c.Admin && port(c.Listen) != "0" {
		l.about("admin", "is the same address as listen; give it a port of its own")
	}
	if !Loopback(c.Admin) && c.AdminToken.IsZero() && l.sound("admin_token") {
		l.about("admin_token", "is needed, because admin listens beyond this machine; set one, for example in WARMPATH_ADMIN_TOKEN, or let admin listen on 127.0.0.1")
	}
	if !c.Store.IsZero() && !redisURL(c.Store.Reveal()) {
		// What is wrong with a URL is often that the password is in the wrong
		// place, so nothing of it is repeated.
		l.about("store", "is no URL of a Redis server; write redis://host:6379/0 or rediss://user:password@host:6379/0")
	}
	if c.Log.Events == KeptOnDisk && c.Data == DataMemory {
		l.about("log.events", "is disk, but there is no data folder; name one with data, or write memory")
	}
	if c.Collector != "" {
		if err := otlp.CheckEndpoint(c.Collector); err != nil {
			l.about("otlp", err.Error())
		}
	}
	l.checkServers(c)
	if in := c.Limits.BodiesInFlight; in < c.Limits.Body && in > 0 {
		if o, _ := l.pick(l.setting("limits.bodies_in_flight")); o.text != "auto" {
			l.about("limits.bodies_in_flight", "is "+formatSize(in)+", less than one body may have ("+formatSize(c.Limits.Body)+"); raise it, or lower limits.body")
			return
		}
		// On a small machine one body at a time still has to fit.
		c.Limits.BodiesInFlight = c.Limits.Body
	}
}

// redisURL reports whether the store's client can take an address.
func redisURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "redis" || u.Scheme == "rediss" || u.Scheme == "unix")
}

// about reports a problem where the setting was given.
func (l *loader) about(key, message string) {
	o, _ := l.pick(l.setting(key))
	l.problem(o, key, message)
}

// sound reports whether nothing was wrong with a setting so far.
func (l *loader) sound(key string) bool {
	for _, p := range l.problems {
		if p.Key == key {
			return false
		}
	}
	return true
}

func (l *loader) setting(key string) setting {
	for _, s := range settings {
		if s.key == key {
			return s
		}
	}
	panic("BUG: no setting " + key)
}

func (l *loader) address(key, address string) {
	_, number, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(number, 10, 16)
	}
	if err != nil {
		l.about(key, "is "+quote(address)+"; write host:port, like 127.0.0.1:8787, with a port from 0 to 65535")
	}
}

func port(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

// Loopback reports whether only this machine can reach an address. A faulty
// address counts as one: it is reported as such.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil || host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// warnings are about what works but may surprise.
func warnings(c *Config) []string {
	var warnings []string
	for _, name := range c.Catalog.Providers() {
		p, _ := c.Catalog.Provider(name)
		if !p.HasKey() {
			continue
		}
		if !Loopback(c.Listen) && len(c.AccessKeys) == 0 {
			warnings = append(warnings, "listen is reachable from other machines and there are no access_keys: whoever can connect spends the key of "+name)
		}
		if base := plaintext(p); base != nil {
			warnings = append(warnings, "the key of "+name+" goes to "+base.Host+" without encryption: use https in its address")
		}
	}
	warnings = append(warnings, warnServers(c.MCP)...)
	for _, name := range c.Catalog.Strays() {
		warnings = append(warnings, "an alias stands for "+name+", which begins with the name of no provider: it goes to the default provider of the client's dialect")
	}
	for _, name := range c.Catalog.Keyless() {
		warnings = append(warnings, "an alias falls back to "+name+", whose provider has no key in the configuration: it is never asked, since a client's own key is meant for the first provider")
	}
	return warnings
}

// plaintext is an address that the provider's key would leave this machine to
// unencrypted; nil if there is none.
func plaintext(p *catalog.Provider) *catalog.Base {
	for _, d := range p.Dialects {
		if base := p.Bases[d]; !base.TLS && !Loopback(base.Address) {
			return base
		}
	}
	return nil
}
