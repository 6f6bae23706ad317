package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/dashboard"
	"clank/internal/server"
	"clank/internal/settings"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/test/llmtest"
	"clank/sessions"
)

// stopRounds is the number of stops at each stage for "make bench-stop".
var stopRounds = flag.Int("stop.rounds", 0, "measure how long a stop takes, so many times for each stage")

// stopObservation is how long a stopped task is watched for anything it still does.
const stopObservation = 300 * time.Millisecond

// stopStage is a point in a task's life at which it is stopped. reached returns when the task is there.
type stopStage struct {
	name    string
	script  func(r *serverFixture) []llmtest.Turn
	prepare func(r *serverFixture) (release func())
	reached func(r *serverFixture)
}

// toolTurn returns a turn of the model that calls a tool.
func toolTurn(tool string, args map[string]any) llmtest.Turn {
	raw, _ := json.Marshal(args)
	return llmtest.Use(tool, string(raw))
}

// pressTurns opens a page of the site and clicks its only button.
func pressTurns(path string) func(r *serverFixture) []llmtest.Turn {
	return func(r *serverFixture) []llmtest.Turn {
		return []llmtest.Turn{openPage(r.site.URL + path), clickOn("button")}
	}
}

// refOf finds the ref of the first line with role in a page state.
func refOf(text, role string) string {
	for line := range strings.Lines(text) {
		if _, rest, ok := strings.Cut(line, "[ref="); ok && strings.Contains(line, role) {
			ref, _, _ := strings.Cut(rest, "]")
			return ref
		}
	}
	return "none"
}

func stopStages() []stopStage {
	open := func(path string) func(*serverFixture) []llmtest.Turn {
		return func(r *serverFixture) []llmtest.Turn {
			return []llmtest.Turn{openPage(r.site.URL + path)}
		}
	}
	hang := func(h llmtest.Hang, at int) func(*serverFixture) []llmtest.Turn {
		return func(*serverFixture) []llmtest.Turn {
			return []llmtest.Turn{llmtest.SayWithFault("so far so good, and on it goes", llmtest.Fault{Hang: h, At: at})}
		}
	}
	hit := func(path string) func(*serverFixture) { return func(r *serverFixture) { r.site.awaitHit(r.tb, path) } }
	return []stopStage{
		{
			name: "in-line", script: open("/"), prepare: (*serverFixture).occupyBrowser,
			reached: func(r *serverFixture) { r.awaitState(sessions.TaskQueued) },
		},
		{name: "model-thinking", script: hang(llmtest.BeforeHeaders, 0), reached: (*serverFixture).awaitModel},
		{name: "mid-stream", script: hang(llmtest.InStream, 3), reached: (*serverFixture).awaitModel},
		{name: "long-click", script: pressTurns("/moving"), reached: func(r *serverFixture) {
			r.awaitToolCall("browser_click")
		}},
		{name: "wait", script: func(r *serverFixture) []llmtest.Turn {
			return append(open("/")(r), toolTurn("browser_wait", map[string]any{"text": "a text that never comes"}))
		}, reached: func(r *serverFixture) { r.awaitToolCall("browser_wait") }},
		{name: "navigation", script: open("/hang"), reached: hit("/hang")},
		{name: "open-alert", script: func(r *serverFixture) []llmtest.Turn {
			return append(pressTurns("/alert")(r),
				llmtest.SayWithFault("let me think", llmtest.Fault{Hang: llmtest.BeforeHeaders}))
		}, reached: hit("/alerting")},
		{name: "endless-loop", script: pressTurns("/loop"), reached: hit("/looping")},
	}
}

// serverFixture is everything a stop is measured on: an emulated Discord, a scripted
// model server, a local site, and clank between them.
type serverFixture struct {
	tb            testing.TB
	discord       *discordtest.Server
	bot           discordtest.Bot
	guild         discordtest.Guild
	ada           discordtest.User
	room          discordtest.Channel
	model         *llmtest.Server
	script        llmtest.Script // of all vendors
	site          *testSite
	env           *commandEnv
	server        *server.Server
	protocolCalls *protocolCallTimes
	board         *dashboard.Server // see openBoard

	events       <-chan sessions.Event
	firstRequest int // of the requests to the model that belong to the round
}

// testKey is the key for the model server.
const testKey = "sk-of-the-tests-0123456789"

// clientSecret is that of the fixture's bot.
const clientSecret = "secret-of-the-client"

// newServerFixture starts the fixture. Log output is also written to logs.
func newServerFixture(tb testing.TB, logs ...io.Writer) *serverFixture {
	tb.Helper()
	r := &serverFixture{tb: tb, site: newTestSite(tb), protocolCalls: &protocolCallTimes{}}
	var err error
	if r.discord, err = discordtest.Start(discordtest.Config{}); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { r.discord.Close() })
	if r.model, err = llmtest.Open(); err != nil {
		tb.Fatal(err)
	}
	claude, gemini := llmtest.OpenAnthropic(), llmtest.OpenGemini()
	for _, model := range []*llmtest.Server{r.model, claude, gemini} {
		tb.Cleanup(model.Close)
		model.SetFallback(r.script.Next)
	}
	r.bot = r.discord.CreateBot("clank", "secret")
	r.discord.SetUpOAuth(r.bot, clientSecret, "")
	r.ada = r.discord.CreateUser("ada")
	r.guild = r.discord.CreateGuild("home", r.ada)
	r.discord.AddMember(r.guild, r.bot.User)
	r.room = r.discord.CreateChannel(r.guild, "general")

	dir, _ := newTestHome(tb)
	vars := map[string]string{
		"CLANK_HOME": dir, "DISCORD_TOKEN": r.bot.Token, "CLANK_DISCORD_API": r.discord.URL,
		"OPENAI_BASE_URL": r.model.BaseURL(), "OPENAI_API_KEY": testKey,
		"ANTHROPIC_BASE_URL": claude.BaseURL(), "ANTHROPIC_API_KEY": "sk-ant-test-0123456789",
		"GEMINI_BASE_URL": gemini.BaseURL(), "GEMINI_API_KEY": "AIzaTest0123456789",
		"DISCORD_CLIENT_SECRET": clientSecret, server.AllowedHostsEnv: "127.0.0.1", server.NoSandboxEnv: "1",
	}
	r.env = &commandEnv{
		Stdout: io.Discard, Stderr: io.Discard, AbortContext: context.Background(),
		Getenv: func(name string) string { return vars[name] },
	}
	h, err := server.OpenHome(r.env.Getenv)
	check.Must(tb, err)
	log := slog.New(slog.NewTextHandler(tb.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	if len(logs) > 0 {
		log = slog.New(slog.NewTextHandler(io.MultiWriter(logs...), &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	if r.server, err = server.Open(tb.Context(), h,
		server.Options{
			Getenv: r.env.Getenv, Logger: log, AbortContext: tb.Context(), ShopAddr: "127.0.0.1:0",
			OnProtocolCall: r.protocolCalls.record,
		}); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { check.Must(tb, r.server.Close(context.Background())) })
	check.Must(tb, r.server.OpenCalls(tb.Context(), "127.0.0.1:0"))
	r.updateSettings(map[string]any{
		"agentStack.runtimeConfig.models.compatibleBaseUrl":                        r.model.BaseURL(),
		"agentStack.runtimeConfig.browser.localBrowserAgent.execution.model":       "compatible:scripted",
		"agentStack.runtimeConfig.browser.localBrowserAgent.maxBrowseCallsPerHour": 600,
		"agentStack.runtimeConfig.browser.localLaunchTimeoutMs":                    60_000, // on a very busy machine
		"interaction.tasks.maxPerHourPerGuild":                                     600,
	})
	check.Must(tb, check.Err(r.server.OpenControl(tb.Context(), "127.0.0.1:0")))
	token, err := settings.ReadSecret("DISCORD_TOKEN", r.env.Getenv)
	check.Must(tb, err)
	if how, _ := r.server.ConnectBot(tb.Context(), token); !strings.HasPrefix(how, "connected") {
		tb.Fatal(how)
	}
	var end func()
	r.events, end = r.server.Sessions.Subscribe()
	tb.Cleanup(end)
	return r
}

func (r *serverFixture) updateSettings(values map[string]any) {
	changes := map[string]json.RawMessage{}
	for key, v := range values {
		raw, err := json.Marshal(v)
		check.Must(r.tb, err)
		changes[key] = raw
	}
	if _, _, err := r.server.Settings.Update(r.tb.Context(), changes, r.server.Settings.State().Version); err != nil {
		r.tb.Fatal(err)
	}
}

// protocolCallTimes records when CDP methods were called.
type protocolCallTimes struct {
	observer func(method string) // told of every method, too; nil = nobody

	mu    sync.Mutex
	calls []protocolCall
}

type protocolCall struct {
	method string
	at     time.Time
}

// changesPage reports whether a CDP request changes a page. Listening, stopping and cleaning up do not.
func changesPage(method string, params any) bool {
	if method == "Runtime.evaluate" {
		var script struct{ Expression string }
		raw, err := json.Marshal(params)
		const nothing, noGuard = "0", `"mode":"end"` // see page.Tab.Stop and intent.Guard
		return err != nil || json.Unmarshal(raw, &script) != nil ||
			script.Expression != nothing && !strings.Contains(script.Expression, noGuard)
	}
	return strings.HasPrefix(method, "Input.") || slices.Contains([]string{
		"Page.navigate", "Page.reload", "Page.captureScreenshot", "Page.navigateToHistoryEntry",
		"Page.handleJavaScriptDialog",
		"Runtime.callFunctionOn", "Target.createTarget",
	}, method)
}

func (a *protocolCallTimes) record(method string, params any) {
	if a.observer != nil {
		a.observer(method)
	}
	if !changesPage(method, params) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = append(a.calls, protocolCall{method, time.Now()})
}

func (a *protocolCallTimes) last() (t time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.calls) > 0 {
		t = a.calls[len(a.calls)-1].at
	}
	return t
}

// after returns the methods that were called after t.
func (a *protocolCallTimes) after(t time.Time) (methods []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, call := range a.calls {
		if call.at.After(t) {
			methods = append(methods, call.method)
		}
	}
	return methods
}

// awaitEvent reads events of Discord tasks until one matches.
func (r *serverFixture) awaitEvent(what string, fits func(sessions.Event) bool) sessions.Event {
	r.tb.Helper()
	late := time.After(patience)
	for {
		select {
		case ev := <-r.events:
			if ev.Record.Origin.Kind == sessions.FromDiscord && fits(ev) {
				return ev
			}
		case <-late:
			r.tb.Fatalf("never saw %s", what)
		}
	}
}

func (r *serverFixture) awaitState(s sessions.TaskState) sessions.Event {
	r.tb.Helper()
	return r.awaitEvent(string(s), func(ev sessions.Event) bool { return ev.Record.State == s })
}

func (r *serverFixture) awaitToolCall(tool string) {
	r.tb.Helper()
	r.awaitEvent(tool, func(ev sessions.Event) bool {
		return ev.Step != nil && ev.Step.Tool == tool && ev.Step.Phase == sessions.PhaseBegun
	})
}

func (r *serverFixture) awaitModel() {
	r.tb.Helper()
	ctx, cancel := context.WithTimeout(r.tb.Context(), patience)
	defer cancel()
	check.Must(r.tb, check.Err(r.model.Await(ctx, r.firstRequest, llmtest.Arrived)))
}

// occupyBrowser fills every slot, so that the next task waits in the queue.
func (r *serverFixture) occupyBrowser() (release func()) {
	before := r.server.Settings.Current()
	key := "interaction.tasks.maxAtOnce"
	r.updateSettings(map[string]any{key: 1})
	ctx, cancel := context.WithCancel(r.tb.Context())
	done, asked := make(chan struct{}), make(chan struct{})
	r.script.Set([]llmtest.Turn{func(llmtest.Request) llmtest.Reply {
		close(asked)
		return llmtest.Reply{Fault: llmtest.Fault{Hang: llmtest.BeforeHeaders}}
	}})
	go func() {
		defer close(done)
		r.server.Sessions.Run(ctx,
			sessions.Task{Prompt: "hold the place", Origin: sessions.Origin{Kind: sessions.FromTerminal, Channel: "elsewhere"}},
			nil)
	}()
	select {
	case <-asked:
	case <-time.After(patience):
		r.tb.Fatal("the task that holds the place never asked its model")
	}
	return func() {
		cancel()
		<-done
		r.updateSettings(map[string]any{key: before.MaxTasks})
	}
}

// stopResult is the duration of one stop.
type stopResult struct {
	// from the word to the last browser action, the last byte to the model, the final state
	action, model, told time.Duration
	after               []string // what the task did afterwards
}

// whole returns the total duration of the stop.
func (m stopResult) whole() time.Duration { return max(m.action, m.model, m.told) }

// measureStop runs one task, stops it at a stage, and watches what happens.
func (r *serverFixture) measureStop(s stopStage) stopResult {
	r.tb.Helper()
	release := func() {}
	if s.prepare != nil {
		release = s.prepare(r)
	}
	defer func() { release() }()
	script := s.script(r)
	r.firstRequest = len(r.model.Requests())
	r.script.Set(script)
	check.Must(r.tb, check.Err(r.discord.SlashCommand(r.room, r.ada, "clank browse",
		discordtest.Args{"task": "try " + s.name})))
	s.reached(r)

	word := time.Now()
	check.Must(r.tb, check.Err(r.discord.SendMessage(r.room, r.ada, "stop")))
	ev := r.awaitState(sessions.TaskStopped)
	told := time.Now()
	if want := "stopped by"; !strings.Contains(ev.Record.Reason, want) {
		r.tb.Errorf("%s: reason = %q, want who stopped it", s.name, ev.Record.Reason)
	}
	quiet := time.NewTimer(stopObservation)
	defer quiet.Stop()
	<-quiet.C

	m := stopResult{told: told.Sub(word), after: r.protocolCalls.after(told)}
	m.action = max(0, r.protocolCalls.last().Sub(word))
	for _, req := range r.model.Requests()[r.firstRequest:] {
		m.model = max(m.model, req.Received.Sub(word))
		if req.Arrived.After(told) {
			m.after = append(m.after, "a request to the model")
		}
		if !req.Ended.IsZero() && req.Ended.After(told.Add(stopObservation)) {
			m.after = append(m.after, "the end of a request to the model")
		}
	}
	r.script.Set(nil)
	return m
}

// TestStopAtEveryStage stops a task once at each stage and checks that nothing happens afterwards; with -stop.rounds
// it measures.
func TestStopAtEveryStage(t *testing.T) {
	r := newServerFixture(t)
	rounds := max(1, *stopRounds)
	var all []time.Duration
	after := 0
	for _, s := range stopStages() {
		var took []time.Duration
		var worst stopResult
		for range rounds {
			m := r.measureStop(s)
			took = append(took, m.whole())
			if m.whole() > worst.whole() {
				worst = m
			}
			after += len(m.after)
			if len(m.after) > 0 {
				t.Errorf("%s: after the stop: %s", s.name, m.after)
			}
		}
		all = append(all, took...)
		if *stopRounds > 0 {
			fmt.Printf("%-16s n=%d p50=%.1fms p90=%.1fms p99=%.1fms max=%.1fms", //nolint:forbidigo // its output
				s.name, len(took), percentileMillis(took, 50), percentileMillis(took, 90), percentileMillis(took, 99),
				percentileMillis(took, 100))
			fmt.Printf(" (action %v, model %v, told %v)\n", worst.action, worst.model, worst.told) //nolint:forbidigo // as above
		}
	}
	if *stopRounds > 0 {
		fmt.Printf("stop: p99_ms=%.1f stages=%d after_stop_actions=%d\n", //nolint:forbidigo // as above
			percentileMillis(all, 99),
			len(stopStages()),
			after)
	}
}

// percentileMillis returns the p-th percentile in milliseconds.
func percentileMillis(ds []time.Duration, p int) float64 {
	sorted := slices.Sorted(slices.Values(ds))
	i := (len(sorted)*p+99)/100 - 1
	return float64(sorted[min(max(i, 0), len(sorted)-1)].Microseconds()) / 1000
}
