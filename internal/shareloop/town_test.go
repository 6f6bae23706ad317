package shareloop_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/bot/gateway"
	"clank/internal/discordtest"
	"clank/internal/discordtest/voiceserver"
	"clank/voice/discord/golive"
	"clank/voice/discord/media"
)

// town is an emulated Discord with a call that ada is in, and an account that goes live there.
type town struct {
	*discordtest.Server

	guild   discordtest.Guild
	call    discordtest.Channel
	ada     discordtest.User
	account *golive.Account
}

func newTown(t *testing.T) town {
	t.Helper()
	s, err := discordtest.Start(discordtest.Config{Voice: &voiceserver.Config{DAVE: 1, Seed: 1}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	w := town{Server: s, ada: s.CreateUser("ada")}
	w.guild = s.CreateGuild("home", w.ada)
	w.call = s.CreateVoiceChannel(w.guild, "call")
	s.JoinVoice(w.call, w.ada)
	who := s.CreateAccount("eve", "of eve")
	s.AddMember(w.guild, who.User)
	w.account = &golive.Account{
		Format:     media.Format{Rate: 8, Bitrate: 4_000_000},
		HTTPClient: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.Voice.Roots(), MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}},
		Dial: func(dispatch func(string, json.RawMessage)) golive.Gateway {
			return &gateway.Client{
				Token: who.Token, NoBot: true, Intents: 1 | 1<<7, MinWait: 10 * time.Millisecond, OnDispatch: dispatch,
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
