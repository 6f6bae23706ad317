package llm_test

import (
	"fmt"

	"clank/llm"
)

func ExamplePrice_Cost() {
	price := llm.Price{Input: 2, Cached: 0.5, Output: 8} // dollars per million tokens
	usage := llm.Usage{Calls: 1, InputTokens: 100_000, CachedTokens: 60_000, OutputTokens: 1_000}
	fmt.Printf("%.3f USD\n", price.Cost(usage))
	// Output: 0.118 USD
}
