package console_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"warmpath/gateway/prompt"
)

// form sends a form as a browser does, and follows nothing.
func (s *site) form(t *testing.T, path string, values url.Values, edit func(*http.Request)) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, s.base+path, strings.NewReader(values.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	if edit != nil {
		edit(req)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

func TestLogin(t *testing.T) {
	const token = "a-long-admin-token"
	s := start(t, token, true)
	page := func(r *http.Request) { r.Header.Set("Accept", "text/html,application/xhtml+xml") }
	for path, want := range map[string]string{"/": "login", "/conversation?id=a%20b": "login?next=conversation%3Fid%3Da%2520b", "/metrics": "login"} {
		req, err := http.NewRequest(http.MethodGet, s.base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		page(req)
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got := resp.Header.Get("Location"); resp.StatusCode != http.StatusSeeOther || !strings.HasSuffix(got, want) {
			t.Errorf("%s: status %d to %s, want %s", path, resp.StatusCode, got, want)
		}
	}
	resp, _ := s.get(t, "/api/status", header("Sec-Fetch-Site", "same-origin"))
	if resp.StatusCode != http.StatusUnauthorized || resp.Header.Get("WWW-Authenticate") != "" {
		t.Errorf("a page of ours gets %d and the challenge %q, which opens a window", resp.StatusCode, resp.Header.Get("WWW-Authenticate"))
	}
	login := func(given string, edit func(*http.Request)) (*http.Response, string) {
		return s.form(t, "/login", url.Values{"token": {given}, "next": {"//evil.example"}}, edit)
	}
	if resp, _ = login(token, header("Sec-Fetch-Site", "cross-site")); resp.StatusCode != http.StatusForbidden || len(resp.Cookies()) != 0 {
		t.Errorf("another site logs somebody in: %d", resp.StatusCode)
	}
	resp, _ = login(token, nil)
	if resp.StatusCode != http.StatusSeeOther || strings.Contains(resp.Header.Get("Location"), "evil") || len(resp.Cookies()) != 1 {
		t.Fatalf("status %d to %s with %v", resp.StatusCode, resp.Header.Get("Location"), resp.Cookies())
	}
	cookie := resp.Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || strings.Contains(cookie.Value, token) || cookie.Secure {
		t.Errorf("the cookie is %v", cookie)
	}
	session := func(r *http.Request) { r.AddCookie(cookie) }
	for _, path := range []string{"/", "/api/status", "/metrics"} {
		if resp, _ = s.get(t, path, session); resp.StatusCode != http.StatusOK {
			t.Errorf("with the cookie %s gives %d", path, resp.StatusCode)
		}
	}
	if resp, _ = s.form(t, "/logout", nil, func(r *http.Request) { session(r); r.Header.Set("Sec-Fetch-Site", "cross-site") }); resp.StatusCode != http.StatusForbidden {
		t.Errorf("another site logs somebody out: %d", resp.StatusCode)
	}
	s.form(t, "/logout", nil, session)
	if resp, _ = s.get(t, "/api/status", session); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("after logging out the cookie gives %d", resp.StatusCode)
	}
	for i, want := range []int{403, 403, 403, 403, 403, 429, 429} {
		resp, body := login("a guess", nil)
		if resp.StatusCode != want || strings.Contains(body, "a guess") || strings.Contains(body, token) {
			t.Errorf("guess %d gives %d, want %d: %s", i+1, resp.StatusCode, want, body)
		}
	}
	if resp, _ = login(token, nil); resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("after so many guesses even the token gives %d, want 429", resp.StatusCode)
	}
	if resp, _ = login(token, header("X-Forwarded-Proto", "https")); resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("a header of the client's changes that: %d", resp.StatusCode)
	}
}

// Where no token is asked for there is nothing to log in to.
func TestNoLogin(t *testing.T) {
	s := start(t, "", false)
	if resp, body := s.get(t, "/login", nil); resp.Request.URL.Path != "/" || resp.StatusCode != 200 {
		t.Errorf("%s %d %s", resp.Request.URL, resp.StatusCode, body)
	}
	none := start(t, "", true)
	if resp, _ := none.form(t, "/login", url.Values{"token": {""}}, nil); resp.StatusCode != http.StatusForbidden || len(resp.Cookies()) != 0 {
		t.Errorf("without any token somebody logs in: %d", resp.StatusCode)
	}
}

// A prompt is answered by a form of ours and by none of another page; all that is wrong
// is told at once.
func TestAnswer(t *testing.T) {
	s := start(t, "", false)
	stream := s.prompts.Subscribe(prompt.Filter{Who: prompt.Who{Operator: true}})
	defer stream.Close()
	answers := asking(t, s.prompts, "digest")
	id := (<-stream.Events).Prompt.ID
	script := func(r *http.Request) { r.Header.Set("Accept", "application/json") }
	yes := url.Values{"prompt": {id}, "reply": {"accept"}, "q0": {"true"}}
	for name, tc := range map[string]struct {
		values url.Values
		edit   func(*http.Request)
		status int
		says   string
	}{
		"another site":                {yes, header("Sec-Fetch-Site", "cross-site"), 403, "only the pages"},
		"another page of the site":    {yes, header("Sec-Fetch-Site", "same-site"), 403, "only the pages"},
		"nobody says from where":      {yes, func(r *http.Request) { r.Header.Del("Sec-Fetch-Site") }, 403, "only the pages"},
		"another origin":              {yes, func(r *http.Request) { r.Header.Del("Sec-Fetch-Site"); r.Header.Set("Origin", "https://evil.example") }, 403, "only the pages"},
		"nothing answered":            {url.Values{"prompt": {id}, "reply": {"accept"}}, script, 422, `"problems":{"q0":"is missing"}`},
		"neither yes nor no":          {url.Values{"prompt": {id}, "reply": {"accept"}, "q0": {"perhaps"}}, script, 422, `"problems":{"q0":"is missing"}`},
		"nothing to be done":          {url.Values{"prompt": {id}}, script, 422, `"problems":{"reply":`},
		"a prompt that is not":        {url.Values{"prompt": {"p_none"}, "reply": {"accept"}}, script, 404, "There is no such prompt."},
		"nothing answered, by a page": {url.Values{"prompt": {id}, "reply": {"accept"}}, nil, 422, `data-problem="q0">is missing</p>`},
	} {
		t.Run(name, func(t *testing.T) {
			resp, body := s.form(t, "/answer", tc.values, tc.edit)
			if resp.StatusCode != tc.status || !strings.Contains(body, tc.says) {
				t.Errorf("status %d, want %d with %s: %s", resp.StatusCode, tc.status, tc.says, body)
			}
		})
	}
	if resp, body := s.form(t, "/answer", yes, script); resp.StatusCode != 200 {
		t.Fatalf("%d %s", resp.StatusCode, body)
	}
	if a := <-answers; a.Outcome != prompt.Answered || string(a.Content) != `{"q1":true}` {
		t.Errorf("%s %s", a, a.Content)
	}
	if resp, body := s.form(t, "/answer", yes, script); resp.StatusCode != http.StatusConflict {
		t.Errorf("a second answer gives %d %s", resp.StatusCode, body)
	}
}

// Every answer of the listener is kept from frames and from being guessed at, and every
// page lets only its own files run.
func TestPagesAreKeptToThemselves(t *testing.T) {
	s := start(t, "", false)
	for _, path := range []string{"/", "/conversation?id=x", "/conversation"} {
		resp, _ := s.get(t, path, nil)
		for name, want := range map[string]string{
			"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
		} {
			if got := resp.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		policy := resp.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self';", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'"} {
			if !strings.Contains(policy, want) || strings.Contains(policy, "unsafe") {
				t.Errorf("%s: the policy %q has no %s", path, policy, want)
			}
		}
	}
}
