package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clank/browsermgr/chrome"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
)

// openActivity is ada, who has Discord open the Activity with her session, in a client of Discord's.
func openActivity(w *wheel, r *serverFixture, session string) hands {
	w.t.Helper()
	r.updateSettings(map[string]any{"interaction.share.activity": true})
	r.discord.EnableActivity(r.bot)
	target := strings.TrimSuffix(r.server.CallService.ViewerURL(), "/") + "/activity"
	client := discordtest.NewClient(w.t, r.discord, r.bot, target)
	it, err := r.discord.SlashCommand(r.room, r.ada, "clank share", discordtest.Args{"session": session})
	check.Must(w.t, err)
	answered := func(i discordtest.Interaction) bool { return i.Answer != 0 }
	it, err = r.discord.WaitInteraction(testDeadline(w.t), it, answered)
	if err != nil || it.Instance == "" {
		w.t.Fatalf("the Activity is not opened: answer %d, %q, error %v", it.Answer, it.Text(), err)
	}
	a := &activityHost{w.t, client, it.Instance, browsertest.Launch(w.t, client.Args()...)}
	page, view := a.open(r.ada, "desktop", "light", "")
	p := &paneHands{wheel: w, view: view, page: page}
	p.wait(`document.querySelector(".pane-stage canvas:not([hidden])")`)
	p.wait(`document.querySelector("#steps li.runs")?.textContent === "ask a person to take over: sign in, please"`)
	a.shoot(page, "ada-desktop-light")
	return &activityHands{p, a, a.openOthers(r)}
}

// activityHands are those of a person in an Activity in which another watches.
type activityHands struct {
	*paneHands
	host  *activityHost
	other activityView
}

func (h *activityHands) take() {
	h.t.Helper()
	h.paneHands.take()
	const covered = `document.querySelector(".pane-card")?.textContent === "ada is at the controls." &&
		getComputedStyle(document.querySelector(".pane-stage canvas")).visibility === "hidden"`
	browsertest.Eventually(h.t, covered, func() bool { return h.other.frame.Eval(covered) == true })
	h.host.shoot(h.other.page, "bob-while-ada-works")
}

// activityView is somebody's client, and the Activity in it.
type activityView struct{ page, frame *browsertest.View }

// activityHost is a client of Discord's in which an Activity is open.
type activityHost struct {
	t        *testing.T
	client   *discordtest.Client
	instance string
	browser  *chrome.Process
}

// open opens the client for somebody, and returns its page and the Activity's frame in it.
func (a *activityHost) open(user discordtest.User, platform, scheme, more string) (page, frame *browsertest.View) {
	a.t.Helper()
	width, height := 1400, 900
	if platform == "mobile" {
		width, height = 390, 844
	}
	page = browsertest.ViewsIn(a.t, a.browser, func(text string) {
		switch {
		case strings.Contains(text, "can escape its sandboxing"): // Discord's own frame is such a one
		case strings.Contains(text, "/.proxy/signin") && strings.Contains(text, "403"): // who is not let in
		case strings.Contains(text, "/.proxy/steps") && strings.Contains(text, "403"): // the session closed meanwhile
		default:
			a.t.Error(text)
		}
	}).Open(width, height, scheme)
	page.Navigate(a.client.PageURL(user, a.instance, platform) + more)
	return page, page.Frame(a.client.Origin())
}

// openOthers has others open the Activity who may only watch it, or may not see it. It returns the view of the first.
func (a *activityHost) openOthers(r *serverFixture) (first activityView) {
	a.t.Helper()
	bob, eve := r.discord.CreateUser("bob"), r.discord.CreateUser("eve")
	r.discord.AddMember(r.guild, bob)
	r.discord.AddMember(r.guild, eve)
	r.discord.JoinActivity(a.instance, bob)
	for _, tc := range []struct {
		who                    discordtest.User
		platform, scheme, more string
		want                   string
	}{
		{bob, "mobile", "dark", "", `document.querySelector(".pane-stage canvas:not([hidden])") &&
			document.querySelector(".pane-acts")?.innerText === "" && document.getElementById("toggle").offsetWidth > 0`},
		{eve, "mobile", "light", "", `document.getElementById("text")?.textContent === "You are not in this Activity."`},
		{bob, "desktop", "dark", "&refuses=AUTHORIZE", `document.getElementById("text")?.textContent === "User declined."`},
	} {
		page, frame := a.open(tc.who, tc.platform, tc.scheme, tc.more)
		if first.page == nil {
			first = activityView{page, frame}
		}
		browsertest.Eventually(a.t, tc.want, func() bool { return frame.Eval("Boolean("+tc.want+")") == true })
		if wide := frame.Eval("document.documentElement.scrollWidth > innerWidth"); wide != false {
			a.t.Errorf("%s on %s: the page is wider than its frame", tc.who.Username, tc.platform)
		}
		a.shoot(page, fmt.Sprintf("%s-%s-%s%s", tc.who.Username, tc.platform, tc.scheme, tc.more))
	}
	return first
}

func (a *activityHost) shoot(page *browsertest.View, name string) {
	if dir := os.Getenv("SHOTS"); dir != "" {
		check.Must(a.t, os.WriteFile(filepath.Join(dir, name+".png"), page.Screenshot(), 0o600))
	}
}
