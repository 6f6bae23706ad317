package sessions

import (
	"cmp"
	"strings"
)

// Place is whose browser state something uses: "server-<guild id>" for what is asked on a Discord server,
// "person-<user id>" for private tasks and direct messages, and "" for the operator, who asks at the terminal, on the
// dashboard, through a program on this machine or with a script; what operators ask privately has places of persons,
// too, since there may be several. Cookies, storage, caches, permissions and the like
// never cross from one place to another, unless the operator shares a profile.
type Place string

// OperatorID stands in places for the operator who has no Discord account.
const OperatorID = "operator"

// Place returns the place of what is asked from o. private says that only the person who asks may see it, as with
// [Origin.Private] of a new session; what goes on with a session has the privacy of the session.
func (o Origin) Place(private bool) Place {
	switch {
	case o.Kind != FromDiscord && private:
		return Place("person-" + cmp.Or(o.User, OperatorID))
	case o.Kind != FromDiscord:
		return ""
	case private || o.Guild == "":
		return Place("person-" + o.User)
	}
	return Place("server-" + o.Guild)
}

// Of returns the place of one person at the place of a server that gives each person a browser.
func (p Place) Of(user string) Place {
	return Place("person-" + user + "at" + strings.TrimPrefix(string(p), "server-"))
}

// Profile returns the name of the browser profile that has the place's own state, set up like the profile base. The
// operator's is base itself. Without a base nothing lasts, so nothing is shared either.
func (p Place) Profile(base string) string {
	if p == "" || base == "" {
		return base
	}
	return base + "@" + string(p)
}

// SplitProfile returns the profile that a profile is set up like, and the place whose state it has; the place is ""
// for a profile of the operator's own and for one that is shared.
func SplitProfile(name string) (base string, place Place) {
	base, of, _ := strings.Cut(name, "@")
	return base, Place(of)
}
