package dashboard_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"clank/internal/test/check"
)

// arrive starts a page and opens it in a browser.
func arrive(t *testing.T, width, height int, scheme string) (*rig, *chromium, *tab) {
	t.Helper()
	r, c := start(t), launch(t)
	return r, c, r.arrive(c, width, height, scheme)
}

// arrive opens the page as somebody who follows the printed link.
func (r *rig) arrive(c *chromium, width, height int, scheme string) *tab {
	r.t.Helper()
	tb := c.open(r.server.LoginURL(), width, height, scheme)
	tb.waitFor(`location.pathname === "/" && document.getElementById("prompt")`)
	tb.waitFor(`!document.getElementById("welcome").hidden`)
	return tb
}

func (tb *tab) say(text string) {
	tb.t.Helper()
	tb.Eval(`document.getElementById("prompt").focus()`)
	tb.Insert(text)
	tb.press("Enter")
}

const status = `document.querySelector(".turn:last-of-type .work-toggle b")?.textContent`

func TestSessionsAreNamedByTheirSubject(t *testing.T) {
	_, _, tb := arrive(t, 1280, 860, "light")
	for session, want := range map[string]string{
		`{ prompt: "find a lamp", title: "Shop" }`:                             "find a lamp",
		`{ prompt: "open http://127.0.0.1:8788/shop", title: "Lumen & Oak" }`:  "Lumen & Oak",
		`{ prompt: "Open https://shop.test/a, then find a lamp" }`:             "find a lamp",
		`{ prompt: "go to https://shop.test and read", title: "Lumen & Oak" }`: "Lumen & Oak",
		`{ prompt: "open http://127.0.0.1:8788/shop" }`:                        "open http://127.0.0.1:8788/shop",
		`{ prompt: "open the demo shop, read", title: "Lumen & Oak" }`:         "open the demo shop, read",
		`{ title: "Lumen & Oak" }`:                                             "Lumen & Oak",
		`{}`:                                                                   "Session",
	} {
		got := tb.Eval(`import(document.querySelector("script[type=module]").src.replace("chat.js", "sidebar.js"))
			.then(({ nameOf }) => nameOf(` + session + `))`)
		if got != want {
			t.Errorf("the session %s is called %q, want %q", session, got, want)
		}
	}
}

func TestTheChatFromTheLinkToTheAnswer(t *testing.T) {
	r, c, tb := arrive(t, 1280, 860, "light")
	check.Equal(t, "the code is still in the address", tb.Eval("location.hash"), "")

	tb.click(".example")
	if got := tb.Eval(`document.getElementById("prompt").value`); got != `open the demo shop, type "lamp" into Search, press Enter, read` {
		t.Errorf("an example puts %q into the box", got)
	}
	tb.Eval(`document.getElementById("prompt").value = ""`)

	tb.say(`hold: find a lamp in the demo shop`)
	tb.waitFor(`document.querySelector(".step .sign.spin")`)
	tb.waitFor(`location.pathname.startsWith("/s/")`)
	if typed := r.backend.typed(); len(typed) != 1 || !typed[0] {
		t.Errorf("tasks of the form are typed: %v, want one that is", typed)
	}
	tb.waitFor(status + ` === "Working"`)
	height := tb.Eval(`document.querySelector(".step").offsetHeight`)
	r.backend.letGo()
	tb.waitFor(status + ` === "Done"`)
	tb.waitFor(`[...document.querySelectorAll(".thumb img, .pictures img")].every((i) => i.complete && i.naturalWidth > 0)`)
	if got := tb.Eval(`document.querySelector(".step").offsetHeight`); got != height {
		t.Errorf("the step was %v high while it ran and is %v now: the page moved", height, got)
	}
	if got := tb.Eval(`document.querySelectorAll(".step:not(.talk)").length + " " + document.querySelectorAll("button.thumb").length`); got != "3 3" {
		t.Errorf("steps and pictures = %v", got)
	}
	if got := tb.Eval(`[...document.querySelectorAll(".answer a")].map((a) => a.href).join(" ")`); got != "http://127.0.0.1:8788/search?q=lamp https://example.com/a_(b)" {
		t.Errorf("links of the answer = %v", got)
	}
	if got := tb.Eval(`document.getElementById("scroll").scrollTop + document.getElementById("scroll").clientHeight >= document.getElementById("scroll").scrollHeight - 2`); got != true {
		t.Error("the answer is not scrolled to")
	}

	tb.click("button.thumb")
	tb.waitFor(`document.getElementById("viewer").open && document.getElementById("viewer-img").naturalWidth > 0`)
	tb.press("ArrowRight")
	tb.waitFor(`document.getElementById("viewer-place").textContent === "2 of 3"`)
	tb.press("Escape")
	tb.waitFor(`!document.getElementById("viewer").open`)

	session := tb.Eval("location.pathname")
	tb.say("brief: and the second one")
	tb.waitFor(`document.querySelectorAll(".turn").length === 2 && ` + status + ` === "Done"`)
	if got := tb.Eval("location.pathname"); got != session {
		t.Errorf("the second message went to %v, not to %v", got, session)
	}
	c.clean()
}

func TestStopByButtonAndByWord(t *testing.T) {
	_, c, tb := arrive(t, 1280, 860, "dark")
	tb.say("hold one")
	tb.waitFor(`document.querySelector(".step .sign.spin")`)
	tb.waitFor(`document.getElementById("send").classList.contains("stops")`)
	tb.click(".work-head .ghost")
	tb.waitFor(status + ` === "Stopped by you"`)
	tb.say("hold two")
	tb.waitFor(`document.querySelectorAll(".turn").length === 2 && document.querySelectorAll(".step .sign.spin").length === 1`)
	tb.say("ok, stop")
	tb.waitFor(`document.querySelectorAll(".turn").length === 2 && ` + status + ` === "Stopped by you"`)
	tb.waitFor(`document.getElementById("hint-text").textContent === "Stopped."`)
	tb.say("stop")
	tb.waitFor(`document.getElementById("hint-text").textContent === "Nothing is running right now."`)
	if got := tb.Eval(`document.querySelectorAll(".sign.spin, .thumb.wait").length`); got != 0.0 {
		t.Errorf("%v things still look as if they went on", got)
	}
	c.clean()
}

func TestPageTextIsEscaped(t *testing.T) {
	_, c, tb := arrive(t, 1280, 860, "light")
	tb.say("evil <img src=x onerror=alert(1)>")
	tb.waitFor(status + ` === "Done"`)
	if got := tb.Eval(`document.querySelectorAll(".turn script, .turn b b, .turn img[src=x], .turn [onerror], .turn [onmouseover]").length`); got != 0.0 {
		t.Errorf("%v elements came out of a text", got)
	}
	if got := tb.Eval(`[...document.querySelectorAll(".answer a")].map((a) => a.href).join(" ")`); got != "https://example.com/" {
		t.Errorf("links = %v", got)
	}
	c.clean()
}

func TestLateEventsDoNotRevertNewerState(t *testing.T) {
	_, _, tb := arrive(t, 1280, 860, "light")
	got := tb.Eval(`(async () => {
		const base = document.querySelector("script[type=module]").src.replace("chat.js", "turn.js");
		const { Turn } = await import(base);
		const task = { id: "t", prompt: "p", state: "running", asked: "2026-01-01T00:00:00Z" };
		const turn = new Turn(task, {});
		const step = (n, phase, label) => turn.setStep({ n, kind: "act", phase, label });
		step(3, "done", "three");
		step(1, "done", "one");
		step(1, "begun", "one");
		step(2, "begun", "two");
		turn.setTask({ ...task, state: "queued", position: 1 });
		const early = turn.status()[0];
		turn.setTask({ ...task, state: "done", answer: "so" });
		turn.setTask(task);
		return [...turn.list.children].map((row) => row.innerText.trim() + " " + row.querySelector(".sign").dataset.sign).join("|") + " " + early + " " + turn.status()[0];
	})()`)
	if want := "one check false|two square false|three check false Working Done"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFailuresAreShownAndNothingIsLost(t *testing.T) {
	_, c, tb := arrive(t, 1280, 860, "light")
	// The answer to the request arrives after the events, which tell that the task has failed.
	tb.Eval(`(() => {
		const { fetch } = window, side = document.getElementById("sessions");
		const failed = () => side.querySelector(".session") && !side.querySelector(".running");
		window.fetch = async (path, options) => {
			const response = await fetch(path, options);
			if (path === "/api/tasks") await new Promise((resolve) => {
				const seen = () => failed() && resolve();
				new MutationObserver(seen).observe(side, { childList: true });
				seen();
			});
			return response;
		};
	})()`)
	tb.say("trip and fail")
	tb.waitFor(status + ` === "Failed"`)
	if got := tb.Eval(`document.querySelectorAll(".session .running").length`); got != 0.0 {
		t.Error("the session of a task that has failed works")
	}
	if got, _ := tb.Eval(`document.querySelector(".reason.bad").textContent`).(string); !strings.Contains(got,
		"refused the key") {
		t.Errorf("reason = %q", got)
	}
	check.Equal(t, "failed steps", tb.Eval(`document.querySelectorAll(".step.failed").length`), 1.0)

	long := strings.Repeat("x", 8100)
	tb.Eval(`document.getElementById("prompt").removeAttribute("maxlength")`)
	tb.say(long)
	tb.waitFor(`document.getElementById("hint").classList.contains("bad")`)
	if got := tb.Eval(`document.getElementById("prompt").value.length`); got != 8100.0 {
		t.Errorf("%v characters are left of the refused message", got)
	}
	c.mu.Lock()
	c.wrongs = nil // the browser reports the refusal
	c.mu.Unlock()
}

func TestSessionsAndTheThemeAreThereAfterARestart(t *testing.T) {
	dir := t.TempDir()
	r := startIn(t, dir, "127.0.0.1:0")
	addr := strings.TrimPrefix(r.server.URL(), "http://")
	c := launch(t)
	tb := r.arrive(c, 1280, 860, "dark")
	tb.say("find the lamps")
	tb.waitFor(status + ` === "Done"`)
	background := `getComputedStyle(document.body).backgroundColor`
	dark := tb.Eval(background)
	tb.click("[data-theme-toggle]")
	light := tb.Eval(background)
	if dark == light {
		t.Errorf("the background stays %v", dark)
	}
	r.close()
	tb.waitFor(`!document.getElementById("offline").hidden`)

	again := startIn(t, dir, addr)
	tb.waitFor(`document.getElementById("offline").hidden`)
	tb.reload()
	tb.waitFor(`document.querySelectorAll(".turn").length === 1 && ` + status + ` === "Done"`)
	check.Equal(t, "after a reload the background", tb.Eval(background), light)
	again.finish(`{"prompt":"brief, from a terminal","origin":"terminal"}`)
	tb.waitFor(`document.querySelectorAll(".session").length === 2`)
	if got := tb.Eval(`[...document.querySelectorAll(".session")].map((s) => s.innerText.split("\n")[0]).join("|")`); got != "brief, from a terminal|find the lamps" {
		t.Errorf("sessions = %v", got)
	}
	tb.waitFor(`[...document.querySelectorAll(".pictures img")].every((i) => i.complete && i.naturalWidth > 0)`)
	tb.click(".session")
	tb.waitFor(`document.querySelector(".ask p")?.textContent === "brief, from a terminal"`)
	tb.Eval("history.back()")
	tb.waitFor(`document.querySelector(".ask p")?.textContent === "find the lamps"`)
	tb.click("#new")
	tb.waitFor(`location.pathname === "/" && !document.getElementById("welcome").hidden && document.querySelectorAll(".turn").length === 0`)
}

func TestANarrowScreen(t *testing.T) {
	_, c, tb := arrive(t, 360, 740, "dark")
	tb.say("trip over something in the demo shop, and then find a lamp that costs less than thirty euros")
	tb.waitFor(status + ` === "Done"`)
	tb.waitFor(`[...document.querySelectorAll(".pictures img")].every((i) => i.complete && i.naturalWidth > 0)`)
	if got := tb.Eval("document.documentElement.scrollWidth"); got != 360.0 {
		t.Errorf("the page is %v wide", got)
	}
	tb.click("#side-open")
	tb.waitFor(`document.getElementById("side").getBoundingClientRect().left === 0`)
	tb.press("Escape")
	tb.waitFor(`document.getElementById("veil").hidden && document.activeElement.id === "side-open"`)
	c.clean()
}

func TestTheLineIsShown(t *testing.T) {
	r, c, tb := arrive(t, 1280, 860, "light")
	tb.say("hold one")
	tb.waitFor(`document.querySelector(".step .sign.spin")`)
	tb.waitFor(`location.pathname.startsWith("/s/")`)
	session, _ := tb.Eval(`location.pathname.slice(3)`).(string)
	r.startTask(`{"prompt":"hold two","session_id":"` + session + `"}`) // what is said here is for the task that runs
	tb.waitFor(status + ` === "Waiting in line"`)
	r.backend.letGo()
	tb.waitFor(`[...document.querySelectorAll(".work-toggle b")].every((b) => b.textContent === "Done")`)
	c.clean()
}

func TestALinkWorksOnceAndTheTokenAlways(t *testing.T) {
	r := start(t)
	c := launch(t)
	link := r.server.LoginURL()
	tb := c.open(link, 1000, 700, "light")
	tb.waitFor(`location.pathname === "/" && document.getElementById("welcome")?.hidden === false`)
	tb.Eval(`localStorage.clear()`)
	tb.goTo(link)
	tb.waitFor(`!document.getElementById("login-form").hidden`)
	tb.waitFor(`document.getElementById("login-text").textContent.includes("used already")`)
	tb.Eval(`document.getElementById("token").focus()`)
	tb.Insert(r.token)
	tb.press("Enter")
	tb.waitFor(`location.pathname === "/" && document.getElementById("prompt")`)
	tb.goTo(r.server.URL() + "/login")
	tb.waitFor(`location.pathname === "/"`)
	tb.awaitPage()
	tb.click("[data-logout]")
	tb.waitFor(`location.pathname === "/login" && document.getElementById("login-form")?.hidden === false`)
	again, err := r.client().LoginLink(t.Context())
	check.Must(t, err)
	tb.goTo(again.URL)
	tb.waitFor(`location.pathname === "/"`)
}

func TestTheSettingsPage(t *testing.T) {
	r := startIn(t, t.TempDir(), "127.0.0.1:0", onDiscord)
	c := launch(t)
	r.arrive(c, 1280, 900, "light")
	tb := c.open(r.server.URL()+"/settings", 1280, 900, "light")
	steps := `[data-key="agentStack.runtimeConfig.browser.localBrowserAgent.maxStepsPerTask"]`
	timeout := `[data-key="agentStack.runtimeConfig.browser.localBrowserAgent.stepTimeoutMs"]`
	set := func(field, value string) {
		tb.Eval(`(() => { const i = document.querySelector('` + field + ` input'); i.focus(); i.select(); })()`)
		tb.Insert(value)
	}
	tb.click("#all")
	set(steps, "999")
	tb.waitFor(`!document.getElementById("save-bar").hidden`)
	tb.click("#save")
	tb.waitFor(`document.querySelector('` + steps + ` .error').textContent.includes("must be a whole number, 1 to 200")`)
	tb.Eval(`document.querySelector('` + steps + `').scrollIntoView({ block: "center" })`)

	set(steps, "12")
	set(timeout, "45.5")
	tb.press("Enter")
	tb.waitFor(`document.getElementById("save-text").textContent === "Saved: 2 settings."`)
	if s := r.server.Settings.Current(); s.MaxSteps != 12 || s.StepTimeout != 45500*time.Millisecond {
		t.Errorf("settings = %+v", s)
	}

	set(steps, "20")
	if got, body := r.ask("PUT", "/api/settings", `{"version":"`+r.server.Settings.State().Version+
		`","changes":{"agentStack.runtimeConfig.browser.localBrowserAgent.maxStepsPerTask":7,"interaction.tasks.maxAtOnce":9}}`); got != 200 {
		t.Fatalf("somebody else's change: %d %s", got, body)
	}
	tb.click("#save")
	tb.waitFor(`document.querySelector('` + steps + ` .error').textContent.includes("Somebody else set this to 7")`)
	if got := tb.Eval(`document.querySelector('` + steps +
		` input').value + " " + document.querySelector('[data-key="interaction.tasks.maxAtOnce"] input').value`); got != "20 9" {
		t.Errorf("mine and theirs = %v", got)
	}
	tb.Eval(`document.querySelector('` + steps + `').scrollIntoView({ block: "center" })`)
	tb.click("#save")
	tb.waitFor(`document.getElementById("save-text").textContent.startsWith("Saved:")`)
	tb.click(steps + " .reset")
	tb.click("#save")
	tb.waitFor(`document.querySelector('` + steps +
		` .reset').hidden && document.getElementById("save-text").textContent.startsWith("Saved:")`)
	check.Equal(t, "steps after the reset", r.server.Settings.Current().MaxSteps, 30)
	tb = c.open(r.server.URL()+"/settings", 360, 740, "dark")
	if got := tb.Eval("document.documentElement.scrollWidth"); got != 360.0 {
		t.Errorf("the page is %v wide", got)
	}
	tb.Eval(`window.scrollTo(0, document.body.scrollHeight)`)

	tb = c.open(r.server.URL()+"/settings/servers/1", 360, 740, "dark")
	tb.Eval(`document.querySelector('[data-kind="channels"] option[value="200000000000000009"]').selected = true`)
	tb.Eval(`document.querySelector('[data-kind="channels"] select').dispatchEvent(new Event("input", { bubbles: true }))`)
	tb.click("#save")
	tb.waitFor(`document.getElementById("save-text").textContent === "Saved: Channels."`)
	check.Equal(t, "the channels", r.server.Settings.For("1").Server.Channels, "200000000000000009")
	if got := tb.Eval("document.documentElement.scrollWidth"); got != 360.0 {
		t.Errorf("the page of a server is %v wide", got)
	}
}

// TestAnotherPortOfThisMachineGetsNothingOfASignIn lets the operator's browser visit a server of another account on
// another port, which is the same site.
func TestAnotherPortOfThisMachineGetsNothingOfASignIn(t *testing.T) {
	r, c, tb := arrive(t, 1280, 860, "light")
	r.finish(`{"prompt":"find the lamps"}`)
	_, port, _ := strings.Cut(strings.TrimPrefix(r.server.URL(), "http://"), ":")
	seen := make(chan http.Header, 100)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		seen <- q.Header.Clone()
		http.SetCookie(w, &http.Cookie{Name: "clank_" + port, Value: "theirs", Path: "/"})
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<title>theirs</title>")
	}))
	t.Cleanup(other.Close)
	tb.Eval(`location.href = "` + other.URL + `"`)
	tb.waitFor(`document.title === "theirs"`)
	for _, try := range []string{
		`fetch("PAGE/api/tasks", { credentials: "include" }).then((r) => r.text())`,
		`fetch("PAGE/api/stop", { method: "POST", body: "{}", credentials: "include" }).then((r) => r.text())`,
		`new Promise((got) => {
			const frame = document.createElement("iframe");
			frame.onload = () => got(frame.contentDocument?.title);
			frame.src = "PAGE/";
			document.body.append(frame);
		})`,
		`new Promise((got, no) => {
			const image = new Image();
			Object.assign(image, { onload: () => got("shown"), onerror: no, src: "PAGE/api/tasks/x/images/0" });
		})`,
		`Promise.resolve(Object.keys(localStorage).join())`,
	} {
		got := tb.Eval(strings.ReplaceAll(try, "PAGE", r.server.URL()) + `.then((got) => got || "", () => "")`)
		check.Equal(t, try, got, "")
	}
	other.Close()
	close(seen)
	asked := 0
	for h := range seen {
		asked++
		as := func(q *http.Request) {
			q.Header = h.Clone()
			q.Header.Set("Origin", r.server.URL())
			q.Header.Del("Accept-Encoding") // the test reads what comes as it is
		}
		if status, body := r.ask("GET", "/api/tasks", "", as); status != http.StatusUnauthorized {
			t.Errorf("with what the browser sent to another port, the tasks are answered %d %s", status, body)
		}
		if _, body := r.ask("GET", "/settings", "", as); !strings.Contains(body, "opening") {
			t.Errorf("with what the browser sent to another port, a page is shown:\n%s", body)
		}
	}
	if asked == 0 {
		t.Error("the browser did not come to the other port")
	}

	tb.Eval("history.back()")
	tb.waitFor(`document.getElementById("prompt") && document.querySelectorAll(".session").length === 1`)
	tb.reload()
	tb.waitFor(`document.querySelectorAll(".session").length === 1`)
	tb.click(".session")
	tb.waitFor(`document.querySelector(".thumb img")?.naturalWidth > 0`)
	second := c.open(r.server.URL()+"/settings", 1280, 860, "light")
	second.waitFor(`document.querySelector("form")`)
}
