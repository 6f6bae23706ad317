package llm_test

import (
	"testing"
	"time"

	"clank/llm"
)

func TestRetirementsAreFoundByNameAndSnapshot(t *testing.T) {
	for model, want := range map[string]string{
		"gpt-4o-mini-tts":            "OpenAI takes it back on 2027-01-06",
		"openai/gpt-4o":              "OpenAI takes it back on 2027-01-14; gpt-6-luna takes its place",
		"GPT-5-2025-08-07":           "OpenAI takes it back on 2026-12-11; gpt-5.6-sol takes its place",
		"gpt-realtime-mini":          "OpenAI takes it back on 2027-01-20; gpt-realtime-2.1-mini takes its place",
		"gpt-5.6":                    "",
		"gpt-realtime-2.1":           "",
		"gpt-4o-search-preview":      "",
		"Systran/faster-whisper-1":   "",
		"gpt-transcribe":             "",
		"claude-opus-5-5":            "",
		"gpt-4o-transcribe-diarized": "",
	} {
		r, ok := llm.DeprecationOf(model)
		if got := r.String(); ok != (want != "") || ok && got != want {
			t.Errorf("Retires(%q) = %q, %v; want %q", model, got, ok, want)
		}
		if _, err := time.Parse(time.DateOnly, r.ShutdownDate); ok && err != nil {
			t.Errorf("%s: %v", model, err)
		}
	}
}
