package console

import (
	"time"

	"warmpath/gateway/prompt"
)

// snapshot is what there is to see of the gateway at one time.
type snapshot struct {
	at      time.Time
	numbers *numbers
	hour    []minute
	status  Status
	ready   bool
}

// look takes a snapshot. It fails if the metrics cannot be gathered.
func (s *Server) look() (*snapshot, error) {
	n, err := numbersOf(s.config.Gatherer)
	if err != nil {
		return nil, err
	}
	at := s.config.Clock()
	s.history.note(at, n)
	return &snapshot{at: at, numbers: n, hour: s.history.hour(at), status: s.config.Status(), ready: s.config.Ready()}, nil
}

// sampling is how often the metrics are looked at for the history, where nobody else
// looks at them.
const sampling = 10 * time.Second

// remember keeps the history until the server ends.
func (s *Server) remember() {
	tick := time.NewTicker(sampling)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			// What cannot be gathered now is counted the next time.
			_, _ = s.look()
		case <-s.ended.Done():
			return
		}
	}
}

// openPrompts are those that wait for an answer, the oldest first.
func (s *Server) openPrompts() []prompt.View {
	if s.config.Prompts == nil {
		return nil
	}
	return s.config.Prompts.List(prompt.Filter{Who: prompt.Who{Operator: true}, State: "open"})
}
