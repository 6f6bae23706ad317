package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action"
	"clank/browsermgr/page/action/actiontable"
	"clank/dashboard"
	"clank/internal/server"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/test/llmtest"
	"clank/internal/vault"
	"clank/sessions"
)

// TestOneClankInManyRooms tests one clank with one browser. Each part uses a new channel without history, and the
// default settings.
func TestOneClankInManyRooms(t *testing.T) {
	t.Parallel()
	r := newServerFixture(t)
	for _, part := range []struct {
		name string
		do   func(t *testing.T, r *serverFixture)
		rest bool // "make other-half" does it
	}{
		{"a mention sends the brain out, and the next one goes on in the same session", goesOnInTheSameSession, false},
		{"a command becomes one message with picture and answer", commandBecomesOneMessage, false},
		{"the brain works the browser itself where the setting says so", brainWorksTheBrowser, false},
		{"a task of the page is told step by step", taskOfThePageIsTold, false},
		{"a session is watched behind a link without a call", sessionIsWatchedByLink, true},
		{"the server is configured and its tasks are told from the terminal", configuredFromTheTerminal, true},
		{"the room is asked before something is bought", roomIsAskedToBuy, false},
		{"a terminal where nobody is asked buys only what it is allowed to", terminalBuysWhatItMay, true},
		{"downloads come from where pages may go", downloadsComeFromAllowedPlaces, true},
		{"files travel from Discord into a form, and from a page into Discord", filesTravel, true},
		{"files travel between the terminal and pages", filesTravelFromTheTerminal, true},
		{"the room is asked before a program is kept", roomIsAskedToKeep, true},
		{"a server that clank leaves leaves nothing in a browser", leftServerIsForgotten, true},
		{"the links of a page are listed for models and people", linksAreListed, true},
		{"a login is used only where a person agreed to it", loginIsUsedWhereAgreed, false},
		{"to log in needs a person's consent", loggingInNeedsConsent, true},
		{"a page that its scripts draw is watched with a browser", drawnPageIsWatched, true},
		{"a call on the page shows a browser and hears a stop", callOnThePage, true},
		{"metrics tell of what ran here", metricsTellOfTheServer, false},
		{"an evening", testEvening, true},
		{"bad input is told clearly, and the next task works", badInputIsToldClearly, true},
	} {
		t.Run(part.name, func(t *testing.T) {
			inHalf(t, part.rest)
			part.do(t, r.inNewRoom(t))
		})
	}
	checkRequestsValid(t, r.model)
}

func metricsTellOfTheServer(t *testing.T, r *serverFixture) {
	t.Helper()
	got := httptest.NewRecorder()
	r.openDashboard(t).Telemetry.Metrics.Handler().ServeHTTP(got,
		httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	for _, want := range []string{
		`clank_discord_connected{shard="0"} 1`, "clank_calls 0", "\nclank_browsers ", "clank_questions 0",
		`clank_tasks{state="running"} 0`, `clank_tasks_total{runtime="local_browser_agent",source="discord",state="done"}`,
	} {
		check.Contains(t, got.Body.String(), want)
	}
}

// inNewRoom returns the fixture with a new channel for a subtest.
func (r *serverFixture) inNewRoom(t *testing.T) *serverFixture {
	t.Helper()
	whole, room := r.tb, r.room
	var end func()
	r.events, end = r.server.Sessions.Subscribe()
	r.tb, r.room, r.firstRequest = t, r.discord.CreateChannel(r.guild, "room"), len(r.model.Requests())
	r.updateSettings(map[string]any{keyModel: scriptedModel, keyBrain: nil, "interaction.brain.browserTool": nil})
	r.script.Set(nil)
	for len(r.site.hits) > 0 {
		<-r.site.hits
	}
	t.Cleanup(func() {
		end()
		r.tb, r.room = whole, room
	})
	return r
}

// requestsInRoom returns the model requests of tasks in the channel.
func (r *serverFixture) requestsInRoom() []llmtest.Request {
	return r.model.Requests()[r.firstRequest:]
}

// openDashboard opens the dashboard, which other programs with the same home find.
func (r *serverFixture) openDashboard(t *testing.T) *dashboard.Server {
	t.Helper()
	if r.board != nil {
		return r.board
	}
	check.Must(t, r.server.Home.Claim())
	r.server.Closers = append([]func(context.Context) error{func(context.Context) error {
		r.server.Home.Release()
		return nil
	}}, r.server.Closers...)
	board, err := r.server.OpenDashboard(context.WithoutCancel(t.Context()), "127.0.0.1:0")
	check.Must(t, err)
	r.board = board
	return board
}

// askAndPress lets a person ask for a task and another press a button of a question; it returns the answer.
func (r *serverFixture) askAndPress(t *testing.T, task, question, label string) discordtest.Message {
	t.Helper()
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		r.askedInRoom(t, r.ada, question, label)
	}()
	m := r.command(t, r.ada, discordtest.Args{"task": task})
	<-answered
	return m
}

func leftServerIsForgotten(t *testing.T, r *serverFixture) {
	t.Helper()
	guild, room := r.discord.CreateGuild("other", r.ada), r.room
	r.discord.AddMember(guild, r.bot.User)
	r.room = r.discord.CreateChannel(guild, "room")
	defer func() { r.room = room }()
	r.script.Set([]llmtest.Turn{openPage(r.site.URL + "/leads"), llmtest.Say("done")})
	r.command(t, r.ada, discordtest.Args{"task": "look"})
	state := filepath.Join(r.server.StateDir, "browser", "clank@server-"+guild.ID)
	downloads := filepath.Join(r.server.StateDir, "downloads", "clank@server-"+guild.ID)
	for _, dir := range []string{state, downloads} {
		check.Must(t, check.Err(os.Stat(dir)))
	}
	r.discord.RemoveMember(guild, r.bot.User)
	browsertest.Eventually(t, "the end of the server's state", func() bool {
		_, there := os.Stat(state)
		_, kept := os.Stat(downloads)
		return errors.Is(there, os.ErrNotExist) && errors.Is(kept, os.ErrNotExist)
	})
}

func linksAreListed(t *testing.T, r *serverFixture) {
	t.Helper()
	r.script.Set([]llmtest.Turn{
		openPage(r.site.URL + "/leads"), toolTurn("browser_links", map[string]any{}),
		answering("It leads to %s", `\S+ -> \S+/\S*`),
	})
	for model, prompt := range map[string]string{"compatible:scripted": "where does it lead", "plain:steps": "open " +
		r.site.URL + "/leads, list the links"} {
		rec, err := localRunner{r.server, r.env}.Run(t.Context(),
			sessions.Task{Prompt: prompt, Model: model, Origin: server.TerminalOrigin()}, func(sessions.Event) {})
		if err != nil || rec.State != sessions.TaskDone {
			t.Fatalf("%s: %s, %v", model, rec.State, err)
		}
		if want := r.site.URL + "/choice"; !strings.Contains(rec.Answer, want) {
			t.Errorf("%s: the answer %q, want %q", model, rec.Answer, want)
		}
	}
}

func downloadsComeFromAllowedPlaces(t *testing.T, r *serverFixture) {
	t.Helper()
	for address, want := range map[string]string{
		"https://example.com/x": "", "data:text/plain,x": "", "BLOB:https://example.com/1": "",
		"file:///etc/passwd":            `unsupported protocol "file:"`,
		"http://169.254.169.254/latest": "an address of a cloud's own services",
		"ftp://example.com/x":           `unsupported protocol "ftp:"`,
	} {
		check.Outcome(t, address, r.server.CheckDownloadSource(address), want)
	}
}

// offering returns a site with a link to a program whose URL does not reveal that.
func offering(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/file" {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, `<!doctype html><title>Offer</title><a href="/file">Read on</a>`)
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Disposition", `attachment; filename="setup.exe"`)
		_, _ = io.WriteString(w, "MZ"+strings.Repeat("\x00", 512))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func roomIsAskedToKeep(t *testing.T, whole *serverFixture) {
	t.Helper()
	for want, label := range []string{"No", "Allow"} { // as many are kept then
		t.Run(label, func(t *testing.T) {
			r := whole.inNewRoom(t)
			site := offering(t)
			decided := make(chan struct{})
			r.script.Set([]llmtest.Turn{
				openPage(site + "/"), clickOn(`link "Read on"`),
				func(req llmtest.Request) llmtest.Reply {
					<-decided
					return llmtest.Say("done")(req)
				},
			})
			answered := make(chan struct{})
			go func() {
				defer close(answered)
				defer close(decided)
				r.askedInRoom(t, r.ada, "Keep a file that may be a program", label)
			}()
			r.command(t, r.ada, discordtest.Args{"task": "read on"})
			<-answered
			r.settled(t)
			place := "clank@server-" + r.guild.ID
			kept, err := filepath.Glob(filepath.Join(r.server.StateDir, "downloads", place, "*setup.exe"))
			if err != nil || len(kept) != want {
				t.Errorf("kept %q (%v), want %d", kept, err, want)
			}
		})
	}
}

// settled waits until no download is in progress.
func (r *serverFixture) settled(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		var files []string
		_ = filepath.WalkDir(filepath.Join(r.server.StateDir, "downloads"),
			func(path string, d os.DirEntry, err error) error {
				// What a page was given to upload lies there, too, as long as it may read it.
				if err == nil && !d.IsDir() && strings.Contains(path, ".staging-") && !strings.Contains(path, "/up-") {
					files = append(files, path)
				}
				return nil
			})
		if len(files) == 0 && len(r.server.Approver.Approvals.Pending()) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond) //nolint:forbidigo // files of another process cannot be waited for
	}
	t.Error("a download stays under way")
}

// askedInRoom waits for a question in the channel and presses one of its buttons.
func (r *serverFixture) askedInRoom(t *testing.T, who discordtest.User, text, label string) {
	t.Helper()
	m, err := r.discord.WaitMessage(testDeadline(t), r.room, func(m discordtest.Message) bool {
		return strings.Contains(m.Content, text) && len(m.Buttons()) > 1
	})
	check.Must(t, err)
	for _, b := range m.Buttons() {
		if b.Label == label {
			if _, err := r.discord.PressButton(m, who, b.CustomID); err != nil {
				t.Error(err)
			}
			return
		}
	}
	t.Errorf("there is no button %q", label)
}

// bought reports whether something was bought on the site since the last call.
func (r *serverFixture) bought() (yes bool) {
	for len(r.site.hits) > 0 {
		yes = <-r.site.hits == "/bought" || yes
	}
	return yes
}

func roomIsAskedToBuy(t *testing.T, whole *serverFixture) {
	t.Helper()
	for label, want := range map[string]string{"Allow": "Allowed by @ada.", "No": "Not done: @ada said no."} {
		t.Run(label, func(t *testing.T) {
			r := whole.inNewRoom(t)
			r.script.Set([]llmtest.Turn{
				openPage(r.site.URL + "/buy"), clickOn(`button "Buy now"`),
				answering("It says: %s", `(?:Allowed by|Not done: )[^.]*\.`),
			})
			m := r.askAndPress(t, "buy a lamp", "Buy, order or pay something", label)
			check.Contains(t, strings.ReplaceAll(m.Content, `\`, ""), want)
			if bought := r.bought(); bought != (label == "Allow") {
				t.Errorf("bought: %v", bought)
			}
		})
	}
}

func terminalBuysWhatItMay(t *testing.T, r *serverFixture) {
	t.Helper()
	for _, tt := range []struct {
		model  string
		typed  bool
		allow  []string
		bought bool
		want   string
	}{
		{"compatible:scripted", true, nil, false, "or use clank browse --allow buy"},
		{"compatible:scripted", true, []string{"buy"}, true, "done"},
		{"plain:steps", true, nil, true, ""}, // the person wrote the step
		{"plain:steps", false, nil, false, "or use clank browse --allow buy"},
	} {
		r.script.Set([]llmtest.Turn{
			openPage(r.site.URL + "/buy"), clickOn(`button "Buy now"`),
			answering("done %s", `Not done: nobody.*`),
		})
		task := sessions.Task{
			Prompt: `open ` + r.site.URL + `/buy, click "Buy now"`, Model: tt.model,
			Origin: server.TerminalOrigin(), Allow: tt.allow, Typed: tt.typed,
		}
		rec, err := localRunner{r.server, r.env}.Run(t.Context(), task, func(sessions.Event) {})
		state := sessions.TaskDone
		if tt.model == "plain:steps" && !tt.typed {
			state = sessions.TaskFailed // plain ends where a step is refused
		}
		if err != nil || rec.State != state {
			t.Fatalf("%s: %s, %v", tt.model, rec.State, err)
		}
		if bought := r.bought(); bought != tt.bought || !strings.Contains(rec.Answer, tt.want) {
			t.Errorf("%s, allowed %v: bought %v, and the answer says %q", tt.model, tt.allow, bought, rec.Answer)
		}
	}
}

func loggingInNeedsConsent(t *testing.T, r *serverFixture) {
	t.Helper()
	put := vault.NewEntry{
		Name: "shop", Origins: []string{r.site.URL}, Username: "ada", Password: "hunter2!",
		TOTP: "JBSWY3DPEHPK3PXP",
	}
	check.Must(t, r.server.Vault.Put(t.Context(), put))
	login := toolTurn("fill_login", map[string]any{"entry": "shop", "submit": true})
	code := toolTurn("fill_totp", map[string]any{"entry": "shop"})
	for _, tt := range []struct {
		name  string
		turns []llmtest.Turn // none: plain follows the prompt
		typed bool
		allow []string
		sent  bool
		want  string
	}{
		{
			"nobody to ask",
			[]llmtest.Turn{openPage(r.site.URL + "/login"), login, answering("done: %s", `Not done: nobody.*`)},
			true, nil, false, "or use clank browse --allow login",
		},
		{
			"nobody to ask for a code",
			[]llmtest.Turn{openPage(r.site.URL + "/code"), code, answering("done: %s", `Not done: nobody.*`)},
			true, nil, false,
			"or use clank browse --allow login",
		},
		{
			"allowed with the task",
			[]llmtest.Turn{openPage(r.site.URL + "/login"), login, answering("done: %s", `filled in at.*`)},
			true,
			[]string{"login"},
			true, "and sent",
		},
		{"a code, allowed", []llmtest.Turn{
			openPage(r.site.URL + "/code"), code,
			answering("done: %s", `the code is filled.*`),
		}, true, []string{"login"}, false, "filled in"},
		{"in own words", nil, true, nil, true, ""},
		{"in a program's words", nil, false, nil, false, "or use clank browse --allow login"},
	} {
		task := sessions.Task{
			Prompt: "open " + r.site.URL + "/login, log in with shop", Model: "plain:steps",
			Origin: server.TerminalOrigin(), Allow: tt.allow, Typed: tt.typed,
		}
		if tt.turns != nil {
			r.script.Set(tt.turns)
			task.Model = "compatible:scripted"
		}
		r.bought()
		rec, err := localRunner{r.server, r.env}.Run(t.Context(), task, func(sessions.Event) {})
		state := sessions.TaskDone
		if tt.turns == nil && !tt.typed {
			state = sessions.TaskFailed // plain ends where a step is refused
		}
		if err != nil || rec.State != state || !strings.Contains(rec.Answer, tt.want) {
			t.Errorf("%s: %s, %v, the answer %q", tt.name, rec.State, err, rec.Answer)
		}
		sent := false
		for len(r.site.hits) > 0 {
			sent = <-r.site.hits == "/entered" || sent
		}
		check.Equal(t, tt.name+": sent", sent, tt.sent)
	}
}

func loginIsUsedWhereAgreed(t *testing.T, r *serverFixture) {
	t.Helper()
	put := vault.NewEntry{
		Name: "shop", Origins: []string{r.site.URL}, Username: "ada", Password: "hunter2!",
		TOTP: "JBSWY3DPEHPK3PXP",
	}
	check.Must(t, r.server.Vault.Put(t.Context(), put))
	task := sessions.Task{Prompt: "open " + r.site.URL + "/login", Model: "plain:steps", Origin: server.TerminalOrigin()}
	rec, err := localRunner{r.server, r.env}.Run(t.Context(), task, func(sessions.Event) {})
	check.Must(t, err)
	k := server.VaultLogins{Vault: r.server.Vault, Filler: &r.server.LoginFiller, Windows: r.server.Browsers}
	session := sessions.Session{ID: rec.SessionID}
	origin, about, err := k.Where(t.Context(), session, task, "shop", false)
	if err != nil || origin != r.site.URL || !strings.HasPrefix(about, "Log in at ") ||
		!strings.Contains(about, `as "ada"`) {
		t.Errorf("where: %q, %q, %v", origin, about, err)
	}
	check.Fails(t, check.Err(k.Fill(t.Context(), session, task, "shop", "https://other.example", true)),
		server.ErrPageChanged)
	check.Fails(t, check.Err(k.Fill(t.Context(), session, task, "shop", "", false)), server.ErrPageChanged)
	inPage := func(do action.Action) error {
		w, ok := r.server.Browsers.Lookup(rec.SessionID)
		if !ok {
			t.Fatal("the page is gone")
		}
		return w.WithTab(t.Context(), func(tab *page.Tab) error {
			return check.Err(tab.Act(t.Context(), do))
		})
	}
	check.Must(t, inPage(action.Action{
		Kind: actiontable.KindEvaluate,
		Fn:   `void document.body.insertAdjacentHTML("beforeend", "<input autocomplete=one-time-code>")`,
	}))
	check.Fails(t, check.Err(k.FillCode(t.Context(), session, task, "shop", "https://other.example")),
		server.ErrPageChanged)
	copying := action.Action{Kind: actiontable.KindPress, Key: "Control+c"}
	if err := inPage(copying); err != nil {
		t.Errorf("nothing is filled in yet: %v", err)
	}
	if notes, err := k.Fill(t.Context(), session, task, "shop", r.site.URL, false); err != nil ||
		!strings.Contains(strings.Join(notes, " "), "it is not sent yet") {
		t.Errorf("where it was agreed to: %q, %v", notes, err)
	}
	check.Fails(t, inPage(copying), page.ErrSecret)
}
