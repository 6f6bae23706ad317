package corpus

import (
	"net/netip"
	"slices"

	"clank/internal/hostile/names"
)

// Door is a listener of the program that guards the browser.
type Door struct {
	Name string
	At   netip.AddrPort
}

const door = "door"

// knocks are the ways of speaking to a door.
func knocks() []Attack {
	return []Attack{
		script(door, "fetch", "fetch('http://@hostport@/x/@id@',{mode:'no-cors'})"),
		script(door, "post without preflight", "fetch('http://@hostport@/x/@id@',{method:'POST',mode:'no-cors',body:'{}',headers:{'content-type':'text/plain'}})"),
		script(door, "WebSocket", "new WebSocket('ws://@hostport@/x/@id@')"),
		markup(door, "form", "<form id=f action=http://@hostport@/x/@id@ method=post enctype=text/plain><input name='{\"a\":\"' value='\"}'></form><script>f.submit()</script>"),
		markup(door, "frame", "<iframe src=http://@hostport@/x/@id@></iframe>"),
	}
}

// tools are what else DevTools could be made to do.
func tools() []Attack {
	return []Attack{
		script(door, "DevTools by WebSocket", "new WebSocket('ws://@hostport@/x/@id@/devtools/browser')"),
		script(door, "new tab by PUT", "fetch('http://@hostport@/x/@id@/json/new?about:blank',{method:'PUT'})"),
	}
}

// doors are places where the program itself usually is, and others that every machine may have. Canaries stand there.
func doors() []Attack {
	shared := func(name, addr string, port uint16) Spot {
		return Spot{Name: name, Addr: ip(addr), Shared: port}
	}
	own := []Spot{
		shared("dashboard", "127.0.0.1", 8787), shared("control", "127.0.0.1", 18791), shared("devtools", "127.0.0.1", 18800),
		shared("metadata-80", "169.254.169.254", 80),
	}
	return slices.Concat(on(own, knocks()...), on(own[2:3], tools()...))
}

// Doors are cases about the listeners of a program that runs. They count as hit where a packet brings their token there. The
// last case is of another sort: a canary on a private address, which is to be hit where private addresses are allowed.
func Doors(list []Door) []Case {
	attacks := append(knocks(),
		markup(door, "image", "<img src=http://@hostport@/x/@id@>"),
		markup(door, "redirect", "<img src=/via/http://@hostport@/x/@id@>"),
		Attack{Group: door, Name: "visit", Visit: "http://@hostport@/x/@id@"},
		script(door, "window.open", "function go(){open('http://@hostport@/x/@id@')}"),
		script(door, "beacon", "navigator.sendBeacon('http://@hostport@/x/@id@','a')"),
		script(door, "worker", "new Worker('/w.js')").with("w.js", "fetch('http://@hostport@/x/@id@',{mode:'no-cors'})"),
	)
	var cases []Case
	add := func(a Attack, s Spot) { cases = append(cases, Case{Attack: a, Spot: s, Number: len(cases)}) }
	for _, d := range list {
		spot := Spot{Name: d.Name, Addr: d.At.Addr(), Shared: d.At.Port(), Real: true}
		for _, a := range append(attacks, tools()...) {
			add(a, spot)
		}
		for _, host := range []string{"localhost", "127.1", "0.0.0.0", "[::ffff:127.0.0.1]", names.Bend("d", names.To, d.At.Addr())} {
			spelled := spot
			spelled.Host, spelled.Name = host, d.Name+" as "+host
			add(markup(door, "image", "<img src=http://@hostport@/x/@id@>"), spelled)
		}
	}
	add(script(door, "allowed address", "fetch('@url@',{mode:'no-cors'})"), Spot{Name: "ten", Addr: ip("10.66.0.1")})
	return cases
}
