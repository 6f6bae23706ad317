package main

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// attackCase is one mechanism.
type attackCase struct {
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
	// By is what counts as a hit besides arriving at the canary's port: meansDNS, a question of the browser itself.
	By hitMeans
	// Targets are where the canary sits; none means the next in turn.
	Targets []canaryTarget
	// Beside says that the case is a script beside the page, which says when it runs: nothing else proves the case.
	Beside bool
	// Never says why Chromium sends nothing even where nobody holds it back. Such a case proves nothing, and is not
	// counted.
	Never string
}

// hitMeans is how a hit is seen.
type hitMeans int

// The means.
const (
	meansPort hitMeans = iota // something arrives at the canary
	meansDNS                  // a name server is asked for a name that has the token, by the browser itself
	meansMDNS                 // a packet to a multicast address goes out
)

// canaryTarget is a place for a canary.
type canaryTarget struct {
	Name string
	// Addr is where it listens.
	Addr netip.Addr
	// Host is how a URL spells that; "" means as usual.
	Host string
	// NameKind, if set, has a name lead there instead.
	NameKind nameKind
	// Shared is the port of a listener that many cases share; 0 gives the case a port of its own.
	Shared uint16
	// Real says that the program itself listens there, and no canary.
	Real bool
	// Everywhere says that the spot is there without a namespace, too.
	Everywhere bool
}

// rangeCase is one attack on one spot.
type rangeCase struct {
	attackCase
	canaryTarget

	// Number tells cases apart, from 0.
	Number int
}

// Title returns group, mechanism and spot.
func (c rangeCase) Title() string {
	return c.Group + "/" + c.attackCase.Name + "→" + c.canaryTarget.Name
}

// heldWhenJoined reports whether a DevTools client that holds a browser's HTTP requests (CDP domain Fetch) can hold
// what the case sends. It cannot hold what a browser sends by itself, or not over HTTP; and it judges a name before the
// browser looks that up.
func (c rangeCase) heldWhenJoined() bool {
	if c.By != meansPort {
		return false
	}
	switch c.Group {
	case "socket", "webrtc", "report", "feature", "detour":
		return false
	}
	for _, word := range []string{"WebSocket", "WebTransport", "preconnect", "rebinding"} {
		if strings.Contains(c.attackCase.Name, word) {
			return false
		}
	}
	return true
}

// URLHost returns how a URL names the spot. word makes a name unique.
func (c rangeCase) URLHost(word string) string {
	switch {
	case c.NameKind != "":
		return EncodeName(word, c.NameKind, c.Addr)
	case c.Host != "":
		return c.Host
	case c.Addr.Is4():
		return c.Addr.String()
	default:
		return "[" + c.Addr.String() + "]"
	}
}

// RangeCases returns all cases, or those that need no namespace.
func RangeCases(namespace bool) []rangeCase {
	turn := slices.DeleteFunc(slices.Clone(canaryTargets()), func(s canaryTarget) bool { return !namespace && !s.Everywhere })
	var cases []rangeCase
	next := 0
	for _, a := range allAttacks() {
		spots := a.Targets
		if len(spots) == 0 {
			spots = []canaryTarget{turn[next%len(turn)]}
			next++
		}
		for _, s := range spots {
			if namespace || s.Everywhere {
				cases = append(cases, rangeCase{attackCase: a, canaryTarget: s, Number: len(cases)})
			}
		}
	}
	return cases
}

func allAttacks() []attackCase {
	return slices.Concat(navigationAttacks(), redirectAttacks(), documentAttacks(), fetchAttacks(), socketAttacks(), webRTCAttacks(), scriptAttacks(), workerAttacks(), styleAttacks(),
		imageAttacks(), resourceHintAttacks(), reportingAttacks(), dialogAttacks(), downloadAttacks(), detourAttacks(),
		addressSpellings(), nameResolutionAttacks(),
		ownListenerAttacks(), machineAttacks())
}

// canaryTargets returns the places that cases take turns with.
func canaryTargets() []canaryTarget {
	return append([]canaryTarget{
		{Name: "loopback", Addr: mustAddr("127.0.0.1"), Everywhere: true},
		{Name: "ten", Addr: mustAddr("10.66.0.1")},
		{Name: "metadata", Addr: mustAddr("169.254.169.254")},
		{Name: "home", Addr: mustAddr("192.168.66.1")},
		{Name: "loopback6", Addr: mustAddr("::1"), Everywhere: true},
		{Name: "office", Addr: mustAddr("172.16.66.1")},
		{Name: "carrier", Addr: mustAddr("100.64.66.1")},
		{Name: "unique-local", Addr: mustAddr("fd00:66::1")},
	}, machineTargets()...)
}

// machineTargets returns addresses that are public elsewhere: the machine's own, and one of its network.
func machineTargets() []canaryTarget {
	return []canaryTarget{
		{Name: "own public", Addr: mustAddr("93.184.216.7")},
		{Name: "neighbour", Addr: mustAddr("93.184.217.66")},
		{Name: "own public6", Addr: mustAddr("2606:2800:21f:cb08::7")},
	}
}

// IPv4 are those of the spots that have a plain IPv4 address.
func ipv4Targets() []canaryTarget {
	return slices.DeleteFunc(canaryTargets(), func(s canaryTarget) bool { return !s.Addr.Is4() })
}

func mustAddr(s string) netip.Addr { return netip.MustParseAddr(s) }

// scriptAttack returns a page that consists of one.
func scriptAttack(group, name, body string) attackCase {
	return attackCase{Group: group, Name: name, Page: fmt.Sprintf("<script>%s</script>", body)}
}

// markupAttack returns a page of plain HTML.
func markupAttack(group, name, body string) attackCase {
	return attackCase{Group: group, Name: name, Page: body}
}

// overTLS serves attacks over TLS.
func overTLS(list ...attackCase) []attackCase {
	for i := range list {
		list[i].Secure = true
	}
	return list
}

// onTargets puts attacks on spots.
func onTargets(spots []canaryTarget, list ...attackCase) []attackCase {
	for i := range list {
		list[i].Targets = spots
	}
	return list
}
