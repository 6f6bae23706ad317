package llm

// Usage counts the tokens of one or more calls. InputTokens includes
// CachedTokens and CacheWriteTokens; OutputTokens includes ReasoningTokens.
type Usage struct {
	Calls            int     `json:"calls"`
	InputTokens      int     `json:"input_tokens"`
	CachedTokens     int     `json:"cached_tokens,omitempty"`      // read from a cache
	CacheWriteTokens int     `json:"cache_write_tokens,omitempty"` // written to one, where the vendor charges for it
	OutputTokens     int     `json:"output_tokens"`
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

// CacheWriteFactor is what writing input to a vendor's cache costs, as a
// multiple of plain input. It is Anthropic's rate for the cache of five
// minutes, the only one that is both charged for and used here. Who estimates
// the most that a call can cost counts its whole input as written.
const CacheWriteFactor = 1.25

// Cost is the price of u in US dollars. Only the token counts of u are read.
func (p Price) Cost(u Usage) float64 {
	fresh := float64(u.InputTokens-u.CachedTokens-u.CacheWriteTokens) + CacheWriteFactor*float64(u.CacheWriteTokens)
	return (fresh*p.Input + float64(u.CachedTokens)*p.Cached + float64(u.OutputTokens)*p.Output) / 1e6
}
