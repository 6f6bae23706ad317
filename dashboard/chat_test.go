package dashboard_test

import (
	"encoding/json"
	"strings"
	"testing"

	"clank/dashboard"
	"clank/internal/settings"
	"clank/internal/test/check"
	"clank/sessions"
)

// hostileTexts are what a model may be talked into writing.
var hostileTexts = []string{
	`<script>window.pwned = 1</script>`, `<img src=x onerror="window.pwned=1">`, `<svg/onload=window.pwned=1>`,
	`<iframe srcdoc="<script>top.pwned=1</script>">`,
	`[x](javascript:window.pwned=1)`, `[x](JaVaScRiPt:window.pwned=1)`, "[x](java\nscript:window.pwned=1)",
	`[x](data:text/html,<script>pwned=1</script>)`,
	`[x](vbscript:pwned)`, `[x](https://a.test/"onmouseover="window.pwned=1)`,
	`[x](https://a.test/'><script>window.pwned=1</script>)`,
	`[<img src=x onerror=window.pwned=1>](https://a.test/)`, `![x](https://a.test/x.png)`,
	`![x" onerror="window.pwned=1](x)`,
	"```html\n<script>window.pwned=1</script>\n```", "`<img src=x onerror=window.pwned=1>`",
	"# <img src=x onerror=window.pwned=1>",
	"- <img src=x onerror=window.pwned=1>\n- **<b onclick=window.pwned=1>x</b>**",
	"| <img src=x onerror=window.pwned=1> |\n|---|\n| <svg onload=window.pwned=1> |",
	`<a href="javascript:window.pwned=1">x</a>`, `<https://a.test/><style>*{display:none}</style>`,
	`&lt;script&gt;window.pwned=1&lt;/script&gt;`,
	`<math><mi xlink:href="data:x,<script>pwned=1</script>">`, `<base href="https://evil.test/">`,
	`<form action="https://evil.test"><input name=q></form>`,
	`**[x](javascript:window.pwned=1)**`, `[a](https://a.test/)[b](file:///etc/passwd)`, "\u202e[x](https://a.test/)",
	`[x](//a.test/)`, `[x]( https://a.test/ )`,
	`<noscript><p title="</noscript><img src=x onerror=window.pwned=1>">`,
	`<template><script>window.pwned=1</script></template>`,
	strings.Repeat("**a ", 3000), strings.Repeat("[", 5000), strings.Repeat("`a` ", 3000),
}

func TestMarkdownBecomesElementsOfAFewKindsAndNothingElse(t *testing.T) {
	_, c, tb := arrive(t, 1280, 860, "light")
	render := `(async (text) => {
		const { markdown } = await import(document.querySelector("script[type=module]").src.replace("chat.js", "markdown.js"));
		const box = document.createElement("div");
		document.body.append(box);
		box.replaceChildren(...markdown(text));
		await new Promise((done) => setTimeout(done));
		const nodes = [...box.querySelectorAll("*")];
		const tags = [...new Set(nodes.map((n) => n.localName))].sort().join(" ");
		const attributes = [...new Set(nodes.flatMap((n) => n.getAttributeNames()))].sort().join(" ");
		const links = [...box.querySelectorAll("a")].map((a) => new URL(a.href).protocol + a.rel).join();
		const html = box.innerHTML;
		box.remove();
		return { tags, attributes, links, html, pwned: "pwned" in window };
	})`
	type rendered struct {
		Tags, Attributes, Links, HTML string
		Pwned                         bool
	}
	draw := func(text string) (r rendered) {
		t.Helper()
		quoted, err := json.Marshal(text)
		check.Must(t, err)
		raw, err := json.Marshal(tb.Eval(render + "(" + string(quoted) + ")"))
		check.Must(t, err)
		check.Must(t, json.Unmarshal(raw, &r))
		return r
	}
	allowed := map[string]bool{
		"a": true, "code": true, "div": true, "em": true, "h3": true, "li": true, "ol": true, "p": true, "pre": true,
		"strong": true,
		"table":  true, "tbody": true, "td": true, "th": true, "thead": true, "tr": true, "ul": true, "class": true,
		"href": true, "rel": true, "start": true, "target": true,
	}
	for _, text := range hostileTexts {
		r := draw(text)
		for word := range strings.FieldsSeq(r.Tags + " " + r.Attributes) {
			if !allowed[word] {
				t.Errorf("%.80q made %q: %s", text, word, r.HTML)
			}
		}
		for link := range strings.SplitSeq(r.Links, ",") {
			if link != "" && (!strings.HasPrefix(link, "http") || !strings.Contains(link, "noopener noreferrer")) {
				t.Errorf("%.80q made the link %s", text, link)
			}
		}
		if r.Pwned {
			t.Fatalf("%.80q ran", text)
		}
	}
	for text, want := range map[string]string{
		"a\nb\n\nc": `<p class="text">a` + "\n" + `b</p><p class="text">c</p>`,
		"## Six **lamps** *on* sale\n1. `A` 2 * 3\n2. B\n- C": `<h3>Six <strong>lamps</strong> <em>on</em> sale</h3><ol start="1"><li><code>A</code> 2 * 3</li><li>B</li></ol><ul><li>C</li></ul>`,
		"| a | b |\n|---|:-:|\n| 1 | 2 |\nend":                `<div class="table"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table></div><p class="text">end</p>`,
		"```\na < b\n":                                        `<pre><code>a &lt; b` + "\n" + `</code></pre>`,
		"snake_case a*b*c":                                    `<p class="text">snake_case a*b*c</p>`,
	} {
		check.Equal(t, text, draw(text).HTML, want)
	}
	c.clean()
}

func TestALateMessageBecomesTheNextTaskOrIsReturned(t *testing.T) {
	r, c, tb := arrive(t, 1280, 860, "light")
	tb.say("hold one")
	tb.waitFor(`document.querySelector(".step .sign.spin")`)
	tb.say("hold: brass ones")
	tb.waitFor(`document.getElementById("hint-text").textContent.startsWith("Passed on")`)
	tb.click(".work-head .ghost")
	tb.waitFor(`document.getElementById("prompt").value === "hold: brass ones"`)
	tb.Eval(`document.getElementById("prompt").value = ""`)
	tb.say("hold two")
	tb.waitFor(`document.querySelectorAll(".turn").length === 2 && document.querySelector(".step .sign.spin")`)
	tb.say("brief, but silver")
	tb.waitFor(`document.getElementById("hint-text").textContent.startsWith("Passed on")`)
	r.backend.letGo()
	tb.waitFor(`document.querySelectorAll(".turn").length === 3 && document.querySelector(".turn:last-of-type .ask p").textContent === "brief, but silver"`)
	tb.waitFor(status + ` === "Done" && document.getElementById("prompt").value === ""`)
	c.clean()
}

func TestTheChatAcceptsOptionsAndReportsAMissingModel(t *testing.T) {
	r := startIn(t, t.TempDir(), "127.0.0.1:0", func(s *dashboard.Server) {
		s.Host = &host{ability: func(_, model string) settings.ModelAbility {
			if strings.HasPrefix(model, "openai:") {
				return settings.ModelAbility{Missing: "set OPENAI_API_KEY"}
			}
			return settings.ModelAbility{Known: true, Tools: true, Literal: true}
		}}
	})
	tb := r.arrive(launch(t), 320, 640, "dark")
	if got, _ := tb.Eval(`document.querySelector(".unset").innerText`).(string); !strings.Contains(got,
		"No model is chosen") {
		t.Errorf("without a model: %q", got)
	}
	r.change(`{"version":"","changes":{"agentStack.runtimeConfig.browser.localBrowserAgent.execution.model":"openai:gpt"}}`)
	_, page := r.ask("GET", "/", "")
	check.Contains(t, page, "Tasks cannot be done yet:", "set OPENAI_API_KEY", `href="/setup"`,
		`<option value="openai:gpt">`)
	tb.Eval(`document.getElementById("options").open = true`)
	for name, value := range map[string]string{
		"model": "plain:steps", "max_steps": "7", "max_usd": "0.05",
		"runtime": "local_browser_agent",
	} {
		tb.Eval(`document.querySelector('#options [name=` + name + `]').value = "` + value + `"`)
	}
	if got := tb.Eval(`document.documentElement.scrollWidth - innerWidth`); got != 0.0 {
		t.Errorf("the page is %v px too wide", got)
	}
	tb.Eval(`document.querySelector('#options [name=runtime]').value = ""`)
	tb.say("brief")
	tb.waitFor(status + ` === "Done"`)
	tasks, err := r.manager.Tasks(t.Context(), sessions.TaskQuery{})
	if err != nil || len(tasks) != 1 || tasks[0].Model != "plain:steps" || tasks[0].MaxSteps != 7 {
		t.Errorf("asked for: %+v %v", tasks, err)
	}
}
