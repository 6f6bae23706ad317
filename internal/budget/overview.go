package budget

import (
	"context"
	"fmt"
	"strings"
	"time"

	"clank/llm"
)

// LevelStatus compares the spending at one level with its limit.
type LevelStatus struct {
	Key      Key    `json:"key"`
	Spent    Amount `json:"spent"` // including reservations
	Limit    Amount `json:"limit"` // zero fields do not limit
	Unpriced int64  `json:"unpriced,omitempty"`
}

// String returns the status for people: "0.80 of 1.00 USD, 12 of 100 calls".
func (l LevelStatus) String() string { return l.Spent.Against(l.Limit) }

// Overview shows all spending and limits.
type Overview struct {
	Day    string        `json:"day"`    // today
	Today  LevelStatus   `json:"today"`  // of everyone
	Users  []LevelStatus `json:"users"`  // of today
	Guilds []LevelStatus `json:"guilds"` // of today
	Days   []LevelStatus `json:"days"`   // the last days, today first
	Calls  []Entry       `json:"calls"`  // the last model calls
}

// Maximum numbers of rows in an [Overview].
const (
	maxLines = 50
	maxDays  = 30
	maxCalls = 50
)

// Status returns the spending and limits of the levels to which a belongs, at least that of the day. Levels that a
// does not set are left out.
func (k *Enforcer) Status(ctx context.Context, a llm.Account) ([]LevelStatus, error) {
	rules := k.rulesFor(a)
	var of []Key
	for _, key := range keysOf(a, dayOf(k.now(), rules.Zone)) {
		if key.canBeLimited() {
			of = append(of, key)
		}
	}
	sums, err := k.Ledger.Sums(ctx, of)
	return k.levelStatuses(rules, sums), err
}

// UserStatus returns the spending of each person in a guild today, highest first. The limit is that of the person in
// all places together.
func (k *Enforcer) UserStatus(ctx context.Context, guild string) ([]LevelStatus, error) {
	rules := k.Rules()
	sums, err := k.Ledger.People(ctx, guild, dayOf(k.now(), rules.Zone), maxLines)
	return k.levelStatuses(rules, sums), err
}

// Overview returns the current state of spending.
func (k *Enforcer) Overview(ctx context.Context) (o Overview, err error) {
	rules := k.Rules()
	o.Day = dayOf(k.now(), rules.Zone)
	today, err := k.Ledger.Sums(ctx, []Key{{Level: LevelDay, Day: o.Day}})
	if err != nil {
		return o, err
	}
	o.Today = k.levelStatuses(rules, today)[0]
	for _, list := range []struct {
		into  *[]LevelStatus
		level Level
		day   string
		most  int
	}{{&o.Users, LevelUser, o.Day, maxLines}, {&o.Guilds, LevelGuild, o.Day, maxLines}, {&o.Days, LevelDay, "", maxDays}} {
		sums, err := k.Ledger.All(ctx, list.level, list.day, list.most)
		if err != nil {
			return o, err
		}
		*list.into = k.levelStatuses(rules, sums)
	}
	o.Calls, err = k.Ledger.Calls(ctx, maxCalls)
	return o, err
}

// Costs returns the spending of user, or of everyone for "", on the last days including today, grouped by by, and the
// list of these days.
func (k *Enforcer) Costs(
	ctx context.Context, by CostKey, days int, user string,
) (costs []Cost, dates []string, err error) {
	now, zone := k.now(), k.Rules().Zone
	for i := days - 1; i >= 0; i-- {
		dates = append(dates, dayOf(now.AddDate(0, 0, -i), zone))
	}
	costs, err = k.Ledger.Costs(ctx, by, dates[0], user)
	return costs, dates, err
}

// levelStatuses returns sums with their limits; that of a server may be stricter than the rules.
func (k *Enforcer) levelStatuses(rules Rules, sums []Sum) []LevelStatus {
	out := make([]LevelStatus, len(sums))
	for i, s := range sums {
		out[i] = LevelStatus{Key: s.Key, Spent: s.Amount, Unpriced: s.Unpriced}
		if s.Key.canBeLimited() {
			out[i].Limit = rules.Limits[s.Key.Level]
		}
		if s.Key.Level == LevelGuild {
			out[i].Limit = k.rulesFor(llm.Account{Guild: s.Key.ID}).Limits[LevelGuild]
		}
	}
	return out
}

// Settings that limit spending.
const (
	LimitKey  = "agentStack.runtimeConfig.budget." // followed by the level
	PricesKey = "agentStack.runtimeConfig.models.prices"
)

// spentError returns an error that names the exhausted budget, who can raise it, and when it resets. want is the
// requested amount.
func spentError(model string, s Sum, u dimension, allowed, want int64, zone *time.Location) *llm.Error {
	spent := u.of(s.Amount)
	var hints []string
	if u.estimated && spent < allowed {
		hints = append(hints, fmt.Sprintf("one more call could take %v", u.amount(want)))
	}
	hints = append(hints, fmt.Sprintf("whoever runs clank can allow more: setting %s%s", LimitKey, s.Key.Level))
	switch s.Key.Level {
	case LevelUser, LevelGuild, LevelDay:
		when := "it begins anew at midnight of the machine it runs on"
		if zone != nil && zone != time.Local {
			when = fmt.Sprintf("it begins anew at midnight in %s", zone)
		}
		hints = append(hints, when)
	case LevelTask:
		hints = append(hints, "a new task has a budget of its own")
	case LevelSession:
		hints = append(hints, "a new session has a budget of its own")
	}
	return &llm.Error{
		Kind: llm.ErrBudgetSpent, Model: model, Hint: strings.Join(hints, "; "),
		Message: "budget spent: " + fmt.Sprintf(levelFormats[s.Key.Level], u.beside(spent, allowed)),
	}
}
