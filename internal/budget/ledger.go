package budget

import (
	"cmp"
	"context"
	"errors"
	"time"

	"clank/llm"
)

// EntryState says how sure the amount of an [Entry] is.
type EntryState string

// The states of an entry.
const (
	StateHeld      EntryState = "held"      // under way: the most it is thought to take
	StateSettled   EntryState = "settled"   // what it really took
	StateEstimated EntryState = "estimated" // over, but nobody told what it took: counted as estimated
)

// Entry is one line of the ledger: a call of a model, a step, or a while that a task ran.
type Entry struct {
	ID       int64       `json:"id"` // set by the Ledger
	At       time.Time   `json:"at"`
	Day      string      `json:"day"` // date of At where days are counted, as in [time.DateOnly]
	Account  llm.Account `json:"account"`
	Model    string      `json:"model,omitempty"` // of a call
	State    EntryState  `json:"state"`
	Amount   Amount      `json:"amount"`
	Unpriced bool        `json:"unpriced,omitempty"` // a call whose price is not known: its money is a lower bound
}

// Sum adds up what was spent under one [Key], with what is held.
type Sum struct {
	Key      Key    `json:"key"`
	Amount   Amount `json:"amount"`
	Held     Amount `json:"held"`     // the part of Amount that is under way
	Unpriced int64  `json:"unpriced"` // calls of unknown price among it
}

// ErrNoEntry means that there is no such entry.
var ErrNoEntry = errors.New("there is no such entry in the ledger")

// Ledger remembers what was spent. Package sqlite keeps one; package sqlitetest
// says what it must do. Its methods are safe for concurrent use, and each does all of what it does, or nothing.
type Ledger interface {
	LedgerWriter
	LedgerReader
}

// LedgerWriter writes down what is spent.
type LedgerWriter interface {
	// Reserve asks may about the sums of e's keys, in their order, and writes e down, as held, if it returns nil;
	// else its error is returned as it is. Nothing else is written in between. e.ID is not read.
	Reserve(ctx context.Context, e Entry, may func(sums []Sum) error) (id int64, err error)

	// Settle replaces the amount of a held entry and lets go of it. An entry that
	// is not held is left as it is, so that nothing counts twice.
	Settle(ctx context.Context, id int64, real Amount, state EntryState, unpriced bool) error

	// Abandon makes all that is held count as estimated: whoever held it is gone.
	Abandon(ctx context.Context) (entries int, err error)

	// Forget removes entries of days before the given one, and the sums that
	// nobody can add to any more; those of days are kept.
	Forget(ctx context.Context, before string) error
}

// LedgerReader says what was spent.
type LedgerReader interface {
	// Sums returns the sums of keys, in their order; one that does not exist is zero.
	Sums(ctx context.Context, keys []Key) ([]Sum, error)

	// All returns every sum of a level on a day ("" = of all days), the latest
	// day and then the most money first, at most limit of them.
	All(ctx context.Context, level Level, day string, limit int) ([]Sum, error)

	// People returns what each person has spent in a guild on a day, as sums of the level User, the most money first.
	People(ctx context.Context, guild, day string, limit int) ([]Sum, error)

	// Costs returns what user, or everybody for "", spent on each day from since on, apart by what by says, in the
	// order of the days.
	Costs(ctx context.Context, by CostKey, since, user string) ([]Cost, error)

	// Calls returns the calls of models, the last first, at most limit.
	Calls(ctx context.Context, limit int) ([]Entry, error)
}

// Level is one of the sums that a limit holds for.
type Level string

// The levels. Those of a person, a server and all begin anew with each day.
const (
	LevelTask    Level = "task"
	LevelSession Level = "session"
	LevelUser    Level = "user"
	LevelGuild   Level = "guild"
	LevelDay     Level = "day"
)

// levelFormats say what is spent.
var levelFormats = map[Level]string{
	LevelTask: "%v for this task", LevelSession: "%v for this session", LevelUser: "%v for this person today",
	LevelGuild: "%v for this server today", LevelDay: "%v for today",
}

// CostKey says by what costs are told apart.
type CostKey string

// What costs can be told apart by.
const (
	CostByModel   CostKey = "model"
	CostByGuild   CostKey = "server"
	CostByUser    CostKey = "person"
	CostByRuntime CostKey = "runtime" // as long as the task is kept
)

// CostKeys are all of them.
var CostKeys = []CostKey{CostByModel, CostByGuild, CostByUser, CostByRuntime}

// Cost adds up the spending of a day. ID is that of the model, server, person or runtime; "" stands for none.
type Cost struct {
	Day      string `json:"day"`
	ID       string `json:"id"`
	Amount   Amount `json:"amount"`
	Unpriced int64  `json:"unpriced"` // calls of unknown price among it
}

// Limits says how much may be spent at each level; the zero Amount, as a level that is not there, limits nothing.
type Limits map[Level]Amount

// Key names one sum. Day is "" for tasks and sessions, and else the date; ID is
// "" for what belongs to no task, nobody or no server, and for the sum of a day.
type Key struct {
	Level Level  `json:"level"`
	ID    string `json:"id"`
	Day   string `json:"day,omitempty"` // as in [time.DateOnly]
}

// keysOf returns the sums that what a spends on day counts for, one for each level.
func keysOf(a llm.Account, day string) []Key {
	return []Key{
		{LevelTask, a.Task, ""}, {LevelSession, a.Session, ""}, {LevelUser, a.User, day}, {LevelGuild, a.Guild, day}, {LevelDay, "", day},
	}
}

// Keys returns the sums that e counts for, one for each level.
func (e Entry) Keys() []Key { return keysOf(e.Account, e.Day) }

// canBeLimited reports whether a limit can hold for the sum: what belongs to nobody
// in particular is limited by the day alone.
func (k Key) canBeLimited() bool { return k.Level == LevelDay || k.ID != "" }

// dayOf returns the date of a moment where the days are counted.
func dayOf(at time.Time, zone *time.Location) string {
	return at.In(cmp.Or(zone, time.Local)).Format(time.DateOnly)
}
