package main

import "slices"

// fetchAttacks returns attacks with requests that scripts make.
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
			scriptAttack(g, "preflight by type", "fetch('@url@',{method:'POST',body:'{}',headers:{'content-type':'application/json'}})"),
			scriptAttack(g, "keepalive", "fetch('@url@',{mode:'no-cors',keepalive:true})"),
			scriptAttack(g, "keepalive while leaving", "addEventListener('pagehide',()=>fetch('@url@',{mode:'no-cors',keepalive:true}));function go(){location='@self@/two.html'}").with("two.html", "two"),
			scriptAttack(g, "stream as body", "fetch('/a.json').then(r=>fetch('@url@',{method:'POST',mode:'no-cors',body:r.body,duplex:'half'}).catch(()=>r.blob()).then(b=>fetch('@url@',{method:'POST',mode:'no-cors',body:'x'})))").with("a.json", "{}"),
			scriptAttack(g, "XMLHttpRequest", "let x=new XMLHttpRequest;x.open('GET','@url@');x.send()"),
			scriptAttack(g, "XMLHttpRequest, synchronous", "let x=new XMLHttpRequest;x.open('GET','@url@',false);x.send()"),
			scriptAttack(g, "XMLHttpRequest with upload", "let x=new XMLHttpRequest;x.open('PUT','@url@');x.upload.onprogress=()=>{};x.send('a')"),
			scriptAttack(g, "XMLHttpRequest with credentials", "let x=new XMLHttpRequest;x.open('GET','@url@',true,'u','p');x.withCredentials=true;x.send()"),
			scriptAttack(g, "beacon", "navigator.sendBeacon('@url@','a')"),
			scriptAttack(g, "beacon while leaving", "addEventListener('pagehide',()=>navigator.sendBeacon('@url@','a'));function go(){location='@self@/two.html'}").with("two.html", "two"),
			scriptAttack(g, "EventSource", "new EventSource('@url@')"),
			scriptAttack(g, "EventSource with credentials", "new EventSource('@url@',{withCredentials:true})"),
			markupAttack(g, "ping", "<a id=a href=#x ping=@url@>a</a><script>function go(){a.click()}</script>"),
		},
		overTLS(
			scriptAttack(g, "fetchLater", "function go(){fetchLater('@url@',{activateAfter:0})}"),
			scriptAttack(g, "no-cors over TLS", "fetch('@url@',{mode:'no-cors'})"),
			scriptAttack(g, "clear text from a secure page", "fetch('@http@',{mode:'no-cors'})").at("loopback"),
			scriptAttack(g, "cache.add", "caches.open('a').then(c=>c.add(new Request('@url@',{mode:'no-cors'})).catch(()=>c.add('@url@')))"),
			scriptAttack(g, "wasm streaming", "WebAssembly.compileStreaming(fetch('@url@'))"),
			scriptAttack(g, "background fetch", "navigator.serviceWorker.register('/sw.js').then(()=>navigator.serviceWorker.ready).then(r=>r.backgroundFetch.fetch('a',['@url@']))").with("sw.js", "0").
				never("Chromium asks for permission first"),
		),
	)
}

// socketAttacks returns attacks with connections that stay open.
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
			scriptAttack(g, "WebTransport with a known certificate", "new WebTransport('@https@',{serverCertificateHashes:[{algorithm:'sha-256',value:new Uint8Array(32)}]})"),
		),
		onTargets(ipv4Targets()[:3], overTLS(scriptAttack(g, "WebTransport, unpooled", "new WebTransport('@https@',{allowPooling:false})"))...),
	)
}

// webRTCAttacks returns attacks with what WebRTC sends over UDP and TCP.
func webRTCAttacks() []attackCase {
	const g = "webrtc"
	const offer = "function gather(p){p.createDataChannel('a');p.createOffer().then(o=>p.setLocalDescription(o))}"
	// A second peer in the same page makes an answer that is true in all but where the peer is.
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
			server("TURN alone", "{urls:'turn:@hostport@',username:'@id@',credential:'p'}],iceTransportPolicy:'relay',x:[").at("office"),
			scriptAttack(g, "channel to a private peer over TCP", call+";call('candidate:1 1 tcp 1518280447 @raw@ @port@ typ host tcptype passive')").at("ten"),
			scriptAttack(g, "channel to a reflexive candidate", call+";call('candidate:1 1 udp 1694498815 @raw@ @port@ typ srflx raddr 0.0.0.0 rport 0')").at("carrier"),
			scriptAttack(g, "channel to a private peer on IPv6", call+";call('candidate:1 1 udp 2130706431 @raw@ @port@ typ host')").at("unique-local"),
			server("STUN with a restart", "{urls:'stun:@hostport@'}],iceCandidatePoolSize:4,x:[").at("home"),
			markupAttack(g, "in a frame of another site", "<iframe src=@other@/two.html></iframe>").
				with("two.html", "<script>"+offer+";gather(new RTCPeerConnection({iceServers:[{urls:'stun:@hostport@'}]}))</script>").at("ten"),
			scriptAttack(g, "in a popup", "function go(){open('/two.html')}").
				with("two.html", "<script>"+offer+";gather(new RTCPeerConnection({iceServers:[{urls:'stun:@hostport@'}]}))</script>").at("ten"),
			scriptAttack(g, "STUN server by name", offer+";gather(new RTCPeerConnection({iceServers:[{urls:'stun:@id@.stun.hostile.test:@port@'}]}))").by(meansDNS),
			scriptAttack(g, "candidates by mDNS", offer+";gather(new RTCPeerConnection)").by(meansMDNS),
			scriptAttack(g, "peer by mDNS", call+";call('candidate:1 1 udp 2130706431 @id@.local @port@ typ host')").by(meansMDNS),
		})
}

// at puts an attack on the spot of this name.
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
