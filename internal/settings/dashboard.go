package settings

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"clank/sessions/access"
)

const (
	groupDashboard = "Dashboard"
	dashboardKeys  = "interaction.dashboard."
)

// Dashboard configures who may use the dashboard, other than the operator at this machine, and from where.
type Dashboard struct {
	SignIn    string // see the SignIn constants
	Operators string // ids, see [Dashboard.IsOperator]
	Hosts     string // host names of the dashboard, besides those of this machine
	Proxies   string // addresses and networks, parsed by [Dashboard.ProxyList]
}

// Values of [Dashboard.SignIn]: who may sign in with Discord. Each includes those before it.
const (
	SignInOff        = ""
	SignInOperators  = "operators"
	SignInModerators = "moderators" // and managers of a server
	SignInMembers    = "members"    // people who may ask for tasks
	SignInViewers    = "viewers"    // people who may only watch
)

// IsOperator reports whether a Discord account is an operator's.
func (d Dashboard) IsOperator(user string) bool {
	return user != "" && slices.Contains(readIDs(d.Operators), user)
}

// HostList returns the names in Hosts.
func (d Dashboard) HostList() []string { return strings.Fields(strings.ToLower(d.Hosts)) }

// ProxyList parses Proxies. Invalid entries were refused when they were set.
func (d Dashboard) ProxyList() []netip.Prefix {
	list, _ := parseNetworks(d.Proxies)
	return list
}

func parseNetworks(text string) (list []netip.Prefix, err error) {
	for word := range strings.FieldsSeq(text) {
		p, err := netip.ParsePrefix(word)
		if addr, only := netip.ParseAddr(word); only == nil && addr.Zone() == "" {
			p, err = addr.Unmap().Prefix(addr.Unmap().BitLen())
		}
		if err != nil {
			return nil, fmt.Errorf("must be addresses or networks such as 127.0.0.1 or 10.0.0.0/8, unlike %q", word)
		}
		list = append(list, p.Masked())
	}
	return list, nil
}

func checkProxies(text string) error {
	list, err := parseNetworks(text)
	if err == nil && slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Bits() == 0 }) {
		return errors.New("must not be all addresses there are: whoever reaches clank could then claim to come from anywhere")
	}
	return err
}

func checkHosts(text string) error {
	for name := range strings.FieldsSeq(text) {
		u, err := url.Parse("https://" + name)
		if _, isAddr := netip.ParseAddr(name); err != nil || isAddr == nil || u.Hostname() != name ||
			!strings.Contains(name, ".") {
			return fmt.Errorf("must be names such as clank.example.org, without https and port, unlike %q", name)
		}
	}
	return nil
}

var dashboardFields = inGroup(groupDashboard,
	choice(dashboardKeys+"signIn", "Sign in with Discord", "Who may sign in to the dashboard with a Discord account, "+
		"besides those with a link of clank login. People see what is done in the channels that they see in Discord. "+
		"It needs DISCORD_CLIENT_SECRET, and the address of the dashboard with /login behind it among the redirects in the "+
		"developer portal.", SignInOff, &at.Dashboard.SignIn,
		Option{SignInOff, "Nobody"}, Option{SignInOperators, "Operators"}, Option{SignInModerators, "Moderators"},
		Option{SignInMembers, "Members who may use clank"}, Option{SignInViewers, "All members of its servers"}),
	longText(dashboardKeys+"operators", "Operators of the dashboard", "IDs of Discord accounts that may do "+
		"everything here once they have signed in, as you can: change settings, read what all servers do, spend.",
		&at.Dashboard.Operators).checked(parses(access.ParseIDs)),
	text(dashboardKeys+"hosts", "Names of the dashboard", "Names under which a reverse proxy with https serves the "+
		"dashboard, such as clank.example.org, separated by spaces. It always answers to localhost.", "", pathMaxLen,
		&at.Dashboard.Hosts).checked(checkHosts),
	text(dashboardKeys+"proxies", "Reverse proxies", "Addresses of the reverse proxies whose X-Forwarded-For and "+
		"X-Forwarded-Proto are believed, such as 127.0.0.1, separated by spaces. Every program on such a machine can then "+
		"claim to be one.", "", pathMaxLen, &at.Dashboard.Proxies).checked(checkProxies),
)
