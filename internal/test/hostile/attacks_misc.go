package main

import "slices"

// resourceHintAttacks have the browser fetch or connect ahead of need.
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
		markupAttack(g, "dns-prefetch of links", "<meta http-equiv=x-dns-prefetch-control content=on><a href=http://@id@.hint.hostile.test/>a</a>").by(meansDNS).never("Chromium waits until somebody points at a link"),
		markupAttack(g, "resolution by itself", "<img src=http://@id@.hint.hostile.test/>").by(meansDNS),
		markupAttack(g, "prerender link", "<link rel=prerender href=@url@>").never("gone from Chromium"),
		link("header: preload", "<@url@>; rel=preload; as=image"),
		link("header: prefetch", "<@url@>; rel=prefetch"),
		link("header: preconnect", "<http://@hostport@>; rel=preconnect"),
		link("header: modulepreload", "<@url@.js>; rel=modulepreload"),
		link("header: dns-prefetch", "<http://@id@.hint.hostile.test>; rel=dns-prefetch").by(meansDNS),
	}, overTLS(
		rules("speculation: prefetch", `{"prefetch":[{"source":"list","urls":["@url@"],"eagerness":"immediate"}]}`),
		rules("speculation: anonymous prefetch", `{"prefetch":[{"source":"list","urls":["@url@"],"requires":["anonymous-client-ip-when-cross-origin"]}]}`).
			never("it would go through a proxy of the browser's maker"),
		rules("speculation: prerender redirected", `{"prerender":[{"source":"list","urls":["@self@/hop/302"],"eagerness":"immediate"}]}`),
		rules("speculation: prefetch redirected", `{"prefetch":[{"source":"list","urls":["@self@/hop/302"],"eagerness":"immediate"}]}`),
		attackCase{
			Group: g, Name: "speculation rules by header", Page: "<a href=@url@>a</a>", Head: map[string]string{"Speculation-Rules": `"/a.rules"`},
			Files: map[string]string{"a.rules": `{"prefetch":[{"source":"list","urls":["@url@"],"eagerness":"immediate"}]}`},
		},
		attackCase{Group: g, Name: "early hints: preload", Page: "hello", Early: map[string]string{"Link": "<@url@>; rel=preload; as=image"}},
		attackCase{Group: g, Name: "early hints: preconnect", Page: "hello", Early: map[string]string{"Link": "<https://@hostport@>; rel=preconnect"}},
		attackCase{Group: g, Name: "dictionary", Page: "hello", Head: map[string]string{"Link": "<@url@>; rel=compression-dictionary"}},
	))
}

// reportingAttacks returns attacks with what the browser tells servers of its own accord.
func reportingAttacks() []attackCase {
	const g = "report"
	named := func(name string, head map[string]string, page string) attackCase {
		head["Reporting-Endpoints"] = `e="@url@", default="@url@"`
		return attackCase{Group: g, Name: name, Head: head, Page: page}
	}
	const image = "<img src=data:image/gif,x><script>document.body.append(new Image)</script>"
	return slices.Concat([]attackCase{
		{Group: g, Name: "CSP report-uri", Page: image, Head: map[string]string{"Content-Security-Policy": "img-src 'none'; report-uri @url@"}},
		{Group: g, Name: "CSP report-uri, report only", Page: image, Head: map[string]string{"Content-Security-Policy-Report-Only": "img-src 'none'; report-uri @url@"}},
		{Group: g, Name: "CSP report-uri, redirected", Page: image, Head: map[string]string{"Content-Security-Policy": "img-src 'none'; report-uri @self@/hop/307"}, Never: "reports follow no redirects"},
	}, overTLS(
		named("CSP report-to", map[string]string{"Content-Security-Policy": "img-src 'none'; report-to e"}, image),
		named("COEP report", map[string]string{"Cross-Origin-Embedder-Policy": `require-corp; report-to="e"`}, "<img src=@other@/a.svg><iframe src=@other@/a.svg></iframe>").with("a.svg", "<svg/>"),
		named("permissions policy report", map[string]string{"Permissions-Policy": "geolocation=();report-to=e"}, "<script>navigator.geolocation.getCurrentPosition(()=>0)</script>"),
		named("intervention or deprecation report", map[string]string{}, "<script>new ReportingObserver(()=>0).observe();document.requestStorageAccessFor&&0;let x=new XMLHttpRequest;x.open('GET','/',false);x.send();document.execCommand('copy');onunload=()=>0</script>"),
		attackCase{Group: g, Name: "network error logging", Page: "<img src=/a.svg>", Head: map[string]string{
			"Report-To": `{"group":"n","max_age":600,"endpoints":[{"url":"@url@"}]}`, "NEL": `{"report_to":"n","max_age":600,"success_fraction":1.0}`,
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
		scriptAttack(g, "payment manifest", "function go(){new PaymentRequest([{supportedMethods:'@url@'}],{total:{label:'a',amount:{currency:'EUR',value:'1'}}}).show()}"),
		scriptAttack(g, "federated login", "function go(){navigator.credentials.get({identity:{providers:[{configURL:'@url@.json',clientId:'a'}]}})}"),
		scriptAttack(g, "related origins of passkeys", "function go(){navigator.credentials.get({publicKey:{challenge:new Uint8Array(8),rpId:'@id@.rp.hostile.test'}})}").by(meansDNS),
		scriptAttack(g, "notification icon", "function go(){Notification.requestPermission().then(()=>new Notification('a',{icon:'@url@'}))}").
			never("permission is never given in this browser"),
		scriptAttack(g, "media session artwork", "function go(){navigator.mediaSession.metadata=new MediaMetadata({title:'a',artwork:[{src:'@url@'}]})}").
			never("Chromium fetches it only to show it"),
		scriptAttack(g, "attribution", "new Image().attributionSrc='@url@'").never("gone from Chromium"),
	)...)
}

// downloadAttacks end in a file.
func downloadAttacks() []attackCase {
	const g = "download"
	return []attackCase{
		markupAttack(g, "link", "<a id=a download href=@url@>a</a><script>function go(){a.click()}</script>"),
		markupAttack(g, "link redirected", "<a id=a download href=/hop/302>a</a><script>function go(){a.click()}</script>"),
		markupAttack(g, "frame redirected", "<iframe src=/via/@self@/hop/302></iframe>"),
		{Group: g, Name: "document by attachment, then link", Page: "<a id=a href=/a.download>a</a><iframe src=/hop/302></iframe><script>function go(){a.click()}</script>", Files: map[string]string{"a.download": "a"}},
	}
}

// detourAttacks have a server lead the browser away below the level of addresses.
func detourAttacks() []attackCase {
	const g = "detour"
	again := "<script>let n=0;setInterval(()=>n++<9&&fetch('/a.json?'+n,{cache:'no-store'}),200)</script>"
	return overTLS(
		attackCase{Group: g, Name: "Alt-Svc to HTTP/3", Visit: "@extra@/", Page: again, Extra: true, Head: map[string]string{"Alt-Svc": `h3="@hostport@"; ma=600`}, Files: map[string]string{"a.json": "{}"}}.at("ten"),
		attackCase{Group: g, Name: "Alt-Svc to HTTP/2", Visit: "@extra@/", Page: again, Extra: true, Head: map[string]string{"Alt-Svc": `h2="@hostport@"; ma=600`}, Files: map[string]string{"a.json": "{}"}}.at("home").never("Chromium has this switched off"),
	)
}
