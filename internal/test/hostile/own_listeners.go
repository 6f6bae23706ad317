package main

import (
	"net/netip"
	"slices"
)

// ownListener is a listener of the program that guards the browser.
type ownListener struct {
	Name string
	At   netip.AddrPort
}

const ownListenerGroup = "door"

// requestAttacks returns the ways of speaking to a door.
func requestAttacks() []attackCase {
	return []attackCase{
		scriptAttack(ownListenerGroup, "fetch", "fetch('http://@hostport@/x/@id@',{mode:'no-cors'})"),
		scriptAttack(ownListenerGroup, "post without preflight", "fetch('http://@hostport@/x/@id@',{method:'POST',mode:'no-cors',body:'{}',headers:{'content-type':'text/plain'}})"),
		scriptAttack(ownListenerGroup, "WebSocket", "new WebSocket('ws://@hostport@/x/@id@')"),
		markupAttack(ownListenerGroup, "form", "<form id=f action=http://@hostport@/x/@id@ method=post enctype=text/plain><input name='{\"a\":\"' value='\"}'></form><script>f.submit()</script>"),
		markupAttack(ownListenerGroup, "frame", "<iframe src=http://@hostport@/x/@id@></iframe>"),
	}
}

// devToolsAttacks returns attacks with what else DevTools could be made to do.
func devToolsAttacks() []attackCase {
	return []attackCase{
		scriptAttack(ownListenerGroup, "DevTools by WebSocket", "new WebSocket('ws://@hostport@/x/@id@/devtools/browser')"),
		scriptAttack(ownListenerGroup, "new tab by PUT", "fetch('http://@hostport@/x/@id@/json/new?about:blank',{method:'PUT'})"),
	}
}

// ownListenerAttacks returns attacks on places where the program itself usually listens, and others that every
// machine may have. Canaries stand there.
func ownListenerAttacks() []attackCase {
	shared := func(name, addr string, port uint16) canaryTarget {
		return canaryTarget{Name: name, Addr: mustAddr(addr), Shared: port}
	}
	own := []canaryTarget{
		shared("dashboard", "127.0.0.1", 8787), shared("control", "127.0.0.1", 18791), shared("devtools", "127.0.0.1", 18800),
		shared("metadata-80", "169.254.169.254", 80),
	}
	return slices.Concat(onTargets(own, requestAttacks()...), onTargets(own[2:3], devToolsAttacks()...))
}

// ownListenerCases returns cases about the listeners of a running program. They count as hit where a packet
// brings their token there. The last case is of another sort: a canary on a private address, which must be hit
// where private addresses are allowed.
func ownListenerCases(list []ownListener) []rangeCase {
	attacks := append(requestAttacks(),
		markupAttack(ownListenerGroup, "image", "<img src=http://@hostport@/x/@id@>"),
		markupAttack(ownListenerGroup, "redirect", "<img src=/via/http://@hostport@/x/@id@>"),
		attackCase{Group: ownListenerGroup, Name: "visit", Visit: "http://@hostport@/x/@id@"},
		scriptAttack(ownListenerGroup, "window.open", "function go(){open('http://@hostport@/x/@id@')}"),
		scriptAttack(ownListenerGroup, "beacon", "navigator.sendBeacon('http://@hostport@/x/@id@','a')"),
		scriptAttack(ownListenerGroup, "worker", "new Worker('/w.js')").with("w.js", "fetch('http://@hostport@/x/@id@',{mode:'no-cors'})"),
	)
	var cases []rangeCase
	add := func(a attackCase, s canaryTarget) {
		cases = append(cases, rangeCase{attackCase: a, canaryTarget: s, Number: len(cases)})
	}
	for _, d := range list {
		spot := canaryTarget{Name: d.Name, Addr: d.At.Addr(), Shared: d.At.Port(), Real: true}
		for _, a := range append(attacks, devToolsAttacks()...) {
			add(a, spot)
		}
		for _, host := range []string{"localhost", "127.1", "0.0.0.0", "[::ffff:127.0.0.1]", EncodeName("d", NameDirect, d.At.Addr())} {
			spelled := spot
			spelled.Host, spelled.Name = host, d.Name+" as "+host
			add(markupAttack(ownListenerGroup, "image", "<img src=http://@hostport@/x/@id@>"), spelled)
		}
	}
	add(scriptAttack(ownListenerGroup, "allowed address", "fetch('@url@',{mode:'no-cors'})"), canaryTarget{Name: "ten", Addr: mustAddr("10.66.0.1")})
	return cases
}
