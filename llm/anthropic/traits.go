package anthropic

import "strings"

// modelTrait are what the vendor's models differ in, by the beginning of their names.
type modelTrait struct {
	prefix    string
	maxOutput int // tokens
}

// modelTraits follow the vendor's table of models as of llm.PricesAsOf. The
// longest prefix counts; the empty one is for names nobody knows.
var modelTraits = []modelTrait{
	{"", 32_000},
	{"claude-fable-5", 128_000},
	{"claude-mythos-5", 128_000},
	{"claude-opus-5-5", 128_000},
	{"claude-opus-5", 128_000},
	{"claude-sonnet-5", 128_000},
	{"claude-haiku-5", 128_000},
	{"claude-opus-4-8", 128_000},
	{"claude-opus-4-7", 128_000},
	{"claude-opus-4-6", 128_000},
	{"claude-sonnet-4-6", 64_000},
	{"claude-opus-4-5", 64_000},
	{"claude-sonnet-4", 64_000},
	{"claude-haiku-4-5", 64_000},
	{"claude-opus-4", 32_000},
	{"claude-3-7", 64_000},
	{"claude-3-5", 8_192},
	{"claude-3", 4_096},
}

func traitsOf(model string) modelTrait {
	name := strings.ToLower(model[strings.LastIndex(model, "/")+1:])
	best := modelTraits[0]
	for _, t := range modelTraits[1:] {
		if strings.HasPrefix(name, t.prefix) && len(t.prefix) > len(best.prefix) {
			best = t
		}
	}
	return best
}
