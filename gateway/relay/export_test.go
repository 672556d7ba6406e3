package relay

import "time"

// SetClock has calls in the course of a reply, and waits for people, follow a clock.
func (r *Relay) SetClock(now func() time.Time) { r.now = now }
