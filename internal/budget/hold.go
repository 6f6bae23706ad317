package budget

import (
	"context"
	"time"

	"clank/llm"
)

// Estimate is the most that something may take that is no call of an [llm.Model]: an utterance put into words, a
// sentence spoken, a response of a model that hears and speaks.
type Estimate struct {
	Model string

	// Usage has the tokens, each once, and their list price: USD, or Unpriced where that is not known. A price of the
	// settings goes before it.
	Usage llm.Usage

	Time time.Duration // of sound
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

// Spend does something that takes e at most, and counts what do says that it took: its usage with the list price, and
// for how long sound was heard or said. Where the budget is spent nothing is done, and the error is an [*llm.Error]
// of the kind [llm.ErrBudgetSpent]. Otherwise it is do's. It is put down to the [llm.Account] of ctx, as is all
// below.
func (k *Enforcer) Spend(ctx context.Context, e Estimate, do func(context.Context) (llm.Usage, time.Duration, error)) error {
	rules := k.Rules()
	most, unpriced := k.estimatedAmount(rules, e)
	return k.spendUpTo(ctx, e.Model, most, unpriced, func(ctx context.Context) (llm.Usage, time.Duration, error) {
		u, lasted, err := do(ctx)
		return k.chargedUsage(rules, e.Model, u), lasted, err
	})
}

// Check reports, by an error as [Enforcer.Spend] gives it, that e could not be spent now. Nothing is held.
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

// Hold is something held in the ledger until it is known what it took. It belongs to one goroutine.
type Hold struct {
	enforcer *Enforcer
	estimate Estimate
	account  llm.Account
	id       int64
	over     bool
}

// Hold holds e, or says what is spent.
func (k *Enforcer) Hold(ctx context.Context, e Estimate) (*Hold, error) {
	most, unpriced := k.estimatedAmount(k.Rules(), e)
	h := &Hold{enforcer: k, estimate: e, account: llm.AccountOf(ctx)}
	var err error
	if h.id, err = k.reserve(ctx, h.account, e.Model, most, unpriced); err != nil {
		return nil, err
	}
	return h, nil
}

// Settle counts what was taken instead of what was held, for the account of ctx, be it another than it was held for.
// Only the first Settle or Release counts.
func (h *Hold) Settle(ctx context.Context, u llm.Usage, lasted time.Duration) {
	if h.over {
		return
	}
	k := h.enforcer
	rules := k.Rules()
	most, unpriced := k.estimatedAmount(rules, h.estimate)
	real, state, unknown := k.actualAmount(h.estimate.Model, k.chargedUsage(rules, h.estimate.Model, u), nil, most, unpriced)
	real.Time, real.Talk = lasted, lasted
	if llm.AccountOf(ctx) != h.account && k.record(ctx, h.estimate.Model, real, state, unknown) {
		h.Release(ctx)
		return
	}
	h.over = true
	k.settle(ctx, h.id, real, state, unknown)
}

// Release lets go of what is held: nothing was taken.
func (h *Hold) Release(ctx context.Context) {
	if h.over {
		return
	}
	h.over = true
	h.enforcer.settle(ctx, h.id, Amount{}, StateSettled, false)
}

// Record counts what has been taken already, whatever the limits say. sure says that e is not an estimate.
func (k *Enforcer) Record(ctx context.Context, e Estimate, sure bool) {
	real, unpriced := k.estimatedAmount(k.Rules(), e)
	state := StateEstimated
	if sure {
		state = StateSettled
	}
	k.record(ctx, e.Model, real, state, unpriced)
}

// record writes something down that has been spent already, and reports whether that could be done.
func (k *Enforcer) record(ctx context.Context, model string, real Amount, state EntryState, unpriced bool) bool {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer done()
	now := k.now()
	e := Entry{At: now, Day: dayOf(now, k.Rules().Zone), Account: llm.AccountOf(ctx), Model: model, Amount: real, Unpriced: unpriced}
	id, err := k.Ledger.Reserve(ctx, e, func([]Sum) error { return nil })
	if err != nil {
		k.logger().Error("what was spent could not be written down", "model", model, "error", err)
		return false
	}
	k.settle(ctx, id, real, state, unpriced)
	return true
}
