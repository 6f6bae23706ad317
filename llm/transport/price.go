package transport

import "clank/llm"

// WithPrice puts a price to what one call used: as the server told (u.USD), else by the table of package llm. What
// was not counted has no known price.
func WithPrice(model string, u llm.Usage) llm.Usage {
	counted := u.InputTokens+u.OutputTokens > 0
	u.Calls = 1
	switch {
	case u.USD > 0:
	case counted:
		u = llm.WithListPrice(model, u)
	default:
		u.Unpriced = true
	}
	return u
}
