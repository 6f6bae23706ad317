package server

import (
	"testing"

	"clank/internal/settings"
)

func TestACallThatNeedsAKeyIsRefusedWithoutOne(t *testing.T) {
	s := settings.Defaults()
	key := ""
	x := &CallService{
		Settings: func() settings.Settings { return s },
		Secret: func(name string) (settings.SecretValue, error) {
			return settings.ReadSecret(name, func(n string) string {
				if n == "OPENAI_API_KEY" {
					return key
				}
				return ""
			})
		},
	}
	if got := x.callPolicy().MissingSetup; got != "" {
		t.Errorf("the brain lacks %q", got)
	}
	s.Voice.Engine = settings.VoiceEngineRealtime
	if got, want := x.callPolicy().MissingSetup, "Calls are held by a realtime model here"; len(got) < len(want) || got[:len(want)] != want {
		t.Errorf("the realtime model lacks %q", got)
	}
	key = "sk-test"
	if got := x.callPolicy().MissingSetup; got != "" {
		t.Errorf("with a key it lacks %q", got)
	}
	key, s.Voice.Realtime.URL = "", "http://127.0.0.1:8000/v1"
	if got := x.callPolicy().MissingSetup; got != "" {
		t.Errorf("a server of one's own lacks %q", got)
	}
}
