package sessions

import (
	"cmp"
	"strings"
)

// Place says whose browser state a task uses: "server-<guild id>" for tasks on a Discord server, "person-<user id>"
// for private tasks and direct messages, and "" for the operator at the terminal, on the dashboard, through a local
// program or with a script. An operator's private tasks have places of persons, too, since there may be several
// operators. Cookies, storage, caches, permissions and the like never cross from one place to another, unless the
// operator shares a profile.
type Place string

// OperatorID stands in places for the operator without a Discord account.
const OperatorID = "operator"

// Place returns the place of a task from o. private says that only the person who asks may see it, as with
// [Origin.Private] of a new session; a task that continues a session has the session's privacy.
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

// Of returns the place of one person within the place of a server that gives each person a browser.
func (p Place) Of(user string) Place {
	return Place("person-" + user + "at" + strings.TrimPrefix(string(p), "server-"))
}

// Profile returns the name of the place's own instance of the profile base. The operator's instance is base itself.
// If base is empty, the browser state is temporary, so Profile returns "".
func (p Place) Profile(base string) string {
	if p == "" || base == "" {
		return base
	}
	return base + "@" + string(p)
}

// SplitProfile returns the profile that name is an instance of, and the place that owns the instance; the place is ""
// for the operator's own and for shared profiles.
func SplitProfile(name string) (base string, place Place) {
	base, of, _ := strings.Cut(name, "@")
	return base, Place(of)
}
