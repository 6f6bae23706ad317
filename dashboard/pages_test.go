package dashboard_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/dashboard"
	"clank/dashboard/api"
	"clank/internal/budget"
	"clank/internal/recording"
	"clank/internal/test/check"
	"clank/internal/test/npm"
	"clank/internal/vault"
	"clank/internal/watches"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/access"
)

// pagesOut is where TestPages writes pictures; "" leaves it out.
var (
	pagesOut  = flag.String("pages.out", "", "folder for pictures of all pages, to look at them with axe-core")
	pagesOnly = flag.String("pages.only", "", "look at these pages alone, such as full-chat empty-safety")
)

const axeVersion = "4.14.1"

// pagePaths are the pages by their templates, of an installation in which much was done.
var pagePaths = map[string]string{
	"chat": "/s/s-t1", "activity": "/activity", "task": "/tasks/t1", "setup": "/setup", "settings": "/settings",
	"watches": "/watches", "budget": "/budget", "browsers": "/browsers", "doctor": "/browsers/clank/doctor",
	"nodes": "/nodes", "safety": "/safety", "scripts": "/scripts",
	"transcripts": "/transcripts?q=lamp", "transcript": "/transcripts/call1", "call": "/call", "login": "/login",
}

// emptyPaths are those of a new installation.
func emptyPaths() map[string]string {
	paths := map[string]string{}
	for name, path := range pagePaths {
		paths[name] = strings.TrimSuffix(path, "?q=lamp")
	}
	paths["chat"] = "/"
	delete(paths, "transcript")
	delete(paths, "task")
	return paths
}

// startForPages starts an installation: a new one, or one in which much was done.
func startForPages(t *testing.T, full bool) *rig {
	t.Helper()
	dir := t.TempDir()
	at := vault.Options{Path: filepath.Join(dir, "vault.json"), Key: strings.Repeat("A", 43) + "="}
	logins, err := vault.Open(t.Context(), at)
	check.Must(t, err)
	equip := func(s *dashboard.Server) {
		s.Tools = &tools{}
		s.Setup, s.Vault, s.Call = new(setup), logins, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{}`))
		})
		if full {
			onDiscord(s)
			s.Nodes = lent{
				{
					Name: "office", URL: "https://office.test:18790", At: time.Now(), Version: "1.2",
					Browsers: []api.NodeBrowser{{Name: "clank"}},
				},
				{Name: "attic", URL: "http://attic.test", At: time.Now(), Problem: "Nothing answers there.", Fix: "Start it."},
				{Name: "new", URL: "http://new.test"},
			}
			s.Host = &host{weak: []api.Weakness{{
				Serious: true, What: "Browsers have no sandbox", Why: "pages read files",
				Fix: "Use one.",
			}}}
		}
	}
	r := startIn(t, dir, "127.0.0.1:0", equip)
	if full {
		r.fill(logins)
	}
	return r
}

// fill does what leaves something on each page.
func (r *rig) fill(logins *vault.Vault) {
	r.t.Helper()
	ctx := r.t.Context()
	ada := sessions.Origin{Kind: sessions.FromDiscord, Guild: "1", Channel: "c1", User: "7", UserName: "Ada"}
	you := sessions.Origin{Kind: sessions.FromDashboard, Channel: api.PageChannel}
	long := "find a lamp " + strings.Repeat("that is beautiful and ", 20) + strings.Repeat("x", 80)
	for i, task := range []sessions.TaskRecord{
		{
			Task: sessions.Task{ID: "t1", Prompt: "find a lamp", Origin: you}, State: sessions.TaskDone,
			Answer: "See https://x.test/a.",
		},
		{Task: sessions.Task{ID: "t2", Prompt: long, Origin: ada}, State: sessions.TaskFailed, Reason: "no route to it"},
		{Task: sessions.Task{ID: "t3", Prompt: "read the news", Origin: ada}, State: sessions.TaskStopped, Reason: "by Ada"},
	} {
		at := time.Now().Add(time.Duration(i-10) * time.Minute)
		task.Runtime, task.SessionID, task.Asked, task.Usage = "local", "s-"+task.ID, at, llm.Usage{USD: 0.25}
		s := sessions.Session{
			ID: task.SessionID, State: sessions.SessionParked, Origin: task.Origin, Created: at,
			LastUsed: at,
		}
		step := sessions.Step{
			N: 1, Kind: sessions.StepAct, Phase: sessions.PhaseDone, Label: "open example.com", At: task.Asked,
			View: &llm.Image{MediaType: "image/png", Data: onePixel},
		}
		ended := task.State
		task.State = sessions.TaskRunning
		check.Must(r.t, r.store.SaveStep(ctx, task, s, step, 1))
		task.State = ended
		check.Must(r.t, r.store.SaveTask(ctx, task, s))
		r.spend(llm.Account{Task: task.ID, Guild: "1", User: "discord:7"}, 0.25, budget.StateSettled)
	}
	_, err := r.client().AddWatch(ctx, api.WatchRequest{
		URL: "shop.test/" + strings.Repeat("long", 40), Kind: watches.KindBelow, Number: 20, Every: 30, Days: 3,
	})
	check.Must(r.t, err)
	for _, name := range []string{"clank@server-1", "clank@person-7"} {
		r.keepData(name)
	}
	r.ask("POST", "/api/browsers", `{"name":"work"}`)
	for _, host := range []string{"10.1.2.3", "169.254.169.254", strings.Repeat("long-", 11) + "host.internal"} {
		check.Fails(r.t, r.gate.Allow(ctx, "clank", "http://"+host+"/"), nil)
	}
	check.Must(r.t, logins.Put(ctx, vault.NewEntry{
		Name: "shop", Origins: []string{"https://shop.example"}, Username: "ada", Password: "correct horse",
	}))
	for _, scope := range []access.Scope{access.ScopeMetrics, access.ScopeSignIn} {
		_, err := r.server.Tokens.Issue("a program", scope, time.Hour)
		check.Must(r.t, err)
	}
	check.Must(r.t, r.server.Scripts.Save(recording.Script{
		Name: "find-lamps", About: []string{"From a run of 4 May"},
		Values: []recording.ScriptValue{{Name: "search", Text: "lamp"}},
		Steps:  []string{"open shop.test", `type "{search}" into Search`, "press Enter"},
	}, false))
	r.said["call1"] = api.Transcript{
		Name: "call1", At: time.Now(), Guild: "1", Channel: "c", People: []string{"Ada", "Bob"}, Count: 2,
		Lines: []api.TranscriptLine{{At: time.Now(), By: "Ada", Text: "Find me a lamp"}, {At: time.Now(), Text: long}},
	}
	version := r.server.Settings.State().Version
	r.ask("PUT", "/api/settings", `{"version":"`+version+`","changes":{"interaction.tasks.maxAtOnce":9}}`)
}

// signInMember signs in a member who manages their server, can talk with the assistant, and has asked for something
// privately.
func (r *rig) signInMember() (key string) {
	r.t.Helper()
	ctx := r.t.Context()
	person := on("1", "c1", dashboard.RoleMember)
	person.Servers[0].Manages = true
	r.server.Accounts, r.server.Assistant = &discordPeople{people: map[string]dashboard.Person{"8": person}}, new(talker)
	version := r.server.Settings.State().Version
	r.ask("PUT", "/api/settings", `{"version":"`+version+`","changes":{"interaction.brain.model":"openai:gpt"}}`)
	bob := sessions.Origin{
		Kind: sessions.FromDiscord, Guild: "1", Channel: "c1", User: "8", UserName: "Bob",
		Private: true,
	}
	now := time.Now()
	s := sessions.Session{ID: "s-t4", State: sessions.SessionParked, Origin: bob, Created: now, LastUsed: now}
	check.Must(r.t, r.store.SaveTask(ctx, sessions.TaskRecord{
		Task:  sessions.Task{ID: "t4", SessionID: "s-t4", Prompt: "find a gift", Origin: bob, Runtime: "local"},
		State: sessions.TaskDone, Answer: "A silver lamp.", Asked: now,
	}, s))
	w := watches.Watch{ID: "w4", URL: "https://shop.test/gift", State: watches.StateActive, Origin: bob}
	check.Must(r.t, r.store.AddWatch(ctx, w, 99, 99))
	key, err := r.tokens.SignIn(access.Token{User: "8", Name: "Bob"}, time.Hour)
	check.Must(r.t, err)
	return key
}

func TestEveryPageIsAmongThoseThatAreLookedAt(t *testing.T) {
	files, err := filepath.Glob("templates/*.html")
	check.Must(t, err)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".html")
		if _, ok := pagePaths[name]; !ok && !slices.Contains([]string{"layout", "open", "report"}, name) {
			t.Errorf("the page %s is not in the table of the tests of pages", name)
		}
	}
}

var scriptElement = regexp.MustCompile(`<script\b([^>]*)>([^<]*)|\son\w+="|style="|javascript:`)

// menuGap opens the menu of pages and describes where it is, unless that is beside its button and in the window.
const menuGap = `(() => {
	const button = document.querySelector(".more"), menu = document.getElementById("more-pages");
	document.getElementById("side-open")?.click();
	menu.showPopover({ source: button });
	const b = button.getBoundingClientRect(), m = menu.getBoundingClientRect();
	const gap = Math.min(Math.abs(m.top - b.bottom), Math.abs(b.top - m.bottom));
	const aligned = Math.abs(m.left - b.left) < 1 || Math.abs(m.right - b.right) < 1;
	const inside = m.left >= 0 && m.top >= 0 && m.right <= innerWidth && m.bottom <= innerHeight;
	menu.hidePopover();
	return gap < 12 && aligned && inside ? "" : "the menu is at " + JSON.stringify([m, b]);
})()`

// cutPlaceholders lists placeholders that are wider than their field.
const cutPlaceholders = `[...document.querySelectorAll("input[placeholder]")].filter((field) => {
	const s = getComputedStyle(field), pen = document.createElement("canvas").getContext("2d");
	pen.font = s.font;
	const room = field.clientWidth - parseFloat(s.paddingLeft) - parseFloat(s.paddingRight);
	return field.clientWidth > 0 && pen.measureText(field.placeholder).width > room;
}).map((field) => field.placeholder).join(" | ")`

// TestNoPageHasAnInlineScriptAndEachIsSmall also fits pages, and the menu of pages, into a narrow window.
func TestNoPageHasAnInlineScriptAndEachIsSmall(t *testing.T) {
	r := startForPages(t, true)
	c := launch(t)
	tb := r.arrive(c, 320, 740, "light")
	for name, path := range pagePaths {
		res := r.do("GET", path, "")
		var html strings.Builder
		_, err := bufio.NewReader(res.Body).WriteTo(&html)
		check.Must(t, errors.Join(err, res.Body.Close()))
		policy := res.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'; script-src 'self';") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s has the policy %q", name, policy)
		}
		for _, found := range scriptElement.FindAllStringSubmatch(html.String(), -1) {
			if !strings.Contains(found[1], " src=") || strings.TrimSpace(found[2]) != "" {
				t.Errorf("%s has the inline script %q", name, found[0])
			}
		}
		if name == "login" { // which leads those who are signed in away
			continue
		}
		tb.goTo(r.server.URL() + path)
		wide := tb.Eval(`document.documentElement.scrollWidth <= 320 ? "" : [...document.querySelectorAll("body *")]
			.filter((e) => e.getBoundingClientRect().right > 320).map((e) => e.outerHTML.slice(0, 100)).join(" | ")`)
		if wide != "" {
			t.Errorf("%s is wider than a window of 320: %v", name, wide)
		}
		check.Equal(t, name, tb.Eval(menuGap), "")
		check.Equal(t, name+": cut placeholders", tb.Eval(cutPlaceholders), "")
		bytes, _ := tb.Eval(`["resource", "navigation"].flatMap((kind) => performance.getEntriesByType(kind))
			.filter((e) => !e.name.includes("/api/")).reduce((sum, e) => sum + e.encodedBodySize, 0)`).(float64)
		if bytes == 0 || bytes > 150_000 {
			t.Errorf("%s loads %.0f bytes, want at most 150,000", name, bytes)
		}
	}
	c.clean()
}

func TestPages(t *testing.T) {
	if *pagesOut == "" {
		t.Skip("playwright-core and axe-core are installed from the network: make pages does that")
	}
	playwright, _, err := npm.InstallPlaywright(t.Context(), "../.cache/peers")
	check.Must(t, err)
	tools, err := filepath.Abs("../.cache/pages")
	check.Must(t, err)
	check.Must(t, npm.Install(t.Context(), tools, "axe-core@"+axeVersion))
	type state struct {
		Name    string            `json:"name"`
		URL     string            `json:"url"`
		Key     string            `json:"key"`
		Failing bool              `json:"failing"`
		Pages   map[string]string `json:"pages"`
	}
	job := map[string]any{
		"playwright": playwright, "axe": tools, "browser": shared.Process(t).WebSocketURL, "out": *pagesOut,
		"only": strings.Fields(*pagesOnly),
	}
	var states []state
	for _, name := range []string{"asked", "member", "empty", "full", "failing"} {
		r := startForPages(t, name != "empty")
		key, err := r.server.Tokens.Issue("a browser", access.ScopeSignIn, time.Hour)
		check.Must(t, err)
		s := state{name, r.server.URL(), key, name == "failing", pagePaths}
		switch name {
		case "empty":
			s.Pages = emptyPaths()
		case "member":
			s.Key, s.Pages = r.signInMember(), map[string]string{
				"chat": "/", "session": "/s/s-t4", "activity": "/activity", "task": "/tasks/t4", "other": "/tasks/t2",
				"watches": "/watches", "budget": "/budget", "server": "/settings/servers/1",
			}
		case "asked":
			r.read("/api/events?questions=1", "").want("snapshot")
			r.question(question())
			s.Pages = map[string]string{"chat": "/", "budget": "/budget", "settings": "/settings"}
		}
		states = append(states, s)
	}
	job["states"] = states
	script, err := os.ReadFile("testdata/pages.mjs")
	check.Must(t, err)
	text, err := json.Marshal(job)
	check.Must(t, err)
	p, err := npm.StartProcess(t.Context(), os.Stderr, string(script), "pages", string(text))
	check.Must(t, err)
	last := ""
	for {
		line, err := p.Out.ReadString('\n')
		if err != nil {
			break
		}
		last = strings.TrimSpace(line)
		t.Log(last)
	}
	if err := p.Close(); err != nil || !strings.HasSuffix(last, " other=0 axe=0 shift=0 console=0") {
		t.Errorf("%v", errors.Join(err, fmt.Errorf("pages complain: %s", last)))
	}
}
