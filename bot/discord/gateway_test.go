package discord_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"clank/bot/discord"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/test/discordtest/voicetest"
)

const (
	patience     = 30 * time.Second
	opVoiceState = 4
)

// town is an emulated Discord with a bot that has a room to listen to.
type town struct {
	*discordtest.Server
	bot  discordtest.Bot
	ada  discordtest.User
	room discordtest.Channel
}

func newTown(t *testing.T, cfg discordtest.Config) town {
	t.Helper()
	s := discordtest.StartTest(t, cfg)
	w := town{Server: s, bot: s.CreateBot("clank", "secret"), ada: s.CreateUser("ada")}
	g := s.CreateGuild("home", w.ada)
	s.AddMember(g, w.bot.User)
	w.room = s.CreateChannel(g, "general")
	return w
}

// heard is a dispatch.
type heard struct{ kind, data string }

// connect opens a client and returns what it hears.
func connect(t *testing.T, w town, token string) (*discord.Gateway, <-chan heard, error) {
	t.Helper()
	ch := make(chan heard, 100)
	c := &discord.Gateway{
		Token:   token,
		Intents: 1 | 1<<9 | 1<<15, // guilds, their messages, message content
		URL:     w.GatewayURL,
		OnDispatch: func(kind string, data json.RawMessage) {
			if kind == "PANIC_PLEASE" {
				panic("as asked")
			}
			ch <- heard{kind, string(data)}
		},
		MinWait: 10 * time.Millisecond,
	}
	err := c.Open(voicetest.Deadline(t))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		check.Must(t, c.Close(ctx))
	})
	return c, ch, err
}

func mustConnect(t *testing.T, w town) (*discord.Gateway, <-chan heard) {
	t.Helper()
	c, ch, err := connect(t, w, w.bot.Token)
	check.Must(t, err)
	return c, ch
}

// awaitMessage waits until text is heard as a message.
func awaitMessage(t *testing.T, ch <-chan heard, text string) {
	t.Helper()
	late := time.After(patience)
	for {
		select {
		case h := <-ch:
			if h.kind == "MESSAGE_CREATE" && strings.Contains(h.data, text) {
				return
			}
		case <-late:
			t.Fatalf("%q was never heard", text)
		}
	}
}

func say(t *testing.T, w town, text string) {
	t.Helper()
	check.Must(t, check.Err(w.SendMessage(w.room, w.ada, text)))
}

func TestConnectionOutlivesWhatAGatewayCanDoToIt(t *testing.T) {
	for name, trouble := range map[string]func(w town) error{
		"a dropped socket":             func(w town) error { return w.DropSockets(w.bot) },
		"a wish to reconnect":          func(w town) error { return w.Reconnect(w.bot) },
		"an invalid session":           func(w town) error { return w.InvalidateSession(w.bot, false) },
		"an invalid session to resume": func(w town) error { return w.InvalidateSession(w.bot, true) },
		"an unknown error":             func(w town) error { return w.CloseGateway(w.bot, 4000, "unknown") },
		"a timed-out session":          func(w town) error { return w.CloseGateway(w.bot, 4009, "timed out") },
		"a wish for a heartbeat":       func(w town) error { return w.RequestHeartbeat(w.bot) },
		"a guild that is null":         func(w town) error { return w.Dispatch(w.bot, "GUILD_CREATE", "null") },
		"a message that is null":       func(w town) error { return w.Dispatch(w.bot, "MESSAGE_CREATE", "null") },
		"a message that is a list":     func(w town) error { return w.Dispatch(w.bot, "MESSAGE_CREATE", "[1]") },
		"a message of wrong types": func(w town) error {
			return w.Dispatch(w.bot, "MESSAGE_CREATE", `{"id":7,"author":"x"}`)
		},
		"an interaction of an unknown type": func(w town) error {
			return w.Dispatch(w.bot, "INTERACTION_CREATE", `{"type":99,"data":{}}`)
		},
		"an interaction without data": func(w town) error {
			return w.Dispatch(w.bot, "INTERACTION_CREATE", `{"type":2}`)
		},
		"an event nobody knows":     func(w town) error { return w.Dispatch(w.bot, "MOON_PHASE", `{}`) },
		"a handler that panics":     func(w town) error { return w.Dispatch(w.bot, "PANIC_PLEASE", `{}`) },
		"text that is not JSON":     func(w town) error { return w.SendRaw(w.bot, "{") },
		"null":                      func(w town) error { return w.SendRaw(w.bot, "null") },
		"an operation nobody knows": func(w town) error { return w.SendRaw(w.bot, `{"op":77,"d":null}`) },
		"a second wish to reconnect, by return": func(w town) error {
			return errors.Join(w.Reconnect(w.bot), w.Reconnect(w.bot))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t, discordtest.Config{})
			t.Parallel()
			_, ch := mustConnect(t, w)
			say(t, w, "before")
			awaitMessage(t, ch, "before")
			check.Must(t, trouble(w))
			check.Must(t, w.WaitConnected(voicetest.Deadline(t), w.bot))
			say(t, w, "after")
			awaitMessage(t, ch, "after")
		})
	}
}

func TestWhatWasMissedIsHeardAfterAResume(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	_, ch := mustConnect(t, w)
	say(t, w, "before")
	awaitMessage(t, ch, "before")
	check.Must(t, w.DropSockets(w.bot))
	say(t, w, "meanwhile")
	awaitMessage(t, ch, "meanwhile")
	late := time.After(patience)
	for kind := ""; kind != "RESUMED"; {
		select {
		case h := <-ch:
			kind = h.kind
		case <-late:
			t.Fatal("that the connection was resumed was never told")
		}
	}
}

func TestHeartbeatsThatAreNotAnsweredEndTheSocket(t *testing.T) {
	w := newTown(t, discordtest.Config{HeartbeatInterval: 100 * time.Millisecond})
	_, ch := mustConnect(t, w)
	say(t, w, "before")
	awaitMessage(t, ch, "before")
	w.WithholdHeartbeatACK(true)
	before := len(w.Disconnects())
	check.Must(t, w.Wait(voicetest.Deadline(t), "the client to hang up", func() bool {
		return len(w.Disconnects()) > before
	}))
	w.WithholdHeartbeatACK(false)
	check.Must(t, w.WaitConnected(voicetest.Deadline(t), w.bot))
}

func TestRefusalEndsItForGoodAndSaysWhichCode(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	_, _, err := connect(t, w, "wrong")
	var refused *discord.GatewayRefusedError
	if !errors.As(err, &refused) || refused.Code != discord.CloseInvalidToken {
		t.Fatalf("Open with a wrong token = %v, want a refusal with %d", err, discord.CloseInvalidToken)
	}
	w.ForbidIntents(w.bot, 1<<15)
	_, _, err = connect(t, w, w.bot.Token)
	if !errors.As(err, &refused) || refused.Code != discord.CloseDisallowedIntents {
		t.Fatalf("Open with a forbidden intent = %v, want a refusal with %d", err, discord.CloseDisallowedIntents)
	}
}

func TestRefusalLaterIsTold(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	c, _ := mustConnect(t, w)
	check.Must(t, w.CloseGateway(w.bot, discord.CloseInvalidToken, "revoked"))
	select {
	case <-c.Done():
	case <-time.After(patience):
		t.Fatal("the client never ended")
	}
	check.Fails(t, c.Err(), nil, "revoked")
}

func TestOpenGivesUpWithItsContextAndNamesTheLastFailure(t *testing.T) {
	c := &discord.Gateway{
		Token:   "secret",
		URL:     func(context.Context) (string, error) { return "ws://127.0.0.1:1/", nil },
		MinWait: time.Millisecond,
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	check.Fails(t, c.Open(ctx), nil, "the last try failed: dial the gateway")
}

func TestSendReachesTheGateway(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	c, _ := mustConnect(t, w)
	check.Must(t, c.Send(t.Context(), opVoiceState, map[string]any{
		"guild_id": w.room.GuildID, "channel_id": nil,
		"self_mute": false, "self_deaf": false,
	}))
	check.Must(t, check.Err(w.WaitReceived(voicetest.Deadline(t), opVoiceState, 0)))
}

func TestSendBeforeOpenIsRefused(t *testing.T) {
	var c discord.Gateway
	check.Fails(t, c.Send(t.Context(), opVoiceState, nil), discord.ErrNotConnected)
}
