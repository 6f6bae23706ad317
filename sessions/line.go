package sessions

import (
	"cmp"
	"slices"
)

// line is the tasks that wait, and what is needed to be fair to them. Its order
// is: whose user holds fewer places goes first; then whose user was served
// longer ago; then the same for guilds; then who came first. A user's second
// task in line counts as if the first one held its place already, so ten tasks
// of one user stand behind the first one of everybody else.
//
// "Longer ago" is counted in rounds, not in time: a user whose task starts has
// had this round. Somebody new joins the round that is under way, so nobody
// saves up turns by waiting, and nobody who keeps asking is overtaken for ever.
//
// It is used under the lock of its Manager.
type line struct {
	waiting []*job // in order of arrival
	running int
	users   turns
	guilds  turns
}

// turns counts places and rounds, by user or by guild.
type turns struct {
	held  map[string]int
	had   map[string]int // the last round somebody had; before round: not in it
	round int
}

// next returns the round in which key's next task is.
func (t *turns) next(key string) int {
	if had, ok := t.had[key]; ok {
		return max(t.round, had+1)
	}
	return t.round
}

func (t *turns) take(key string) {
	if t.held == nil {
		t.held, t.had = make(map[string]int), make(map[string]int)
	}
	t.held[key]++
	had := t.next(key)
	t.had[key] = had
	if had > t.round {
		t.round = had
		// Who had an earlier round is as good as new.
		for k, r := range t.had {
			if r < t.round {
				delete(t.had, k)
			}
		}
	}
}

func (t *turns) give(key string) {
	if t.held[key]--; t.held[key] <= 0 {
		delete(t.held, key)
	}
}

// rank is what a task's place is decided by, most important first.
type rank struct {
	held, round           int // of the user, as if his earlier tasks in line had started
	guildHeld, guildRound int
}

func (a rank) compare(b rank) int {
	return cmp.Or(
		cmp.Compare(a.held, b.held), cmp.Compare(a.round, b.round),
		cmp.Compare(a.guildHeld, b.guildHeld), cmp.Compare(a.guildRound, b.guildRound),
	)
}

// order returns the tasks that wait, first in line first.
func (l *line) order() []*job {
	ranks := make(map[*job]*rank, len(l.waiting))
	ahead := make(map[string]int)
	for _, j := range l.waiting {
		n := ahead[j.user]
		ahead[j.user]++
		ranks[j] = &rank{held: l.users.held[j.user] + n, round: l.users.next(j.user) + n}
	}
	order := slices.Clone(l.waiting)
	byRank := func(a, b *job) int { return ranks[a].compare(*ranks[b]) }
	slices.SortStableFunc(order, byRank)

	clear(ahead)
	for _, j := range order {
		n := ahead[j.guild]
		ahead[j.guild]++
		ranks[j].guildHeld = l.guilds.held[j.guild] + n
		ranks[j].guildRound = l.guilds.next(j.guild) + n
	}
	slices.SortStableFunc(order, byRank)
	return order
}

// remove takes j out of the line, if it is in it.
func (l *line) remove(j *job) {
	if i := slices.Index(l.waiting, j); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
}

// start moves j from the line to a place.
func (l *line) start(j *job) {
	l.remove(j)
	l.running++
	l.users.take(j.user)
	l.guilds.take(j.guild)
}

// end frees the place of j.
func (l *line) end(j *job) {
	l.running--
	l.users.give(j.user)
	l.guilds.give(j.guild)
}

// room reports whether the caps let j start. It says nothing about its session.
func (l *line) room(j *job, lim Limits) bool {
	switch {
	case lim.Running > 0 && l.running >= lim.Running,
		lim.RunningPerUser > 0 && l.users.held[j.user] >= lim.RunningPerUser,
		lim.RunningPerGuild > 0 && j.rec.Origin.Guild != "" && l.guilds.held[j.guild] >= lim.RunningPerGuild:
		return false
	}
	return true
}

// userKey returns whose turn it is that a task from o takes.
func userKey(o Origin) string {
	switch {
	case o.Kind == FromDiscord:
		return "discord:" + o.User
	case o.User != "":
		return "local:" + o.User
	}
	return "operator"
}

// guildKey returns the guild whose turn it is. Outside of guilds everybody is
// one of his own.
func guildKey(o Origin) string {
	if o.Guild != "" {
		return "guild:" + o.Guild
	}
	return userKey(o)
}
