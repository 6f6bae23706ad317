package llm

import "strings"

// Usage counts the tokens of one or more calls. InputTokens includes
// CachedTokens and CacheWriteTokens; OutputTokens includes ReasoningTokens.
type Usage struct {
	Calls            int     `json:"calls,omitempty"`
	InputTokens      int     `json:"input_tokens,omitempty"`
	CachedTokens     int     `json:"cached_tokens,omitempty"`      // read from a cache
	CacheWriteTokens int     `json:"cache_write_tokens,omitempty"` // written to one, where the vendor charges for it
	OutputTokens     int     `json:"output_tokens,omitempty"`
	ReasoningTokens  int     `json:"reasoning_tokens,omitempty"`
	USD              float64 `json:"usd,omitempty"`      // cost by the price table
	Unpriced         bool    `json:"unpriced,omitempty"` // some call had no known price: USD is a lower bound
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Calls:            u.Calls + v.Calls,
		InputTokens:      u.InputTokens + v.InputTokens,
		CachedTokens:     u.CachedTokens + v.CachedTokens,
		CacheWriteTokens: u.CacheWriteTokens + v.CacheWriteTokens,
		OutputTokens:     u.OutputTokens + v.OutputTokens,
		ReasoningTokens:  u.ReasoningTokens + v.ReasoningTokens,
		USD:              u.USD + v.USD,
		Unpriced:         u.Unpriced || v.Unpriced,
	}
}

// Price is what a model costs, in US dollars per million tokens.
type Price struct {
	Input, Cached, Output float64
}

// CacheWriteFactor is what writing input to a vendor's cache costs, as a multiple of plain input: Anthropic's rate
// for the cache of five minutes, and OpenAI's from gpt-5.6 on. Who estimates the most that a call can cost counts its
// whole input as written where [ChargesCacheWrites].
const CacheWriteFactor = 1.25

// ChargesCacheWrites reports whether a model's vendor charges for what is written to its cache. Model is the vendor's
// name for it, with or without the vendor in front.
func ChargesCacheWrites(model string) bool {
	name := bareName(model)
	name = name[strings.LastIndex(name, ":")+1:]
	return strings.Contains(name, "claude") || strings.HasPrefix(name, "gpt-5.6") || strings.HasPrefix(name, "gpt-6")
}

// Cost returns the price of u in US dollars. Only the token counts of u are read.
func (p Price) Cost(u Usage) float64 {
	fresh := float64(u.InputTokens-u.CachedTokens-u.CacheWriteTokens) + CacheWriteFactor*float64(u.CacheWriteTokens)
	return (fresh*p.Input + float64(u.CachedTokens)*p.Cached + float64(u.OutputTokens)*p.Output) / 1e6
}
