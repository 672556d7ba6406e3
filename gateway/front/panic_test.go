package front

import (
	"errors"
	"io"
	"log/slog"
	"testing"
)

// A reply that panics while it is written ends its own connection, and no other.
func TestPanicsOfRepliesAreCaught(t *testing.T) {
	r := running{server: &Server{log: slog.New(slog.DiscardHandler)}} // without a body
	if _, err := r.WriteTo(io.Discard); !errors.Is(err, errPanicked) {
		t.Errorf("the error is %v", err)
	}
}
