package budget

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"clank/llm"
)

// Rules hold what an operator decides. They are asked for anew before each call.
type Rules struct {
	Limits   Limits
	Zone     *time.Location // where a day begins at midnight; nil = that of the machine
	KeepDays int            // days for which entries are kept; 0 = for ever
	// Prices are those that the table does not know, or gets wrong, by the name of a model as people write it in
	// settings ("openai:gpt-6-sol") or without the provider.
	Prices map[string]llm.Price

	asked bool // the limit of a task's money is what it was asked for with
}

// Enforcer holds spending within the rules. Its fields are set before its first
// use; its methods are safe for concurrent use.
type Enforcer struct {
	Ledger Ledger
	Rules  func() Rules
	// GuildLimit returns what a server allows itself in a day, within the rules; nil: none does.
	GuildLimit func(guild string) Amount
	// IsFree reports whether a model costs nothing and reads no tokens, as it runs in this program; nil: none.
	IsFree func(model string) bool
	Now    func() time.Time // nil means time.Now
	Logger *slog.Logger     // nil means none

	mu          sync.Mutex
	forgottenOn string // the last day on which old entries were forgotten
}

// settleTime bounds how long it may take to write down what something took.
const settleTime = 10 * time.Second

// reserve holds e's amount in the ledger, or says what is spent.
func (k *Enforcer) reserve(ctx context.Context, a llm.Account, model string, most Amount, unpriced bool) (int64, error) {
	rules, now := k.rulesFor(a), k.now()
	day := dayOf(now, rules.Zone)
	k.forgetOld(ctx, rules, now, day)
	e := Entry{At: now, Day: day, Account: a, Model: model, Amount: most, Unpriced: unpriced}
	id, err := k.Ledger.Reserve(ctx, e, func(sums []Sum) error { return checkLimits(rules, model, sums, most, unpriced) })
	if err != nil && ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	return id, err
}

// rulesFor returns the rules for what is counted for a: with what its task and its server allow themselves.
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

// stricter returns the limit under which both hold.
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

// forAccount returns the rules with what the task of a allows itself.
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

// forgetOld forgets old entries, once a day.
func (k *Enforcer) forgetOld(ctx context.Context, rules Rules, now time.Time, day string) {
	k.mu.Lock()
	due := rules.KeepDays > 0 && k.forgottenOn != day
	k.forgottenOn = day
	k.mu.Unlock()
	if !due {
		return
	}
	if err := k.Ledger.Forget(ctx, dayOf(now.AddDate(0, 0, -rules.KeepDays), rules.Zone)); err != nil && ctx.Err() == nil {
		k.logger().Warn("old entries of the ledger could not be forgotten", "error", err)
	}
}

// settle writes down what an entry took. That is done also when ctx has ended.
// If it cannot be written down the entry counts as it was estimated.
func (k *Enforcer) settle(ctx context.Context, id int64, real Amount, state EntryState, unpriced bool) {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer done()
	if err := k.Ledger.Settle(ctx, id, real, state, unpriced); err != nil {
		k.logger().Error("what was spent could not be written down; it counts as estimated", "entry", id, "error", err)
	}
}

// checkLimits says no if a sum would pass its limit with most. A call that takes none
// of something needs some of it left all the same, unless that counts apart.
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

// exceeds reports whether most does not fit under what is allowed of u. What others hold by estimate may turn out to
// be [estimateMargin] times as much; with that counted, a limit can be passed by the estimate of this one call at
// most. A call whose money is not known does not fit where all of it is spent.
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

// checkPrice says no to a call of unknown price where money is limited and nothing else bounds what it costs.
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
		Hint: fmt.Sprintf("write its price in USD per million tokens (input, cached input, output) as a line of the setting %s, such as %q; "+
			"or set a limit in tokens, under which it may run", PricesKey, priceExample(model)),
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
