package shareloop_test

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
	"clank/voice/discord/conn"
	"clank/voice/discord/golive"
)

// testGuild is an emulated Discord with a call that ada is in, and an account that goes live there.
type testGuild struct {
	*discordtest.Server

	guild   discordtest.Guild
	call    discordtest.Channel
	ada     discordtest.User
	account *golive.Account
}

func newTestGuild(t *testing.T) testGuild {
	t.Helper()
	s, err := discordtest.Start(discordtest.Config{Voice: &voicetest.Config{DAVE: 1, Seed: 1}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	w := testGuild{Server: s, ada: s.CreateUser("ada")}
	w.guild = s.CreateGuild("home", w.ada)
	w.call = s.CreateVoiceChannel(w.guild, "call")
	s.JoinVoice(w.call, w.ada)
	who := s.CreateAccount("eve", "of eve")
	s.AddMember(w.guild, who.User)
	w.account = &golive.Account{
		Format:     conn.Format{Rate: 8, Bitrate: 4_000_000},
		HTTPClient: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.Voice.Roots(), MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}},
		Dial: func(dispatch func(string, json.RawMessage)) golive.Gateway {
			return &discord.Gateway{
				Token: who.Token, UserToken: true, Intents: 1 | 1<<7, MinWait: 10 * time.Millisecond, OnDispatch: dispatch,
				URL: func(context.Context) (string, error) {
					return "ws" + strings.TrimPrefix(s.URL, "http") + "/?v=9&encoding=json", nil
				},
			}
		},
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := w.account.Open(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := w.account.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return w
}
