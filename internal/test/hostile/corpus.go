package main

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// attackCase is one attack mechanism.
type attackCase struct {
	Group, Name string
	// Secure serves the page over TLS.
	Secure bool
	// Page is the HTML of the page.
	Page string
	// Head are response headers of the page, Early those of a 103 response before it.
	Head, Early map[string]string
	// Files are other files of the page's origin. The extension determines the type.
	Files map[string]string
	// Visit is opened instead of the page.
	Visit string
	// Ask is a CDP method to call when the page is ready.
	Ask string
	// Extra makes the site listen on the case's own port as well. A request for /shut there closes it.
	Extra bool
	// By is what counts as a hit besides a connection to the canary's port: meansDNS is a DNS question of the browser
	// itself.
	By hitMeans
	// Targets are the addresses of the canary; nil means the next in turn.
	Targets []canaryTarget
	// Beside means that the case is a script beside the page, which reports when it runs: otherwise the case proves
	// nothing.
	Beside bool
	// Never is why Chromium sends nothing even without the guard. Such a case proves nothing, and does not count.
	Never string
}

// hitMeans is how a hit is detected.
type hitMeans int

// Means of detection.
const (
	meansPort hitMeans = iota // a connection or datagram to the canary
	meansDNS                  // the browser itself asks a name server for a name with the token
	meansMDNS                 // a packet to a multicast address
)

// canaryTarget is an address for a canary.
type canaryTarget struct {
	Name string
	// Addr is where it listens.
	Addr netip.Addr
	// Host is the spelling in URLs; "" means the usual one.
	Host string
	// NameKind, if set, uses a name that resolves to the address.
	NameKind nameKind
	// Shared is the port of a listener shared by many cases; 0 gives the case its own port.
	Shared uint16
	// Real means that the program itself listens there, not a canary.
	Real bool
	// Everywhere means that the target exists without a namespace as well.
	Everywhere bool
}

// rangeCase is an attack on a target.
type rangeCase struct {
	attackCase
	canaryTarget

	// Number tells cases apart, from 0.
	Number int
}

// Title returns group, mechanism and target.
func (c rangeCase) Title() string {
	return c.Group + "/" + c.attackCase.Name + "→" + c.canaryTarget.Name
}

// heldWhenJoined reports whether a DevTools client that intercepts HTTP requests (CDP domain Fetch) can intercept
// what the case sends. It cannot intercept what a browser sends by itself or by other protocols, and it checks a name
// before the browser resolves it.
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

// URLHost returns the host of the target in a URL. word makes a name unique.
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
	turn := slices.DeleteFunc(slices.Clone(canaryTargets()), func(s canaryTarget) bool {
		return !namespace && !s.Everywhere
	})
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
	return slices.Concat(navigationAttacks(), redirectAttacks(), documentAttacks(), fetchAttacks(), socketAttacks(),
		webRTCAttacks(), scriptAttacks(), workerAttacks(), styleAttacks(),
		imageAttacks(), resourceHintAttacks(), reportingAttacks(), dialogAttacks(), downloadAttacks(), detourAttacks(),
		addressSpellings(), nameResolutionAttacks(),
		ownListenerAttacks(), machineAttacks())
}

// canaryTargets returns the targets that cases use in turns.
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

// ipv4Targets returns the targets with a plain IPv4 address.
func ipv4Targets() []canaryTarget {
	return slices.DeleteFunc(canaryTargets(), func(s canaryTarget) bool { return !s.Addr.Is4() })
}

func mustAddr(s string) netip.Addr { return netip.MustParseAddr(s) }

// scriptAttack returns a page that consists of a script.
func scriptAttack(group, name, body string) attackCase {
	return attackCase{Group: group, Name: name, Page: fmt.Sprintf("<script>%s</script>", body)}
}

// markupAttack returns a page of plain HTML.
func markupAttack(group, name, body string) attackCase {
	return attackCase{Group: group, Name: name, Page: body}
}

// overTLS makes attacks use TLS.
func overTLS(list ...attackCase) []attackCase {
	for i := range list {
		list[i].Secure = true
	}
	return list
}

// onTargets sets the targets of attacks.
func onTargets(spots []canaryTarget, list ...attackCase) []attackCase {
	for i := range list {
		list[i].Targets = spots
	}
	return list
}
