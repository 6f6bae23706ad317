package main

import "slices"

// styleAttacks returns attacks with what CSS loads.
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
		scriptAttack(g, "insertRule", "let s=document.head.appendChild(document.createElement('style'));s.sheet.insertRule('html{background:url(@url@)}')"),
		scriptAttack(g, "constructed sheet", "let s=new CSSStyleSheet;s.replaceSync('html{background:url(@url@)}');document.adoptedStyleSheets=[s]"),
		markupAttack(g, "style attribute", "<p style=\"background:url(@url@)\">a"),
		markupAttack(g, "svg paint", "<svg><rect width=9 height=9 fill=\"url(@url@.svg#a)\"/></svg>"),
	}
}

// imageAttacks returns attacks with images, sound and films.
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
			markupAttack(g, "svg feImage", "<svg width=9 height=9><filter id=f><feImage href=@url@ /></filter><rect width=9 height=9 filter=url(#f) /></svg>"),
			markupAttack(g, "svg use", "<svg><use href=@url@.svg#a /></svg>").never("Chromium uses svg of the page's own origin only"),
			markupAttack(g, "svg as an image", "<img src=/a.svg>").with("a.svg", `<svg xmlns="http://www.w3.org/2000/svg"><image href="@url@"/></svg>`).
				never("an image loads nothing else"),
			{Group: g, Name: "favicon", Visit: "@self@/a.html", Files: map[string]string{"a.html": "<head><link rel=icon href=@url@></head>"}},
			markupAttack(g, "apple icon", "<link rel=apple-touch-icon href=@url@>").never("Chromium on a desktop leaves it"),
			markupAttack(g, "video", "<video src=@url@ preload=auto></video>"),
			markupAttack(g, "poster", "<video poster=@url@></video>"),
			markupAttack(g, "audio", "<audio src=@url@ preload=auto></audio>"),
			markupAttack(g, "source", "<video preload=auto><source src=@url@></video>"),
			markupAttack(g, "track", "<video crossorigin><track default kind=captions src=@url@></video><script>document.querySelector('track').track.mode='showing'</script>"),
			markupAttack(g, "playlist", "<video src=/a.m3u8 preload=auto autoplay muted></video>").
				with("a.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n@url@\n#EXT-X-ENDLIST\n"),
			markupAttack(g, "table background", "<table background=@url@><tr><td>a</table>"),
			markupAttack(g, "image in a template, cloned", "<template id=t><img src=@url@></template><script>document.body.append(t.content.cloneNode(true))</script>"),
			markupAttack(g, "image in a shadow tree", "<div><template shadowrootmode=open><img src=@url@></template></div>"),
			markupAttack(g, "noscript", "<iframe sandbox srcdoc=\"<noscript><img src=@url@></noscript>\"></iframe>"),
		})
}
