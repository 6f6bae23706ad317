package discordtest_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"clank/internal/test/discordtest"

	"github.com/bwmarrin/discordgo"
)

// town is a guild with a room, two people and a bot that is not signed in yet.
type town struct {
	*discordtest.Server
	bot      discordtest.Bot
	ada, bob discordtest.User
	guild    discordtest.Guild
	room     discordtest.Channel
}

func newTown(t *testing.T, cfg discordtest.Config) town {
	t.Helper()
	s, err := discordtest.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Parallel()
	w := town{Server: s, bot: s.CreateBot("clank", "secret"), ada: s.CreateUser("ada"), bob: s.CreateUser("bob")}
	w.guild = s.CreateGuild("home", w.ada)
	s.AddMember(w.guild, w.bob)
	s.AddMember(w.guild, w.bot.User)
	w.room = s.CreateChannel(w.guild, "general")
	return w
}

// session makes a real session that is not open yet. Rate limits are shown, not
// waited for.
func (w town) session(t *testing.T) *discordgo.Session {
	t.Helper()
	d, err := discordgo.New("Bot " + w.bot.Token)
	if err != nil {
		t.Fatal(err)
	}
	d.LogLevel = -1
	d.Identify.Intents = discordgo.IntentsAll
	d.ShouldRetryOnRateLimit = false
	d.Client = &http.Client{Transport: w.Transport()}
	return d
}

// open connects the session until the end of the test. Closing takes discordgo a
// second, most of which it may spend alone: once its goodbye has arrived it does
// not come again.
func open(t *testing.T, w town, d *discordgo.Session) {
	t.Helper()
	if err := d.Open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		go d.Close()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 15*time.Second)
		defer cancel()
		if err := w.Wait(ctx, "the session to say goodbye", func() bool { return !w.Connected(w.bot) }); err != nil {
			t.Error(err)
		}
	})
}

// settled waits for the first heartbeat. A line that breaks while discordgo sends
// it makes both of discordgo's loops reconnect, and one closes the connection of
// the other with 1000, which ends the session.
func settled(t *testing.T, w town) {
	t.Helper()
	if _, err := w.WaitReceived(deadline(t), 1, 0); err != nil {
		t.Fatal(err)
	}
}

func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// events hands out what a handler has been called with.
func events[E any](d *discordgo.Session) <-chan E {
	c := make(chan E, 100)
	d.AddHandler(func(_ *discordgo.Session, e E) { c <- e })
	return c
}

func next[E any](t *testing.T, c <-chan E) E {
	t.Helper()
	select {
	case e := <-c:
		return e
	case <-deadline(t).Done():
		t.Fatalf("no %T came", *new(E))
		return *new(E)
	}
}

// refusal checks that an error is Discord's, with status and code.
func refusal(t *testing.T, err error, status, code int) *discordgo.RESTError {
	t.Helper()
	var rest *discordgo.RESTError
	if !errors.As(err, &rest) || rest.Message == nil {
		t.Fatalf("got error %v, want HTTP %d with code %d", err, status, code)
	}
	if rest.Response.StatusCode != status || rest.Message.Code != code {
		t.Fatalf("got HTTP %d %s, want HTTP %d with code %d", rest.Response.StatusCode, rest.ResponseBody, status, code)
	}
	return rest
}
