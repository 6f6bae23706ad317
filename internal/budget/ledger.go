package budget

import (
	"cmp"
	"context"
	"errors"
	"time"

	"clank/llm"
)

// EntryState tells how exact the amount of an [Entry] is.
type EntryState string

// States of an entry.
const (
	StateHeld      EntryState = "held"      // in progress: the maximum amount is reserved
	StateSettled   EntryState = "settled"   // the actual amount
	StateEstimated EntryState = "estimated" // finished without reported usage: the estimate counts
)

// Entry is one entry of the ledger: a model call, a step, or a period of a running task.
type Entry struct {
	ID       int64       `json:"id"` // set by the Ledger
	At       time.Time   `json:"at"`
	Day      string      `json:"day"` // date of At in the configured time zone, as in [time.DateOnly]
	Account  llm.Account `json:"account"`
	Model    string      `json:"model,omitempty"` // of a call
	State    EntryState  `json:"state"`
	Amount   Amount      `json:"amount"`
	Unpriced bool        `json:"unpriced,omitempty"` // a call of unknown price: its money is a lower bound
}

// Sum is the total spending under one [Key], including reservations.
type Sum struct {
	Key      Key    `json:"key"`
	Amount   Amount `json:"amount"`
	Held     Amount `json:"held"`     // the part of Amount that is reserved
	Unpriced int64  `json:"unpriced"` // number of calls of unknown price included
}

// ErrNoEntry means that there is no such entry.
var ErrNoEntry = errors.New("there is no such entry in the ledger")

// Ledger stores spending. Package sqlite implements it; package sqlitetest defines its behavior. Its methods are
// atomic and safe for concurrent use.
type Ledger interface {
	LedgerWriter
	LedgerReader
}

// LedgerWriter records spending.
type LedgerWriter interface {
	// Reserve calls may with the sums of e's keys, in their order. If it returns nil, Reserve adds e as held;
	// otherwise it returns that error unchanged. Both happen in one transaction. e.ID is ignored.
	Reserve(ctx context.Context, e Entry, may func(sums []Sum) error) (id int64, err error)

	// Settle replaces the amount of a held entry and ends the reservation. It does not change an entry that is not
	// held, so that nothing is counted twice.
	Settle(ctx context.Context, id int64, real Amount, state EntryState, unpriced bool) error

	// Abandon marks all held entries as estimated, because their owners are gone.
	Abandon(ctx context.Context) (entries int, err error)

	// Forget deletes entries of days before the given one, and sums that can no longer change; sums of days are kept.
	Forget(ctx context.Context, before string) error
}

// LedgerReader reads spending.
type LedgerReader interface {
	// Sums returns the sums of keys, in their order; one that does not exist is zero.
	Sums(ctx context.Context, keys []Key) ([]Sum, error)

	// All returns at most limit sums of a level on a day ("" means all days), ordered by latest day and then most
	// money.
	All(ctx context.Context, level Level, day string, limit int) ([]Sum, error)

	// People returns the spending of each person in a guild on a day, as sums of the level User, most money first.
	People(ctx context.Context, guild, day string, limit int) ([]Sum, error)

	// Costs returns the spending of user, or of everyone for "", for each day from since on, grouped by by and
	// ordered by day.
	Costs(ctx context.Context, by CostKey, since, user string) ([]Cost, error)

	// Calls returns at most limit model calls, newest first.
	Calls(ctx context.Context, limit int) ([]Entry, error)
}

// Level is the kind of subject to which a limit applies.
type Level string

// Levels of limits. Those of a person, a server and all start again each day.
const (
	LevelTask    Level = "task"
	LevelSession Level = "session"
	LevelUser    Level = "user"
	LevelGuild   Level = "guild"
	LevelDay     Level = "day"
)

// levelFormats describe spending at each level.
var levelFormats = map[Level]string{
	LevelTask: "%v for this task", LevelSession: "%v for this session", LevelUser: "%v for this person today",
	LevelGuild: "%v for this server today", LevelDay: "%v for today",
}

// CostKey is a way to group costs.
type CostKey string

// Ways to group costs.
const (
	CostByModel   CostKey = "model"
	CostByGuild   CostKey = "server"
	CostByUser    CostKey = "person"
	CostByRuntime CostKey = "runtime" // only as long as the task is stored
)

// CostKeys are all ways to group costs.
var CostKeys = []CostKey{CostByModel, CostByGuild, CostByUser, CostByRuntime}

// Cost is the spending of a day. ID identifies the model, server, person or runtime; "" stands for none.
type Cost struct {
	Day      string `json:"day"`
	ID       string `json:"id"`
	Amount   Amount `json:"amount"`
	Unpriced int64  `json:"unpriced"` // number of calls of unknown price included
}

// Limits are the limits by level; a missing level or the zero Amount limits nothing.
type Limits map[Level]Amount

// Key identifies a sum. Day is "" for tasks and sessions, otherwise the date. ID is "" for spending without a task,
// person or server, and for the sum of a day.
type Key struct {
	Level Level  `json:"level"`
	ID    string `json:"id"`
	Day   string `json:"day,omitempty"` // as in [time.DateOnly]
}

// keysOf returns the keys to which spending of a on day is added, one for each level.
func keysOf(a llm.Account, day string) []Key {
	return []Key{
		{LevelTask, a.Task, ""},
		{LevelSession, a.Session, ""},
		{LevelUser, a.User, day},
		{LevelGuild, a.Guild, day},
		{LevelDay, "", day},
	}
}

// Keys returns the keys to which e is added, one for each level.
func (e Entry) Keys() []Key { return keysOf(e.Account, e.Day) }

// canBeLimited reports whether a limit can apply to the sum: spending without an owner is limited only by the day.
func (k Key) canBeLimited() bool { return k.Level == LevelDay || k.ID != "" }

// dayOf returns the date of a time in zone.
func dayOf(at time.Time, zone *time.Location) string {
	return at.In(cmp.Or(zone, time.Local)).Format(time.DateOnly)
}
