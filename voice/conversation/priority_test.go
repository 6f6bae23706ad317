package conversation_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheSpotterIsToldWhoIsToBeListenedToFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.begin("ada", "bob", "eve")
		p.work("t", "ada")
		began := time.Now()
		for _, id := range []string{"ada", "bob", "eve"} {
			p.sound(id, 300*time.Millisecond)
		}
		p.spots("bob", "clank")
		p.sound("bob", 300*time.Millisecond)
		p.spot.mu.Lock()
		ada, bob, eve := p.spot.claim["ada"], p.spot.claim["bob"], p.spot.claim["eve"]
		p.spot.mu.Unlock()
		if !ada.Working || bob.Working || eve.Working {
			t.Errorf("ada %+v, bob %+v, eve %+v: want only what ada asked for to be done", ada, bob, eve)
		}
		if bob.LastAddressed.Before(began) || !eve.LastAddressed.IsZero() {
			t.Errorf("bob called at %v, eve at %v; want bob after %v, eve never", bob.LastAddressed, eve.LastAddressed, began)
		}
		if !eve.Less(bob) || !bob.Less(ada) || ada.Less(bob) {
			t.Error("want ada first, then bob, then eve")
		}
		p.end()
	})
}

func TestThatNotAllAreListenedToIsWrittenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.begin("ada", "bob", "cy")
		said := func() int { return strings.Count(p.chat.text(), "cannot listen to all") }
		p.sound("ada", time.Second)
		if got := said(); got != 0 {
			t.Errorf("written %d times while all are listened to", got)
		}
		p.spot.mu.Lock()
		p.spot.crowd = map[string]bool{"bob": true, "cy": true}
		p.spot.mu.Unlock()
		p.sound("bob", time.Second)
		p.sound("cy", time.Second)
		p.sound("bob", time.Second)
		if got := said(); got != 1 || !strings.Contains(p.chat.text(), "/clank privacy`.") {
			t.Errorf("written %d times, want once: %s", got, p.chat.text())
		}
		p.end()
	})
}
