package anthropic

import "strings"

// thinkingKind is how a model's thinking is governed.
type thinkingKind int

const (
	thinkBudget   thinkingKind = iota // by a number of tokens; off unless asked for
	thinkAdaptive                     // by an effort; can be switched off
	thinkAlways                       // by an effort; cannot be switched off
)

// modelTrait are what the vendor's models differ in, by the beginning of their
// names.
type modelTrait struct {
	prefix    string
	thinking  thinkingKind
	maxOutput int // tokens
}

// modelTraits follow the vendor's table of models as of llm.PricesAsOf. The
// longest prefix counts; the empty one is for names nobody knows.
var modelTraits = []modelTrait{
	{"", thinkAdaptive, 32_000},
	{"claude-fable-5", thinkAlways, 128_000},
	{"claude-mythos-5", thinkAlways, 128_000},
	{"claude-opus-5-5", thinkAlways, 128_000},
	{"claude-opus-5", thinkAdaptive, 128_000},
	{"claude-sonnet-5", thinkAdaptive, 128_000},
	{"claude-haiku-5", thinkAdaptive, 128_000},
	{"claude-opus-4-8", thinkAdaptive, 128_000},
	{"claude-opus-4-7", thinkAdaptive, 128_000},
	{"claude-opus-4-6", thinkAdaptive, 128_000},
	{"claude-sonnet-4-6", thinkAdaptive, 64_000},
	{"claude-opus-4-5", thinkBudget, 64_000},
	{"claude-sonnet-4", thinkBudget, 64_000},
	{"claude-haiku-4-5", thinkBudget, 64_000},
	{"claude-opus-4", thinkBudget, 32_000},
	{"claude-3-7", thinkBudget, 64_000},
	{"claude-3-5", thinkBudget, 8_192},
	{"claude-3", thinkBudget, 4_096},
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

// thinkingBudgets are the thinking tokens that an effort stands for where a model wants
// a number.
var thinkingBudgets = map[string]int{"low": 2_048, "medium": 8_192, "high": 16_384, "xhigh": 24_576, "max": 30_720}

// minBudget is the least that the API takes.
const minBudget = 1_024
