package budget

import (
	"context"
	"time"

	"clank/llm"
)

// Estimate is the maximum usage of something other than an [llm.Model] call: a transcription, a synthesized sentence,
// a response of a realtime model.
type Estimate struct {
	Model string

	// Usage is the tokens, counting each once, and their list price: USD, or Unpriced if it is unknown. A price in
	// the settings overrides it.
	Usage llm.Usage

	Time time.Duration // of audio
}

func (k *Enforcer) estimatedAmount(rules Rules, e Estimate) (most Amount, unpriced bool) {
	u := k.chargedUsage(rules, e.Model, e.Usage)
	most = Amount{Calls: 1, Time: e.Time, Talk: e.Time}
	if k.isFree(e.Model) {
		return most, false
	}
	most.Tokens, most.Money = tokenCount(u), Dollars(min(u.USD, maxUSD))
	return most, u.Unpriced
}

// Spend reserves e, calls do, and charges the usage and the duration of audio that do returns. If the budget is
// exhausted it does not call do, and the error is an [*llm.Error] of the kind [llm.ErrBudgetSpent]; otherwise the
// error is do's. Like the methods below, it charges the [llm.Account] of ctx.
func (k *Enforcer) Spend(ctx context.Context, e Estimate,
	do func(context.Context) (llm.Usage, time.Duration, error),
) error {
	rules := k.Rules()
	most, unpriced := k.estimatedAmount(rules, e)
	return k.spendUpTo(ctx, e.Model, most, unpriced, func(ctx context.Context) (llm.Usage, time.Duration, error) {
		u, lasted, err := do(ctx)
		return k.chargedUsage(rules, e.Model, u), lasted, err
	})
}

// Check returns the error that [Enforcer.Spend] would return for e now. It reserves nothing.
func (k *Enforcer) Check(ctx context.Context, e Estimate) error {
	rules := k.rulesFor(llm.AccountOf(ctx))
	most, unpriced := k.estimatedAmount(rules, e)
	sums, err := k.Ledger.Sums(ctx, keysOf(llm.AccountOf(ctx), dayOf(k.now(), rules.Zone)))
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	return checkLimits(rules, e.Model, sums, most, unpriced)
}

// Hold is a reservation in the ledger. It must be used by one goroutine.
type Hold struct {
	enforcer *Enforcer
	estimate Estimate
	account  llm.Account
	id       int64
	over     bool
}

// Hold reserves e, or returns an error that names the exhausted budget.
func (k *Enforcer) Hold(ctx context.Context, e Estimate) (*Hold, error) {
	most, unpriced := k.estimatedAmount(k.Rules(), e)
	h := &Hold{enforcer: k, estimate: e, account: llm.AccountOf(ctx)}
	var err error
	if h.id, err = k.reserve(ctx, h.account, e.Model, most, unpriced); err != nil {
		return nil, err
	}
	return h, nil
}

// Settle replaces the reservation by the actual usage, charged to the account of ctx, which may differ from the one
// that reserved it. Only the first call of Settle or Release has an effect.
func (h *Hold) Settle(ctx context.Context, u llm.Usage, lasted time.Duration) {
	if h.over {
		return
	}
	k := h.enforcer
	rules := k.Rules()
	most, unpriced := k.estimatedAmount(rules, h.estimate)
	real, state, unknown := k.actualAmount(h.estimate.Model, k.chargedUsage(rules, h.estimate.Model, u), nil, most,
		unpriced)
	real.Time, real.Talk = lasted, lasted
	if llm.AccountOf(ctx) != h.account && k.record(ctx, h.estimate.Model, real, state, unknown) {
		h.Release(ctx)
		return
	}
	h.over = true
	k.settle(ctx, h.id, real, state, unknown)
}

// Release cancels the reservation: nothing was used.
func (h *Hold) Release(ctx context.Context) {
	if h.over {
		return
	}
	h.over = true
	h.enforcer.settle(ctx, h.id, Amount{}, StateSettled, false)
}

// Record charges something that has already happened, whatever the limits. sure means that e is exact.
func (k *Enforcer) Record(ctx context.Context, e Estimate, sure bool) {
	real, unpriced := k.estimatedAmount(k.Rules(), e)
	state := StateEstimated
	if sure {
		state = StateSettled
	}
	k.record(ctx, e.Model, real, state, unpriced)
}

// record adds an entry for something that has already happened, and reports whether that succeeded.
func (k *Enforcer) record(ctx context.Context, model string, real Amount, state EntryState, unpriced bool) bool {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer done()
	now := k.now()
	e := Entry{
		At: now, Day: dayOf(now, k.Rules().Zone), Account: llm.AccountOf(ctx), Model: model, Amount: real,
		Unpriced: unpriced,
	}
	id, err := k.Ledger.Reserve(ctx, e, func([]Sum) error { return nil })
	if err != nil {
		k.logger().Error("what was spent could not be written down", "model", model, "error", err)
		return false
	}
	k.settle(ctx, id, real, state, unpriced)
	return true
}
