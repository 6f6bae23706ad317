package main

import (
	"slices"
	"strings"
)

// addressSpellings returns attacks with addresses in spellings that programs parse differently.
func addressSpellings() []attackCase {
	var spots []canaryTarget
	spell := func(addr string, everywhere bool, hosts ...string) {
		for _, host := range hosts {
			spots = append(spots, canaryTarget{Name: host, Host: host, Addr: mustAddr(addr), Everywhere: everywhere})
		}
	}
	spell("127.0.0.1", true, "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001",
		"0x7F.0x0.0x0.0x1", "127.0.0.1.", "localhost", "LOCALHOST", "localhost.", "a.localhost", "%6c%6f%63alhost",
		"%31%32%37.0.0.1",
		"①②⑦.⓪.⓪.①", "１２７。０。０。１", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "loc\u00adalhost", "0.0.0.0", "0", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]")
	spell("127.255.255.254", true, "127.255.255.254")
	spell("::1", true, "[0:0:0:0:0:0:0:1]", "[::]")
	spell("10.66.0.1", false, "10.66.1", "172097537", "0x0a420001", "012.0102.0.1")
	spell("169.254.169.254", false, "0xa9fea9fe", "2852039166", "[::ffff:a9fe:a9fe]")
	for _, addr := range []string{
		"64:ff9b::a42:1", "64:ff9b:1::a42:1", "2002:a42:1::1", "2001:0:a42:1::f5bd:fffe", "::a42:1", "fec0::66",
		"2001:db8::66", "100::66",
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

// nameResolutionAttacks returns attacks with names that resolve to a private address.
func nameResolutionAttacks() []attackCase {
	const g = "name"
	spot := func(kind nameKind, addr string) canaryTarget {
		return canaryTarget{Name: string(kind) + " " + addr, Addr: mustAddr(addr), NameKind: kind}
	}
	plain := []canaryTarget{
		spot(NameDirect, "127.0.0.1"), spot(NameDirect, "10.66.0.1"), spot(NameDirect, "169.254.169.254"),
		spot(NameDirect, "::1"),
		spot(NameDirect, "fd00:66::1"), spot(NameDirect, "64:ff9b::a42:1"), spot(NameDirect, "2002:a42:1::1"),
		spot(NameAlias, "10.66.0.1"), spot(NameChain, "192.168.66.1"), spot(nameBehind, "172.16.66.1"),
	}
	// The page's own port on the site is closed once the page has loaded, so a client that resolved the name falls
	// back to the other address.
	both := []canaryTarget{spot(NameBoth, "10.66.0.1"), spot(NameBoth, "127.0.0.1"), spot(NameSecond, "fd00:66::1")}
	flip := []canaryTarget{spot(NameFlip, "10.66.0.1"), spot(NameFlip, "127.0.0.1"), spot(NameFlip, "169.254.169.254")}
	rebind := attackCase{
		Group: g, Name: "rebinding by a closed port", Extra: true, Page: "<iframe src=http://@hostport@/two.html></iframe>",
		Files: map[string]string{
			"two.html": "<script>fetch('/shut').finally(()=>setInterval(()=>fetch('/secret').then(r=>r.ok&&r.text()),300))</script>",
		},
	}
	// Chromium caches an answer for a minute per site, so the second site resolves again.
	turn := attackCase{
		Group: g, Name: "rebinding by a second answer", Extra: true,
		Page: "<iframe src=http://@hostport@/in.html onload=\"setTimeout(()=>location='@other@/two.html',300)\"></iframe>",
		Files: map[string]string{
			"in.html": "inside",
			"two.html": "<img src=http://@hostport@/secret><script>setInterval(()=>new " +
				"Image().src='http://@hostport@/secret?'+Math.random(),300)</script>",
		},
	}
	return slices.Concat(
		onTargets(plain, markupAttack(g, "image", "<img src=http://@hostport@/x/@id@>")),
		onTargets(plain[:3], attackCase{Group: g, Name: "visit", Visit: "http://@hostport@/x/@id@"},
			scriptAttack(g, "WebSocket", "new WebSocket('ws://@hostport@/x/@id@')")),
		onTargets(both, rebind), onTargets(flip, turn),
	)
}

// scriptAttacks returns attacks with foreign scripts.
func scriptAttacks() []attackCase {
	const g = "script"
	return []attackCase{
		markupAttack(g, "script", "<script src=@url@.js></script>"),
		markupAttack(g, "module", "<script type=module src=@url@.js></script>"),
		markupAttack(g, "import", "<script type=module>import '@url@.js'</script>"),
		markupAttack(g, "import of an import", "<script type=module src=/a.js></script>").with("a.js", "import '@url@.js'"),
		scriptAttack(g, "dynamic import", "import('@url@.js')"),
		markupAttack(g, "import map",
			`<script type=importmap>{"imports":{"x":"@url@.js"}}</script><script type=module>import 'x'</script>`),
		markupAttack(g, "json module", "<script type=module>import a from '@url@.json' with {type:'json'}</script>"),
		markupAttack(g, "css module", "<script type=module>import a from '@url@.css' with {type:'css'}</script>"),
		scriptAttack(g, "document.write", "document.write('<script src=@url@.js></scr'+'ipt>')"),
		markupAttack(g, "event handler", "<img src=x: onerror=\"new Image().src='@url@'\">"),
		markupAttack(g, "integrity", "<script src=@url@.js integrity=sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= "+
			"crossorigin></script>"),
	}
}

// ran is the start of a script beside a page; it reports that it runs.
const ran = "fetch('@self@/ran',{mode:'no-cors'});"

func beside(a attackCase) attackCase {
	a.Beside = true
	return a
}

// workerAttack returns a page with a dedicated worker, which must be seen to run.
func workerAttack(group, name, body string) attackCase {
	return beside(scriptAttack(group, name, "new Worker('/w.js')").with("w.js", ran+body))
}

// machineAttacks returns the most common attacks on each public address of the machine.
func machineAttacks() []attackCase {
	const g = "machine"
	return onTargets(
		machineTargets(),
		markupAttack(g, "image", "<img src=@url@>"), markupAttack(g, "frame", "<iframe src=@url@></iframe>"),
		scriptAttack(g, "fetch", "fetch('@url@',{mode:'no-cors'})"),
		scriptAttack(g, "redirect", "fetch('/hop/302',{mode:'no-cors'})"),
		scriptAttack(g, "WebSocket", "new WebSocket('@sock@')"),
		workerAttack(g, "worker fetch", "fetch('@url@',{mode:'no-cors'})"),
		workerAttack(g, "worker redirect", "fetch('@self@/hop/302',{mode:'no-cors'})"),
		workerAttack(g, "worker importScripts", "importScripts('@url@.js')"),
		workerAttack(g, "worker WebSocket", "new WebSocket('@sock@')"),
	)
}

// workerAttacks returns attacks with workers and other scripts beside the page.
func workerAttacks() []attackCase {
	const g = "worker"
	worker := func(name, body string) attackCase { return workerAttack(g, name, body) }
	register := "navigator.serviceWorker.register('/sw.js')"
	onceControlled := func(do string) string { // by a service worker: a new one, or that of an earlier visit
		return register + ";{let c=navigator.serviceWorker,f=()=>" + do + ";c.controller?f():c.oncontrollerchange=f}"
	}
	service := func(name, body string) attackCase {
		a := scriptAttack(g, name, register).with("sw.js", body)
		a.Secure = true
		return a
	}
	return append([]attackCase{
		worker("fetch", "fetch('@url@',{mode:'no-cors'})"),
		worker("importScripts", "importScripts('@url@.js')"),
		worker("XMLHttpRequest", "let x=new XMLHttpRequest;x.open('GET','@url@',false);x.send()"),
		worker("WebSocket", "new WebSocket('@sock@')"),
		worker("EventSource", "new EventSource('@url@')"),
		beside(scriptAttack(g, "worker in a worker", "new Worker('/w.js')").with("w.js", "new Worker('/v.js')")).with("v.js",
			ran+"fetch('@url@',{mode:'no-cors'})"),
		scriptAttack(g, "module worker", "new Worker('/w.js',{type:'module'})").with("w.js", "import '@url@.js'"),
		beside(scriptAttack(g, "blob worker", "new Worker(URL.createObjectURL(new Blob([\""+ran+
			"importScripts('@url@.js')\"])))")),
		beside(scriptAttack(g, "data worker", "new Worker(\"data:text/javascript,"+ran+"importScripts('@url@.js')\")")),
		beside(scriptAttack(g, "shared worker fetch", "new SharedWorker('/w.js')").with("w.js",
			ran+"fetch('@url@',{mode:'no-cors'})")),
		beside(scriptAttack(g, "shared worker WebSocket", "new SharedWorker('/w.js')").with("w.js",
			ran+"new WebSocket('@sock@')")),
		beside(scriptAttack(g, "shared worker importScripts", "new SharedWorker('/w.js')").with("w.js",
			ran+"importScripts('@url@.js')")),
		scriptAttack(g, "worker redirected", "new Worker('/hop/302')").never("Chromium loads workers from the page's own " +
			"origin only"),
	}, overTLS(
		service("service worker fetch", "fetch('@url@',{mode:'no-cors'})"),
		service("service worker importScripts", "importScripts('@url@.js')"),
		service("service worker WebSocket", "new WebSocket('@sock@')"),
		service("service worker WebTransport", "new WebTransport('@https@')"),
		service("service worker module", "import '@url@.js'").replacing(register,
			"navigator.serviceWorker.register('/sw.js',{type:'module'})"),
		service("service worker answers a frame",
			"oninstall=()=>skipWaiting();onactivate=e=>e.waitUntil(clients.claim());onfetch=e=>{if(e.request.url.endsWith('two'))e.respondWith(Response.redirect('@url@'))}").
			replacing(register, onceControlled("{let f=document.createElement('iframe');f.src='/two';document.body.append(f)}")),
		service("service worker passes on",
			"oninstall=()=>skipWaiting();onactivate=e=>e.waitUntil(clients.claim());onfetch=e=>{if(e.request.url.endsWith('two'))e.respondWith(fetch('@url@',{mode:'no-cors'}))}").
			replacing(register, onceControlled("fetch('/two',{mode:'no-cors'})")),
		service("service worker cache", "oninstall=e=>e.waitUntil(caches.open('a').then(c=>c.addAll(['@url@'])))"),
		scriptAttack(g, "paint worklet", "CSS.paintWorklet.addModule('@url@.js')"),
		scriptAttack(g, "audio worklet", "new AudioContext().audioWorklet.addModule('@url@.js')"),
		scriptAttack(g, "audio worklet, import", "new AudioContext().audioWorklet.addModule('/w.js')").with("w.js",
			"import '@url@.js'"),
	)...)
}

// replacing replaces text of the page.
func (a attackCase) replacing(old, text string) attackCase {
	a.Page = strings.Replace(a.Page, old, text, 1)
	return a
}

// styleAttacks returns attacks with resources of CSS.
func styleAttacks() []attackCase {
	const g = "css"
	rule := func(name, css string) attackCase {
		return markupAttack(g, name, "<style>"+css+"</style><p id=p>text<ul><li>a</ul>")
	}
	return []attackCase{
		markupAttack(g, "style sheet", "<link rel=stylesheet href=@url@.css>"),
		rule("import", "@import '@url@.css';"),
		markupAttack(g, "import in an import", "<style>@import '/a.css';</style>").with("a.css", "@import '@url@.css';"),
		rule("background", "p{background:url(@url@)}"),
		rule("image-set", "p{background:image-set('@url@' 1x)}"),
		rule("list-style", "li{list-style-image:url(@url@)}"),
		rule("border-image", "p{border:9px solid;border-image:url(@url@) 9}"),
		rule("content", "p::before{content:url(@url@)}"),
		rule("cursor", "html,body,p{cursor:url(@url@),auto}"),
		rule("mask", "p{mask-image:url(@url@)}"),
		rule("clip-path", "p{clip-path:url(@url@.svg#a)}"),
		rule("shape-outside", "p{float:left;shape-outside:url(@url@)}"),
		rule("font", "@font-face{font-family:a;src:url(@url@)}p{font-family:a}"),
		rule("custom property", "p{--a:url(@url@);background:var(--a)}"),
		scriptAttack(g, "FontFace", "new FontFace('a','url(@url@)').load()"),
		scriptAttack(g, "insertRule",
			"let s=document.head.appendChild(document.createElement('style'));"+
				"s.sheet.insertRule('html{background:url(@url@)}')"),
		scriptAttack(g, "constructed sheet",
			"let s=new CSSStyleSheet;s.replaceSync('html{background:url(@url@)}');document.adoptedStyleSheets=[s]"),
		markupAttack(g, "style attribute", "<p style=\"background:url(@url@)\">a"),
		markupAttack(g, "svg paint", "<svg><rect width=9 height=9 fill=\"url(@url@.svg#a)\"/></svg>"),
	}
}

// imageAttacks returns attacks with images, audio and video.
func imageAttacks() []attackCase {
	const g = "media"
	return slices.Concat(
		onTargets(canaryTargets(), markupAttack(g, "image", "<img src=@url@>")),
		[]attackCase{
			markupAttack(g, "srcset", "<img srcset='@url@ 1x'>"),
			markupAttack(g, "picture", "<picture><source srcset=@url@><img></picture>"),
			markupAttack(g, "image with cors", "<img crossorigin src=@url@>"),
			markupAttack(g, "lazy image", "<img loading=lazy src=@url@>"),
			scriptAttack(g, "Image", "new Image().src='@url@'"),
			scriptAttack(g, "Image decode", "let i=new Image;i.src='@url@';i.decode()"),
			markupAttack(g, "image button", "<input type=image src=@url@>"),
			markupAttack(g, "body background", "<body background=@url@>"),
			markupAttack(g, "svg image", "<svg><image href=@url@ width=9 height=9 /></svg>"),
			markupAttack(g, "svg feImage", "<svg width=9 height=9><filter id=f><feImage href=@url@ /></filter><rect width=9 "+
				"height=9 filter=url(#f) /></svg>"),
			markupAttack(g, "svg use", "<svg><use href=@url@.svg#a /></svg>").never("Chromium uses svg of the page's own " +
				"origin only"),
			markupAttack(g, "svg as an image", "<img src=/a.svg>").with("a.svg",
				`<svg xmlns="http://www.w3.org/2000/svg"><image href="@url@"/></svg>`).
				never("an image loads nothing else"),
			{
				Group: g, Name: "favicon", Visit: "@self@/a.html",
				Files: map[string]string{"a.html": "<head><link rel=icon href=@url@></head>"},
			},
			markupAttack(g, "apple icon", "<link rel=apple-touch-icon href=@url@>").never("Chromium on a desktop leaves it"),
			markupAttack(g, "video", "<video src=@url@ preload=auto></video>"),
			markupAttack(g, "poster", "<video poster=@url@></video>"),
			markupAttack(g, "audio", "<audio src=@url@ preload=auto></audio>"),
			markupAttack(g, "source", "<video preload=auto><source src=@url@></video>"),
			markupAttack(g, "track", "<video crossorigin><track default kind=captions "+
				"src=@url@></video><script>document.querySelector('track').track.mode='showing'</script>"),
			markupAttack(g, "playlist", "<video src=/a.m3u8 preload=auto autoplay muted></video>").
				with("a.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n@url@\n#EXT-X-ENDLIST\n"),
			markupAttack(g, "table background", "<table background=@url@><tr><td>a</table>"),
			markupAttack(g, "image in a template, cloned",
				"<template id=t><img src=@url@></template><script>document.body.append(t.content.cloneNode(true))</script>"),
			markupAttack(g, "image in a shadow tree", "<div><template shadowrootmode=open><img src=@url@></template></div>"),
			markupAttack(g, "noscript", "<iframe sandbox srcdoc=\"<noscript><img src=@url@></noscript>\"></iframe>"),
		})
}
