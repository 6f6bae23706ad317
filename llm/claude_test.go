package llm_test

import (
	"math"
	"testing"

	"clank/llm"
)

func TestWritingTheCacheCostsMoreThanReadingOrSendingPlainly(t *testing.T) {
	tests := []struct {
		model string
		usage llm.Usage
		usd   float64
	}{
		{"claude-opus-5-5", llm.Usage{InputTokens: 100_000, CachedTokens: 60_000, CacheWriteTokens: 30_000, OutputTokens: 1000}, 0.01*4 + 0.06*0.20 + 0.03*5 + 0.001*20},
		{"claude-haiku-4-5-20251001", llm.Usage{InputTokens: 10_000}, 0.01},
		{"claude-haiku-5-5", llm.Usage{InputTokens: 100_001, CacheWriteTokens: 100_000}, 0.1*0.625 + 0.000001*0.5},
	}
	for _, tt := range tests {
		got := llm.WithListPrice(tt.model, tt.usage)
		if got.Unpriced || math.Abs(got.USD-tt.usd) > 1e-9 {
			t.Errorf("Charge(%q, %+v) = %v USD, unpriced %v; want %v USD", tt.model, tt.usage, got.USD, got.Unpriced, tt.usd)
		}
	}
	if got := llm.WithListPrice("claude-opus-4-1", llm.Usage{InputTokens: 1}); !got.Unpriced {
		t.Errorf("a model without a row costs %v USD, want unpriced", got.USD)
	}
}

func TestClaudeModelsSayWhetherTheyWorkAScreen(t *testing.T) {
	for model, want := range map[string]llm.Caps{
		"claude-opus-5-5":            {Tools: true, Vision: true, Computer: true, ContextSize: 1_000_000},
		"claude-sonnet-4-5-20250929": {Tools: true, Vision: true, Computer: true, ContextSize: 200_000},
		"claude-3-haiku-20240307":    {Tools: true, Vision: true, ContextSize: 200_000},
	} {
		if got, known := llm.CapsOf(model); got != want || !known {
			t.Errorf("CapsOf(%q) = %+v, %v; want %+v", model, got, known, want)
		}
	}
}
