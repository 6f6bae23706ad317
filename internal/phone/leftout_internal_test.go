package phone

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"clank/brain"
	"clank/cancel"
	"clank/sessions"
	"clank/settings"
	"clank/sharing"
	"clank/voice"
	"clank/voice/audio"
	"clank/voice/privacy"
	"clank/voice/talk"
)

// TestWhoIsLeftOutIsNotDecodedWhateverComesToTheEar gives sound straight to the ear of a call: the conversation before it holds the
// sound of those who are left out back, too, so that in a whole call neither can be seen to fail.
func TestWhoIsLeftOutIsNotDecodedWhateverComesToTheEar(t *testing.T) {
	left, err := privacy.Open(t.Context(), bob{})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{settings.VoiceBrainText, settings.VoiceBrainRealtime} {
		for guild, want := range map[string][]string{"g": {"ada", "cy"}, "another": {"ada", "bob", "cy"}} {
			s := settings.Defaults()
			s.Voice.Brain = kind
			x := &Exchange{
				left: left, Settings: func() settings.Settings { return s }, Scopes: new(cancel.Scopes), Logger: slog.New(slog.DiscardHandler),
				Secret: func(string) (settings.SecretValue, error) { return settings.SecretValue{}, nil },
				Brain:  func(func(context.Context, sessions.Origin) []brain.Tool) talk.Replier { return nil },
			}
			call, ok := x.conversation(nil, talk.Place{Kind: sessions.FromDiscord, Guild: guild}, pageChat{}, sharing.Call{}).(kept)
			if !ok || call.Privacy != left {
				t.Fatalf("the call has the list %v", call.Privacy)
			}
			ctx, end := context.WithTimeout(t.Context(), time.Minute)
			heard := map[string]bool{}
			ear := call.NewEar(talk.Heard{
				Sound: func(s voice.Sound) {
					if heard[s.From] = true; s.From == "cy" { // who spoke last
						end()
					}
				},
				Said: func(voice.Utterance) {}, Paused: func(voice.Utterance) {}, Speaking: func(string, time.Duration, bool) {},
			})
			for _, from := range []string{"ada", "bob", "cy"} {
				ear.Take(voice.Packet{From: from, Opus: audio.Silence[:], At: time.Now()})
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
