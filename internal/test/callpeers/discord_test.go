package callpeers_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/bot/discord"
	"clank/internal/test/discordtest"
	"clank/internal/test/discordtest/voicetest"
	voicediscord "clank/voice/discord"
)

// testGuild is a guild with two voice channels, a person, the peer's account and ours. What the voice server sends is lost, doubled
// and reordered now and then, and dressed as native clients' packets are.
type testGuild struct {
	*discordtest.Server
	ada         discordtest.User
	peer, bot   discordtest.Bot
	guild       discordtest.Guild
	call, other discordtest.Channel
}

func newTestGuild(t *testing.T, cfg voicetest.Config) *testGuild {
	t.Helper()
	s, err := discordtest.Start(discordtest.Config{Voice: &cfg})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	s.Voice.SetNetwork(voicetest.NetworkFaults{Dress: true, Loss: 0.02, Duplicate: 0.02, Reorder: 0.02})
	w := &testGuild{Server: s, ada: s.CreateUser("ada"), peer: s.CreateBot("peer", "theirs"), bot: s.CreateBot("clank", "ours")}
	w.guild = s.CreateGuild("home", w.ada)
	s.AddMember(w.guild, w.peer.User)
	s.AddMember(w.guild, w.bot.User)
	w.call, w.other = s.CreateVoiceChannel(w.guild, "call"), s.CreateVoiceChannel(w.guild, "other")
	return w
}

// signIn connects us to the main gateway.
func (w *testGuild) signIn(t *testing.T) *voicediscord.Joiner {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: w.Voice.Roots()}}
	t.Cleanup(transport.CloseIdleConnections)
	j := &voicediscord.Joiner{HTTPClient: &http.Client{Transport: transport}}
	gate := &discord.Gateway{
		Token: w.bot.Token, Intents: 1 | 1<<7, // guilds and who is in their calls
		URL: func(context.Context) (string, error) {
			return "ws" + strings.TrimPrefix(w.URL, "http") + "/?v=9&encoding=json", nil
		},
		OnDispatch: func(kind string, data json.RawMessage) { j.Dispatch(kind, data) },
	}
	j.Send = gate.Send
	if err := gate.Open(deadline(t)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 15*time.Second)
		defer cancel()
		if err := j.Close(ctx); err != nil {
			t.Error(err)
		}
		_ = gate.Close(ctx) // the server may be gone before it says goodbye
	})
	return j
}

// innocent reports what the real service would not have taken. The peer's library sends sound as it is while it has no keys,
// which is its own affair.
func (w *testGuild) innocent(t *testing.T) {
	t.Helper()
	for _, v := range w.Voice.Violations() {
		if v.Seat.User != w.peer.ID || !strings.Contains(v.Text, "not encrypted from end to end") {
			t.Errorf("violation: %+v", v)
		}
	}
}

func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}
