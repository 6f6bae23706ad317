package access

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"clank/sessions"
)

// Everybody stands for all people in a list of ids.
const Everybody = "*"

// Person is somebody who asks for something, and where. Empty fields are what is not known or does not apply.
type Person struct {
	User    string
	Roles   []string // that User has on Guild
	Guild   string   // empty in direct messages
	Channel string
	Parent  string // the channel that the thread Channel is part of
	// Sees are, in direct messages, the servers that User is a member of and the channels that User sees, among those
	// of the Rules.
	Sees []string
}

// Rules hold what the operator has set. The zero value lets everybody in, but nobody by direct message.
type Rules struct {
	Guilds   []string       // servers that are served; empty means all
	Channels []string       // channels that are served, their threads included; empty means all
	People   []string       // ids of people and roles who are served; empty means everybody
	Direct   bool           // direct messages are answered
	Profiles []ProfileGrant // in order of preference
	// Operators are ids of people and roles who may do on Discord what else only the dashboard and the terminal can.
	Operators []string
}

// ProfileGrant shares a browser profile, with all that is logged in there, among people.
type ProfileGrant struct {
	Profile string
	To      []string // ids of people and roles, or [Everybody]
}

// RefusedError says that somebody may not do something, in a sentence for that person.
type RefusedError struct{ Text string }

func (e *RefusedError) Error() string { return e.Text }

func refusedErrorf(format string, args ...any) error {
	return &RefusedError{fmt.Sprintf(format, args...)}
}

// Check returns nil if p may ask for anything at all, otherwise a *[RefusedError].
func (r Rules) Check(p Person) error {
	switch {
	case p.Guild == "" && !r.Direct:
		return refusedErrorf("direct messages are switched off here; ask in a channel, or let the operator of this clank allow them (setting “Direct messages”)")
	case p.Guild == "" && !slices.Contains(r.People, p.User) && (!p.seesOneOf(r.Guilds) || !p.seesOneOf(r.Channels)):
		return refusedErrorf("direct messages are for members of the servers and channels that I work in, and I do not find you there; " +
			"ask in one of them, or let the operator of this clank add you (setting “People and roles”)")
	case p.Guild != "" && len(r.Guilds) > 0 && !slices.Contains(r.Guilds, p.Guild):
		return refusedErrorf("this server is not on the list of those that I work for; the operator of this clank can add %s (setting “Discord servers”)", p.Guild)
	case p.Guild != "" && len(r.Channels) > 0 && !slices.Contains(r.Channels, p.Channel) && !slices.Contains(r.Channels, p.Parent):
		return refusedErrorf("this channel is not on the list of those that I work in; the operator of this clank can add %s (setting “Channels”)", p.Channel)
	case len(r.People) > 0 && !p.matchesAny(r.People):
		return refusedErrorf("you are not among the people that I work for here; the operator of this clank can add you (setting “People and roles”)")
	}
	return nil
}

// seesOneOf reports whether p sees one of the listed servers or channels. An empty list stands for all.
func (p Person) seesOneOf(listed []string) bool {
	return len(listed) == 0 || slices.ContainsFunc(listed, func(id string) bool { return slices.Contains(p.Sees, id) })
}

// Profile returns the profile that p works with at a place. want is what p asked for by name, or empty. A profile with
// a grant is one for all to whom it was given, wherever they ask. Everybody else works with the place's own state in a
// profile set up like usual, for which nobody needs a grant unless there is a grant for usual. The error is a
// *[RefusedError].
//
// Without a wish the first grant that names p counts, so that somebody who has a profile gets it without asking.
func (r Rules) Profile(p Person, place sessions.Place, want, usual string) (string, error) {
	own := place.Profile(usual)
	if want == "" {
		for _, g := range r.Profiles {
			if p.matchesAny(g.To) {
				return g.Profile, nil
			}
		}
		if !r.isRestricted(usual) {
			return own, nil
		}
		return "", refusedErrorf("the browser profile %q belongs to others; the operator of this clank can give you one (setting “Shared profiles”)", usual)
	}
	granted := func(name string) bool {
		return slices.ContainsFunc(r.Profiles, func(g ProfileGrant) bool { return g.Profile == name && p.matchesAny(g.To) })
	}
	switch {
	case granted(want):
		return want, nil
	case (want == usual || want == own) && !r.isRestricted(usual), want == own && granted(usual):
		return own, nil
	}
	if base, other := sessions.SplitProfile(want); base == usual && other != "" && other != place {
		return "", refusedErrorf("this browser belongs to another server, or to somebody's private tasks; go on there, or start a new session here")
	}
	return "", refusedErrorf("the browser profile %q is not yours to use; leave it out, or let the operator of this clank give it to you (setting “Shared profiles”)", want)
}

// ProfilesOf returns the names of the profiles that p may ask for, the shared ones first. usual is the default one.
func (r Rules) ProfilesOf(p Person, usual string) (names []string) {
	for _, g := range r.Profiles {
		if p.matchesAny(g.To) && !slices.Contains(names, g.Profile) {
			names = append(names, g.Profile)
		}
	}
	if usual != "" && !r.isRestricted(usual) {
		names = append(names, usual)
	}
	return names
}

// IsOperator reports whether p is one of the operators.
func (r Rules) IsOperator(p Person) bool {
	return slices.ContainsFunc(r.Operators, func(id string) bool {
		return id == p.User && id != "" || slices.Contains(p.Roles, id)
	})
}

// isRestricted says that somebody has a grant for the profile.
func (r Rules) isRestricted(profile string) bool {
	return slices.ContainsFunc(r.Profiles, func(g ProfileGrant) bool { return g.Profile == profile })
}

func (p Person) matchesAny(ids []string) bool {
	return slices.ContainsFunc(ids, func(id string) bool {
		return id == Everybody || id == p.User && id != "" || id == p.Guild && id != "" || slices.Contains(p.Roles, id)
	})
}

var (
	snowflake   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]{15,20}$`) })
	profileName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`) })
)

// ParseIDs reads ids that are separated by spaces, commas or lines. Mentions such as <@123>, <@&123> and <#123> count
// as their ids. The error names what is none.
func ParseIDs(text string) ([]string, error) {
	var ids []string
	for _, word := range splitIDs(text) {
		id := strings.TrimLeft(strings.TrimSuffix(strings.TrimPrefix(word, "<"), ">"), "@#&!")
		if !snowflake().MatchString(id) {
			return nil, fmt.Errorf("%q is no id of Discord: it has 15 to 20 digits (switch on Developer Mode in Discord, then “Copy ID”)", word)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func splitIDs(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' || c == '\n' || c == '\r' || c == '\t' })
}

// ParseGrants reads one grant from each line: "profile: ids", where "*" is everybody. Empty lines and lines that
// begin with "#" and a space are left out. The error names the line.
func ParseGrants(text string) ([]ProfileGrant, error) {
	var out []ProfileGrant
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		name, to, ok := strings.Cut(line, ":")
		name = strings.TrimSpace(name)
		if !ok || !profileName().MatchString(name) {
			return nil, fmt.Errorf("%q does not begin with the name of a profile and a colon, as in \"work: 123456789012345678\"", line)
		}
		g := ProfileGrant{Profile: name}
		if strings.TrimSpace(to) == Everybody {
			g.To = []string{Everybody}
		} else {
			ids, err := ParseIDs(to)
			if err != nil {
				return nil, fmt.Errorf("profile %s: %w", name, err)
			}
			if len(ids) == 0 {
				return nil, fmt.Errorf("profile %s: nobody is named; write ids of people or roles, or %s for everybody", name, Everybody)
			}
			g.To = ids
		}
		out = append(out, g)
	}
	return out, nil
}
