package main

import "slices"

// addressSpellings write addresses in ways that programs read differently.
func addressSpellings() []attackCase {
	var spots []canaryTarget
	spell := func(addr string, everywhere bool, hosts ...string) {
		for _, host := range hosts {
			spots = append(spots, canaryTarget{Name: host, Host: host, Addr: mustAddr(addr), Everywhere: everywhere})
		}
	}
	spell("127.0.0.1", true, "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001",
		"0x7F.0x0.0x0.0x1", "127.0.0.1.", "localhost", "LOCALHOST", "localhost.", "a.localhost", "%6c%6f%63alhost", "%31%32%37.0.0.1",
		"①②⑦.⓪.⓪.①", "１２７。０。０。１", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "loc\u00adalhost", "0.0.0.0", "0", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]")
	spell("127.255.255.254", true, "127.255.255.254")
	spell("::1", true, "[0:0:0:0:0:0:0:1]", "[::]")
	spell("10.66.0.1", false, "10.66.1", "172097537", "0x0a420001", "012.0102.0.1")
	spell("169.254.169.254", false, "0xa9fea9fe", "2852039166", "[::ffff:a9fe:a9fe]")
	for _, addr := range []string{
		"64:ff9b::a42:1", "64:ff9b:1::a42:1", "2002:a42:1::1", "2001:0:a42:1::f5bd:fffe", "::a42:1", "fec0::66", "2001:db8::66", "100::66",
		"2001:2::66", "2606:2800:21f:cb07:0:5efe:a42:1",
	} {
		spell(addr, false, "["+addr+"]")
	}
	for _, addr := range []string{
		"198.18.66.1", "192.0.0.66", "192.0.2.66", "198.51.100.66", "203.0.113.66", "192.88.99.66", "240.0.0.66",
	} {
		spell(addr, false, addr)
	}
	return append(onTargets(spots, markupAttack("spelling", "image", "<img src=http://@hostport@/x/@id@>")),
		onTargets(spots[:1], scriptAttack("spelling", "WebSocket", "new WebSocket('ws://@hostport@/x/@id@')"))...)
}

// nameResolutionAttacks returns attacks with names that lead to a private address.
func nameResolutionAttacks() []attackCase {
	const g = "name"
	spot := func(kind nameKind, addr string) canaryTarget {
		return canaryTarget{Name: string(kind) + " " + addr, Addr: mustAddr(addr), NameKind: kind}
	}
	plain := []canaryTarget{
		spot(NameDirect, "127.0.0.1"), spot(NameDirect, "10.66.0.1"), spot(NameDirect, "169.254.169.254"), spot(NameDirect, "::1"),
		spot(NameDirect, "fd00:66::1"), spot(NameDirect, "64:ff9b::a42:1"), spot(NameDirect, "2002:a42:1::1"),
		spot(NameAlias, "10.66.0.1"), spot(NameChain, "192.168.66.1"), spot(nameBehind, "172.16.66.1"),
	}
	// The page's own port on the site is closed once the page is there; whoever resolved the name has the other address left.
	both := []canaryTarget{spot(NameBoth, "10.66.0.1"), spot(NameBoth, "127.0.0.1"), spot(NameSecond, "fd00:66::1")}
	flip := []canaryTarget{spot(NameFlip, "10.66.0.1"), spot(NameFlip, "127.0.0.1"), spot(NameFlip, "169.254.169.254")}
	rebind := attackCase{
		Group: g, Name: "rebinding by a closed port", Extra: true, Page: "<iframe src=http://@hostport@/two.html></iframe>",
		Files: map[string]string{"two.html": "<script>fetch('/shut').finally(()=>setInterval(()=>fetch('/secret').then(r=>r.ok&&r.text()),300))</script>"},
	}
	// Chromium keeps an answer for a minute for each site that asks: the second site asks anew.
	turn := attackCase{
		Group: g, Name: "rebinding by a second answer", Extra: true,
		Page: "<iframe src=http://@hostport@/in.html onload=\"setTimeout(()=>location='@other@/two.html',300)\"></iframe>",
		Files: map[string]string{
			"in.html":  "inside",
			"two.html": "<img src=http://@hostport@/secret><script>setInterval(()=>new Image().src='http://@hostport@/secret?'+Math.random(),300)</script>",
		},
	}
	return slices.Concat(
		onTargets(plain, markupAttack(g, "image", "<img src=http://@hostport@/x/@id@>")),
		onTargets(plain[:3], attackCase{Group: g, Name: "visit", Visit: "http://@hostport@/x/@id@"}, scriptAttack(g, "WebSocket", "new WebSocket('ws://@hostport@/x/@id@')")),
		onTargets(both, rebind), onTargets(flip, turn),
	)
}
