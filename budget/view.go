package budget

import (
	"context"

	"clank/llm"
)

// Line is what one level has spent, and may.
type Line struct {
	Key      Key    `json:"key"`
	Spent    Amount `json:"spent"` // with what is under way
	Limit    Amount `json:"limit"` // zero fields do not limit
	Unpriced int64  `json:"unpriced,omitempty"`
}

// String is the line as people read it: "0.80 of 1.00 USD, 12 of 100 calls".
func (l Line) String() string { return l.Spent.Against(l.Limit) }

// Overview is how spending stands.
type Overview struct {
	Day    string  `json:"day"`    // today
	Today  Line    `json:"today"`  // of everybody
	Users  []Line  `json:"users"`  // of today
	Guilds []Line  `json:"guilds"` // of today
	Days   []Line  `json:"days"`   // the last days, today first
	Calls  []Entry `json:"calls"`  // the last calls of models
}

// How many lines an [Overview] has at most.
const (
	mostLines = 50
	mostDays  = 30
	mostCalls = 50
)

// Left returns what the levels to which a belongs have spent, and may: the day
// at least. Levels of which a says nothing are left out.
func (k *Keeper) Left(ctx context.Context, a llm.Account) ([]Line, error) {
	rules := k.Rules()
	var of []Key
	for _, key := range keys(a, dayOf(k.now(), rules.Zone)) {
		if key.limited() {
			of = append(of, key)
		}
	}
	sums, err := k.Ledger.Sums(ctx, of)
	return lines(rules, sums), err
}

// Users returns what each person has spent in a guild today, the most first. The
// limit beside it is what each may spend in all places together.
func (k *Keeper) Users(ctx context.Context, guild string) ([]Line, error) {
	rules := k.Rules()
	sums, err := k.Ledger.People(ctx, guild, dayOf(k.now(), rules.Zone), mostLines)
	return lines(rules, sums), err
}

// Overview returns how spending stands.
func (k *Keeper) Overview(ctx context.Context) (o Overview, err error) {
	rules := k.Rules()
	o.Day = dayOf(k.now(), rules.Zone)
	today, err := k.Ledger.Sums(ctx, []Key{{Level: Day, Day: o.Day}})
	if err != nil {
		return o, err
	}
	o.Today = lines(rules, today)[0]
	for _, list := range []struct {
		into  *[]Line
		level Level
		day   string
		most  int
	}{{&o.Users, User, o.Day, mostLines}, {&o.Guilds, Guild, o.Day, mostLines}, {&o.Days, Day, "", mostDays}} {
		sums, err := k.Ledger.All(ctx, list.level, list.day, list.most)
		if err != nil {
			return o, err
		}
		*list.into = lines(rules, sums)
	}
	o.Calls, err = k.Ledger.Calls(ctx, mostCalls)
	return o, err
}

func lines(rules Rules, sums []Sum) []Line {
	out := make([]Line, len(sums))
	for i, s := range sums {
		out[i] = Line{Key: s.Key, Spent: s.Amount, Unpriced: s.Unpriced}
		if s.Key.limited() {
			out[i].Limit = rules.Limits[s.Key.Level]
		}
	}
	return out
}
