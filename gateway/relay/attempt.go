package relay

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"time"

	"warmpath/gateway/prompt"
	"warmpath/gateway/upstream"
	"warmpath/rewrite"
)

const (
	// firstPause is doubled with each retry and spread by half, so that many
	// clients of one failing provider do not come back together.
	firstPause = 250 * time.Millisecond
	// maxPause is how long a provider may ask us to wait; a client that is told
	// a longer time decides better itself.
	maxPause = 10 * time.Second
)

// attempt sends the request until it is answered for good, or may not be sent
// again. Nothing has reached the client yet.
func (x *exchange) attempt() (*upstream.Response, *rewrite.Failure) {
	for {
		x.sign()
		resp, err := x.call()
		pause, again := x.again(resp, err)
		// What may be a passing fault of the provider's is no refusal yet.
		if err == nil && (!again || resp.Status < 500) && (x.disowns(resp) || x.forgets(resp) || x.mended(resp)) {
			resp.Close()
			x.ahead = nil
			continue
		}
		if err == nil {
			x.learn(resp.Status)
		}
		if !again {
			if err != nil {
				return nil, x.broken(err)
			}
			return resp, nil
		}
		if resp != nil {
			resp.Close()
			x.ahead = nil
		}
		x.tries++
		x.record.Retries++
		x.relay.metrics.RetryUpstream(x.record.Provider, retryReason(err))
		if !sleep(x.ctx, pause) {
			return nil, x.broken(&upstream.Error{Phase: upstream.PhaseConnect, Err: x.ctx.Err()})
		}
	}
}

// call calls the provider, and notes what came of it. The call before, if there
// was one that has not been told, is no longer the last.
func (x *exchange) call() (*upstream.Response, error) {
	r := &x.record
	if r.latest.Provider != "" {
		r.Earlier = append(r.Earlier, r.latest)
	}
	r.Calls++
	called := time.Now()
	resp, err := x.relay.client.Do(x.ctx, &x.out)
	r.latest = Attempt{Provider: r.Provider, Model: r.Model, Reason: retryReason(err), Duration: time.Since(called)}
	if err == nil {
		x.opens(resp)
		if r.latest.Status = resp.Status; x.settings.Identify {
			r.RequestID = requestID(resp)
		}
	}
	return resp, err
}

// requestID is the provider's own name for a call.
func requestID(resp *upstream.Response) string {
	for _, name := range []string{"request-id", "x-request-id", "x-amzn-requestid"} {
		if id := resp.Header(name); len(id) > 0 {
			return string(id)
		}
	}
	return ""
}

// again decides whether to send once more, and when.
func (x *exchange) again(resp *upstream.Response, err error) (time.Duration, bool) {
	if x.tries >= x.settings.Retries || x.ctx.Err() != nil {
		return 0, false
	}
	pause := firstPause << x.tries
	pause += rand.N(pause/2 + 1)
	if err != nil {
		// Once the request has been sent the provider may be working on it.
		var broken *upstream.Error
		return pause, errors.As(err, &broken) && broken.Phase < upstream.PhaseHead
	}
	if resp.Status < 400 {
		return 0, false
	}
	asked, told := retryAfter(resp)
	if asked > maxPause || !retryable(resp, told) {
		return 0, false
	}
	if len(x.targets.further) > 0 && asked > impatience {
		return 0, false
	}
	return max(asked, pause), true
}

// retryable judges a refused request by status, and by the provider's own
// word on it. A rate limit without a time to wait is a spent budget.
func retryable(resp *upstream.Response, told bool) bool {
	switch string(resp.Header("x-should-retry")) {
	case "true":
		return true
	case "false":
		return false
	}
	switch resp.Status {
	case 429:
		return told
	case 408, 409, 500, 502, 503, 504, 529:
		return true
	}
	return false
}

// retryAfter reads how long the provider asks us to wait.
func retryAfter(resp *upstream.Response) (wait time.Duration, told bool) {
	for _, unit := range []struct {
		name string
		unit time.Duration
	}{{"retry-after-ms", time.Millisecond}, {"retry-after", time.Second}} {
		value := string(resp.Header(unit.name))
		if n, err := strconv.ParseFloat(value, 64); err == nil && n >= 0 && n < 1e9 {
			return time.Duration(n * float64(unit.unit)), true
		}
		if at, err := time.Parse(time.RFC1123, value); err == nil {
			return max(time.Until(at), 0), true
		}
	}
	return 0, false
}

// retryReason is why a provider is called again: by its answer, or because a
// connection was not made or did not take the request.
func retryReason(err error) rewrite.Reason {
	var broken *upstream.Error
	switch {
	case err == nil:
		return rewrite.ReasonProvider
	case errors.As(err, &broken) && broken.Phase == upstream.PhaseSend:
		return rewrite.ReasonUpstreamBroken
	}
	return rewrite.ReasonUnreachable
}

// broken turns an exchange that got no answer into a failure for the client.
func (x *exchange) broken(err error) *rewrite.Failure {
	provider := x.record.Provider
	failure := &rewrite.Failure{Reason: rewrite.ReasonUpstreamBroken, Cause: err,
		Message: "The provider " + provider + " broke the connection off before it answered. Send the request again."}
	var broken *upstream.Error
	switch {
	case errors.Is(context.Cause(x.ctx), ErrDraining), errors.Is(err, prompt.ErrDraining):
		failure.Reason, failure.Message = rewrite.ReasonDraining, "The gateway is stopping. Send the request again."
	case x.ctx.Err() != nil:
		failure.Reason, failure.Message = rewrite.ReasonClientGone, "The client left."
	case errors.As(err, &broken) && broken.Timeout() && broken.Phase == upstream.PhaseHead:
		failure.Reason, failure.Message = rewrite.ReasonUpstreamTimeout, "The provider "+provider+
			" did not begin to answer in time. Send the request again, stream it, or raise timeouts.upstream_header."
	case errors.As(err, &broken) && broken.Phase == upstream.PhaseConnect:
		failure.Reason, failure.Message = rewrite.ReasonUnreachable, "The provider "+provider+" at "+x.out.Origin+
			" cannot be reached. Check its address, or try again."
	}
	return failure
}

// sleep waits unless ctx ends first, and says whether it did wait.
func sleep(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
