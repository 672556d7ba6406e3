package console

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// However much changes and however many look, a view is drawn once a second; what has
// not changed is not told again; and where nobody looks, nothing is drawn.
func TestHubDrawsOnceForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var drawings atomic.Int64
		s := New(Config{})
		defer s.end()
		s.hub.paint = func(scene) []drawn {
			return []drawn{{name: "still", html: "same"}, {name: "moving", html: fmt.Sprint(drawings.Add(1))}}
		}
		var lookers []seen
		for range 50 {
			lookers = append(lookers, seen{board: s.hub.join(s, scene{kind: "overview"})})
		}
		time.Sleep(10*rhythm + rhythm/2)
		synctest.Wait()
		if n := drawings.Load(); n != 11 {
			t.Errorf("in ten seconds it was drawn %d times, want 11", n)
		}
		frames, _ := lookers[0].news(nil)
		if want := "event: part\ndata: {\"part\":\"still\",\"html\":\"same\"}\n\nevent: part\ndata: {\"part\":\"moving\",\"html\":\"11\"}\n\n"; string(frames) != want {
			t.Errorf("first it is told\n%s", frames)
		}
		time.Sleep(5 * rhythm)
		synctest.Wait()
		if frames, _ = lookers[0].news(nil); string(frames) != "event: part\ndata: {\"part\":\"moving\",\"html\":\"16\"}\n\n" {
			t.Errorf("then it is told\n%s", frames)
		}
		for i := range lookers {
			s.hub.leave(lookers[i].board)
		}
		time.Sleep(5 * rhythm)
		synctest.Wait()
		if n := drawings.Load(); n != 16 || len(s.hub.boards) != 0 {
			t.Errorf("though nobody looks it was drawn %d times, and there are %d boards", n, len(s.hub.boards))
		}
	})
}

func TestTries(t *testing.T) {
	var s sessions
	now := time.Unix(1_800_000_000, 0)
	try := func(from string) bool { return s.try(from, now) }
	for i := range maxTries {
		if !try("a") {
			t.Fatalf("try %d was not let through", i+1)
		}
	}
	if try("a") || !try("b") {
		t.Error("an address without tries was let through, or another one was not")
	}
	now = now.Add(patience)
	if !try("a") || try("a") {
		t.Error("a while gives another number of tries than one")
	}
	s.forgive("a")
	for range 2 {
		if !try("a") {
			t.Error("who has the token has no tries")
		}
	}
	for i := range 3 * maxTriers {
		try(fmt.Sprint("host ", i))
	}
	if len(s.tries) > maxTriers+1 {
		t.Errorf("%d addresses are told apart", len(s.tries))
	}
	if try("yet another") {
		t.Error("where too many try, new ones have tries without end")
	}
	if now = now.Add(time.Hour); !try("yet another") {
		t.Error("an hour later nobody may try")
	}
}

func TestSessions(t *testing.T) {
	var s sessions
	now := time.Unix(1_800_000_000, 0)
	first := s.begin(now)
	second := s.begin(now.Add(time.Second))
	for name, want := range map[string]bool{first: true, second: true, "": false, first[1:]: false} {
		if s.valid([]byte(name), now) != want {
			t.Errorf("%q is valid: %v", name, !want)
		}
	}
	if s.valid([]byte(first), now.Add(sessionLife)) {
		t.Error("a session has no end")
	}
	s.end([]byte(second))
	if s.valid([]byte(second), now) {
		t.Error("a session that was ended is valid")
	}
	for range maxSessions {
		s.begin(now.Add(time.Minute))
	}
	if len(s.open) != maxSessions || s.valid([]byte(first), now) {
		t.Errorf("there are %d sessions, and the oldest is among them: %v", len(s.open), s.valid([]byte(first), now))
	}
}

func TestLocal(t *testing.T) {
	for next, want := range map[string]string{
		"": "./", "conversation?id=a%2Fb": "conversation?id=a%2Fb", "conversation?id=a&x=y#z": "conversation?id=a",
		"https://evil.example": "./", "//evil.example": "./", `\\evil.example`: "./", "javascript:x": "./", "conversation": "./", "/metrics": "./",
		"conversation?id=%0d%0aset-cookie:x": "conversation?id=%0D%0Aset-cookie%3Ax",
	} {
		if got := local(next); got != want {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
}
