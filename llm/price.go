package llm

import (
	"context"
	"strings"
)

// PricesAsOf is the day on which the tables of prices and abilities were last
// read from the vendors' pages. Prices move: settings can override both.
const PricesAsOf = "2026-11-21"

// modelPrice is what one model costs. Above longFrom input tokens (0: never) the whole call costs the long price.
type modelPrice struct {
	model    string
	price    Price
	longFrom int
	long     Price
}

// longContext is where OpenAI's long-context rates begin, longGemini where
// those of Gemini Pro do, longGrok those of Grok.
const (
	longContext = 272_000
	longGemini  = 200_000
	longGrok    = 200_000
)

// priceTable are list prices for standard service, US dollars per million tokens.
var priceTable = []modelPrice{
	{"claude-fable-5-1", Price{10, 0.25, 50}, 0, Price{}},
	{"claude-mythos-5-1", Price{10, 0.25, 50}, 0, Price{}},
	{"claude-fable-5", Price{10, 1, 50}, 0, Price{}},
	{"claude-mythos-5", Price{10, 1, 50}, 0, Price{}},
	{"claude-opus-5-5", Price{4, 0.20, 20}, 0, Price{}},
	{"claude-sonnet-5-5", Price{2, 0.10, 10}, 0, Price{}},
	{"claude-haiku-5-5", Price{0.10, 0.01, 0.50}, 100_000, Price{0.50, 0.05, 2.50}},
	{"claude-opus-5", Price{5, 0.50, 25}, 0, Price{}},
	{"claude-sonnet-5", Price{2, 0.20, 10}, 0, Price{}},
	{"claude-opus-4-8", Price{5, 0.50, 25}, 0, Price{}},
	{"claude-opus-4-7", Price{5, 0.50, 25}, 0, Price{}},
	{"claude-opus-4-6", Price{5, 0.50, 25}, 0, Price{}},
	{"claude-opus-4-5", Price{5, 0.50, 25}, 0, Price{}},
	{"claude-sonnet-4-6", Price{3, 0.30, 15}, 0, Price{}},
	{"claude-sonnet-4-5", Price{3, 0.30, 15}, 0, Price{}},
	{"claude-haiku-4-5", Price{1, 0.10, 5}, 0, Price{}},
	{"gpt-6.1-sol", Price{2, 0.10, 10}, longContext, Price{4, 0.20, 15}},
	{"gpt-6-astra", Price{10, 1, 50}, longContext, Price{20, 2, 75}},
	{"gpt-6-sol", Price{2, 0.20, 10}, longContext, Price{4, 0.40, 15}},
	{"gpt-6-luna", Price{0.10, 0.01, 0.50}, longContext, Price{0.20, 0.02, 0.75}},
	{"gpt-5.6-sol", Price{4, 0.40, 20}, longContext, Price{8, 0.80, 30}},
	{"gpt-5.6", Price{4, 0.40, 20}, longContext, Price{8, 0.80, 30}}, // another name for gpt-5.6-sol
	{"gpt-5.6-terra", Price{2, 0.20, 12}, longContext, Price{4, 0.40, 18}},
	{"gpt-5.6-luna", Price{0.20, 0.02, 1.20}, longContext, Price{0.40, 0.04, 1.80}},
	{"gpt-5.5", Price{5, 0.50, 30}, longContext, Price{10, 1, 45}},
	{"gpt-5.4", Price{2.50, 0.25, 15}, longContext, Price{5, 0.50, 22.50}},
	{"gpt-5.4-mini", Price{0.75, 0.075, 4.50}, 0, Price{}},
	{"gpt-5.2", Price{1.75, 0.175, 14}, 0, Price{}},
	{"gpt-5-mini", Price{0.25, 0.025, 2}, 0, Price{}},
	{"gpt-4.1", Price{2, 0.50, 8}, 0, Price{}},

	{"grok-4.3", Price{1.25, 0.20, 2.50}, longGrok, Price{2.50, 0.40, 5}},

	// Gemini 3.6 to 3.8 at their introductory rates, which end with 2026.
	{"gemini-3.8-flash", Price{0.75, 0.075, 3.75}, 0, Price{}},
	{"gemini-3.7-flash", Price{0.75, 0.075, 3.75}, 0, Price{}},
	{"gemini-3.6-flash", Price{0.75, 0.075, 3.75}, 0, Price{}},
	{"gemini-3.5-flash", Price{1.50, 0.15, 9}, 0, Price{}},
	{"gemini-3.1-pro-preview", Price{2, 0.20, 12}, longGemini, Price{4, 0.40, 18}},
	{"gemini-3.1-flash-lite", Price{0.25, 0.025, 1.50}, 0, Price{}},
	{"gemini-3-flash-preview", Price{0.50, 0.05, 3}, 0, Price{}},
	{"gemini-2.5-pro", Price{1.25, 0.125, 10}, longGemini, Price{2.50, 0.25, 15}},
	{"gemini-2.5-computer-use-preview-10-2025", Price{1.25, 1.25, 10}, longGemini, Price{2.50, 2.50, 15}},
	{"gemini-2.5-flash", Price{0.30, 0.03, 2.50}, 0, Price{}},
	{"gemini-2.5-flash-lite", Price{0.10, 0.01, 0.40}, 0, Price{}},
}

// WithListPrice returns u with USD set to the list price of one call of model, or with Unpriced set if the price is
// unknown. Model is a vendor's name for it, with or without the vendor in front ("openai/gpt-6-sol"); snapshots
// ("gpt-6-sol-2026-09-22") cost what their model costs, but a variant with a name of its own does not.
func WithListPrice(model string, u Usage) Usage {
	p, ok := findPrice(model)
	if !ok {
		u.Unpriced = true
		return u
	}
	price := p.price
	if p.longFrom > 0 && u.InputTokens > p.longFrom {
		price = p.long
	}
	u.USD = price.Cost(u)
	return u
}

func findPrice(model string) (modelPrice, bool) {
	name := bareName(model)
	var best modelPrice
	for _, p := range priceTable {
		rest, ok := strings.CutPrefix(name, p.model)
		if ok && isSnapshot(rest) && len(p.model) > len(best.model) {
			best = p
		}
	}
	return best, best.model != ""
}

// isSnapshot says whether what follows a model's name only picks a version of it: nothing, a date, "-latest".
func isSnapshot(rest string) bool {
	if rest == "" || rest == "-latest" {
		return true
	}
	date, ok := strings.CutPrefix(rest, "-20")
	return ok && strings.Trim(date, "0123456789-") == ""
}

// bareName returns a model's name in lower case without the vendor in front.
func bareName(model string) string {
	return strings.ToLower(model[strings.LastIndex(model, "/")+1:])
}

// MaxPrice returns the most that a model's tokens can cost by the table in a call of up to input tokens. It says false
// for a model of unknown price.
func MaxPrice(model string, input int64) (Price, bool) {
	p, ok := findPrice(model)
	if p.longFrom == 0 || input <= int64(p.longFrom) {
		return p.price, ok
	}
	return Price{
		Input:  max(p.price.Input, p.long.Input),
		Cached: max(p.price.Cached, p.long.Cached),
		Output: max(p.price.Output, p.long.Output),
	}, ok
}

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

// Account says for whom and for what a model is asked, so that whoever stands between the caller and the vendor (a
// budget, a recorder) can put each call down to it. Ids are those of the other packages; empty = none.
type Account struct {
	Task    string
	Session string
	Guild   string
	Channel string
	User    string  // id of the person, with the door in front ("discord:42"), as ids of two doors may be alike
	Purpose string  // what the call is for: "browse", "talk", "describe", "speech", …
	MaxUSD  float64 // what the calls of Task may cost together, below what the settings allow; 0 = that. It is not stored
}

type accountKey struct{}

// WithAccount returns a context whose model calls belong to a.
func WithAccount(ctx context.Context, a Account) context.Context {
	return context.WithValue(ctx, accountKey{}, a)
}

// AccountOf returns the account that ctx's model calls belong to, or the zero Account if none was set.
func AccountOf(ctx context.Context) Account {
	a, _ := ctx.Value(accountKey{}).(Account)
	return a
}
