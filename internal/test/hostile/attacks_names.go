package main

import "slices"

// addressSpellings write addresses in ways that programs read differently.
func addressSpellings() []attackCase {
	loop, ten, meta := mustAddr("127.0.0.1"), mustAddr("10.66.0.1"), mustAddr("169.254.169.254")
	var spots []canaryTarget
	for _, s := range []struct {
		host string
		addr string
	}{
		{"127.1", "127.0.0.1"},
		{"127.0.1", "127.0.0.1"},
		{"2130706433", "127.0.0.1"},
		{"0x7f000001", "127.0.0.1"},
		{"0x7f.0.0.1", "127.0.0.1"},
		{"0177.0.0.1", "127.0.0.1"},
		{"017700000001", "127.0.0.1"},
		{"0x7F.0x0.0x0.0x1", "127.0.0.1"},
		{"127.0.0.1.", "127.0.0.1"},
		{"localhost", "127.0.0.1"},
		{"LOCALHOST", "127.0.0.1"},
		{"localhost.", "127.0.0.1"},
		{"a.localhost", "127.0.0.1"},
		{"%6c%6f%63alhost", "127.0.0.1"},
		{"%31%32%37.0.0.1", "127.0.0.1"},
		{"①②⑦.⓪.⓪.①", "127.0.0.1"},
		{"１２７。０。０。１", "127.0.0.1"},
		{"ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "127.0.0.1"},
		{"loc\u00adalhost", "127.0.0.1"},
		{"0.0.0.0", "127.0.0.1"},
		{"0", "127.0.0.1"},
		{"127.255.255.254", "127.255.255.254"},
		{"[0:0:0:0:0:0:0:1]", "::1"},
		{"[::]", "::1"},
		{"[::ffff:127.0.0.1]", "127.0.0.1"},
		{"[::ffff:7f00:1]", "127.0.0.1"},
	} {
		spots = append(spots, canaryTarget{Name: s.host, Host: s.host, Addr: mustAddr(s.addr), Everywhere: true})
	}
	for _, s := range []canaryTarget{
		{Host: "10.66.1", Addr: ten},
		{Host: "172097537", Addr: mustAddr("10.66.0.1")},
		{Host: "0x0a420001", Addr: ten},
		{Host: "012.0102.0.1", Addr: ten},
		{Host: "0xa9fea9fe", Addr: meta},
		{Host: "2852039166", Addr: meta},
		{Host: "[::ffff:a9fe:a9fe]", Addr: meta},
		{Host: "[64:ff9b::a42:1]", Addr: mustAddr("64:ff9b::a42:1")},
		{Host: "[64:ff9b:1::a42:1]", Addr: mustAddr("64:ff9b:1::a42:1")},
		{Host: "[2002:a42:1::1]", Addr: mustAddr("2002:a42:1::1")},
		{Host: "[2001:0:a42:1::f5bd:fffe]", Addr: mustAddr("2001:0:a42:1::f5bd:fffe")},
		{Host: "[::a42:1]", Addr: mustAddr("::a42:1")},
		{Host: "[fec0::66]", Addr: mustAddr("fec0::66")},
		{Host: "[2001:db8::66]", Addr: mustAddr("2001:db8::66")},
		{Host: "[100::66]", Addr: mustAddr("100::66")},
		{Host: "[2001:2::66]", Addr: mustAddr("2001:2::66")},
		{Host: "[2606:2800:21f:cb07:0:5efe:a42:1]", Addr: mustAddr("2606:2800:21f:cb07:0:5efe:a42:1")},
		{Host: "198.18.66.1", Addr: mustAddr("198.18.66.1")},
		{Host: "192.0.0.66", Addr: mustAddr("192.0.0.66")},
		{Host: "192.0.2.66", Addr: mustAddr("192.0.2.66")},
		{Host: "198.51.100.66", Addr: mustAddr("198.51.100.66")},
		{Host: "203.0.113.66", Addr: mustAddr("203.0.113.66")},
		{Host: "192.88.99.66", Addr: mustAddr("192.88.99.66")},
		{Host: "240.0.0.66", Addr: mustAddr("240.0.0.66")},
	} {
		s.Name = s.Host
		spots = append(spots, s)
	}
	mapped := slices.IndexFunc(spots, func(s canaryTarget) bool { return s.Addr == loop })
	return append(onTargets(spots, markupAttack("spelling", "image", "<img src=http://@hostport@/x/@id@>")),
		onTargets(spots[mapped:mapped+1], scriptAttack("spelling", "WebSocket", "new WebSocket('ws://@hostport@/x/@id@')"))...)
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
