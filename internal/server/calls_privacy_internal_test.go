package server

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"clank/cancel"
	"clank/internal/settings"
	"clank/sessions"
	"clank/voice"
	"clank/voice/conversation"
	"clank/voice/share"
)

// TestWhoIsLeftOutIsNotDecodedWhateverComesToTheEar gives sound straight to the ear of a call: the conversation before it holds the
// sound of those who are left out back, too, so that in a whole call neither can be seen to fail.
func TestWhoIsLeftOutIsNotDecodedWhateverComesToTheEar(t *testing.T) {
	left, err := voice.OpenPrivacyList(t.Context(), optOutStoreOfBob{})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{settings.VoiceEngineText, settings.VoiceEngineRealtime} {
		for guild, want := range map[string][]string{"g": {"ada", "cy"}, "another": {"ada", "bob", "cy"}} {
			s := settings.Defaults()
			s.Voice.Engine = kind
			x := &CallService{
				privacy: left, Settings: func() settings.Settings { return s }, Scopes: new(cancel.Scopes), Logger: slog.New(slog.DiscardHandler),
				Secret: func(string) (settings.SecretValue, error) { return settings.SecretValue{}, nil },
			}
			call, ok := x.newConversation(nil, conversation.Location{Kind: sessions.FromDiscord, Guild: guild}, pageChat{}, share.CallRef{}).(recordedConversation)
			if !ok || call.Privacy != left {
				t.Fatalf("the call has the list %v", call.Privacy)
			}
			ctx, end := context.WithTimeout(t.Context(), time.Minute)
			heard := map[string]bool{}
			ear := call.NewDetector(conversation.SpeechEvents{
				Sound: func(s voice.Sound) {
					if heard[s.From] = true; s.From == "cy" { // who spoke last
						end()
					}
				},
				Ended: func(voice.Utterance) {}, Paused: func(voice.Utterance) {}, Speaking: func(string, time.Duration, bool) {},
			})
			for _, from := range []string{"ada", "bob", "cy"} {
				ear.Write(voice.Packet{From: from, Opus: voice.OpusSilence[:], At: time.Now()})
			}
			if err := ear.Run(ctx); err != nil {
				t.Fatal(err)
			}
			end()
			for _, who := range want {
				if !heard[who] {
					t.Errorf("%s, in %s: %s is not heard", kind, guild, who)
				}
			}
			if len(heard) != len(want) {
				t.Errorf("%s, in %s: heard %v, want %v", kind, guild, heard, want)
			}
		}
	}
}
