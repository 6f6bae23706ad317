package sessions

import (
	"cmp"
	"slices"
)

// fairQueue is the tasks that wait, and what is needed to be fair to them. Its order is: whose user holds fewer
// places goes first; then whose user was served longer ago; then the same for guilds; then who came first. A user's
// second task in line counts as if the first one held its place already, so ten tasks of one user stand behind the
// first one of everybody else.
//
// "Longer ago" is counted in rounds, not in time: a user whose task starts has had this round. Somebody new joins the
// round that is under way, so nobody saves up turns by waiting, and nobody who keeps asking is overtaken for ever.
//
// It is used under the lock of its Manager.
type fairQueue struct {
	waiting []*queuedTask // in order of arrival
	running int
	users   shares
	guilds  shares
}

// shares counts places and rounds, by user or by guild.
type shares struct {
	running   map[string]int
	lastRound map[string]int // the last round somebody had; before round: not in it
	round     int
}

// nextRound returns the round in which key's next task is.
func (t *shares) nextRound(key string) int {
	if had, ok := t.lastRound[key]; ok {
		return max(t.round, had+1)
	}
	return t.round
}

func (t *shares) acquire(key string) {
	if t.running == nil {
		t.running, t.lastRound = make(map[string]int), make(map[string]int)
	}
	t.running[key]++
	had := t.nextRound(key)
	t.lastRound[key] = had
	if had > t.round {
		t.round = had
		// Who had an earlier round is as good as new.
		for k, r := range t.lastRound {
			if r < t.round {
				delete(t.lastRound, k)
			}
		}
	}
}

func (t *shares) release(key string) {
	if t.running[key]--; t.running[key] <= 0 {
		delete(t.running, key)
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
func (l *fairQueue) order() []*queuedTask {
	ranks := make(map[*queuedTask]*rank, len(l.waiting))
	ahead := make(map[string]int)
	for _, j := range l.waiting {
		n := ahead[j.user]
		ahead[j.user]++
		ranks[j] = &rank{held: l.users.running[j.user] + n, round: l.users.nextRound(j.user) + n}
	}
	order := slices.Clone(l.waiting)
	byRank := func(a, b *queuedTask) int { return ranks[a].compare(*ranks[b]) }
	slices.SortStableFunc(order, byRank)

	clear(ahead)
	for _, j := range order {
		n := ahead[j.guild]
		ahead[j.guild]++
		ranks[j].guildHeld = l.guilds.running[j.guild] + n
		ranks[j].guildRound = l.guilds.nextRound(j.guild) + n
	}
	slices.SortStableFunc(order, byRank)
	return order
}

// remove takes j out of the line, if it is in it.
func (l *fairQueue) remove(j *queuedTask) {
	if i := slices.Index(l.waiting, j); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
}

// start moves j from the line to a place.
func (l *fairQueue) start(j *queuedTask) {
	l.remove(j)
	l.running++
	l.users.acquire(j.user)
	l.guilds.acquire(j.guild)
}

// end frees the place of j.
func (l *fairQueue) end(j *queuedTask) {
	l.running--
	l.users.release(j.user)
	l.guilds.release(j.guild)
}

// allowsStart reports whether the caps let j start. It says nothing about its session.
func (l *fairQueue) allowsStart(j *queuedTask, lim Limits) bool {
	switch {
	case lim.Running > 0 && l.running >= lim.Running,
		lim.RunningPerUser > 0 && l.users.running[j.user] >= lim.RunningPerUser,
		lim.RunningPerGuild > 0 && j.rec.Origin.Guild != "" && l.guilds.running[j.guild] >= lim.RunningPerGuild:
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

// guildKey returns the guild whose turn it is. Outside of guilds everybody is one of his own.
func guildKey(o Origin) string {
	if o.Guild != "" {
		return "guild:" + o.Guild
	}
	return userKey(o)
}
