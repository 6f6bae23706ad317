package budget

import (
	"time"

	"clank/llm"
)

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

// Levels returns all levels, the narrowest first.
func Levels() []Level { return []Level{LevelTask, LevelSession, LevelUser, LevelGuild, LevelDay} }

// levelWords are what people read after "budget spent: 1 of 1 USD ".
var levelWords = map[Level]string{
	LevelTask: "for this task", LevelSession: "for this session", LevelUser: "for this person today", LevelGuild: "for this server today", LevelDay: "for today",
}

// Limits says how much may be spent at each level; the zero Amount, as a level
// that is not there, limits nothing.
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
	if zone == nil {
		zone = time.Local
	}
	return at.In(zone).Format(time.DateOnly)
}
