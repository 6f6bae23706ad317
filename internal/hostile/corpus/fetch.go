package corpus

import "slices"

// fetches are requests that scripts make.
func fetches() []Attack {
	const g = "fetch"
	return slices.Concat(
		on(Spots(), script(g, "no-cors", "fetch('@url@',{mode:'no-cors'})")),
		[]Attack{
			script(g, "cors", "fetch('@url@').then(()=>fetch('/got'))"),
			script(g, "with credentials", "fetch('@url@',{credentials:'include'})"),
			script(g, "post", "fetch('@url@',{method:'POST',mode:'no-cors',body:'a=b'})"),
			script(g, "preflight by method", "fetch('@url@',{method:'DELETE'})"),
			script(g, "preflight by header", "fetch('@url@',{headers:{'x-a':'b'}})"),
			script(g, "preflight by type", "fetch('@url@',{method:'POST',body:'{}',headers:{'content-type':'application/json'}})"),
			script(g, "keepalive", "fetch('@url@',{mode:'no-cors',keepalive:true})"),
			script(g, "keepalive while leaving", "addEventListener('pagehide',()=>fetch('@url@',{mode:'no-cors',keepalive:true}));function go(){location='@self@/two.html'}").with("two.html", "two"),
			script(g, "stream as body", "fetch('/a.json').then(r=>fetch('@url@',{method:'POST',mode:'no-cors',body:r.body,duplex:'half'}).catch(()=>r.blob()).then(b=>fetch('@url@',{method:'POST',mode:'no-cors',body:'x'})))").with("a.json", "{}"),
			script(g, "XMLHttpRequest", "let x=new XMLHttpRequest;x.open('GET','@url@');x.send()"),
			script(g, "XMLHttpRequest, synchronous", "let x=new XMLHttpRequest;x.open('GET','@url@',false);x.send()"),
			script(g, "XMLHttpRequest with upload", "let x=new XMLHttpRequest;x.open('PUT','@url@');x.upload.onprogress=()=>{};x.send('a')"),
			script(g, "XMLHttpRequest with credentials", "let x=new XMLHttpRequest;x.open('GET','@url@',true,'u','p');x.withCredentials=true;x.send()"),
			script(g, "beacon", "navigator.sendBeacon('@url@','a')"),
			script(g, "beacon while leaving", "addEventListener('pagehide',()=>navigator.sendBeacon('@url@','a'));function go(){location='@self@/two.html'}").with("two.html", "two"),
			script(g, "EventSource", "new EventSource('@url@')"),
			script(g, "EventSource with credentials", "new EventSource('@url@',{withCredentials:true})"),
			markup(g, "ping", "<a id=a href=#x ping=@url@>a</a><script>function go(){a.click()}</script>"),
		},
		secure(
			script(g, "fetchLater", "function go(){fetchLater('@url@',{activateAfter:0})}"),
			script(g, "no-cors over TLS", "fetch('@url@',{mode:'no-cors'})"),
			script(g, "clear text from a secure page", "fetch('@http@',{mode:'no-cors'})").at("loopback"),
			script(g, "cache.add", "caches.open('a').then(c=>c.add(new Request('@url@',{mode:'no-cors'})).catch(()=>c.add('@url@')))"),
			script(g, "wasm streaming", "WebAssembly.compileStreaming(fetch('@url@'))"),
			script(g, "background fetch", "navigator.serviceWorker.register('/sw.js').then(()=>navigator.serviceWorker.ready).then(r=>r.backgroundFetch.fetch('a',['@url@']))").with("sw.js", "0").
				never("Chromium asks for permission first"),
		),
	)
}

// sockets are connections that stay.
func sockets() []Attack {
	const g = "socket"
	return slices.Concat(
		on(Spots(), script(g, "WebSocket", "new WebSocket('@sock@')")),
		[]Attack{
			script(g, "WebSocket with a subprotocol", "new WebSocket('@sock@',['a','b'])"),
			script(g, "WebSocket over TLS", "new WebSocket('@wss@')"),
			script(g, "WebSocket with an http address", "new WebSocket('http://@hostport@/x/@id@')"),
			script(g, "WebSocket redirected", "new WebSocket('/hop/302')").never("WebSockets follow no redirects"),
		},
		secure(
			script(g, "WebSocketStream", "try{new WebSocketStream('@sock@')}catch{new WebSocket('@sock@')}"),
			script(g, "WebTransport", "new WebTransport('@https@')"),
			script(g, "WebTransport with a known certificate", "new WebTransport('@https@',{serverCertificateHashes:[{algorithm:'sha-256',value:new Uint8Array(32)}]})"),
		),
		on(ipv4()[:3], secure(script(g, "WebTransport, unpooled", "new WebTransport('@https@',{allowPooling:false})"))...),
	)
}

// peers are what WebRTC sends over UDP and TCP.
func peers() []Attack {
	const g = "webrtc"
	const offer = "function gather(p){p.createDataChannel('a');p.createOffer().then(o=>p.setLocalDescription(o))}"
	// A second peer in the same page makes an answer that is true in all but where the peer is.
	const call = "async function call(c){let a=new RTCPeerConnection,b=new RTCPeerConnection;a.createDataChannel('a');" +
		"await a.setLocalDescription(await a.createOffer());await b.setRemoteDescription(a.localDescription);" +
		"await b.setLocalDescription(await b.createAnswer());" +
		"await a.setRemoteDescription({type:'answer',sdp:b.localDescription.sdp.replace(/a=candidate.*\\r\\n/g,'')});" +
		"await a.addIceCandidate({candidate:c,sdpMid:'0'})}"
	server := func(name, fields string) Attack {
		return script(g, name, offer+";gather(new RTCPeerConnection({iceServers:["+fields+"]}))")
	}
	return slices.Concat(
		on(ipv4(),
			server("STUN", "{urls:'stun:@hostport@'}"),
			script(g, "channel to a private peer", call+";call('candidate:1 1 udp 2130706431 @raw@ @port@ typ host')")),
		[]Attack{
			server("STUN on IPv6", "{urls:'stun:@hostport@'}").at("unique-local"),
			server("TURN over UDP", "{urls:'turn:@hostport@?transport=udp',username:'@id@',credential:'p'}").at("ten"),
			server("TURN over TCP", "{urls:'turn:@hostport@?transport=tcp',username:'@id@',credential:'p'}").at("metadata"),
			server("TURN over TLS", "{urls:'turns:@hostport@?transport=tcp',username:'@id@',credential:'p'}").at("home"),
			server("TURN alone", "{urls:'turn:@hostport@',username:'@id@',credential:'p'}],iceTransportPolicy:'relay',x:[").at("office"),
			script(g, "channel to a private peer over TCP", call+";call('candidate:1 1 tcp 1518280447 @raw@ @port@ typ host tcptype passive')").at("ten"),
			script(g, "channel to a reflexive candidate", call+";call('candidate:1 1 udp 1694498815 @raw@ @port@ typ srflx raddr 0.0.0.0 rport 0')").at("carrier"),
			script(g, "channel to a private peer on IPv6", call+";call('candidate:1 1 udp 2130706431 @raw@ @port@ typ host')").at("unique-local"),
			server("STUN with a restart", "{urls:'stun:@hostport@'}],iceCandidatePoolSize:4,x:[").at("home"),
			markup(g, "in a frame of another site", "<iframe src=@other@/two.html></iframe>").
				with("two.html", "<script>"+offer+";gather(new RTCPeerConnection({iceServers:[{urls:'stun:@hostport@'}]}))</script>").at("ten"),
			script(g, "in a popup", "function go(){open('/two.html')}").
				with("two.html", "<script>"+offer+";gather(new RTCPeerConnection({iceServers:[{urls:'stun:@hostport@'}]}))</script>").at("ten"),
			script(g, "STUN server by name", offer+";gather(new RTCPeerConnection({iceServers:[{urls:'stun:@id@.stun.hostile.test:@port@'}]}))").by(DNS),
			script(g, "candidates by mDNS", offer+";gather(new RTCPeerConnection)").by(MDNS),
			script(g, "peer by mDNS", call+";call('candidate:1 1 udp 2130706431 @id@.local @port@ typ host')").by(MDNS),
		})
}

// at puts an attack on the spot of this name.
func (a Attack) at(name string) Attack {
	for _, s := range Spots() {
		if s.Name == name {
			a.Spots = []Spot{s}
		}
	}
	return a
}

func (a Attack) by(m Means) Attack {
	a.By = m
	a.Spots = []Spot{{Name: "resolver", Addr: ip("127.0.0.1")}}
	return a
}
