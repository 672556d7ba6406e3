package secret_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"warmpath/gateway/secret"
)

func TestNothingPrintsTheValue(t *testing.T) {
	const value = "key-3f9a17c2"
	key := secret.New(value)
	holder := struct {
		Name string
		Key  secret.String
	}{"provider", key}

	prints := map[string]func() string{
		"json":          func() string { b, _ := json.Marshal(holder); return string(b) },
		"error":         func() string { return fmt.Errorf("using %v: %w", key, fmt.Errorf("%+v", holder)).Error() },
		"slog any":      func() string { return logged(slog.Any("key", key)) },
		"slog struct":   func() string { return logged(slog.Any("holder", holder)) },
		"println":       func() string { return fmt.Sprintln(key, &key, holder, &holder) },
		"text encoding": func() string { b, _ := key.MarshalText(); return string(b) },
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T %v"} {
		prints["verb "+verb] = func() string { return fmt.Sprintf(verb, key) + fmt.Sprintf(verb, holder) }
	}
	hexed := fmt.Sprintf("%x", value)
	for name, print := range prints {
		t.Run(name, func(t *testing.T) {
			if out := print(); strings.Contains(out, value) || strings.Contains(strings.ToLower(out), hexed) {
				t.Errorf("printed the secret: %q", out)
			}
		})
	}
}

func TestSetAndUnsetAreToldApart(t *testing.T) {
	if got := fmt.Sprint(secret.New("x")); got != secret.Mask {
		t.Errorf("a set secret printed %q, want %q", got, secret.Mask)
	}
	if got := fmt.Sprint(secret.String{}); got != "" {
		t.Errorf("an unset secret printed %q, want nothing", got)
	}
	if got := secret.New("x").Reveal(); got != "x" {
		t.Errorf("Reveal() = %q, want %q", got, "x")
	}
}

func logged(attr slog.Attr) string {
	var out bytes.Buffer
	slog.New(slog.NewTextHandler(&out, nil)).LogAttrs(context.Background(), slog.LevelInfo, "", attr)
	slog.New(slog.NewJSONHandler(&out, nil)).LogAttrs(context.Background(), slog.LevelInfo, "", attr)
	return out.String()
}
