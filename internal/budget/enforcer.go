package budget

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"clank/llm"
)

// Rules are the operator's rules. They are read again before each call.
type Rules struct {
	Limits   Limits
	Zone     *time.Location // time zone in which days begin; nil means that of the machine
	KeepDays int            // days for which entries are kept; 0 means forever
	// Prices override or extend the price table, by model name as in settings ("openai:gpt-6-sol") or without the
	// provider.
	Prices map[string]llm.Price

	asked bool // the task's money limit was requested with the task
}

// Enforcer keeps spending within the rules. Set its fields before first use; its methods are safe for concurrent use.
type Enforcer struct {
	Ledger Ledger
	Rules  func() Rules
	// GuildLimit returns the daily limit that a server has set for itself, in addition to the rules; nil means none
	// has.
	GuildLimit func(guild string) Amount
	// IsFree reports whether a model is free and uses no tokens because it runs in this program; nil means that none
	// is.
	IsFree func(model string) bool
	Now    func() time.Time // nil means time.Now
	Logger *slog.Logger     // nil means none
}

// forgetInterval is how often old entries are looked for.
const forgetInterval = time.Hour

// settleTime bounds recording the cost of a call.
const settleTime = 10 * time.Second

// reserve reserves e's amount in the ledger, or returns an error that names the exhausted budget.
func (k *Enforcer) reserve(ctx context.Context, a llm.Account, model string, most Amount,
	unpriced bool,
) (int64, error) {
	rules, now := k.rulesFor(a), k.now()
	e := Entry{At: now, Day: dayOf(now, rules.Zone), Account: a, Model: model, Amount: most, Unpriced: unpriced}
	id, err := k.Ledger.Reserve(ctx, e, func(sums []Sum) error { return checkLimits(rules, model, sums, most, unpriced) })
	if err != nil && ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	return id, err
}

// rulesFor returns the rules for a, including the limits of its task and server.
func (k *Enforcer) rulesFor(a llm.Account) Rules {
	rules := k.Rules().forAccount(a)
	if k.GuildLimit == nil || a.Guild == "" {
		return rules
	}
	limits := Limits{}
	maps.Copy(limits, rules.Limits)
	rules.Limits = limits
	rules.Limits[LevelGuild] = stricter(rules.Limits[LevelGuild], k.GuildLimit(a.Guild))
	return rules
}

// stricter returns the lower of two limits for each field.
func stricter(a, b Amount) Amount {
	least := func(x, y int64) int64 {
		if x == 0 || y > 0 && y < x {
			return y
		}
		return x
	}
	return Amount{
		Calls: least(a.Calls, b.Calls), Steps: least(a.Steps, b.Steps), Tokens: least(a.Tokens, b.Tokens),
		Money: Money(least(int64(a.Money), int64(b.Money))), Time: time.Duration(least(int64(a.Time), int64(b.Time))),
		Talk: time.Duration(least(int64(a.Talk), int64(b.Talk))),
	}
}

// forAccount returns the rules with the limits of a's task.
func (r Rules) forAccount(a llm.Account) Rules {
	own, task := Dollars(a.MaxUSD), r.Limits[LevelTask]
	if a.Task == "" || own <= 0 || task.Money > 0 && task.Money <= own {
		return r
	}
	limits := Limits{}
	maps.Copy(limits, r.Limits)
	task.Money = own
	limits[LevelTask] = task
	r.Limits, r.asked = limits, true
	return r
}

// Run deletes old entries from time to time until ctx ends.
func (k *Enforcer) Run(ctx context.Context) {
	tick := time.Tick(forgetInterval)
	for {
		k.forgetOld(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
	}
}

// forgetOld deletes old entries.
func (k *Enforcer) forgetOld(ctx context.Context) {
	rules := k.Rules()
	if rules.KeepDays <= 0 {
		return
	}
	err := k.Ledger.Forget(ctx, dayOf(k.now().AddDate(0, 0, -rules.KeepDays), rules.Zone))
	if err != nil && ctx.Err() == nil {
		k.logger().Warn("old entries of the ledger could not be forgotten", "error", err)
	}
}

// settle records the actual cost of an entry, even if ctx has ended. If that fails the entry counts as estimated.
func (k *Enforcer) settle(ctx context.Context, id int64, real Amount, state EntryState, unpriced bool) {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer done()
	if err := k.Ledger.Settle(ctx, id, real, state, unpriced); err != nil {
		k.logger().Error("what was spent could not be written down; it counts as estimated", "entry", id, "error", err)
	}
}

// checkLimits returns an error if adding most would exceed the limit of a sum. Even a call that uses none of a
// dimension requires that some of it is left, unless the dimension counts separately.
func checkLimits(rules Rules, model string, sums []Sum, most Amount, unpriced bool) error {
	if err := checkPrice(rules, model, sums, unpriced); err != nil {
		return err
	}
	for _, s := range sums {
		if !s.Key.canBeLimited() {
			continue
		}
		limit := rules.Limits[s.Key.Level]
		for _, u := range dimensions {
			if allowed := u.of(limit); allowed > 0 && exceeds(u, s, most, allowed, unpriced) {
				err := spentError(model, s, u, allowed, u.of(most), rules.Zone)
				if rules.asked && s.Key.Level == LevelTask && u.of(Amount{Money: 1}) > 0 {
					err.Hint = "that is what the task was asked for with; a new task has a budget of its own"
				}
				return err
			}
		}
	}
	return nil
}

// exceeds reports whether most does not fit under the limit allowed of u. Reservations of other calls may turn out up
// to [estimateMargin] times as high; with that included, a limit can be exceeded by at most the estimate of this
// call. A call of unknown price does not fit once all the money is spent.
func exceeds(u dimension, s Sum, most Amount, allowed int64, unpriced bool) bool {
	spent, held, want := u.of(s.Amount), u.of(s.Held), u.of(most)
	switch {
	case want == 0:
		needs := most.Calls > 0 && !u.apart && (!u.estimated || unpriced)
		return needs && spent-held >= allowed
	case u.estimated:
		spent += (estimateMargin - 1) * held
	}
	return spent+want > allowed
}

// checkPrice returns an error for a call of unknown price if money is limited and no other limit bounds its cost.
func checkPrice(rules Rules, model string, sums []Sum, unpriced bool) error {
	if !unpriced {
		return nil
	}
	money, tokens := false, false
	for _, s := range sums {
		if s.Key.canBeLimited() {
			limit := rules.Limits[s.Key.Level]
			money = money || limit.Money > 0
			tokens = tokens || limit.Tokens > 0
		}
	}
	if !money || tokens {
		return nil
	}
	return &llm.Error{
		Kind: llm.ErrRejected, Model: model, Message: "its price is not known, and a budget in USD holds",
		Hint: fmt.Sprintf("write its price in USD per million tokens (input, cached input, output) as a line of the "+
			"setting %s, such as %q; or set a limit in tokens, under which it may run", PricesKey, priceExample(model)),
	}
}

func (k *Enforcer) isFree(model string) bool { return k.IsFree != nil && k.IsFree(model) }

func (k *Enforcer) now() time.Time {
	if k.Now == nil {
		return time.Now()
	}
	return k.Now()
}

func (k *Enforcer) logger() *slog.Logger { return cmp.Or(k.Logger, slog.New(slog.DiscardHandler)) }
