package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"clank/dashboard/api"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/sessions"
)

// viewers is the browser in which people look at the dashboard.
var viewers browsertest.Shared

// paneHands are those of a person who works a page through the dashboard's live pane.
type paneHands struct {
	*wheel
	view *browsertest.View
	page *browsertest.View // that gets the input: view, or what frames it
}

func newPaneHands(w *wheel) *paneHands {
	w.t.Helper()
	view := viewers.Views(w.t, func(text string) { w.t.Error(text) }).Open(1400, 900, "light")
	return &paneHands{w, view, view}
}

// openLink is ada, for whom the operator has made a link to work the page. She signs in with Discord for it; others
// who have the link cannot.
func openLink(w *wheel, r *serverFixture, session string) hands {
	w.t.Helper()
	r.discord.SetUpOAuth(r.bot, clientSecret, r.server.CallService.ViewerURL()+"signed-in")
	operator := sessions.Origin{Kind: sessions.FromDashboard, Channel: api.PageChannel, Moderator: true}
	wanted := api.LinkRequest{Session: session, Control: true, User: r.ada.ID}
	link, err := r.server.CallService.NewLink(w.t.Context(), operator, wanted)
	check.Must(w.t, err)
	for _, tc := range []struct {
		who  discordtest.User
		want string
	}{
		{discordtest.User{}, "Discord did not sign you in."},
		{r.discord.CreateUser("eve"), "This link was made for another Discord account: ask for a link of your own."},
		{r.ada, ""},
	} {
		r.discord.VisitAs(tc.who)
		view := viewers.Views(w.t, func(text string) {
			if !strings.Contains(text, "401") && !strings.Contains(text, "403") { // who is not let in
				w.t.Error(text)
			}
		}).Open(1400, 900, "light")
		p := &paneHands{w, view, view}
		view.Navigate(link.URL)
		p.wait(`document.body?.dataset.state === "sign-in"`)
		view.Eval(`document.getElementById("again").click()`)
		if tc.want == "" {
			p.wait(`document.querySelector(".pane-stage canvas:not([hidden])")`)
			return p
		}
		p.wait(`document.getElementById("text")?.textContent === "` + tc.want + `"`)
	}
	return nil
}

// openPane is the operator at the dashboard.
func openPane(w *wheel, r *serverFixture, session string) hands {
	w.t.Helper()
	p := newPaneHands(w)
	link := r.openDashboard(w.t).LoginURL()
	p.view.Navigate(link)
	p.wait(`document.getElementById("prompt")`)
	base, _, _ := strings.Cut(link, "/login")
	p.view.Navigate(base + "/s/" + session)
	p.wait(`document.querySelector(".pane-stage canvas:not([hidden])")`)
	return p
}

func (p *paneHands) wait(expression string) {
	p.t.Helper()
	browsertest.Eventually(p.t, expression, func() bool { return p.view.Eval("Boolean("+expression+")") == true })
}

// tells does something and waits for what it makes the page tell.
func (p *paneHands) tells(want string, do func()) {
	p.t.Helper()
	sent := time.Now()
	do()
	p.latencies = append(p.latencies, p.await(want).at-float64(sent.UnixMicro())/1000)
}

func (p *paneHands) take() {
	p.t.Helper()
	const button = `document.querySelector(".pane-acts .primary:not([hidden])")`
	p.wait(button)
	p.view.Eval(button + ".click()")
	p.wait(`document.querySelector(".pane.works") && document.activeElement.className === "pane-keys"`)
}

func (p *paneHands) give() {
	p.t.Helper()
	p.page.EscapeTwice()
	p.wait(`document.activeElement.textContent === "Give back"`)
	p.page.Press("Enter", 13, "\r")
}

func (p *paneHands) click(x, y int) {
	p.t.Helper()
	p.wait(`!document.querySelector(".pane-card")`) // the pane hears of its end by itself
	at, _ := p.view.Eval(fmt.Sprintf(`(() => {
		const b = document.querySelector(".pane-stage canvas").getBoundingClientRect();
		return [b.left + b.width * %d / 1280, b.top + b.height * %d / 720];
	})()`, x, y)).([]any)
	mouse := func(kind string) {
		params := map[string]any{"type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1}
		p.page.Call("Input.dispatchMouseEvent", params)
	}
	p.tells("mousedown", func() { mouse("mousePressed") })
	mouse("mouseReleased")
}

func (p *paneHands) keys(text string) {
	p.t.Helper()
	for _, r := range text {
		p.tells("input", func() { p.page.Press(string(r), int(r)-'a'+'A', string(r)) })
	}
}

func (p *paneHands) paste(text string) {
	p.t.Helper()
	quoted, _ := json.Marshal(text)
	p.tells("input", func() {
		p.view.Eval(`(() => {
			const clipboardData = new DataTransfer();
			clipboardData.setData("text/plain", ` + string(quoted) + `);
			document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData }));
		})()`)
	})
}

func (p *paneHands) compose(draft, text string) {
	p.t.Helper()
	end := len([]rune(draft))
	p.tells("compositionstart", func() {
		params := map[string]any{"text": draft, "selectionStart": end, "selectionEnd": end}
		p.page.Call("Input.imeSetComposition", params)
	})
	p.tells("input", func() { p.page.Insert(text) })
}

func (p *paneHands) files(name, text string) {
	p.t.Helper()
	p.wait(`document.querySelector(".pane-card input[type=file]")`)
	p.view.Eval(fmt.Sprintf(`(() => {
		const input = document.querySelector(".pane-card input"), list = new DataTransfer();
		list.items.add(new File([%q], %q));
		input.files = list.files;
		input.dispatchEvent(new Event("change"));
	})()`, text, name))
}

func (p *paneHands) answer(text string) {
	p.t.Helper()
	p.wait(`document.activeElement.matches(".pane-card input")`)
	p.page.Insert(text)
	p.page.Press("Enter", 13, "\r")
}
