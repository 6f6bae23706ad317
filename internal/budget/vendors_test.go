package budget_test

import (
	"errors"
	"testing"

	"clank/internal/budget"
	"clank/internal/test/check"
	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/llm/anthropic"
	"clank/llm/gemini"
	"clank/llm/openai"
)

func TestASmallBudgetCanBeUsedUpWithEachVendor(t *testing.T) {
	answer := func(r llmtest.Request) llmtest.Reply {
		if r.MaxTokens > 0 && r.MaxTokens < 256 {
			t.Errorf("a model was asked for an answer of %d tokens, too short for one", r.MaxTokens)
		}
		return llmtest.Reply{Text: "Go on.", Usage: &llm.Usage{InputTokens: 300, OutputTokens: 60}}
	}
	for name, serve := range map[string]func() (*llmtest.Server, llm.Model, error){
		"openai, responses": func() (*llmtest.Server, llm.Model, error) {
			s := llmtest.NewServer(t)
			m, err := openai.New(openai.Options{BaseURL: s.BaseURL(), Key: "k", Model: "gpt-5.4", API: openai.APIResponses})
			return s, m, err
		},
		"openai, chat": func() (*llmtest.Server, llm.Model, error) {
			s := llmtest.NewServer(t)
			m, err := openai.New(openai.Options{Provider: "compatible", BaseURL: s.BaseURL(), Model: "grok-4.3"})
			return s, m, err
		},
		"anthropic": func() (*llmtest.Server, llm.Model, error) {
			s := llmtest.NewAnthropicServer(t)
			m, err := anthropic.New(anthropic.Options{BaseURL: s.BaseURL(), Key: "k", Model: "claude-sonnet-5-5"})
			return s, m, err
		},
		"gemini": func() (*llmtest.Server, llm.Model, error) {
			s := llmtest.NewGeminiServer(t)
			m, err := gemini.New(gemini.Options{BaseURL: s.BaseURL(), Key: "k", Model: "gemini-3.8-flash"})
			return s, m, err
		},
	} {
		b := newBench(t, budget.Limits{budget.LevelTask: {Money: budget.Dollars(0.05)}})
		s, inner, err := serve()
		check.Must(t, err)
		s.SetFallback(answer)
		m := b.keeper.Model(inner)
		ctx := llm.WithAccount(t.Context(), llm.Account{Task: "t"})
		req := llm.Request{
			System: "You work a browser. Do what the person asks for, and no more.", MaxTokens: 4096,
			Messages: []llm.Message{llm.UserText("find a lamp")},
		}
		for err == nil {
			_, err = m.Generate(ctx, req, nil)
		}
		var failed *llm.Error
		if !errors.As(err, &failed) || failed.Kind != llm.ErrBudgetSpent {
			t.Fatalf("%s: %v", name, err)
		}
		if got := b.sum(t, budget.Key{Level: budget.LevelTask, ID: "t"}).Amount.Money; got < budget.Dollars(0.045) ||
			got > budget.Dollars(0.05) {
			t.Errorf("%s: of 0.05 USD, %s was spent after %d calls", name, got, len(s.Requests()))
		}
	}
}
