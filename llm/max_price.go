package llm

// MaxPrice returns the most that a model's tokens can cost by the table, be the call of usual length or a long one:
// what a call may cost before it is made. It says false for a model of unknown price.
func MaxPrice(model string) (Price, bool) {
	p, ok := findPrice(model)
	if p.longFrom == 0 {
		return p.price, ok
	}
	return Price{
		Input:  max(p.price.Input, p.long.Input),
		Cached: max(p.price.Cached, p.long.Cached),
		Output: max(p.price.Output, p.long.Output),
	}, ok
}
