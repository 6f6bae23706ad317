package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
	"clank/internal/test/discordtest"
	"clank/internal/test/discordtest/voicetest"
	"clank/llm/plain"
	"clank/sessions"
)

// shareFixture is the real program in an emulated Discord with calls: ada sits in one, and clank was brought there.
type shareFixture struct {
	*discordtest.Server

	t        *testing.T
	bot      discordtest.Bot
	eve      discordtest.Bot // the account that goes live
	ada, bob discordtest.User
	guild    discordtest.Guild
	room     discordtest.Channel // where people write: the chat of the call, until that is moved
	call     discordtest.Channel
	other    discordtest.Channel // into which the call is moved
	site     *colourSite
}

// colourSite is a page that has the colour that it is told, red at first.
type colourSite struct {
	*httptest.Server

	now atomic.Value
}

func newColourSite(t *testing.T) *colourSite {
	t.Helper()
	c := &colourSite{}
	c.now.Store("#ff0000")
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/colour" {
			io.WriteString(w, c.now.Load().(string))
			return
		}
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, `<!doctype html><title>Colours</title><script>
			setInterval(async () => { document.documentElement.style.background = await (await fetch("/colour")).text() }, 200)</script>`)
	}))
	t.Cleanup(c.Close)
	return c
}

func newShareFixture(t *testing.T) *shareFixture {
	t.Helper()
	d, err := discordtest.Start(discordtest.Config{Voice: &voicetest.Config{DAVE: 1}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	h := &shareFixture{Server: d, t: t, bot: d.CreateBot("clank", "secret"), eve: d.CreateAccount("eve", "of eve"), ada: d.CreateUser("ada"), bob: d.CreateUser("bob")}
	h.guild = d.CreateGuild("home", h.bob)
	for _, u := range []discordtest.User{h.bot.User, h.eve.User, h.ada} {
		d.AddMember(h.guild, u)
	}
	h.call, h.other = d.CreateVoiceChannel(h.guild, "call"), d.CreateVoiceChannel(h.guild, "other")
	h.room = h.call
	d.JoinVoice(h.call, h.ada)
	h.site = newColourSite(t)

	home, environ := newTestHome(t)
	trust := filepath.Join(t.TempDir(), "trust.pem")
	if err := os.WriteFile(trust, d.Voice.Certificate(), 0o600); err != nil {
		t.Fatal(err)
	}
	environ = append(environ, "DISCORD_TOKEN="+h.bot.Token, "DISCORD_GOLIVE_TOKEN="+h.eve.Token, "CLANK_DISCORD_API="+d.URL, "SSL_CERT_FILE="+trust)
	if got := startProgram(t, home, environ, "config", "set", "interaction.share.goLive", "true").exitCode(t); got != exitDone {
		t.Fatalf("exit code = %d", got)
	}
	startServer(t, home, environ, "--watch-addr", "127.0.0.1:0")
	if err := d.WaitConnected(testDeadline(t), h.bot); err != nil {
		t.Fatal(err)
	}
	if err := d.WaitConnected(testDeadline(t), h.eve); err != nil {
		t.Fatal(err)
	}
	return h
}

// command uses a command in a channel and returns what it says in the end.
func (h *shareFixture) command(in discordtest.Channel, who discordtest.User, path string, args discordtest.Args) string {
	h.t.Helper()
	it, err := h.SlashCommand(in, who, path, args)
	if err != nil {
		h.t.Fatal(err)
	}
	if it, err = h.WaitAnswer(testDeadline(h.t), it); err != nil {
		h.t.Fatal(err)
	}
	m, err := h.WaitEdit(testDeadline(h.t), it.Original.ID, func(m discordtest.Message) bool {
		return m.Flags&discordtest.FlagLoading == 0 && len(m.Buttons()) == 0
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return m.Content
}

// awaitNotice waits for a message of clank's in the call's chat that has a text, and was not there before.
func (h *shareFixture) awaitNotice(text string) discordtest.Message {
	h.t.Helper()
	m, err := h.WaitMessage(testDeadline(h.t), h.call, func(m discordtest.Message) bool {
		return m.Author.ID == h.bot.ID && strings.Contains(m.Content, text)
	})
	if err != nil {
		h.t.Fatalf("%v; there are %q", err, h.noticeTexts())
	}
	return m
}

// noticeTexts returns the texts in the call's chat.
func (h *shareFixture) noticeTexts() (texts []string) {
	for _, m := range h.Messages(h.call) {
		texts = append(texts, m.Content)
	}
	return texts
}

var viewerLink = regexp.MustCompile(`http://127\.0\.0\.1:\d+/\S+`)

// videoProbe returns the colour in the middle of what a video shows, if one frame at least was decoded by the page's connection.
func videoProbe(video, connection string) string {
	return `async () => {
	if (typeof ` + connection + ` === "undefined" || !` + connection + `) return "nothing";
	const video = document.getElementById("` + video + `"), to = new OffscreenCanvas(1, 1).getContext("2d");
	const s = [...(await ` + connection + `.getStats()).values()].find((s) => s.type === "inbound-rtp" && s.framesDecoded > 0);
	if (!s || !video.videoWidth) return "nothing";
	to.drawImage(video, video.videoWidth / 2, video.videoHeight / 2, 1, 1, 0, 0, 1, 1);
	return [...to.getImageData(0, 0, 1, 1).data].slice(0, 3).map((v) => v > 200 ? "high" : v < 50 ? "low" : v).join();
}`
}

func awaitPageState(t *testing.T, tab *page.Tab, state string) {
	t.Helper()
	browsertest.Eventually(t, state, func() bool {
		return browsertest.JS(t, tab, `() => document.body.dataset.state === "`+state+`"`) == "true"
	})
}

func TestASharedBrowserIsSeenByLinkAndByGoLive(t *testing.T) {
	if testing.Short() {
		t.Skip("starts two browsers")
	}
	t.Parallel()
	h := newShareFixture(t)
	if got := h.command(h.room, h.ada, "clank share", nil); !strings.Contains(got, "no browser session") {
		t.Errorf("sharing without a session is answered by %q", got)
	}
	h.command(h.room, h.ada, "clank browse", discordtest.Args{"task": "open " + h.site.URL})
	if got := h.command(h.room, h.ada, "clank share", nil); !strings.Contains(got, "/clank join") {
		t.Errorf("sharing outside of a call is answered by %q", got)
	}
	if got := h.command(h.room, h.ada, "clank join", nil); !strings.Contains(got, "I am in") {
		t.Fatalf("joining is answered by %q", got)
	}

	_ = t.Run("what Go Live is refused is seen by link", h.byLink) &&
		t.Run("Go Live is seen by those who watch", h.byGoLive) &&
		t.Run("a private session stays with its owner", h.notPrivate)
	for _, v := range h.Voice.Violations() {
		t.Errorf("the voice server does not like: %v", v)
	}
}

func (h *shareFixture) byLink(t *testing.T) {
	h.t = t
	h.RefuseStream("unauthorized")
	began := time.Now()
	h.command(h.room, h.ada, "clank share", nil)
	m := h.awaitNotice("cannot be shown by Go Live")
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the refusal was told after %s", took)
	}
	link := viewerLink.FindString(m.Content)
	if link == "" {
		t.Fatalf("the call is told %q, want a link", m.Content)
	}
	browser := browsertest.Connect(t, browsertest.Launch(t), page.Options{})
	tab := browsertest.Tab(t, browser, page.TabOptions{})
	browsertest.Navigate(t, tab, link)
	probe := videoProbe("video", "viewerConnection")
	browsertest.Eventually(t, "red", func() bool { return browsertest.JS(t, tab, probe) == `"high,low,low"` })
	h.site.now.Store("#0000ff")
	browsertest.Eventually(t, "blue", func() bool { return browsertest.JS(t, tab, probe) == `"low,low,high"` })

	h.RefuseStream("unauthorized")
	h.call = h.other
	h.JoinVoice(h.other, h.ada)
	h.MoveVoice(h.other, h.bot.User)
	moved := viewerLink.FindString(h.awaitNotice("The call has moved").Content)
	if awaitPageState(t, tab, "ended"); moved == "" || moved == link {
		t.Fatalf("the call is told %q, want another link where it has moved to", h.noticeTexts())
	}
	link = moved
	tab = browsertest.Tab(t, browser, page.TabOptions{}) // in the old one, a link that differs in its fragment alone is a reload at some later time
	browsertest.Navigate(t, tab, link)
	browsertest.Eventually(t, "blue where the call has moved to", func() bool { return browsertest.JS(t, tab, probe) == `"low,low,high"` })

	if got := h.command(h.room, h.ada, "clank unshare", nil); !strings.Contains(got, "not shared any more") {
		t.Errorf("the end is answered by %q", got)
	}
	awaitPageState(t, tab, "ended")
	late := browsertest.Tab(t, browser, page.TabOptions{})
	browsertest.Navigate(t, late, link)
	awaitPageState(t, late, "gone")
}

func (h *shareFixture) byGoLive(t *testing.T) {
	h.t = t
	h.command(h.room, h.ada, "clank share", nil)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s, err := h.WaitStream(ctx, h.call, h.eve.User)
	if err != nil {
		t.Fatalf("%v; the call is told %q", err, h.noticeTexts())
	}
	h.awaitNotice("Open the stream in the voice channel")
	ada, err := h.WatchStream(ctx, s.Key, h.ada, voicetest.MemberOptions{Privacy: voicetest.NewDAVESession})
	if err != nil {
		t.Fatal(err)
	}
	defer ada.Close()
	ada.RequestQuality(100)
	for {
		f, err := ada.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if f.Video && f.Err == nil { // it begins as a key frame of VP8 does
			if len(f.Data) < 10 || string(f.Data[3:6]) != "\x9d\x01\x2a" {
				t.Errorf("got a picture of %d bytes that is none", len(f.Data))
			}
			break
		}
	}
	h.command(h.room, h.ada, "clank unshare", nil)
	if err := h.Wait(ctx, "the end of the stream", func() bool { return len(h.Streams()) == 0 }); err != nil {
		t.Fatal(err)
	}
}

var sessionID = regexp.MustCompile("session `(\\w+)` stays open")

func (h *shareFixture) notPrivate(t *testing.T) {
	h.t = t
	told := h.command(h.room, h.ada, "clank browse", discordtest.Args{"task": "open " + h.site.URL, "private": true})
	id := sessionID.FindStringSubmatch(told)
	if id == nil {
		t.Fatalf("got %q, want it to name the session", told)
	}
	if got := h.command(h.room, h.bob, "clank share", discordtest.Args{"session": id[1]}); !strings.Contains(got, "belongs to ada") {
		t.Errorf("a moderator who shares it is answered by %q", got)
	}
	if got := h.command(h.room, h.ada, "clank share", discordtest.Args{"session": id[1]}); !strings.Contains(got, "private") {
		t.Errorf("its owner, who shares it, is answered by %q", got)
	}
	if got := h.command(h.room, h.ada, "clank unshare", nil); !strings.Contains(got, "othing is shared") {
		t.Errorf("ending nothing is answered by %q", got)
	}
}

// newVisitorTab returns a real browser with a microphone.
func newVisitorTab(t *testing.T) *page.Tab {
	t.Helper()
	exe, err := chrome.Find(t.Context(), os.Getenv("CLANK_CHROMIUM"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := chrome.Launch(testDeadline(t), chrome.LaunchOptions{Executable: exe.Path, Headless: true, Args: []string{
		"--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream", "--mute-audio",
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Stop(context.Background()) })
	return browsertest.Tab(t, browsertest.Connect(t, p, page.Options{}), page.TabOptions{})
}

// awaitAfterNavigation waits until an expression is true on a page that may be about to become another one.
func awaitAfterNavigation(t *testing.T, tab *page.Tab, expression string) {
	t.Helper()
	browsertest.Eventually(t, expression, func() bool {
		got, err := tab.Act(testDeadline(t), page.Action{Kind: actiontable.KindEvaluate, Fn: "() => Boolean(" + expression + ")"})
		return err == nil && string(got.Value) == "true"
	})
}

func sharedOnTheCallPage(t *testing.T, r *serverFixture) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	a, board := r.server, r.openDashboard(t)
	site := newColourSite(t)
	operator := sessions.Origin{Kind: sessions.FromDashboard, Channel: "dashboard", Moderator: true}
	done, err := a.Sessions.Run(testDeadline(t), sessions.Task{Prompt: "open " + site.URL, Model: plain.ModelName, Origin: operator}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.CallService.Share(t.Context(), operator, done.SessionID); err == nil {
		t.Error("it was shared without a call")
	}
	tab := newVisitorTab(t)
	browsertest.Navigate(t, tab, board.LoginURL())
	awaitAfterNavigation(t, tab, `location.pathname === "/"`)
	browsertest.Navigate(t, tab, board.URL()+"/call")
	awaitAfterNavigation(t, tab, `document.getElementById("join")`)
	browsertest.JS(t, tab, `() => { document.getElementById("name").value = "Ada"; document.getElementById("join").click() }`)
	awaitPageState(t, tab, "in")
	if told, err := a.CallService.Share(testDeadline(t), operator, done.SessionID); err != nil || !strings.Contains(told, "on this page") {
		t.Fatalf("told %q, error %v", told, err)
	}
	probe := videoProbe("shared", "callConnection")
	browsertest.Eventually(t, "red", func() bool { return browsertest.JS(t, tab, probe) == `"high,low,low"` })
	site.now.Store("#0000ff")
	browsertest.Eventually(t, "blue", func() bool { return browsertest.JS(t, tab, probe) == `"low,low,high"` })
	if _, err := a.CallService.Unshare(testDeadline(t), operator); err != nil {
		t.Fatal(err)
	}
	browsertest.Eventually(t, "the end of the picture", func() bool {
		return browsertest.JS(t, tab, `() => document.getElementById("shared").hidden`) == "true"
	})
}
