package settings

import (
	"fmt"
	"strings"

	"clank/llm"
)

// ParsePrices parses prices by model: "model input cached output", one per line. The error is that of the first
// invalid line; the valid prices are returned with it.
func ParsePrices(text string) (map[string]llm.Price, error) {
	prices := make(map[string]llm.Price)
	var first error
	for line := range strings.Lines(text) {
		model, p, err := parsePrice(line)
		switch {
		case err == nil && model != "":
			prices[model] = p
		case first == nil:
			first = err
		}
	}
	return prices, first
}

// parsePrice parses one line; the model of an empty line is "".
func parsePrice(line string) (model string, p llm.Price, err error) {
	f := strings.Fields(line)
	if len(f) == 0 {
		return "", p, nil
	}
	if len(f) != 4 {
		return "", p, fmt.Errorf("must have a model and three prices on each line (input, cached input, output), unlike %q",
			strings.TrimSpace(line))
	}
	for i, into := range []*float64{&p.Input, &p.Cached, &p.Output} {
		if *into, err = parseCount(f[i+1], maxUSD); err != nil {
			return "", llm.Price{}, err
		}
	}
	return f[0], p, nil
}
