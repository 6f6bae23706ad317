package transport

import "clank/llm"

// WithPrice puts a price to what one call used: by price if the operator gave one,
// else as the server told (u.USD), else by the table of package llm. What was
// not counted has no known price.
func WithPrice(price *llm.Price, model string, u llm.Usage) llm.Usage {
	counted := u.InputTokens+u.OutputTokens > 0
	u.Calls = 1
	switch {
	case price != nil:
		u.USD = price.Cost(u)
		u.Unpriced = !counted && *price != llm.Price{}
	case u.USD > 0:
	case counted:
		u = llm.WithListPrice(model, u)
	default:
		u.Unpriced = true
	}
	return u
}
