package main

import (
	"fmt"
	"maps"
	"slices"
)

// navigationAttacks take a tab, or a new one, to the canary.
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
			scriptAttack(g, "window.open, later location", "function go(){let w=open('about:blank');setTimeout(()=>w.location='@url@',50)}"),
			scriptAttack(g, "popup writes a page", "function go(){open('').document.write('<img src=@url@>')}"),
			scriptAttack(g, "popup that navigates its opener", "function go(){open('/second.html')}").with("second.html", "<script>opener.location='@url@'</script>"),
			markupAttack(g, "meta refresh", "<meta http-equiv=refresh content='0;url=@url@'>"),
			{Group: g, Name: "refresh header", Page: "hello", Head: map[string]string{"Refresh": "0; url=@url@"}},
			markupAttack(g, "link", "<a id=a href=@url@>a</a><script>function go(){a.click()}</script>"),
			markupAttack(g, "link in a new tab", "<a id=a href=@url@ target=_blank>a</a><script>function go(){a.click()}</script>"),
			markupAttack(g, "link against a base", "<base href=@url@><a id=a href=/x/@id@>a</a><script>function go(){a.click()}</script>"),
			markupAttack(g, "area", "<map name=m><area id=a href=@url@></map><script>function go(){a.click()}</script>"),
			markupAttack(g, "svg link", "<svg><a id=a href=@url@><text>a</text></a></svg><script>function go(){a.dispatchEvent(new MouseEvent('click'))}</script>"),
			markupAttack(g, "form get", "<form id=f action=@url@><input name=a value=b></form><script>f.submit()</script>"),
			markupAttack(g, "form post", "<form id=f action=@url@ method=post><input name=a value=b></form><script>f.submit()</script>"),
			markupAttack(g, "form post multipart", "<form id=f action=@url@ method=post enctype=multipart/form-data><input name=a></form><script>f.submit()</script>"),
			markupAttack(g, "form in a new tab", "<form id=f action=@url@ target=_blank></form><script>function go(){f.submit()}</script>"),
			markupAttack(g, "formaction", "<form><button id=b formaction=@url@>b</button></form><script>function go(){b.click()}</script>"),
			markupAttack(g, "form post redirected", "<form id=f action=/hop/307 method=post><input name=a value=b></form><script>f.submit()</script>"),
			scriptAttack(g, "history after pushState", "history.pushState(0,'','/p');location.href='@url@'"),
			markupAttack(g, "javascript link", `<a id=a href="javascript:location='@url@'">a</a><script>function go(){a.click()}</script>`),
		})
}

// with gives an attack a file.
func (a attackCase) with(name, content string) attackCase {
	files := map[string]string{name: content}
	maps.Copy(files, a.Files)
	a.Files = files
	return a
}

// redirectAttacks returns attacks that the site answers with the canary's address.
func redirectAttacks() []attackCase {
	const g = "redirect"
	var list []attackCase
	for _, code := range []int{301, 302, 303, 307, 308} {
		list = append(list,
			attackCase{Group: g, Name: fmt.Sprintf("document %d", code), Visit: fmt.Sprintf("@self@/hop/%d", code)},
			markupAttack(g, fmt.Sprintf("image %d", code), fmt.Sprintf("<img src=/hop/%d>", code)))
	}
	return append(slices.Concat(list, onTargets(canaryTargets(), scriptAttack(g, "fetch 302", "fetch('/hop/302',{mode:'no-cors'})"))),
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

// documentAttacks returns attacks with frames and other documents inside a page.
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
			with("two.html", "<script>onmessage=()=>{};function go(){};top.location='@url@'</script>").never("Chromium wants a click in the frame first"),
		markupAttack(g, "frame that its page navigates", "<iframe id=f></iframe><script>f.contentWindow.location='@url@'</script>"),
		markupAttack(g, "frame by name", "<iframe name=n></iframe><a id=a href=@url@ target=n></a><script>function go(){a.click()}</script>"),
		markupAttack(g, "srcdoc", "<iframe srcdoc=\"<img src=@url@>\"></iframe>"),
		markupAttack(g, "srcdoc with meta refresh", "<iframe srcdoc=\"<meta http-equiv=refresh content='0;url=@url@'>\"></iframe>"),
		markupAttack(g, "data document", "<iframe src=\"data:text/html,<img src=@url@>\"></iframe>"),
		markupAttack(g, "javascript document", "<iframe src=\"javascript:'<img src=@url@>'\"></iframe>"),
		markupAttack(g, "blob document", "<iframe id=f></iframe><script>f.src=URL.createObjectURL(new Blob(['<img src=@url@>'],{type:'text/html'}))</script>"),
		markupAttack(g, "about:blank written", "<iframe id=f></iframe><script>f.contentDocument.write('<script src=@url@.js><\\/script>')</script>"),
		{Group: g, Name: "frameset", Visit: "@self@/a.html", Files: map[string]string{"a.html": "<html><frameset><frame src=@url@></frameset></html>"}},
		markupAttack(g, "object", "<object data=@url@ type=text/html></object>"),
		markupAttack(g, "object as pdf", "<object data=@url@ type=application/pdf></object>"),
		markupAttack(g, "embed", "<embed src=@url@ type=text/html>"),
		markupAttack(g, "embed as image", "<embed src=@url@.svg type=image/svg+xml>"),
		{Group: g, Name: "xml with a style sheet", Visit: "@self@/a.xml", Files: map[string]string{
			"a.xml": `<?xml version="1.0"?><?xml-stylesheet type="text/css" href="@url@.css"?><a>a</a>`,
		}},
		{
			Group: g, Name: "xml with a transformation", Visit: "@self@/a.xml", Never: "Chromium loads XSLT from the document's own origin only",
			Files: map[string]string{"a.xml": `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="@url@.xsl"?><a>a</a>`},
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
		{Group: g, Name: "mhtml-like multipart", Visit: "@self@/a.mixed", Never: "Chromium saves it as a file", Files: map[string]string{
			"a.mixed": "--b\r\nContent-Type: text/html\r\n\r\n<img src=@url@>\r\n--b--\r\n",
		}},
		scriptAttack(g, "file document", "location='file:///etc/hostname'").never("Chromium does not let a page open files"),
		scriptAttack(g, "chrome document", "location='chrome://version'").never("Chromium does not let a page open its own pages"),
		scriptAttack(g, "fetch of a file", "fetch('file:///etc/hostname').then(()=>fetch('/got'))").never("Chromium does not let a page read files"),
		scriptAttack(g, "devtools document", "location='devtools://devtools/bundled/inspector.html?ws=@hostport@'").never("Chromium does not let a page open its DevTools"),
	}
}

// never says that Chromium sends nothing.
func (a attackCase) never(why string) attackCase {
	a.Never = why
	return a
}
