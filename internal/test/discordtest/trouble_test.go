package discordtest_test

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"clank/internal/test/discordtest"

	"github.com/bwmarrin/discordgo"
)

func TestRateLimitedRequestTellsWhenToComeAgain(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	w.RateLimitNext(discordtest.RouteCreateMessage, 1500*time.Millisecond)
	_, err := d.ChannelMessageSend(w.room.ID, "x")
	var limited *discordgo.RateLimitError
	if !errors.As(err, &limited) || limited.RetryAfter != 1500*time.Millisecond {
		t.Fatalf("got %v, want a rate limit of 1.5 s", err)
	}
	again := w.session(t) // which does not know of the limit
	if _, err = again.ChannelMessageSend(w.room.ID, "x"); !errors.As(err, &limited) {
		t.Errorf("got %v, want it refused until the time has passed", err)
	}
	w.Advance(2 * time.Second)
	if _, err = w.session(t).ChannelMessageSend(w.room.ID, "x"); err != nil {
		t.Error(err)
	}
}

func TestGlobalRateLimitStopsAllButInteractions(t *testing.T) {
	w, d, _, i := asked(t)
	w.RateLimitEverything(discordtest.RouteTyping, time.Minute)
	for _, call := range []func(*discordgo.Session) error{
		func(d *discordgo.Session) error { return d.ChannelTyping(w.room.ID) },
		func(d *discordgo.Session) error { _, err := d.ChannelMessageSend(w.room.ID, "x"); return err },
	} {
		var limited *discordgo.RateLimitError
		if err := call(w.session(t)); !errors.As(err, &limited) {
			t.Errorf("got %v, want the global limit", err)
		}
	}
	if err := respond(d, i, deferred, nil); err != nil {
		t.Errorf("an interaction met the global limit: %v", err)
	}
}

func TestHeldRequestWaitsForItsRelease(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	hold := w.HoldNext(discordtest.RouteCreateMessage)
	sent := make(chan error, 1)
	go func() {
		_, err := d.ChannelMessageSend(w.room.ID, "x")
		sent <- err
	}()
	<-hold.Arrived()
	if got := w.Messages(w.room); len(got) != 0 {
		t.Errorf("got %v, want nothing done yet", got)
	}
	hold.Release()
	if err := <-sent; err != nil {
		t.Fatal(err)
	}

	hold = w.HoldNext(discordtest.RouteCreateMessage)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := d.ChannelMessageSend(w.room.ID, "y", discordgo.WithContext(ctx))
		sent <- err
	}()
	<-hold.Arrived()
	cancel()
	if err := <-sent; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the client to have given up", err)
	}
}

// ours returns the stack of a goroutine of the package that still runs.
func ours() string {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for one := range strings.SplitSeq(string(stacks), "\n\n") {
		if strings.Contains(one, "discordtest.(*") {
			return one
		}
	}
	return ""
}

// It is alone, so that no other server's goroutines are there.
func TestCloseLeavesNothingRunning(t *testing.T) {
	s, err := discordtest.Start(discordtest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	w := town{Server: s, bot: s.CreateBot("clank", "secret")}
	for range 3 {
		write(t, dial(t, w, "v=10"), goodIdentify)
	}
	if _, err := w.WaitReceived(deadline(t), 2, 2); err != nil {
		t.Fatal(err)
	}
	hold := s.HoldNext(discordtest.RouteGateway)
	go func() {
		resp, err := http.Get(s.URL + "/api/v10/gateway")
		if err == nil {
			resp.Body.Close()
		}
	}()
	<-hold.Arrived()
	deadline, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	// A goroutine that has reported its end may need a moment to be gone.
	for running := ours(); running != ""; running = ours() {
		if runtime.Gosched(); deadline.Err() != nil {
			t.Fatalf("still running after Close:\n%s", running)
		}
	}
	if got := len(s.Disconnects()); got != 3 {
		t.Errorf("got %d disconnects, want 3", got)
	}
}
