package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"time"
)

const healthUsage = `usage: warmpath health [flags]

Asks a gateway at its admin address whether it takes requests. The exit code is
0 if it does, and 1 if it does not, is still starting, is draining, or does not
answer: for the probes of containers and service managers, also where there is
no other program. It reads no configuration, so that a faulty file does not make
a gateway look ill that goes on with the old one.

`

const (
	// healthPatience is how long one answer may take.
	healthPatience = 2 * time.Second
	// healthPause is between two questions with --wait.
	healthPause = 100 * time.Millisecond
)

func health(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("health", flag.ContinueOnError)
	admin := flags.String("admin", cmp.Or(os.Getenv("WARMPATH_ADMIN"), "127.0.0.1:9464"), "the gateway's admin `address`, also from WARMPATH_ADMIN")
	wait := flags.Duration("wait", 0, "the `time` to go on asking for until it is ready")
	if code, ok := parseFlags(flags, healthUsage, args, stdout, stderr); !ok {
		return code
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "warmpath health: takes no %q; see warmpath help health\n", flags.Arg(0))
		return exitUsage
	}
	// No proxy stands between a gateway and its probe.
	transport := &http.Transport{DisableKeepAlives: true}
	client := &http.Client{Transport: transport, Timeout: healthPatience}
	if err := awaitReady(client, readiness(*admin), *wait); err != nil {
		fmt.Fprintln(stderr, "warmpath health:", err)
		return exitFailure
	}
	fmt.Fprintln(stdout, "ready")
	return exitOK
}

// readiness is where to ask. A gateway that listens on every address is asked on
// the nearest one.
func readiness(admin string) string {
	admin = strings.TrimSuffix(admin, "/")
	if strings.Contains(admin, "://") {
		return admin + "/readyz"
	}
	host, port, err := net.SplitHostPort(admin)
	if err == nil {
		if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
			host = "127.0.0.1"
			if err == nil && ip.Is6() {
				host = "::1"
			}
		}
		admin = net.JoinHostPort(host, port)
	}
	return "http://" + admin + "/readyz"
}

// awaitReady asks until the gateway is ready, for at most so long, but once at
// least.
func awaitReady(client *http.Client, url string, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		err := askReady(client, url)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(healthPause):
		}
	}
}

func askReady(client *http.Client, url string) error {
	resp, err := client.Get(url)
	if err != nil {
		return fmt.Errorf("asking the gateway: %w; give its admin address with --admin", err)
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(io.LimitReader(resp.Body, 256))
	if err != nil {
		return fmt.Errorf("reading the gateway's answer: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return errors.New("the gateway says " + oneLine(string(said)))
	}
	return nil
}

// oneLine is what somebody at the address has said, without what would move a
// terminal's cursor.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, text)
}
