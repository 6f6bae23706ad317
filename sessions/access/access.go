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

// Rules are the operator's access settings. The zero value admits everybody except in direct messages.
type Rules struct {
	Guilds   []string       // allowed servers; empty means all
	Channels []string       // allowed channels, including their threads; empty means all
	People   []string       // ids of allowed people and roles; empty means everybody
	Direct   bool           // allow direct messages
	Profiles []ProfileGrant // in order of preference
	// Operators are ids of people and roles who may do on Discord what otherwise needs the dashboard or the terminal.
	Operators []string
}

// ProfileGrant shares a browser profile, including its logins.
type ProfileGrant struct {
	Profile string
	To      []string // ids of people and roles, or [Everybody]
}

// RefusedError is a refusal in a sentence for the person concerned.
type RefusedError struct{ Text string }

func (e *RefusedError) Error() string { return e.Text }

func refusedErrorf(format string, args ...any) error {
	return &RefusedError{fmt.Sprintf(format, args...)}
}

// Check returns nil if somebody may use clank there at all, otherwise a *[RefusedError].
func (r Rules) Check(p sessions.Origin) error {
	switch {
	case p.Guild == "" && !r.Direct:
		return refusedErrorf("direct messages are switched off here; ask in a channel, or let the operator of this clank " +
			"allow them (setting “Direct messages”)")
	case p.Guild == "" && !slices.Contains(r.People, p.User) && (!seesOneOf(p, r.Guilds) || !seesOneOf(p, r.Channels)):
		return refusedErrorf("direct messages are for members of the servers and channels that I work in, and I do not " +
			"find you there; ask in one of them, or let the operator of this clank add you (setting “People and roles”)")
	case p.Guild != "" && len(r.Guilds) > 0 && !slices.Contains(r.Guilds, p.Guild):
		return refusedErrorf("this server is not on the list of those that I work for; the operator of this clank can add "+
			"%s (setting “Discord servers”)", p.Guild)
	case p.Guild != "" && len(r.Channels) > 0 && !slices.Contains(r.Channels, p.Channel) &&
		!slices.Contains(r.Channels, p.Parent):
		return refusedErrorf("this channel is not on the list of those that I work in; the operator of this clank can add "+
			"%s (setting “Channels”)", p.Channel)
	case len(r.People) > 0 && !matchesAny(p, r.People):
		return refusedErrorf("you are not among the people that I work for here; the operator of this clank can add you " +
			"(setting “People and roles”)")
	}
	return nil
}

// seesOneOf reports whether p.User can see one of the listed servers or channels. An empty list stands for all.
func seesOneOf(p sessions.Origin, listed []string) bool {
	return len(listed) == 0 || slices.ContainsFunc(listed, func(id string) bool { return slices.Contains(p.Sees, id) })
}

// Profile returns the browser profile that p uses at a place. want is the profile that p asked for, or empty. A
// profile with a grant is shared by everyone it is granted to, wherever they ask. Everybody else uses the place's own
// instance of usual, the default profile, which needs a grant only if there is one for usual. The error is a
// *[RefusedError].
//
// If want is empty, the first grant that includes p counts, so that people with a profile get it without asking.
func (r Rules) Profile(p sessions.Origin, place sessions.Place, want, usual string) (string, error) {
	own := place.Profile(usual)
	if want == "" {
		for _, g := range r.Profiles {
			if matchesAny(p, g.To) {
				return g.Profile, nil
			}
		}
		if !r.isRestricted(usual) {
			return own, nil
		}
		return "", refusedErrorf("the browser profile %q belongs to others; the operator of this clank can give you one "+
			"(setting “Shared profiles”)", usual)
	}
	granted := func(name string) bool {
		return slices.ContainsFunc(r.Profiles, func(g ProfileGrant) bool { return g.Profile == name && matchesAny(p, g.To) })
	}
	switch {
	case granted(want):
		return want, nil
	case (want == usual || want == own) && !r.isRestricted(usual), want == own && granted(usual):
		return own, nil
	}
	if base, other := sessions.SplitProfile(want); base == usual && other != "" && other != place {
		return "", refusedErrorf("this browser belongs to another server, or to somebody's private tasks; go on there, or " +
			"start a new session here")
	}
	return "", refusedErrorf("the browser profile %q is not yours to use; leave it out, or let the operator of this "+
		"clank give it to you (setting “Shared profiles”)", want)
}

// ProfilesOf returns the names of the profiles that p may ask for, shared ones first. usual is the default one.
func (r Rules) ProfilesOf(p sessions.Origin, usual string) (names []string) {
	for _, g := range r.Profiles {
		if matchesAny(p, g.To) && !slices.Contains(names, g.Profile) {
			names = append(names, g.Profile)
		}
	}
	if usual != "" && !r.isRestricted(usual) {
		names = append(names, usual)
	}
	return names
}

// IsOperator reports whether p is one of the operators.
func (r Rules) IsOperator(p sessions.Origin) bool {
	return slices.ContainsFunc(r.Operators, func(id string) bool {
		return id == p.User && id != "" || slices.Contains(p.Roles, id)
	})
}

// isRestricted reports whether the profile has a grant.
func (r Rules) isRestricted(profile string) bool {
	return slices.ContainsFunc(r.Profiles, func(g ProfileGrant) bool { return g.Profile == profile })
}

func matchesAny(p sessions.Origin, ids []string) bool {
	return slices.ContainsFunc(ids, func(id string) bool {
		return id == Everybody || id == p.User && id != "" || id == p.Guild && id != "" || slices.Contains(p.Roles, id)
	})
}

var (
	snowflake   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]{15,20}$`) })
	profileName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`) })
)

// ParseIDs reads ids separated by spaces, commas or newlines. Mentions such as <@123>, <@&123> and <#123> count as
// their ids. The error names the first invalid one.
func ParseIDs(text string) ([]string, error) {
	var ids []string
	for _, word := range splitIDs(text) {
		id := strings.TrimLeft(strings.TrimSuffix(strings.TrimPrefix(word, "<"), ">"), "@#&!")
		if !snowflake().MatchString(id) {
			return nil, fmt.Errorf("%q is not a Discord id, which has 15 to 20 digits (switch on Developer Mode in Discord, "+
				"then “Copy ID”)", word)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func splitIDs(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool {
		return c == ',' || c == ' ' || c == '\n' || c == '\r' || c == '\t'
	})
}

// ParseGrants reads one grant per line: "profile: ids", where "*" stands for everybody. Empty lines and lines that
// begin with "# " are skipped. The error quotes the line.
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
			return nil, fmt.Errorf("%q does not begin with the name of a profile and a colon, as in \"work: "+
				"123456789012345678\"", line)
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
				return nil, fmt.Errorf("profile %s: nobody is named; write ids of people or roles, or %s for everybody", name,
					Everybody)
			}
			g.To = ids
		}
		out = append(out, g)
	}
	return out, nil
}
