// Package corpus is what hostile pages try: for each mechanism by which a browser can be made to send something, the page
// that does it. It is data and the few rules by which it becomes cases; serving the pages, opening them and seeing what
// arrives is for others.
//
// In pages, files, headers and addresses, words between @ stand for what a case is about:
//
//	@id@        the case's token             @url@    address of the canary, in the scheme of the page
//	@hostport@  host and port of the canary  @sock@   the same as a WebSocket
//	@raw@       its plain IP address         @port@   its port
//	@http@ @https@ @ws@ @wss@                the same in one scheme
//	@self@      origin of the page           @other@  origin of another site that serves the same files
//	@extra@     origin of the page on the case's own port
//
// A path /hop/CODE of the page's origin redirects to @url@ with that status, /via/URL to another URL. A function go, if the page has one, is
// called with a user's gesture once the page is ready. /got says that the page has read something it should not.
package corpus

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"clank/internal/hostile/names"
)

// Attack is one mechanism.
type Attack struct {
	Group, Name string
	// Secure serves the page over TLS.
	Secure bool
	// Page is the HTML of the page.
	Page string
	// Head has response headers of the page, Early those of a 103 response before it.
	Head, Early map[string]string
	// Files are other things that the page's origin has. The ending says the type.
	Files map[string]string
	// Visit is what is opened instead of the page.
	Visit string
	// Ask is a method of the DevTools protocol that is called once the page is ready.
	Ask string
	// Extra has the site listen on the case's own port, too. A request for /shut there ends that.
	Extra bool
	// By is what counts as a hit besides arriving at the canary's port: DNS, a question of the browser itself.
	By Means
	// Spots are where the canary sits; none means the next in turn.
	Spots []Spot
	// Never says why Chromium sends nothing even where nobody holds it back. Such a case proves nothing, and is not counted.
	Never string
}

// Means is how a hit is seen.
type Means int

// The means.
const (
	Port Means = iota // something arrives at the canary
	DNS               // a name server is asked for a name that has the token, by the browser itself
	MDNS              // a packet to a multicast address goes out
)

// Spot is a place for a canary.
type Spot struct {
	Name string
	// Addr is where it listens.
	Addr netip.Addr
	// Host is how a URL spells that; "" means as usual.
	Host string
	// Bend, if set, has a name lead there instead.
	Bend names.Kind
	// Shared is the port of a listener that many cases share; 0 gives the case a port of its own.
	Shared uint16
	// Real says that the program itself listens there, and no canary.
	Real bool
	// Everywhere says that the spot is there without a namespace, too.
	Everywhere bool
}

// Case is one attack on one spot.
type Case struct {
	Attack
	Spot

	// Number tells cases apart, from 0.
	Number int
}

// Title is group, mechanism and spot.
func (c Case) Title() string { return c.Group + "/" + c.Attack.Name + "→" + c.Spot.Name }

// Held reports whether a DevTools client that holds a browser's HTTP requests (CDP domain Fetch) can hold what the case
// sends. It cannot hold what a browser sends by itself, or not over HTTP; and it judges a name before the browser looks that
// up.
func (c Case) Held() bool {
	if c.By != Port {
		return false
	}
	switch c.Group {
	case "socket", "webrtc", "report", "feature", "detour":
		return false
	}
	for _, word := range []string{"WebSocket", "WebTransport", "preconnect", "rebinding"} {
		if strings.Contains(c.Attack.Name, word) {
			return false
		}
	}
	return true
}

// URLHost is how a URL names the spot. word makes a name unique.
func (c Case) URLHost(word string) string {
	switch {
	case c.Bend != "":
		return names.Bend(word, c.Bend, c.Addr)
	case c.Host != "":
		return c.Host
	case c.Addr.Is4():
		return c.Addr.String()
	default:
		return "[" + c.Addr.String() + "]"
	}
}

// Cases are all there are, or those that need no namespace.
func Cases(namespace bool) []Case {
	turn := slices.DeleteFunc(slices.Clone(Spots()), func(s Spot) bool { return !namespace && !s.Everywhere })
	var cases []Case
	next := 0
	for _, a := range attacks() {
		spots := a.Spots
		if len(spots) == 0 {
			spots = []Spot{turn[next%len(turn)]}
			next++
		}
		for _, s := range spots {
			if namespace || s.Everywhere {
				cases = append(cases, Case{Attack: a, Spot: s, Number: len(cases)})
			}
		}
	}
	return cases
}

func attacks() []Attack {
	return slices.Concat(navigations(), redirects(), documents(), fetches(), sockets(), peers(), scripts(), workers(), styles(),
		pictures(), hints(), reports(), dialogs(), downloads(), detours(), spellings(), resolutions(), doors())
}

// Spots are the places that cases take turns with.
func Spots() []Spot {
	return []Spot{
		{Name: "loopback", Addr: ip("127.0.0.1"), Everywhere: true},
		{Name: "ten", Addr: ip("10.66.0.1")},
		{Name: "metadata", Addr: ip("169.254.169.254")},
		{Name: "home", Addr: ip("192.168.66.1")},
		{Name: "loopback6", Addr: ip("::1"), Everywhere: true},
		{Name: "office", Addr: ip("172.16.66.1")},
		{Name: "carrier", Addr: ip("100.64.66.1")},
		{Name: "unique-local", Addr: ip("fd00:66::1")},
	}
}

// IPv4 are those of the spots that have a plain IPv4 address.
func ipv4() []Spot {
	return slices.DeleteFunc(Spots(), func(s Spot) bool { return !s.Addr.Is4() })
}

func ip(s string) netip.Addr { return netip.MustParseAddr(s) }

// script is a page that consists of one.
func script(group, name, body string) Attack {
	return Attack{Group: group, Name: name, Page: fmt.Sprintf("<script>%s</script>", body)}
}

// markup is a page of plain HTML.
func markup(group, name, body string) Attack { return Attack{Group: group, Name: name, Page: body} }

// secure serves attacks over TLS.
func secure(list ...Attack) []Attack {
	for i := range list {
		list[i].Secure = true
	}
	return list
}

// on puts attacks on spots.
func on(spots []Spot, list ...Attack) []Attack {
	for i := range list {
		list[i].Spots = spots
	}
	return list
}
