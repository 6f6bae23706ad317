package access_test

import (
	"errors"
	"strings"
	"testing"

	"clank/internal/test/check"
	"clank/sessions"
	"clank/sessions/access"

	"github.com/google/go-cmp/cmp"
)

const (
	ada, bob, eve  = "100000000000000001", "100000000000000002", "100000000000000003"
	staff, friends = "200000000000000001", "200000000000000002"
	home, other    = "300000000000000001", "300000000000000002"
	lounge, thread = "400000000000000001", "400000000000000002"
)

func TestOnlyThoseOnTheListsComeIn(t *testing.T) {
	at := func(user string, roles ...string) sessions.Origin {
		return sessions.Origin{User: user, Roles: roles, Guild: home, Channel: lounge}
	}
	direct := func(channels []string, guilds ...string) access.Rules {
		return access.Rules{Direct: true, Guilds: guilds, Channels: channels}
	}
	for name, c := range map[string]struct {
		rules access.Rules
		who   sessions.Origin
		want  string // part of the refusal; empty = allowed
	}{
		"nothing set":         {access.Rules{}, at(eve), ""},
		"direct, nothing set": {access.Rules{}, sessions.Origin{User: eve, Channel: lounge}, "direct messages"},
		"direct, allowed":     {access.Rules{Direct: true}, sessions.Origin{User: eve, Channel: lounge}, ""},
		"direct, another list": {
			access.Rules{Direct: true, People: []string{ada}},
			sessions.Origin{User: eve},
			"not among the people",
		},
		"direct, of no listed server": {direct(nil, home), sessions.Origin{User: eve}, "members of the servers"},
		"direct, of another server": {
			direct(nil, home),
			sessions.Origin{User: eve, Sees: []string{other}},
			"members of the servers",
		},
		"direct, of a listed server": {direct(nil, home), sessions.Origin{User: eve, Sees: []string{home}}, ""},
		"direct, sees no such channel": {
			direct([]string{lounge}, home),
			sessions.Origin{User: eve, Sees: []string{home}},
			"members of the servers",
		},
		"direct, sees a channel": {direct([]string{lounge}), sessions.Origin{User: eve, Sees: []string{lounge}}, ""},
		"direct, on the people's list": {
			access.Rules{Direct: true, Guilds: []string{home}, People: []string{eve}}, sessions.Origin{User: eve}, "",
		},
		"direct, on no people's list": {
			access.Rules{Direct: true, Guilds: []string{home}, People: []string{ada}},
			sessions.Origin{User: eve, Sees: []string{home}},
			"not among the people",
		},
		"server on the list":  {access.Rules{Guilds: []string{home}}, at(eve), ""},
		"server not on it":    {access.Rules{Guilds: []string{other}}, at(eve), "this server"},
		"channel on the list": {access.Rules{Channels: []string{lounge}}, at(eve), ""},
		"thread of a channel on it": {
			access.Rules{Channels: []string{lounge}},
			sessions.Origin{User: eve, Guild: home, Channel: thread, Parent: lounge},
			"",
		},
		"thread on the list itself": {
			access.Rules{Channels: []string{thread}},
			sessions.Origin{User: eve, Guild: home, Channel: thread, Parent: lounge},
			"",
		},
		"channel not on it":       {access.Rules{Channels: []string{thread}}, at(eve), "this channel"},
		"person":                  {access.Rules{People: []string{ada}}, at(ada), ""},
		"role":                    {access.Rules{People: []string{ada, staff}}, at(bob, friends, staff), ""},
		"whole server as a role":  {access.Rules{People: []string{home}}, at(eve), ""},
		"neither person nor role": {access.Rules{People: []string{ada, staff}}, at(eve, friends), "not among the people"},
		"nobody, without a name":  {access.Rules{People: []string{ada}}, at(""), "not among the people"},
		"server wins over channel": {
			access.Rules{Guilds: []string{other}, Channels: []string{lounge}},
			at(ada),
			"this server",
		},
	} {
		err := c.rules.Check(c.who)
		check.Outcome(t, name, err, c.want)
		if _, ok := errors.AsType[*access.RefusedError](err); err != nil && !ok {
			t.Errorf("%s: %T is no RefusedError", name, err)
		}
	}
}

// A member of one server asks for the browser state of other places.
func TestStateIsSharedOnlyWhereTheOperatorSaysSo(t *testing.T) {
	shared := access.Rules{Profiles: []access.ProfileGrant{{Profile: "clank", To: []string{home}}}}
	for name, c := range map[string]struct {
		rules access.Rules
		place sessions.Place
		want  string
		got   string // empty = refused
		no    string
	}{
		"a server has its own":             {access.Rules{}, "server-1", "", "clank@server-1", ""},
		"by the name people know":          {access.Rules{}, "server-1", "clank", "clank@server-1", ""},
		"by its whole name":                {access.Rules{}, "server-1", "clank@server-1", "clank@server-1", ""},
		"another server's":                 {access.Rules{}, "server-1", "clank@server-2", "", "belongs to another server"},
		"a person's":                       {access.Rules{}, "server-1", "clank@person-1", "", "belongs to another server"},
		"a server's from a direct message": {access.Rules{}, "person-1", "clank@server-1", "", "belongs to another server"},
		"of a profile of the operator's":   {access.Rules{}, "server-1", "work@server-1", "", "“Shared profiles”"},
		"no place at all":                  {access.Rules{}, "server-1", "clank@", "", "“Shared profiles”"},
		"shared with the server":           {shared, "server-1", "", "clank", ""},
		"shared, by name":                  {shared, "server-1", "clank", "clank", ""},
		"shared, and its own from before":  {shared, "server-1", "clank@server-1", "clank@server-1", ""},
		"shared, another's from before":    {shared, "server-1", "clank@server-2", "", "belongs to another server"},
		"shared, in private":               {shared, "person-1", "", "clank", ""},
	} {
		got, err := c.rules.Profile(sessions.Origin{User: ada, Guild: home, Channel: lounge}, c.place, c.want, "clank")
		check.Equal(t, name, got, c.got)
		check.Outcome(t, name, err, c.no)
	}
	lockedOut := sessions.Origin{User: eve, Guild: other}
	for _, want := range []string{"", "clank", "clank@server-1"} {
		check.Fails(t, check.Err(shared.Profile(lockedOut, "server-1", want, "clank")), nil, "“Shared profiles”")
	}
	if got, err := (access.Rules{}).Profile(sessions.Origin{User: ada}, "person-1", "", ""); got != "" || err != nil {
		t.Errorf("where nothing lasts: %q, %v", got, err)
	}
}

func TestAProfileWithLoginsIsOnlyForThoseItIsBoundTo(t *testing.T) {
	rules := access.Rules{Profiles: []access.ProfileGrant{
		{Profile: "work", To: []string{ada, staff}},
		{Profile: "shop", To: []string{ada}},
		{Profile: "fun", To: []string{friends}},
	}}
	open := access.Rules{Profiles: append([]access.ProfileGrant{{Profile: "clank", To: []string{bob}}}, rules.Profiles...)}
	withGuests := access.Rules{
		Profiles: append(open.Profiles, access.ProfileGrant{Profile: "guest", To: []string{access.Everybody}}),
	}
	for name, c := range map[string]struct {
		rules access.Rules
		user  string
		roles []string
		want  string
		got   string // empty = refused
	}{
		"no grants, no wish":                {access.Rules{}, eve, nil, "", "clank@server-1"},
		"no grants, the usual one":          {access.Rules{}, eve, nil, "clank", "clank@server-1"},
		"no grants, another one":            {access.Rules{}, eve, nil, "work", ""},
		"the first that names a person":     {rules, ada, nil, "", "work"},
		"by role":                           {rules, bob, []string{staff}, "", "work"},
		"a wish among one's own":            {rules, ada, nil, "shop", "shop"},
		"a wish for what others have":       {rules, bob, []string{staff}, "shop", ""},
		"nobody's falls to the usual one":   {rules, eve, nil, "", "clank@server-1"},
		"the usual one, though one has":     {rules, ada, nil, "clank", "clank@server-1"},
		"bound usual one, not for others":   {open, eve, nil, "", ""},
		"bound usual one, wished by others": {open, eve, nil, "clank", ""},
		"bound usual one, for whom it is":   {open, bob, nil, "", "clank"},
		"guests get theirs":                 {withGuests, eve, nil, "", "guest"},
		"guests do not get others'":         {withGuests, eve, nil, "work", ""},
	} {
		p := sessions.Origin{User: c.user, Roles: c.roles, Guild: home, Channel: lounge}
		got, err := c.rules.Profile(p, "server-1", c.want, "clank")
		refusal := ""
		if c.got == "" {
			refusal = "“Shared profiles”"
		}
		check.Equal(t, name, got, c.got)
		check.Outcome(t, name, err, refusal)
	}
}

func TestIDsAreReadAsPeopleCopyThem(t *testing.T) {
	got, err := access.ParseIDs(" " + ada + ", <@" + bob + ">\n<@!" + eve + "> <@&" + staff + "> <#" + lounge + ">\r\n")
	if diff := cmp.Diff([]string{ada, bob, eve, staff, lounge}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	for _, bad := range []string{"ada", "123", "*", "1000000000000000010000", "<:" + ada + ">"} {
		check.Fails(t, check.Err(access.ParseIDs(ada+" "+bad)), nil, bad)
	}
}

func TestARefusedProfileIsCalledAnotherServersOnlyIfItIs(t *testing.T) {
	for want, says := range map[string]string{
		"clank@server-2": "another server",
		"clank@":         "not yours",
		"work@server-2":  "not yours",
		"work":           "not yours",
	} {
		p := sessions.Origin{User: eve, Guild: home, Channel: lounge}
		got, err := access.Rules{}.Profile(p, "server-1", want, "clank")
		var refused *access.RefusedError
		if got != "" || !errors.As(err, &refused) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %q, %v; want a refusal that says %q", want, got, err, says)
		}
	}
}

func TestGrantsAreReadLineByLine(t *testing.T) {
	got, err := access.ParseGrants("# who has what\nwork: " + ada + " <@&" + staff + ">\n\n guest : *\n")
	want := []access.ProfileGrant{{Profile: "work", To: []string{ada, staff}}, {Profile: "guest", To: []string{"*"}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	const noName = "the name of a profile and a colon"
	for bad, want := range map[string]string{
		"work": noName, "Work: " + ada: noName, "../x: " + ada: noName, ": " + ada: noName,
		"work:": "nobody is named", "work: ada": `"ada" is not a Discord id`, "work: * " + ada: `"*" is not a Discord id`,
	} {
		check.Fails(t, check.Err(access.ParseGrants(bad)), nil, want)
	}
}

func FuzzGrants(f *testing.F) {
	f.Add("work: " + ada + "\nguest: *")
	f.Add("# x\n: 1")
	f.Fuzz(func(t *testing.T, text string) {
		grants, err := access.ParseGrants(text)
		if err != nil {
			return
		}
		for _, g := range grants {
			if g.Profile == "" || len(g.To) == 0 {
				t.Errorf("grant %+v from %q", g, text)
			}
		}
	})
}
