package llm_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/llm"
)

func TestConversationSurvivesJSON(t *testing.T) {
	want := []llm.Message{
		{Role: llm.RoleUser, Parts: []llm.Part{
			{Text: "look"},
			{Image: &llm.Image{MediaType: "image/png", Data: []byte{0, 1, 255}}},
		}},
		{Role: llm.RoleAssistant, Parts: []llm.Part{
			{Opaque: &llm.Opaque{Owner: "a", Data: json.RawMessage(`{"x":[1,2]}`)}},
			{Text: "I will"},
			{Call: &llm.ToolCall{ID: "1", Name: "click", Input: json.RawMessage(`{"ref":"e1"}`)}},
			{Call: &llm.ToolCall{ID: "2", Name: "click", Input: json.RawMessage(`{}`), Malformed: "{oops"}},
		}},
		{Role: llm.RoleUser, Parts: []llm.Part{
			{Result: &llm.ToolResult{ID: "1", Images: []llm.Image{{MediaType: "image/webp", Data: []byte("w")}}}},
			{Result: &llm.ToolResult{ID: "2", Text: "no", IsError: true}},
		}},
	}
	data, err := json.Marshal(want)
	check.Must(t, err)
	var got []llm.Message
	check.Must(t, json.Unmarshal(data, &got))
	check.Diff(t, "conversation changed", got, want)
}

func TestReplyTextAndCallsKeepTheirOrder(t *testing.T) {
	r := llm.Reply{Message: llm.Message{Parts: []llm.Part{
		{Text: "a"}, {Call: &llm.ToolCall{ID: "1"}}, {Text: "b"}, {Call: &llm.ToolCall{ID: "2"}},
	}}}
	check.Equal(t, "Text()", r.Text(), "a\n\nb")
	if got := r.Calls(); len(got) != 2 || got[0].ID != "1" || got[1].ID != "2" {
		t.Errorf("Calls() = %v, want 1 and 2", got)
	}
}

func TestUsageAddsUpAndOneUnpricedCallMarksTheSum(t *testing.T) {
	a := llm.Usage{
		Calls: 1, InputTokens: 10, CachedTokens: 4, CacheWriteTokens: 3, OutputTokens: 5, ReasoningTokens: 2, USD: 0.5,
	}
	b := llm.Usage{
		Calls: 2, InputTokens: 6, CachedTokens: 1, CacheWriteTokens: 2, OutputTokens: 4, ReasoningTokens: 1, USD: 0.25,
		Unpriced: true,
	}
	want := llm.Usage{
		Calls: 3, InputTokens: 16, CachedTokens: 5, CacheWriteTokens: 5, OutputTokens: 9, ReasoningTokens: 3, USD: 0.75,
		Unpriced: true,
	}
	check.Equal(t, "Add", a.Add(b), want)
}

func TestErrorReadsAsASentence(t *testing.T) {
	cause := errors.New("secret detail")
	err := error(&llm.Error{
		Kind: llm.ErrAuth, Model: "openai:x", Message: "the key was refused", Hint: "set KEY",
		Err: cause,
	})
	check.Equal(t, "Error()", err.Error(), "model openai:x: the key was refused (set KEY)")
	check.Fails(t, err, cause)
}

func TestARetryIsApprovedByWhoWantsToKnow(t *testing.T) {
	lost, spent := errors.New("lost"), errors.New("spent")
	check.Must(t, llm.ApproveRetry(t.Context(), lost))
	ctx := llm.WithRetryApproval(t.Context(), func(cause error) error { return errors.Join(cause, spent) })
	check.Fails(t, llm.ApproveRetry(ctx, lost), spent, "lost")
}

func TestWritingTheCacheCostsMoreThanReadingOrSendingPlainly(t *testing.T) {
	tests := []struct {
		model string
		usage llm.Usage
		usd   float64
	}{
		{"claude-opus-5-5", llm.Usage{
			InputTokens: 100_000, CachedTokens: 60_000, CacheWriteTokens: 30_000,
			OutputTokens: 1000,
		}, 0.01*4 + 0.06*0.20 + 0.03*5 + 0.001*20},
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

func TestWhoChargesForWritingTheCacheIsKnownByName(t *testing.T) {
	for model, want := range map[string]bool{
		"claude-opus-5-5": true, "anthropic:claude-haiku-4-5": true, "openai:gpt-5.6-sol": true, "openai/gpt-6-sol": true,
		"gpt-5.5": false, "openai:gpt-4.1": false, "not-gpt-6": false,
	} {
		check.Equal(t, model, llm.ChargesCacheWrites(model), want)
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
	for _, model := range []string{
		"", "llama3.1", "gpt-5.4-pro", "gpt-6-solar", "gpt-6-sol:free", "gpt-6",
		"gpt-6-sol-2x",
	} {
		got := llm.WithListPrice(model, llm.Usage{InputTokens: 1000})
		if !got.Unpriced || got.USD != 0 {
			t.Errorf("Charge(%q) = %v USD, unpriced %v; want 0, true", model, got.USD, got.Unpriced)
		}
	}
}

func TestPricesCarryADate(t *testing.T) {
	check.Must(t, check.Err(time.Parse(time.DateOnly, llm.PricesAsOf)))
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
		input int64
		want  llm.Price
		known bool
	}{
		{"gpt-6-sol", 272_001, llm.Price{Input: 4, Cached: 0.4, Output: 15}, true},
		{"gpt-6-sol", 272_000, llm.Price{Input: 2, Cached: 0.2, Output: 10}, true},
		{"gpt-5.4-mini", 300_000, llm.Price{Input: 0.75, Cached: 0.075, Output: 4.5}, true},
		{"some-model-of-mine", 1, llm.Price{}, false},
	}
	for _, tt := range tests {
		if got, known := llm.MaxPrice(tt.model, tt.input); got != tt.want || known != tt.known {
			t.Errorf("MaxPrice(%q, %d) = %+v, %v; want %+v, %v", tt.model, tt.input, got, known, tt.want, tt.known)
		}
	}
}

func ExamplePrice_Cost() {
	price := llm.Price{Input: 2, Cached: 0.5, Output: 8} // dollars per million tokens
	usage := llm.Usage{Calls: 1, InputTokens: 100_000, CachedTokens: 60_000, OutputTokens: 1_000}
	fmt.Printf("%.3f USD\n", price.Cost(usage))
	// Output: 0.118 USD
}
