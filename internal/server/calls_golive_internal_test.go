package server

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"clank/internal/settings"
	"clank/internal/test/discordtest"
	"clank/voice/share"
)

// newTestCallService returns a CallService that only knows of Go Live.
func newTestCallService(t *testing.T, on bool, secrets map[string]string) *CallService {
	t.Helper()
	x := &CallService{
		Settings: func() settings.Settings {
			var s settings.Settings
			s.Share.GoLive = on
			return s
		},
		Secret: func(name string) (settings.SecretValue, error) { return settings.NewSecret(secrets[name]), nil },
		Logger: slog.New(slog.DiscardHandler),
	}
	x.callsContext, x.endCalls = context.WithCancelCause(t.Context())
	t.Cleanup(func() {
		x.endCalls(context.Canceled)
		x.background.Wait()
	})
	return x
}

func TestGoLiveThatCannotBeUsedSaysWhyAndLeavesTheLink(t *testing.T) {
	for name, tc := range map[string]struct {
		secrets map[string]string
		want    string
	}{
		"no account":                   {map[string]string{botTokenName: "of the bot"}, "set DISCORD_GOLIVE_TOKEN"},
		"the bot's":                    {map[string]string{botTokenName: "of the bot", goLiveTokenName: "of the bot"}, "the bot's own token"},
		"the bot's, written otherwise": {map[string]string{botTokenName: "of the bot", goLiveTokenName: " Bot of the bot\n"}, "the bot's own token"},
	} {
		t.Run(name, func(t *testing.T) {
			x := newTestCallService(t, true, tc.secrets)
			x.openGoLive()
			stages := x.shareTargets(callRefOf("1", "2"))
			if len(stages) != 2 || stages[0].Name() != "Go Live" {
				t.Fatalf("got %d stages, want Go Live and the link", len(stages))
			}
			if _, err := stages[0].Begin(t.Context(), share.Presentation{}); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got error %v, want one with %q", err, tc.want)
			}
		})
	}
	x := newTestCallService(t, false, map[string]string{goLiveTokenName: "of an account"})
	if x.openGoLive(); len(x.shareTargets(callRefOf("1", "2"))) != 1 {
		t.Error("go live is tried though nobody has switched it on")
	}
}

func TestTheGatewayIsFoundWithoutSigningIn(t *testing.T) {
	answer := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v9/gateway" || r.Header.Get("Authorization") != "" {
			t.Errorf("asked for %s with %q", r.URL.Path, r.Header.Get("Authorization"))
		}
		if text := <-answer; text != "" {
			_ = json.NewEncoder(w).Encode(map[string]string{"url": text})
			return
		}
		http.Error(w, "busy", http.StatusServiceUnavailable)
	}))
	t.Cleanup(server.Close)
	x := newTestCallService(t, true, nil)
	x.DiscordBase = server.URL
	answer <- "wss://gateway.example"
	if got, err := x.gatewayURL(t.Context()); got != "wss://gateway.example/?v=9&encoding=json" || err != nil {
		t.Errorf("got %q, error %v", got, err)
	}
	for _, bad := range []string{"", "no address"} {
		answer <- bad
		if got, err := x.gatewayURL(t.Context()); err == nil {
			t.Errorf("got %q for the answer %q, want an error", got, bad)
		}
	}
}

func TestTheAccountForGoLiveSignsInOrSaysWhyNot(t *testing.T) {
	d, err := discordtest.Start(discordtest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	eve := d.CreateAccount("eve", "of eve")
	for token, want := range map[string]string{eve.Token: "", "of nobody": "4004"} {
		x := newTestCallService(t, true, map[string]string{botTokenName: "of the bot", goLiveTokenName: token})
		x.DiscordBase = d.URL
		x.openGoLive()
		if want == "" {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := d.WaitConnected(ctx, eve); err != nil {
				t.Fatal(err)
			}
		}
		late := time.After(time.Minute)
		for done := false; !done; {
			_, err := x.goLive.connected()
			done = (want == "" && err == nil) || (want != "" && err != nil && strings.Contains(err.Error(), want))
			select {
			case <-time.After(5 * time.Millisecond):
			case <-late:
				t.Fatalf("with the token %q it says %v, want %q", token, err, want)
			}
		}
		x.endCalls(context.Canceled)
		x.background.Wait()
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := d.Wait(ctx, "eve to leave when the program ends", func() bool { return !d.Connected(eve) }); err != nil {
		t.Error(err)
	}
}
