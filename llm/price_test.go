package llm_test

import (
	"math"
	"testing"
	"time"

	"clank/llm"
)

func TestChargeFindsTheLongestNameThatFits(t *testing.T) {
	million := llm.Usage{Calls: 1, InputTokens: 100_000, CachedTokens: 50_000, OutputTokens: 10_000}
	tests := []struct {
		model string
		usage llm.Usage
		usd   float64
	}{
		{"gpt-6-sol", million, 0.05*2 + 0.05*0.2 + 0.01*10},
		{"openai/gpt-6-sol", million, 0.05*2 + 0.05*0.2 + 0.01*10},
		{"GPT-6.1-Sol-2026-09-29", million, 0.05*2 + 0.05*0.1 + 0.01*10},
		{"gpt-5.4-mini", million, 0.05*0.75 + 0.05*0.075 + 0.01*4.5},
		{"gpt-6-sol", llm.Usage{InputTokens: 272_000}, 0.272 * 2},
		{"gpt-6-sol", llm.Usage{InputTokens: 272_001}, 0.272001 * 4},
	}
	for _, tt := range tests {
		got := llm.WithListPrice(tt.model, tt.usage)
		if got.Unpriced || math.Abs(got.USD-tt.usd) > 1e-9 {
			t.Errorf("Charge(%q, %+v) = %v USD, unpriced %v; want %v USD", tt.model, tt.usage, got.USD, got.Unpriced, tt.usd)
		}
		if got.InputTokens != tt.usage.InputTokens || got.Calls != tt.usage.Calls {
			t.Errorf("Charge(%q) changed the counts: got %+v, want %+v", tt.model, got, tt.usage)
		}
	}
}

func TestUnknownModelsAreUnpricedAndNotTakenForTheirRelatives(t *testing.T) {
	for _, model := range []string{"", "llama3.1", "gpt-5.4-pro", "gpt-6-solar", "gpt-6-sol:free", "gpt-6", "gpt-6-sol-2x"} {
		got := llm.WithListPrice(model, llm.Usage{InputTokens: 1000})
		if !got.Unpriced || got.USD != 0 {
			t.Errorf("Charge(%q) = %v USD, unpriced %v; want 0, true", model, got.USD, got.Unpriced)
		}
		if _, ok := llm.PriceOf(model); ok {
			t.Errorf("PriceOf(%q) knows a price, want none", model)
		}
	}
}

func TestPricesCarryADate(t *testing.T) {
	if _, err := time.Parse(time.DateOnly, llm.PricesAsOf); err != nil {
		t.Errorf("PricesAsOf: %v", err)
	}
}

func TestCapsOfUsesTheLongestBeginning(t *testing.T) {
	tests := []struct {
		model string
		want  llm.Caps
		known bool
	}{
		{"gpt-5.4-mini-2026-03-17", llm.Caps{Tools: true, Vision: true, Computer: true, ContextSize: 400_000}, true},
		{"openai/gpt-5.4", llm.Caps{Tools: true, Vision: true, Computer: true, ContextSize: 1_050_000}, true},
		{"llava:13b", llm.Caps{Vision: true}, true},
		{"some-model-of-mine", llm.Caps{}, false},
	}
	for _, tt := range tests {
		got, known := llm.CapsOf(tt.model)
		if got != tt.want || known != tt.known {
			t.Errorf("CapsOf(%q) = %+v, %v; want %+v, %v", tt.model, got, known, tt.want, tt.known)
		}
	}
}

func TestDearestPriceIsThatOfLongCalls(t *testing.T) {
	tests := []struct {
		model string
		want  llm.Price
		known bool
	}{
		{"gpt-6-sol", llm.Price{Input: 4, Cached: 0.4, Output: 15}, true},
		{"gpt-5.4-mini", llm.Price{Input: 0.75, Cached: 0.075, Output: 4.5}, true},
		{"some-model-of-mine", llm.Price{}, false},
	}
	for _, tt := range tests {
		if got, known := llm.MaxPrice(tt.model); got != tt.want || known != tt.known {
			t.Errorf("DearestPrice(%q) = %+v, %v; want %+v, %v", tt.model, got, known, tt.want, tt.known)
		}
	}
}
