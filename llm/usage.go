package llm

// Usage counts the tokens of one or more calls. InputTokens includes
// CachedTokens; OutputTokens includes ReasoningTokens.
type Usage struct {
	Calls           int     `json:"calls"`
	InputTokens     int     `json:"input_tokens"`
	CachedTokens    int     `json:"cached_tokens,omitempty"`
	OutputTokens    int     `json:"output_tokens"`
	ReasoningTokens int     `json:"reasoning_tokens,omitempty"`
	USD             float64 `json:"usd,omitempty"`      // cost by the price table
	Unpriced        bool    `json:"unpriced,omitempty"` // some call had no known price: USD is a lower bound
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Calls:           u.Calls + v.Calls,
		InputTokens:     u.InputTokens + v.InputTokens,
		CachedTokens:    u.CachedTokens + v.CachedTokens,
		OutputTokens:    u.OutputTokens + v.OutputTokens,
		ReasoningTokens: u.ReasoningTokens + v.ReasoningTokens,
		USD:             u.USD + v.USD,
		Unpriced:        u.Unpriced || v.Unpriced,
	}
}

// Price is what a model costs, in US dollars per million tokens.
type Price struct {
	Input, Cached, Output float64
}

// Cost is the price of u in US dollars. Only the token counts of u are read.
func (p Price) Cost(u Usage) float64 {
	fresh := u.InputTokens - u.CachedTokens
	return (float64(fresh)*p.Input + float64(u.CachedTokens)*p.Cached + float64(u.OutputTokens)*p.Output) / 1e6
}
