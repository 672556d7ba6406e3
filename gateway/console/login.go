package console

import (
	"crypto/rand"
	"crypto/sha256"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

const (
	cookieName = "warmpath-console"
	// sessionLife is how long a login holds, and maxSessions how many there are at once:
	// beyond that the oldest ends.
	sessionLife = 12 * time.Hour
	maxSessions = 64
	// maxTries is how often somebody may try a token one time after the other, and
	// patience how long until he may try once more.
	maxTries = 5
	patience = 10 * time.Second
	// maxTriers is how many addresses are told apart.
	maxTriers = 1024
)

// sessions are the logins of browsers, by the hash of what their cookie says.
type sessions struct {
	mu   sync.Mutex
	open map[[sha256.Size]byte]time.Time // until when
	// tries are those of addresses that have tried wrong tokens.
	tries map[string]*tries
}

// tries are what somebody has left, as of a time.
type tries struct {
	left float64
	at   time.Time
}

// begin opens a session and gives what its cookie says.
func (s *sessions) begin(now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[[sha256.Size]byte]time.Time{}
	}
	var oldest [sha256.Size]byte
	for key, until := range s.open {
		if !now.Before(until) {
			delete(s.open, key)
		} else if first, ok := s.open[oldest]; !ok || until.Before(first) {
			oldest = key
		}
	}
	if len(s.open) >= maxSessions {
		delete(s.open, oldest)
	}
	name := rand.Text()
	s.open[sha256.Sum256([]byte(name))] = now.Add(sessionLife)
	return name
}

// valid reports whether a cookie is that of an open session. What is looked up is a
// hash, so that how long it takes tells nothing.
func (s *sessions) valid(cookie []byte, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	until, ok := s.open[sha256.Sum256(cookie)]
	return ok && now.Before(until)
}

// end closes a session.
func (s *sessions) end(cookie []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, sha256.Sum256(cookie))
}

// try takes one of the tries of an address; false if it has none left. Where there are
// too many addresses to tell apart, those that are new share theirs.
func (s *sessions) try(from string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tries == nil {
		s.tries = map[string]*tries{}
	}
	if s.tries[from] == nil && len(s.tries) >= maxTriers {
		for address, t := range s.tries {
			if now.Sub(t.at) >= maxTries*patience {
				delete(s.tries, address)
			}
		}
		if len(s.tries) >= maxTriers {
			from = ""
		}
	}
	t := s.tries[from]
	if t == nil {
		t = &tries{left: maxTries, at: now}
		s.tries[from] = t
	}
	t.left = min(t.left+float64(now.Sub(t.at))/float64(patience), maxTries)
	t.at = now
	if t.left < 1 {
		return false
	}
	t.left--
	return true
}

// forgive gives an address its tries back, as it has the token.
func (s *sessions) forgive(from string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tries, from)
}

// loggedIn reports whether a browser shows the cookie of an open session.
func (s *Server) loggedIn(ctx *fasthttp.RequestCtx) bool {
	cookie := ctx.Request.Header.Cookie(cookieName)
	return len(cookie) > 0 && s.sessions.valid(cookie, time.Now())
}

// login shows the form for the token, and takes it. The token is in the body of a
// request and nowhere else: in no address, no page and no cookie.
func (s *Server) login(ctx *fasthttp.RequestCtx) {
	next := local(string(ctx.FormValue("next")))
	form := struct{ Title, Next, Problem string }{"warmpath: log in", next, ""}
	if !ctx.IsPost() {
		s.show(ctx, "login", form)
		return
	}
	now, from := time.Now(), ctx.RemoteIP().String()
	switch {
	case !s.sessions.try(from, now):
		form.Problem = "Too many tries. Wait a little, then try again."
		s.show(ctx, "login", form)
		ctx.Response.Header.Set("Retry-After", "10")
		ctx.SetStatusCode(fasthttp.StatusTooManyRequests)
		return
	case !s.access.same(ctx.PostArgs().Peek("token")):
		form.Problem = "This is not the admin token."
		s.show(ctx, "login", form)
		ctx.SetStatusCode(fasthttp.StatusForbidden)
		return
	}
	s.sessions.forgive(from)
	setCookie(ctx, s.sessions.begin(now), int(sessionLife/time.Second))
	seeOther(ctx, next)
}

// logout ends the session of a browser.
func (s *Server) logout(ctx *fasthttp.RequestCtx) {
	s.sessions.end(ctx.Request.Header.Cookie(cookieName))
	setCookie(ctx, "", -1)
	seeOther(ctx, "login")
}

// setCookie tells the browser of a session, or with a negative age to forget it. The
// cookie comes back only from pages of this origin, and no script can read it.
func setCookie(ctx *fasthttp.RequestCtx, value string, age int) {
	var c fasthttp.Cookie
	c.SetKey(cookieName)
	c.SetValue(value)
	c.SetPath("/")
	c.SetHTTPOnly(true)
	c.SetSameSite(fasthttp.CookieSameSiteStrictMode)
	c.SetMaxAge(age)
	if age < 0 {
		c.SetExpire(fasthttp.CookieExpireDelete)
	}
	// Behind a proxy that speaks TLS the cookie stays on such connections.
	c.SetSecure(string(ctx.Request.Header.Peek("X-Forwarded-Proto")) == "https")
	ctx.Response.Header.SetCookie(&c)
}

// seeOther sends a browser on, by an address that stays on this origin whatever name
// and folder the browser knows it by.
func seeOther(ctx *fasthttp.RequestCtx, to string) {
	ctx.Response.Header.Set("Location", to)
	ctx.SetStatusCode(fasthttp.StatusSeeOther)
}

// local is a page of ours to go on to: the overview, or a conversation.
func local(next string) string {
	if query, ok := strings.CutPrefix(next, "conversation?"); ok {
		if values, err := url.ParseQuery(query); err == nil {
			return "conversation?" + url.Values{"id": {values.Get("id")}}.Encode()
		}
	}
	return "./"
}

// asksForPage reports whether a browser wants to show what it asks for, so that it can
// be sent to the login.
func asksForPage(ctx *fasthttp.RequestCtx) bool {
	return ctx.IsGet() && strings.HasPrefix(string(ctx.Request.Header.Peek("Accept")), "text/html")
}

// sameOrigin reports whether a browser says that a page of ours has sent a request.
// One that changes something must say so; what is no browser can use the API.
func sameOrigin(ctx *fasthttp.RequestCtx) bool {
	h := &ctx.Request.Header
	if site := string(h.Peek("Sec-Fetch-Site")); site != "" {
		return site == "same-origin"
	}
	origin, err := url.Parse(string(h.Peek("Origin")))
	return err == nil && origin.Host != "" && strings.EqualFold(origin.Host, string(ctx.Host()))
}
