package sessions

import (
	"cmp"
	"slices"
)

// fairQueue holds the waiting tasks and the state needed for fairness. Its order is: the user with fewer running
// tasks first; then the user who was served longer ago; then the same for guilds; then the order of arrival. A user's
// second task in the queue counts as if the first one were running, so ten tasks of one user come after the first one
// of everybody else.
//
// "Longer ago" is counted in rounds, not in time: a user whose task starts has had the current round. New users join
// the current round, so nobody saves up turns by waiting, and nobody is overtaken for ever by frequent users.
//
// The Manager's lock guards it.
type fairQueue struct {
	waiting []*queuedTask // in order of arrival
	running int
	users   shares
	guilds  shares
}

// shares counts running tasks and rounds, by user or by guild.
type shares struct {
	running   map[string]int
	lastRound map[string]int // the last round in which they were served; entries before round are dropped
	round     int
}

// nextRound returns the round of key's next task.
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
		// An earlier round is as good as none.
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

// rank decides the position of a task, most important field first.
type rank struct {
	held, round           int // of the user, as if their earlier tasks in the queue were running
	guildHeld, guildRound int
}

func (a rank) compare(b rank) int {
	return cmp.Or(
		cmp.Compare(a.held, b.held), cmp.Compare(a.round, b.round),
		cmp.Compare(a.guildHeld, b.guildHeld), cmp.Compare(a.guildRound, b.guildRound),
	)
}

// order returns the waiting tasks, the next one first.
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

// remove removes j from the queue, if it is there.
func (l *fairQueue) remove(j *queuedTask) {
	if i := slices.Index(l.waiting, j); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
}

// start moves j from the queue to the running tasks.
func (l *fairQueue) start(j *queuedTask) {
	l.remove(j)
	l.running++
	l.users.acquire(j.user)
	l.guilds.acquire(j.guild)
}

// end removes j from the running tasks.
func (l *fairQueue) end(j *queuedTask) {
	l.running--
	l.users.release(j.user)
	l.guilds.release(j.guild)
}

// allowsStart reports whether the limits on running tasks let j start. It does not check its session.
func (l *fairQueue) allowsStart(j *queuedTask, lim Limits) bool {
	switch {
	case lim.Running > 0 && l.running >= lim.Running,
		lim.RunningPerUser > 0 && l.users.running[j.user] >= lim.RunningPerUser,
		lim.RunningPerGuild > 0 && j.rec.Origin.Guild != "" && l.guilds.running[j.guild] >= lim.RunningPerGuild:
		return false
	}
	return true
}

// userKey returns the key of the user whose turn a task from o takes.
func userKey(o Origin) string {
	switch {
	case o.Kind == FromDiscord:
		return "discord:" + o.User
	case o.User != "":
		return "local:" + o.User
	}
	return "operator"
}

// guildKey returns the key of the guild of o. Outside of guilds every user has their own.
func guildKey(o Origin) string {
	if o.Guild != "" {
		return "guild:" + o.Guild
	}
	return userKey(o)
}
