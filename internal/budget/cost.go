package budget

import (
	"cmp"
	"context"
	"errors"
	"net"
	"sort"
	"strings"
	"time"

	"clank/llm"
)

// withoutProvider returns the vendor's name of a model: "gpt-6-sol" of "openai:gpt-6-sol".
func withoutProvider(model string) string {
	if _, name, ok := strings.Cut(model, ":"); ok {
		return name
	}
	return model
}

// priceOverride returns the price of a model that an operator has set.
func priceOverride(rules Rules, model string) (llm.Price, bool) {
	if p, set := rules.Prices[model]; set {
		return p, true
	}
	p, set := rules.Prices[withoutProvider(model)]
	return p, set
}

// chargedUsage returns what a call cost by the rules: usage at the price in the settings where one is set, and
// nothing for a free model.
func (k *Enforcer) chargedUsage(rules Rules, model string, u llm.Usage) llm.Usage {
	u = clampUsage(u)
	u.Calls = cmp.Or(u.Calls, 1)
	if k.isFree(model) {
		u.USD, u.Unpriced = 0, false
		return u
	}
	if p, set := priceOverride(rules, model); set && tokenCount(u) > 0 {
		u.USD, u.Unpriced = p.Cost(u), false
	}
	return u
}

// The most that one call is believed to have taken; far from where sums of it would no longer fit into the ledger.
const (
	maxUsage         = 1 << 40 // tokens
	maxUSD   float64 = 1_000_000
)

// clampUsage returns u in countable form. Usage that no call can have had counts as if none was reported, so
// that it refunds nothing, and values too large for sums count as the maximum.
func clampUsage(u llm.Usage) llm.Usage {
	counts := []*int{&u.Calls, &u.InputTokens, &u.CachedTokens, &u.CacheWriteTokens, &u.OutputTokens, &u.ReasoningTokens}
	for _, n := range counts {
		if *n < 0 {
			return llm.Usage{Unpriced: u.Unpriced}
		}
		*n = min(*n, maxUsage)
	}
	if !(u.USD >= 0) || u.CachedTokens+u.CacheWriteTokens > u.InputTokens {
		return llm.Usage{Unpriced: u.Unpriced}
	}
	return u
}

// actualAmount returns what a finished call took, for the ledger: u is its usage as charged, most its estimate,
// unpriced whether its price was unknown. What was not reported counts as estimated; what a failed call reported
// may be incomplete, so its estimate counts too.
func (k *Enforcer) actualAmount(model string, u llm.Usage, err error, most Amount, unpriced bool) (real Amount, state EntryState, unknown bool) {
	told := Amount{Calls: 1, Tokens: tokenCount(u), Money: Dollars(min(u.USD, maxUSD))}
	nothing := told.Tokens == 0 && told.Money == 0
	switch {
	case err == nil && nothing && k.isFree(model), err != nil && nothing && isUnsent(err):
		return told, StateSettled, false
	case err != nil || nothing:
		told.Tokens, told.Money = max(told.Tokens, most.Tokens), max(told.Money, most.Money)
		return told, StateEstimated, unpriced
	case u.Unpriced && !unpriced: // there is a price, but the vendor's package did not tell of it
		told.Money = max(told.Money, most.Money)
		return told, StateEstimated, false
	case told.Tokens == 0: // a server may tell the cost alone
		told.Tokens = most.Tokens
		return told, StateEstimated, u.Unpriced
	default:
		return told, StateSettled, u.Unpriced
	}
}

// isUnsent reports whether a failure means that the model was not asked, or that
// the vendor refused before it did anything: that costs nothing.
func isUnsent(err error) bool {
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
		return true
	}
	var failed *llm.Error
	if !errors.As(err, &failed) || failed.Status < 400 {
		return false
	}
	switch failed.Kind {
	case llm.ErrAuth, llm.ErrNotFound, llm.ErrRateLimited, llm.ErrRejected, llm.ErrUnavailable:
		return true
	case llm.ErrTimeout, llm.ErrCutOff, llm.ErrMalformed, llm.ErrBudgetSpent:
	}
	return false
}

// call makes one call of a model within the budget. ask makes it, with the context and the longest answer that it is
// given, and returns what it took. Where the budget has room for a shorter answer only, the model is asked for that.
func (k *Enforcer) call(ctx context.Context, c modelCall, ask func(ctx context.Context, maxTokens int) (llm.Usage, error)) (llm.Usage, error) {
	rules := k.Rules()
	u, asked := llm.Usage{}, false
	try := func() error {
		most, unpriced := k.maxAmount(rules, c.model, c.input, c.maxTokens, c.contextSize)
		return k.spendUpTo(ctx, c.model, most, unpriced, func(ctx context.Context) (_ llm.Usage, _ time.Duration, err error) {
			asked = true
			u, err = ask(ctx, c.maxTokens)
			u = k.chargedUsage(rules, c.model, u)
			return u, 0, err
		})
	}
	err := try()
	if failed := (*llm.Error)(nil); !asked && errors.As(err, &failed) && failed.Kind == llm.ErrBudgetSpent {
		if c.maxTokens = k.affordableAnswer(ctx, c); c.maxTokens > 0 {
			err = try()
		}
	}
	return u, err
}

// minAnswer is the shortest answer that is worth a call, in tokens: a tool call and a few words.
const minAnswer = 256

// affordableAnswer returns how many tokens an answer may have for which there is a budget left; 0 if that is too few.
func (k *Enforcer) affordableAnswer(ctx context.Context, c modelCall) int {
	account := llm.AccountOf(ctx)
	rules := k.rulesFor(account)
	sums, err := k.Ledger.Sums(ctx, keysOf(account, dayOf(k.now(), rules.Zone)))
	if err != nil {
		return 0
	}
	longest := c.maxTokens
	if longest <= 0 {
		longest = maxOutput
	}
	n := sort.Search(longest, func(n int) bool {
		most, unpriced := k.maxAmount(rules, c.model, c.input, n+1, c.contextSize)
		return checkLimits(rules, c.model, sums, most, unpriced) != nil
	})
	if n < minAnswer {
		return 0
	}
	return n
}

// spendUpTo does something that takes most at most. A try that may have cost something counts as a call of its own,
// and the next one is only made if there is a budget for it.
func (k *Enforcer) spendUpTo(
	ctx context.Context, model string, most Amount, unpriced bool,
	do func(context.Context) (llm.Usage, time.Duration, error),
) error {
	id, err := k.reserve(ctx, llm.AccountOf(ctx), model, most, unpriced)
	if err != nil {
		return err
	}
	real, state, unknown, open := most, StateEstimated, unpriced, true
	defer func() { // also if do panics
		if open {
			k.settle(ctx, id, real, state, unknown)
		}
	}()
	again := func(told error) error {
		if isUnsent(told) {
			return nil
		}
		k.settle(ctx, id, most, StateEstimated, unpriced)
		id, err = k.reserve(ctx, llm.AccountOf(ctx), model, most, unpriced)
		open = err == nil
		return err
	}
	u, lasted, err := do(llm.WithRetryApproval(ctx, again))
	real, state, unknown = k.actualAmount(model, u, err, most, unpriced)
	real.Time, real.Talk = lasted, lasted
	return err
}

// modelCall is what is known of a call before it is made.
type modelCall struct {
	model                  string
	input                  int64
	maxTokens, contextSize int
}
