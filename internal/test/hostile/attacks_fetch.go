package main

import (
	"fmt"
	"maps"
	"slices"
)

// fetchAttacks returns attacks with requests by scripts.
func fetchAttacks() []attackCase {
	const g = "fetch"
	return slices.Concat(
		onTargets(canaryTargets(), scriptAttack(g, "no-cors", "fetch('@url@',{mode:'no-cors'})")),
		[]attackCase{
			scriptAttack(g, "cors", "fetch('@url@').then(()=>fetch('/got'))"),
			scriptAttack(g, "with credentials", "fetch('@url@',{credentials:'include'})"),
			scriptAttack(g, "post", "fetch('@url@',{method:'POST',mode:'no-cors',body:'a=b'})"),
			scriptAttack(g, "preflight by method", "fetch('@url@',{method:'DELETE'})"),
			scriptAttack(g, "preflight by header", "fetch('@url@',{headers:{'x-a':'b'}})"),
			scriptAttack(g, "preflight by type",
				"fetch('@url@',{method:'POST',body:'{}',headers:{'content-type':'application/json'}})"),
			scriptAttack(g, "keepalive", "fetch('@url@',{mode:'no-cors',keepalive:true})"),
			scriptAttack(g, "keepalive while leaving",
				"addEventListener('pagehide',()=>fetch('@url@',{mode:'no-cors',keepalive:true}));function "+
					"go(){location='@self@/two.html'}").with("two.html", "two"),
			scriptAttack(g, "stream as body",
				"fetch('/a.json').then(r=>fetch('@url@',{method:'POST',mode:'no-cors',body:r.body,duplex:'half'}).catch(()=>r.blob()).then(b=>fetch('@url@',{method:'POST',mode:'no-cors',body:'x'})))").with("a.json", "{}"),
			scriptAttack(g, "XMLHttpRequest", "let x=new XMLHttpRequest;x.open('GET','@url@');x.send()"),
			scriptAttack(g, "XMLHttpRequest, synchronous", "let x=new XMLHttpRequest;x.open('GET','@url@',false);x.send()"),
			scriptAttack(g, "XMLHttpRequest with upload",
				"let x=new XMLHttpRequest;x.open('PUT','@url@');x.upload.onprogress=()=>{};x.send('a')"),
			scriptAttack(g, "XMLHttpRequest with credentials",
				"let x=new XMLHttpRequest;x.open('GET','@url@',true,'u','p');x.withCredentials=true;x.send()"),
			scriptAttack(g, "beacon", "navigator.sendBeacon('@url@','a')"),
			scriptAttack(g, "beacon while leaving",
				"addEventListener('pagehide',()=>navigator.sendBeacon('@url@','a'));"+
					"function go(){location='@self@/two.html'}").with("two.html", "two"),
			scriptAttack(g, "EventSource", "new EventSource('@url@')"),
			scriptAttack(g, "EventSource with credentials", "new EventSource('@url@',{withCredentials:true})"),
			markupAttack(g, "ping", "<a id=a href=#x ping=@url@>a</a><script>function go(){a.click()}</script>"),
		},
		overTLS(
			scriptAttack(g, "fetchLater", "function go(){fetchLater('@url@',{activateAfter:0})}"),
			scriptAttack(g, "no-cors over TLS", "fetch('@url@',{mode:'no-cors'})"),
			scriptAttack(g, "clear text from a secure page", "fetch('@http@',{mode:'no-cors'})").at("loopback"),
			scriptAttack(g, "cache.add", "caches.open('a').then(c=>c.add(new "+
				"Request('@url@',{mode:'no-cors'})).catch(()=>c.add('@url@')))"),
			scriptAttack(g, "wasm streaming", "WebAssembly.compileStreaming(fetch('@url@'))"),
			scriptAttack(g, "background fetch",
				"navigator.serviceWorker.register('/sw.js').then(()=>navigator.serviceWorker.ready).then(r=>r.backgroundFetch.fetch('a',['@url@']))").with("sw.js", "0").
				never("Chromium asks for permission first"),
		),
	)
}

// socketAttacks returns attacks with long-lived connections.
func socketAttacks() []attackCase {
	const g = "socket"
	return slices.Concat(
		onTargets(canaryTargets(), scriptAttack(g, "WebSocket", "new WebSocket('@sock@')")),
		[]attackCase{
			scriptAttack(g, "WebSocket with a subprotocol", "new WebSocket('@sock@',['a','b'])"),
			scriptAttack(g, "WebSocket over TLS", "new WebSocket('@wss@')"),
			scriptAttack(g, "WebSocket with an http address", "new WebSocket('http://@hostport@/x/@id@')"),
			scriptAttack(g, "WebSocket redirected", "new WebSocket('/hop/302')").never("WebSockets follow no redirects"),
		},
		overTLS(
			scriptAttack(g, "WebSocketStream", "try{new WebSocketStream('@sock@')}catch{new WebSocket('@sock@')}"),
			scriptAttack(g, "WebTransport", "new WebTransport('@https@')"),
			scriptAttack(g, "WebTransport with a known certificate",
				"new WebTransport('@https@',{serverCertificateHashes:[{algorithm:'sha-256',value:new Uint8Array(32)}]})"),
		),
		onTargets(ipv4Targets()[:3],
			overTLS(scriptAttack(g, "WebTransport, unpooled", "new WebTransport('@https@',{allowPooling:false})"))...),
	)
}

// webRTCAttacks returns attacks with WebRTC over UDP and TCP.
func webRTCAttacks() []attackCase {
	const g = "webrtc"
	const offer = "function gather(p){p.createDataChannel('a');p.createOffer().then(o=>p.setLocalDescription(o))}"
	// A second peer in the same page creates an answer that is valid except for the peer's address.
	const call = "async function call(c){let a=new RTCPeerConnection,b=new RTCPeerConnection;a.createDataChannel('a');" +
		"await a.setLocalDescription(await a.createOffer());await b.setRemoteDescription(a.localDescription);" +
		"await b.setLocalDescription(await b.createAnswer());" +
		"await a.setRemoteDescription({type:'answer',sdp:b.localDescription.sdp.replace(/a=candidate.*\\r\\n/g,'')});" +
		"await a.addIceCandidate({candidate:c,sdpMid:'0'})}"
	server := func(name, fields string) attackCase {
		return scriptAttack(g, name, offer+";gather(new RTCPeerConnection({iceServers:["+fields+"]}))")
	}
	return slices.Concat(
		onTargets(ipv4Targets(),
			server("STUN", "{urls:'stun:@hostport@'}"),
			scriptAttack(g, "channel to a private peer", call+";call('candidate:1 1 udp 2130706431 @raw@ @port@ typ host')")),
		[]attackCase{
			server("STUN on IPv6", "{urls:'stun:@hostport@'}").at("unique-local"),
			server("TURN over UDP", "{urls:'turn:@hostport@?transport=udp',username:'@id@',credential:'p'}").at("ten"),
			server("TURN over TCP", "{urls:'turn:@hostport@?transport=tcp',username:'@id@',credential:'p'}").at("metadata"),
			server("TURN over TLS", "{urls:'turns:@hostport@?transport=tcp',username:'@id@',credential:'p'}").at("home"),
			server("TURN alone", "{urls:'turn:@hostport@',username:'@id@',credential:'p'}],iceTransportPolicy:'relay',x:[").at(
				"office"),
			scriptAttack(g, "channel to a private peer over TCP", call+";call('candidate:1 1 tcp 1518280447 @raw@ @port@ typ "+
				"host tcptype passive')").at("ten"),
			scriptAttack(g, "channel to a reflexive candidate", call+";call('candidate:1 1 udp 1694498815 @raw@ @port@ typ "+
				"srflx raddr 0.0.0.0 rport 0')").at("carrier"),
			scriptAttack(g, "channel to a private peer on IPv6", call+";call('candidate:1 1 udp 2130706431 @raw@ @port@ "+
				"typ host')").at("unique-local"),
			server("STUN with a restart", "{urls:'stun:@hostport@'}],iceCandidatePoolSize:4,x:[").at("home"),
			markupAttack(g, "in a frame of another site", "<iframe src=@other@/two.html></iframe>").
				with("two.html", "<script>"+offer+
					";gather(new RTCPeerConnection({iceServers:[{urls:'stun:@hostport@'}]}))</script>").at("ten"),
			scriptAttack(g, "in a popup", "function go(){open('/two.html')}").
				with("two.html", "<script>"+offer+
					";gather(new RTCPeerConnection({iceServers:[{urls:'stun:@hostport@'}]}))</script>").at("ten"),
			scriptAttack(g, "STUN server by name",
				offer+";gather(new RTCPeerConnection({iceServers:[{urls:'stun:@id@.stun.hostile.test:@port@'}]}))").by(meansDNS),
			scriptAttack(g, "candidates by mDNS", offer+";gather(new RTCPeerConnection)").by(meansMDNS),
			scriptAttack(g, "peer by mDNS", call+";call('candidate:1 1 udp 2130706431 @id@.local @port@ typ host')").by(
				meansMDNS),
		})
}

// at moves an attack to the named target.
func (a attackCase) at(name string) attackCase {
	for _, s := range canaryTargets() {
		if s.Name == name {
			a.Targets = []canaryTarget{s}
		}
	}
	return a
}

func (a attackCase) by(m hitMeans) attackCase {
	a.By = m
	a.Targets = []canaryTarget{{Name: "resolver", Addr: mustAddr("127.0.0.1")}}
	return a
}

// resourceHintAttacks returns attacks with prefetching and preconnecting.
func resourceHintAttacks() []attackCase {
	const g = "hint"
	rules := func(name, json string) attackCase {
		return markupAttack(g, name, "<script type=speculationrules>"+json+"</script><a href=@url@>a</a>")
	}
	link := func(name, value string) attackCase {
		return attackCase{Group: g, Name: name, Page: "hello", Head: map[string]string{"Link": value}}
	}
	return slices.Concat([]attackCase{
		markupAttack(g, "prefetch", "<link rel=prefetch href=@url@>"),
		markupAttack(g, "preload image", "<link rel=preload as=image href=@url@>"),
		markupAttack(g, "preload script", "<link rel=preload as=script href=@url@.js>"),
		markupAttack(g, "preload font", "<link rel=preload as=font crossorigin href=@url@>"),
		markupAttack(g, "preload fetch", "<link rel=preload as=fetch crossorigin href=@url@>"),
		markupAttack(g, "preload with srcset", "<link rel=preload as=image imagesrcset='@url@ 1x'>"),
		markupAttack(g, "modulepreload", "<link rel=modulepreload href=@url@.js>"),
		markupAttack(g, "preconnect", "<link rel=preconnect href=http://@hostport@>"),
		markupAttack(g, "preconnect with cors", "<link rel=preconnect crossorigin href=http://@hostport@>"),
		markupAttack(g, "dns-prefetch", "<link rel=dns-prefetch href=//@id@.hint.hostile.test>").by(meansDNS),
		markupAttack(g, "dns-prefetch of links", "<meta http-equiv=x-dns-prefetch-control content=on><a "+
			"href=http://@id@.hint.hostile.test/>a</a>").by(meansDNS).never("Chromium waits until somebody points at a link"),
		markupAttack(g, "resolution by itself", "<img src=http://@id@.hint.hostile.test/>").by(meansDNS),
		markupAttack(g, "prerender link", "<link rel=prerender href=@url@>").never("gone from Chromium"),
		link("header: preload", "<@url@>; rel=preload; as=image"),
		link("header: prefetch", "<@url@>; rel=prefetch"),
		link("header: preconnect", "<http://@hostport@>; rel=preconnect"),
		link("header: modulepreload", "<@url@.js>; rel=modulepreload"),
		link("header: dns-prefetch", "<http://@id@.hint.hostile.test>; rel=dns-prefetch").by(meansDNS),
	}, overTLS(
		rules("speculation: prefetch", `{"prefetch":[{"source":"list","urls":["@url@"],"eagerness":"immediate"}]}`),
		rules("speculation: anonymous prefetch",
			`{"prefetch":[{"source":"list","urls":["@url@"],"requires":["anonymous-client-ip-when-cross-origin"]}]}`).
			never("it would go through a proxy of the browser's maker"),
		rules("speculation: prerender redirected",
			`{"prerender":[{"source":"list","urls":["@self@/hop/302"],"eagerness":"immediate"}]}`),
		rules("speculation: prefetch redirected",
			`{"prefetch":[{"source":"list","urls":["@self@/hop/302"],"eagerness":"immediate"}]}`),
		attackCase{
			Group: g, Name: "speculation rules by header", Page: "<a href=@url@>a</a>",
			Head:  map[string]string{"Speculation-Rules": `"/a.rules"`},
			Files: map[string]string{"a.rules": `{"prefetch":[{"source":"list","urls":["@url@"],"eagerness":"immediate"}]}`},
		},
		attackCase{
			Group: g, Name: "early hints: preload", Page: "hello",
			Early: map[string]string{"Link": "<@url@>; rel=preload; as=image"},
		},
		attackCase{
			Group: g, Name: "early hints: preconnect", Page: "hello",
			Early: map[string]string{"Link": "<https://@hostport@>; rel=preconnect"},
		},
		attackCase{
			Group: g, Name: "dictionary", Page: "hello",
			Head: map[string]string{"Link": "<@url@>; rel=compression-dictionary"},
		},
	))
}

// reportingAttacks returns attacks with reports that the browser sends by itself.
func reportingAttacks() []attackCase {
	const g = "report"
	named := func(name string, head map[string]string, page string) attackCase {
		head["Reporting-Endpoints"] = `e="@url@", default="@url@"`
		return attackCase{Group: g, Name: name, Head: head, Page: page}
	}
	const image = "<img src=data:image/gif,x><script>document.body.append(new Image)</script>"
	return slices.Concat([]attackCase{
		{
			Group: g, Name: "CSP report-uri", Page: image,
			Head: map[string]string{"Content-Security-Policy": "img-src 'none'; report-uri @url@"},
		},
		{
			Group: g, Name: "CSP report-uri, report only", Page: image,
			Head: map[string]string{"Content-Security-Policy-Report-Only": "img-src 'none'; report-uri @url@"},
		},
		{
			Group: g, Name: "CSP report-uri, redirected", Page: image,
			Head:  map[string]string{"Content-Security-Policy": "img-src 'none'; report-uri @self@/hop/307"},
			Never: "reports follow no redirects",
		},
	}, overTLS(
		named("CSP report-to", map[string]string{"Content-Security-Policy": "img-src 'none'; report-to e"}, image),
		named("COEP report", map[string]string{"Cross-Origin-Embedder-Policy": `require-corp; report-to="e"`},
			"<img src=@other@/a.svg><iframe src=@other@/a.svg></iframe>").with("a.svg", "<svg/>"),
		named("permissions policy report", map[string]string{"Permissions-Policy": "geolocation=();report-to=e"},
			"<script>navigator.geolocation.getCurrentPosition(()=>0)</script>"),
		named("intervention or deprecation report", map[string]string{},
			"<script>new ReportingObserver(()=>0).observe();document.requestStorageAccessFor&&0;let x=new "+
				"XMLHttpRequest;x.open('GET','/',false);x.send();document.execCommand('copy');onunload=()=>0</script>"),
		attackCase{Group: g, Name: "network error logging", Page: "<img src=/a.svg>", Head: map[string]string{
			"Report-To": `{"group":"n","max_age":600,"endpoints":[{"url":"@url@"}]}`,
			"NEL":       `{"report_to":"n","max_age":600,"success_fraction":1.0}`,
		}}.at("ten"),
	))
}

// dialogAttacks returns attacks with features that fetch something before they ask a person.
func dialogAttacks() []attackCase {
	const g = "feature"
	return append([]attackCase{
		{
			Group: g, Name: "web app manifest", Visit: "@self@/a.html", Ask: "Page.getAppManifest", Secure: true,
			Files: map[string]string{"a.html": "<head><link rel=manifest href=@url@.json></head>"},
		},
	}, overTLS(
		scriptAttack(g, "payment manifest",
			"function go(){new PaymentRequest([{supportedMethods:'@url@'}],"+
				"{total:{label:'a',amount:{currency:'EUR',value:'1'}}}).show()}"),
		scriptAttack(g, "federated login",
			"function go(){navigator.credentials.get({identity:{providers:[{configURL:'@url@.json',clientId:'a'}]}})}"),
		scriptAttack(g, "related origins of passkeys", "function go(){navigator.credentials.get({publicKey:{challenge:new "+
			"Uint8Array(8),rpId:'@id@.rp.hostile.test'}})}").by(meansDNS),
		scriptAttack(g, "notification icon", "function go(){Notification.requestPermission().then(()=>new "+
			"Notification('a',{icon:'@url@'}))}").
			never("permission is never given in this browser"),
		scriptAttack(g, "media session artwork", "function go(){navigator.mediaSession.metadata=new "+
			"MediaMetadata({title:'a',artwork:[{src:'@url@'}]})}").
			never("Chromium fetches it only to show it"),
		scriptAttack(g, "attribution", "new Image().attributionSrc='@url@'").never("gone from Chromium"),
	)...)
}

// downloadAttacks returns attacks by downloads.
func downloadAttacks() []attackCase {
	const g = "download"
	return []attackCase{
		markupAttack(g, "link", "<a id=a download href=@url@>a</a><script>function go(){a.click()}</script>"),
		markupAttack(g, "link redirected", "<a id=a download href=/hop/302>a</a><script>function go(){a.click()}</script>"),
		markupAttack(g, "frame redirected", "<iframe src=/via/@self@/hop/302></iframe>"),
		{Group: g, Name: "document by attachment, then link", Page: "<a id=a href=/a.download>a</a><iframe " +
			"src=/hop/302></iframe><script>function go(){a.click()}</script>", Files: map[string]string{"a.download": "a"}},
	}
}

// detourAttacks returns attacks in which a server redirects the browser below the level of URLs.
func detourAttacks() []attackCase {
	const g = "detour"
	again := "<script>let n=0;setInterval(()=>n++<9&&fetch('/a.json?'+n,{cache:'no-store'}),200)</script>"
	return overTLS(
		attackCase{
			Group: g, Name: "Alt-Svc to HTTP/3", Visit: "@extra@/", Page: again, Extra: true,
			Head: map[string]string{"Alt-Svc": `h3="@hostport@"; ma=600`}, Files: map[string]string{"a.json": "{}"},
		}.at("ten"),
		attackCase{
			Group: g, Name: "Alt-Svc to HTTP/2", Visit: "@extra@/", Page: again, Extra: true,
			Head: map[string]string{"Alt-Svc": `h2="@hostport@"; ma=600`}, Files: map[string]string{"a.json": "{}"},
		}.at(
			"home").never("Chromium has this switched off"),
	)
}

// navigationAttacks returns attacks that navigate a tab, or a new one, to the canary.
func navigationAttacks() []attackCase {
	const g = "navigate"
	direct := attackCase{Group: g, Name: "visit", Visit: "@url@"}
	return slices.Concat(
		onTargets(canaryTargets(), direct, scriptAttack(g, "location", "location='@url@'")),
		[]attackCase{
			{Group: g, Name: "visit with credentials", Visit: "http://user:secret@@hostport@/x/@id@"},
			{Group: g, Name: "visit over TLS", Visit: "@https@"},
			{Group: g, Name: "view-source", Visit: "view-source:@url@"},
			scriptAttack(g, "location.replace", "location.replace('@url@')"),
			scriptAttack(g, "navigation.navigate", "navigation.navigate('@url@')"),
			scriptAttack(g, "window.open self", "open('@url@','_self')"),
			scriptAttack(g, "window.open", "function go(){open('@url@')}"),
			scriptAttack(g, "window.open noopener", "function go(){open('@url@','_blank','noopener')}"),
			scriptAttack(g, "window.open, later location",
				"function go(){let w=open('about:blank');setTimeout(()=>w.location='@url@',50)}"),
			scriptAttack(g, "popup writes a page", "function go(){open('').document.write('<img src=@url@>')}"),
			scriptAttack(g, "popup that navigates its opener", "function go(){open('/second.html')}").with("second.html",
				"<script>opener.location='@url@'</script>"),
			markupAttack(g, "meta refresh", "<meta http-equiv=refresh content='0;url=@url@'>"),
			{Group: g, Name: "refresh header", Page: "hello", Head: map[string]string{"Refresh": "0; url=@url@"}},
			markupAttack(g, "link", "<a id=a href=@url@>a</a><script>function go(){a.click()}</script>"),
			markupAttack(g, "link in a new tab", "<a id=a href=@url@ target=_blank>a</a><script>function "+
				"go(){a.click()}</script>"),
			markupAttack(g, "link against a base", "<base href=@url@><a id=a href=/x/@id@>a</a><script>function "+
				"go(){a.click()}</script>"),
			markupAttack(g, "area", "<map name=m><area id=a href=@url@></map><script>function go(){a.click()}</script>"),
			markupAttack(g, "svg link", "<svg><a id=a href=@url@><text>a</text></a></svg><script>function "+
				"go(){a.dispatchEvent(new MouseEvent('click'))}</script>"),
			markupAttack(g, "form get", "<form id=f action=@url@><input name=a value=b></form><script>f.submit()</script>"),
			markupAttack(g, "form post", "<form id=f action=@url@ method=post><input name=a "+
				"value=b></form><script>f.submit()</script>"),
			markupAttack(g, "form post multipart", "<form id=f action=@url@ method=post enctype=multipart/form-data><input "+
				"name=a></form><script>f.submit()</script>"),
			markupAttack(g, "form in a new tab", "<form id=f action=@url@ target=_blank></form><script>function "+
				"go(){f.submit()}</script>"),
			markupAttack(g, "formaction", "<form><button id=b formaction=@url@>b</button></form><script>function "+
				"go(){b.click()}</script>"),
			markupAttack(g, "form post redirected", "<form id=f action=/hop/307 method=post><input name=a "+
				"value=b></form><script>f.submit()</script>"),
			scriptAttack(g, "history after pushState", "history.pushState(0,'','/p');location.href='@url@'"),
			markupAttack(g, "javascript link",
				`<a id=a href="javascript:location='@url@'">a</a><script>function go(){a.click()}</script>`),
		})
}

// with adds a file to an attack.
func (a attackCase) with(name, content string) attackCase {
	files := map[string]string{name: content}
	maps.Copy(files, a.Files)
	a.Files = files
	return a
}

// redirectAttacks returns attacks with redirects to the canary.
func redirectAttacks() []attackCase {
	const g = "redirect"
	var list []attackCase
	for _, code := range []int{301, 302, 303, 307, 308} {
		list = append(list,
			attackCase{Group: g, Name: fmt.Sprintf("document %d", code), Visit: fmt.Sprintf("@self@/hop/%d", code)},
			markupAttack(g, fmt.Sprintf("image %d", code), fmt.Sprintf("<img src=/hop/%d>", code)))
	}
	return append(slices.Concat(list,
		onTargets(canaryTargets(), scriptAttack(g, "fetch 302", "fetch('/hop/302',{mode:'no-cors'})"))),
		attackCase{Group: g, Name: "three hops over another site", Visit: "@self@/via/@other@/hop/302"},
		attackCase{Group: g, Name: "from https to http", Secure: true, Visit: "@self@/via/@http@"},
		scriptAttack(g, "fetch 307 post", "fetch('/hop/307',{method:'POST',mode:'no-cors',body:'a'})"),
		scriptAttack(g, "fetch cors 308", "fetch('/hop/308',{method:'PUT',body:'a'})"),
		scriptAttack(g, "XMLHttpRequest", "let x=new XMLHttpRequest;x.open('GET','/hop/302');x.send()"),
		markupAttack(g, "frame", "<iframe src=/hop/302></iframe>"),
		markupAttack(g, "script", "<script src=/hop/302></script>"),
		markupAttack(g, "style sheet", "<link rel=stylesheet href=/hop/302>"),
		markupAttack(g, "font", "<style>@font-face{font-family:a;src:url(/hop/302)}body{font-family:a}</style>text"),
		markupAttack(g, "video", "<video src=/hop/302 preload=auto>"),
		scriptAttack(g, "beacon", "navigator.sendBeacon('/hop/307','a')"),
		scriptAttack(g, "EventSource", "new EventSource('/hop/302')"),
		scriptAttack(g, "window.open", "function go(){open('/hop/302')}"),
	)
}

// documentAttacks returns attacks with frames and other embedded documents.
func documentAttacks() []attackCase {
	const g = "frame"
	return []attackCase{
		markupAttack(g, "iframe", "<iframe src=@url@></iframe>"),
		markupAttack(g, "iframe, sandboxed", "<iframe sandbox src=@url@></iframe>"),
		markupAttack(g, "iframe, lazy", "<iframe loading=lazy src=@url@></iframe>"),
		markupAttack(g, "iframe, credentialless", "<iframe credentialless src=@url@></iframe>"),
		markupAttack(g, "iframe in iframe in iframe", "<iframe src=/two.html></iframe>").
			with("two.html", "<iframe src=@other@/three.html></iframe>").with("three.html", "<iframe src=@url@></iframe>"),
		markupAttack(g, "frame that navigates the top", "<iframe src=@other@/two.html></iframe>").
			with("two.html", "<script>onmessage=()=>{};function go(){};top.location='@url@'</script>").never(
			"Chromium wants a click in the frame first"),
		markupAttack(g, "frame that its page navigates",
			"<iframe id=f></iframe><script>f.contentWindow.location='@url@'</script>"),
		markupAttack(g, "frame by name", "<iframe name=n></iframe><a id=a href=@url@ target=n></a><script>function "+
			"go(){a.click()}</script>"),
		markupAttack(g, "srcdoc", "<iframe srcdoc=\"<img src=@url@>\"></iframe>"),
		markupAttack(g, "srcdoc with meta refresh", "<iframe srcdoc=\"<meta http-equiv=refresh "+
			"content='0;url=@url@'>\"></iframe>"),
		markupAttack(g, "data document", "<iframe src=\"data:text/html,<img src=@url@>\"></iframe>"),
		markupAttack(g, "javascript document", "<iframe src=\"javascript:'<img src=@url@>'\"></iframe>"),
		markupAttack(g, "blob document", "<iframe id=f></iframe><script>f.src=URL.createObjectURL(new Blob(['<img "+
			"src=@url@>'],{type:'text/html'}))</script>"),
		markupAttack(g, "about:blank written", "<iframe id=f></iframe><script>f.contentDocument.write('<script "+
			"src=@url@.js><\\/script>')</script>"),
		{
			Group: g, Name: "frameset", Visit: "@self@/a.html",
			Files: map[string]string{"a.html": "<html><frameset><frame src=@url@></frameset></html>"},
		},
		markupAttack(g, "object", "<object data=@url@ type=text/html></object>"),
		markupAttack(g, "object as pdf", "<object data=@url@ type=application/pdf></object>"),
		markupAttack(g, "embed", "<embed src=@url@ type=text/html>"),
		markupAttack(g, "embed as image", "<embed src=@url@.svg type=image/svg+xml>"),
		{Group: g, Name: "xml with a style sheet", Visit: "@self@/a.xml", Files: map[string]string{
			"a.xml": `<?xml version="1.0"?><?xml-stylesheet type="text/css" href="@url@.css"?><a>a</a>`,
		}},
		{
			Group: g, Name: "xml with a transformation", Visit: "@self@/a.xml", Never: "Chromium loads XSLT from the " +
				"document's own origin only",
			Files: map[string]string{
				"a.xml": `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="@url@.xsl"?><a>a</a>`,
			},
		},
		{Group: g, Name: "transformation that makes an image", Visit: "@self@/a.xml", Files: map[string]string{
			"a.xml": `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="/a.xsl"?><a>a</a>`,
			"a.xsl": `<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><html><body><img src="@url@"/></body></html></xsl:template></xsl:stylesheet>`,
		}},
		{Group: g, Name: "xhtml entity-free image", Visit: "@self@/a.xhtml", Files: map[string]string{
			"a.xhtml": `<html xmlns="http://www.w3.org/1999/xhtml"><body><img src="@url@"/></body></html>`,
		}},
		{Group: g, Name: "svg document", Visit: "@self@/a.svg", Files: map[string]string{
			"a.svg": `<svg xmlns="http://www.w3.org/2000/svg"><image href="@url@" width="9" height="9"/></svg>`,
		}},
		{Group: g, Name: "svg document with a script", Visit: "@self@/a.svg", Files: map[string]string{
			"a.svg": `<svg xmlns="http://www.w3.org/2000/svg"><script href="@url@.js"/></svg>`,
		}},
		{Group: g, Name: "svg document with html in it", Visit: "@self@/a.svg", Files: map[string]string{
			"a.svg": `<svg xmlns="http://www.w3.org/2000/svg"><foreignObject width="99" height="99"><iframe xmlns="http://www.w3.org/1999/xhtml" src="@url@"/></foreignObject></svg>`,
		}},
		{
			Group: g, Name: "mhtml-like multipart", Visit: "@self@/a.mixed", Never: "Chromium saves it as a file",
			Files: map[string]string{
				"a.mixed": "--b\r\nContent-Type: text/html\r\n\r\n<img src=@url@>\r\n--b--\r\n",
			},
		},
		scriptAttack(g, "file document", "location='file:///etc/hostname'").never("Chromium does not let a page open files"),
		scriptAttack(g, "chrome document", "location='chrome://version'").never("Chromium does not let a page open its " +
			"own pages"),
		scriptAttack(g, "fetch of a file", "fetch('file:///etc/hostname').then(()=>fetch('/got'))").never(
			"Chromium does not let a page read files"),
		scriptAttack(g, "devtools document", "location='devtools://devtools/bundled/inspector.html?ws=@hostport@'").never(
			"Chromium does not let a page open its DevTools"),
	}
}

// never marks an attack for which Chromium sends nothing by itself.
func (a attackCase) never(why string) attackCase {
	a.Never = why
	return a
}
