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

// withoutProvider removes the provider from a model name: "gpt-6-sol" for "openai:gpt-6-sol".
func withoutProvider(model string) string {
	if _, name, ok := strings.Cut(model, ":"); ok {
		return name
	}
	return model
}

// priceOverride returns the price that the operator has set for a model.
func priceOverride(rules Rules, model string) (llm.Price, bool) {
	if p, set := rules.Prices[model]; set {
		return p, true
	}
	p, set := rules.Prices[withoutProvider(model)]
	return p, set
}

// chargedUsage returns usage with its cost: at the price in the settings if there is one, and zero for a free model.
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

// Plausible maximum usage of one call. Sums of it cannot overflow the ledger.
const (
	maxUsage         = 1 << 40 // tokens
	maxUSD   float64 = 1_000_000
)

// clampUsage limits u to plausible values. Impossible usage counts as not reported, so that it refunds nothing;
// values that are too large are reduced to the maximum.
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

// actualAmount returns the amount to record for a finished call: u is its usage with its cost, most the estimate,
// unpriced whether the price is unknown. Unreported usage counts as estimated. The usage reported by a failed call
// may be incomplete, so it is at least the estimate.
func (k *Enforcer) actualAmount(model string, u llm.Usage, err error, most Amount,
	unpriced bool,
) (real Amount, state EntryState, unknown bool) {
	reported := Amount{Calls: 1, Tokens: tokenCount(u), Money: Dollars(min(u.USD, maxUSD))}
	nothing := reported.Tokens == 0 && reported.Money == 0
	switch {
	case nothing && (k.isFree(model) || isUnsent(err)):
		return reported, StateSettled, false
	case err != nil || nothing:
		reported.Tokens, reported.Money = max(reported.Tokens, most.Tokens), max(reported.Money, most.Money)
		return reported, StateEstimated, unpriced
	case u.Unpriced && !unpriced: // there is a price, but the vendor's package did not report the cost
		reported.Money = max(reported.Money, most.Money)
		return reported, StateEstimated, false
	case reported.Tokens == 0: // a server may report only the cost
		reported.Tokens = most.Tokens
		return reported, StateEstimated, u.Unpriced
	default:
		return reported, StateSettled, u.Unpriced
	}
}

// isUnsent reports whether a failed call never reached the model, or was rejected before any processing: then it
// costs nothing.
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

// call makes one model call within the budget. ask makes the request with the given context and maximum answer
// length, and returns its usage. If the budget only suffices for a shorter answer, the maximum length is reduced.
func (k *Enforcer) call(ctx context.Context, c modelCall,
	ask func(ctx context.Context, maxTokens int) (llm.Usage, error),
) (llm.Usage, error) {
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

// minAnswer is the shortest useful answer in tokens: a tool call and a few words.
const minAnswer = 256

// affordableAnswer returns the number of answer tokens that the budget allows; 0 if it is less than minAnswer.
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

// spendUpTo reserves most and calls do. Each retry that may have cost something is charged as a call of its own, and
// made only if the budget allows it.
func (k *Enforcer) spendUpTo(
	ctx context.Context, model string, most Amount, unpriced bool,
	do func(context.Context) (llm.Usage, time.Duration, error),
) error {
	id, err := k.reserve(ctx, llm.AccountOf(ctx), model, most, unpriced)
	if err != nil {
		return err
	}
	real, state, unknown, open := most, StateEstimated, unpriced, true
	defer func() { // even if do panics
		if open {
			k.settle(ctx, id, real, state, unknown)
		}
	}()
	again := func(cause error) error {
		if isUnsent(cause) {
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

// modelCall is what is known about a call before it is made.
type modelCall struct {
	model                  string
	input                  int64
	maxTokens, contextSize int
}
