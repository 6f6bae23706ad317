package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"clank/bot"
	"clank/browsermgr"
	"clank/browsermgr/control"
	"clank/browsermgr/egress/policy"
	"clank/browsermgr/profile"
	"clank/computeruse"
	"clank/internal/assistant"
	"clank/internal/settings"
	"clank/internal/test/check"
	"clank/internal/watches"
	"clank/internal/web"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/agent"
	"clank/sessions/approval"
	"clank/voice"
	"clank/voice/conversation"
	"clank/voice/speech"
	"clank/voice/speech/playout"
)

// effects is a running server whose settings are changed, with everything that it contacts: a server that acts as
// every model and speech vendor, one with a page, and a program that is started as a browser and exits.
type effects struct {
	*Server

	t       *testing.T
	api     *control.Server
	board   string // address of the dashboard
	page    string // address of a page
	vendor  string // address of the vendors
	browser string // a program that notes how it was started in a file of its name with .args

	starts int // of browsers, each in a profile of its own: one that fails often is not tried for a while

	mu   sync.Mutex
	env  map[string]string
	sent []string // what the vendors were asked, as path, key and body
}

// openEffects opens a server with everything but a Discord.
func openEffects(t *testing.T) *effects {
	t.Helper()
	e := &effects{t: t, env: map[string]string{
		NoSandboxEnv: "1", "CLANK_VAULT_KEYRING": "off", "CLANK_NODE_TOKEN": strings.Repeat("n", minNodeToken),
	}}
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // what came of it counts
		key := cmp.Or(r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"), r.Header.Get("X-Goog-Api-Key"))
		e.mu.Lock()
		e.sent = append(e.sent, r.URL.Path+" "+key+" "+string(body))
		e.mu.Unlock()
		status := http.StatusBadRequest
		if strings.HasPrefix(r.URL.Path, "/api/v") { // Discord's, which is asked again until it refuses the token
			status = http.StatusUnauthorized
		}
		http.Error(w, `{"error":{"message":"no"}}`, status)
	}))
	t.Cleanup(vendor.Close)
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<title>A page</title><p>Ferries leave at nine and at noon from the old pier.</p>")
	}))
	t.Cleanup(page.Close)
	e.vendor, e.page = vendor.URL, page.URL
	for _, name := range []string{"OPENAI", "ANTHROPIC", "GEMINI"} {
		e.env[name+"_BASE_URL"] = vendor.URL
	}
	e.env["CLANK_DISCORD_API"] = vendor.URL
	programs := t.TempDir()
	for _, name := range []string{"browser", "other-browser", "espeak-ng"} {
		script := "#!/bin/sh\nprintf '%s ' \"$@\" > \"$0.args\"\nexit 1\n"
		check.Must(t, os.WriteFile(filepath.Join(programs, name), []byte(script), 0o700))
	}
	e.browser = filepath.Join(programs, "browser")
	t.Setenv("PATH", programs+":"+os.Getenv("PATH"))
	e.Server = e.open(t.TempDir())
	t.Cleanup(func() { check.Must(t, e.Close(context.WithoutCancel(t.Context()))) })
	check.Must(t, e.OpenCalls(t.Context(), "127.0.0.1:0"))
	board, err := e.OpenDashboard(t.Context(), "127.0.0.1:0")
	check.Must(t, err)
	e.board = board.URL()
	e.api, err = e.OpenControl(t.Context(), "127.0.0.1:0")
	check.Must(t, err)
	return e
}

func (e *effects) getenv(name string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.env[name]
}

// open opens a server at a home.
func (e *effects) open(dir string) *Server {
	e.t.Helper()
	h, err := OpenHome(func(name string) string {
		if name == "CLANK_HOME" {
			return dir
		}
		return e.getenv(name)
	})
	check.Must(e.t, err)
	a, err := Open(e.t.Context(), h, Options{
		Getenv: e.getenv, Logger: slog.New(slog.DiscardHandler), AbortContext: e.t.Context(), ShopAddr: "127.0.0.1:0",
		Version: "v1",
	})
	check.Must(e.t, err)
	return a
}

// set changes settings, those of a Discord server, and secrets by name. The value null means the default, or no
// secret.
func (e *effects) set(values map[string]string) {
	e.t.Helper()
	changes, ofServer := map[string]json.RawMessage{}, map[string]string{}
	for key, value := range values {
		value = strings.NewReplacer("PAGE", e.page, "VENDOR", e.vendor, "BROWSER", e.browser).Replace(value)
		f, ok := settings.FindField(key)
		switch {
		case strings.HasPrefix(key, "server."):
			ofServer[key] = value
		case !ok:
			e.t.Fatalf("there is no setting %s", key)
		case f.Kind == settings.KindSecret:
			e.mu.Lock()
			e.env[key] = strings.TrimPrefix(value, "null")
			e.mu.Unlock()
		default:
			changes[key] = json.RawMessage(value)
		}
	}
	_, _, err := e.Settings.Update(e.t.Context(), changes, e.Settings.State().Version)
	check.Must(e.t, err)
	setGuild(e.t, e.Server, guildOne, ofServer)
}

// vendors returns which of words the vendors received while do ran, with the addresses and keys of the requests.
func (e *effects) vendors(do func() error, words ...string) string {
	e.mu.Lock()
	e.sent = nil
	e.mu.Unlock()
	told := []string{strconv.FormatBool(do() != nil)}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, request := range e.sent {
		if strings.Contains(request, "/models ") {
			continue // what a server has is asked once
		}
		f := strings.SplitN(request, " {", 2)
		told = append(told, "\n"+strings.SplitN(f[0], "--", 2)[0])
		for _, word := range words {
			if strings.Contains(request, word) {
				told = append(told, word)
			}
		}
	}
	return strings.Join(told, " ")
}

// someone is a member of a server on Discord.
var someone = sessions.Origin{
	Kind: sessions.FromDiscord, Guild: guildOne, Channel: roomOne, User: "400000000000000001",
	Roles: []string{helperRole},
}

var operator = sessions.Origin{Kind: sessions.FromDashboard, Channel: "dashboard"}

// browseAs runs a task for a person, and returns which of words its model received.
func browseAs(o sessions.Origin, words ...string) func(*effects) string {
	return func(e *effects) string {
		return e.vendors(func() error {
			return check.Err(e.Sessions.Run(e.t.Context(), sessions.Task{Prompt: "look", Origin: o}, nil))
		}, words...)
	}
}

// asked returns why a person's task does not run.
func asked(o sessions.Origin, wish sessions.Task) func(*effects) string {
	return func(e *effects) string {
		wish.Prompt, wish.Origin = "look", o
		_, err := e.Sessions.Run(e.t.Context(), wish, nil)
		return errorText(err)
	}
}

// routed returns the route of a task.
func routed(runtime string) func(*effects) string {
	return func(e *effects) string {
		by, model, err := e.Route(sessions.Task{Runtime: runtime, Origin: operator})
		return by + " " + model + " " + errorText(err)
	}
}

// seesScreen calls the model of a computer-use runtime, and returns which of words it received.
func seesScreen(find func(*effects) (computeruse.Model, error), words ...string) func(*effects) string {
	return func(e *effects) string {
		m, err := find(e)
		if err != nil {
			return err.Error()
		}
		return e.vendors(func() error {
			talk, err := m.Begin(computeruse.ConversationOptions{System: "work"})
			check.Must(e.t, err)
			return check.Err(talk.Next(e.t.Context(), computeruse.Input{Says: []string{"look"}}))
		}, words...)
	}
}

func openaiScreen(e *effects) (computeruse.Model, error) {
	return e.openaiComputerModel("openai:gpt-5.6")
}

// talk sends a message to the assistant, and returns which of words its model received.
func talk(words ...string) func(*effects) string {
	return func(e *effects) string {
		return e.vendors(func() error {
			turn := assistant.Turn{Origin: operator, Lines: []assistant.ChatLine{{Text: "hello"}}}
			return check.Err(e.CallService.Assistant.Reply(e.t.Context(), turn, nil))
		}, words...)
	}
}

// started starts a browser and returns its flags that begin with one of those given, or why none starts.
func started(flags ...string) func(*effects) string {
	return func(e *effects) string {
		e.starts++
		fresh := browsermgr.CreateProfileOptions{Name: fmt.Sprintf("p%d", e.starts)}
		made, err := e.Browsers.CreateProfile(e.t.Context(), fresh)
		check.Must(e.t, err)
		p, err := e.Browsers.FindProfile(made.Profile)
		check.Must(e.t, err)
		at := cmp.Or(e.Settings.Current().BrowserPath, e.browser) + ".args"
		_ = os.Remove(at) // there may be none
		text, _, _ := strings.Cut(errorText(p.Start(e.t.Context(), browsermgr.StartOptions{})), "\n")
		args, err := os.ReadFile(at)
		if err != nil {
			return strings.ReplaceAll(text, made.Profile, "p")
		}
		found := []string{filepath.Base(at)}
		for arg := range strings.FieldsSeq(string(args)) {
			for _, flag := range flags {
				if strings.HasPrefix(arg, flag) {
					found = append(found, arg)
				}
			}
		}
		return strings.Join(found, " ")
	}
}

// withoutSandboxEnv starts a browser while the environment does not mention its sandbox.
func withoutSandboxEnv(e *effects) string {
	e.mu.Lock()
	delete(e.env, NoSandboxEnv)
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		e.env[NoSandboxEnv] = "1"
		e.mu.Unlock()
	}()
	return started("--no-sandbox")(e)
}

// handed returns the configuration that a component of the server reads: its effect is tested with the component.
func handed[T any](part func(*effects) T) func(*effects) string {
	return func(e *effects) string { return fmt.Sprintf("%+v", part(e)) }
}

func launching[T any](part func(profile.Config) T) func(*effects) string {
	return handed(func(e *effects) T { return part(e.Browsers.Config()) })
}

// limits returns the limits of tasks and sessions.
var limits = handed(func(e *effects) sessions.Limits { return e.Sessions.Limits() })

// read reads the page as the assistant does.
func read(e *effects) string {
	p, err := e.Web.Reader.Read(e.t.Context(), web.ReadRequest{URL: e.page})
	return p.Title + errorText(err)
}

// reaches reports whether pages reach an address.
func reaches(addr string) func(*effects) string {
	return func(e *effects) string {
		p, err := policy.Compile(e.gate.Config.Rules())
		check.Must(e.t, err)
		at := netip.MustParseAddr(addr)
		to, err := p.CheckURL("http://" + netip.AddrPortFrom(at, 80).String())
		if err == nil {
			err = p.CheckIP(to, at)
		}
		return errorText(err)
	}
}

// spendable returns the spending limits and prices.
func spendable(e *effects) string {
	all, err := e.budget.Status(e.t.Context(), llm.Account{
		Guild: someone.Guild, User: agent.PersonID(someone), Task: "t", Session: "s",
	})
	rules := e.budget.Rules()
	return fmt.Sprint(all, err, rules.Limits, rules.Zone, rules.Prices)
}

// ask asks a person, who never answers, about a class of actions.
func ask(class approval.Class, host string) func(*effects) string {
	return func(e *effects) string {
		ctx, end := context.WithCancel(e.t.Context())
		end()
		q := sessions.Question{Classes: []string{string(class)}, Text: "Do it", Origin: "a.example", TargetHost: host}
		by, err := e.Approver.Ask(ctx, sessions.Session{ID: "s"}, sessions.Task{ID: "t", Origin: operator}, q)
		return by + errorText(err)
	}
}

// browserTool uses the tool "browser" and returns its output, with the requests to other machines.
func browserTool(input string) func(*effects) string {
	return func(e *effects) string {
		var text string
		return e.vendors(func() error {
			t, err := e.Tools.NewTool(e.t.Context())
			check.Must(e.t, err)
			r, err := e.Tools.sessionFor(e.t.Context(), operator).RunAs(e.t.Context(), t, nil, json.RawMessage(input))
			text = r.Text
			return err
		}) + text
	}
}

// controlCall asks the control API.
func controlCall(method, path, body string) func(*effects) string {
	return func(e *effects) string {
		req, err := http.NewRequestWithContext(e.t.Context(), method, e.api.URL()+path, strings.NewReader(body))
		check.Must(e.t, err)
		req.Header.Set("Authorization", "Bearer "+e.LocalSecret)
		req.Header.Set("Content-Type", "application/json")
		return e.fetch(req)
	}
}

func (e *effects) fetch(req *http.Request) string {
	e.t.Helper()
	res, err := http.DefaultClient.Do(req)
	check.Must(e.t, err)
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	check.Must(e.t, err)
	return res.Status + " " + string(data)
}

// asProxy sends a request to the dashboard like a reverse proxy.
func asProxy(e *effects) string {
	req, err := http.NewRequestWithContext(e.t.Context(), http.MethodGet, e.board+"/api/health", nil)
	check.Must(e.t, err)
	req.Host = "clank.example.org"
	req.Header.Set("X-Forwarded-Proto", "https")
	return e.fetch(req)
}

// inCall returns a property of a call.
func inCall(see func(*effects, *conversation.Conversation) string) func(*effects) string {
	return func(e *effects) string {
		place := conversation.Location{Kind: sessions.FromDashboard, Channel: pageOrigin.Channel}
		c := e.CallService.newConversation(nil, place, nil, pageCallRef)
		return see(e, c.(recordedConversation).Conversation)
	}
}

var callOptions = inCall(func(_ *effects, c *conversation.Conversation) string { return fmt.Sprintf("%+v", c.Options) })

// heard lets a call transcribe something, and returns which of words the server received.
func heard(words ...string) func(*effects) string {
	return inCall(func(e *effects, c *conversation.Conversation) string {
		if c.Transcriber == nil {
			return "none"
		}
		u := voice.Utterance{Loud: true}
		for i := range uint32(50) {
			quiet := voice.Packet{Timestamp: i * 960, Opus: voice.OpusSilence[:]}
			quiet.Sequence = uint16(i)
			u.Packets = append(u.Packets, quiet)
		}
		return e.vendors(func() error { return check.Err(c.Transcriber.Transcribe(e.t.Context(), u)) }, words...)
	})
}

// said lets a call speak, and returns which of words the server received.
func said(words ...string) func(*effects) string {
	return inCall(func(e *effects, c *conversation.Conversation) string {
		if c.Player == nil {
			return "none"
		}
		return e.vendors(func() (failed error) {
			for _, err := range c.Player.(*playout.Player).Synthesizer.Speak(e.t.Context(), "Hello") {
				failed = err
			}
			return failed
		}, words...)
	})
}

// speaks returns the speech synthesizer.
var speaks = handed(func(e *effects) string {
	s, err := e.CallService.synthesizer(e.Settings.Current().Voice.Speech)
	if local, ok := s.(*speech.ESpeak); ok {
		return fmt.Sprintf("%+v", local)
	}
	return fmt.Sprintf("%T %v", s, err)
})

// native returns the realtime model of a call.
var native = inCall(func(_ *effects, c *conversation.Conversation) string {
	m, ok := c.Native.(*nativeModel)
	if !ok {
		return fmt.Sprintf("%T", c.Native)
	}
	return fmt.Sprint(m.BaseURL, m.Key, m.Model, m.Voice)
})

// invited reports whether clank may be invited to a person's voice channel.
var invited = handed(func(e *effects) conversation.CallPolicy { return discordCalls{e.CallService}.CallPolicy() })

// atStart returns a property of newly opened calls.
func atStart[T any](see func(*CallService) T) func(*effects) string {
	return func(e *effects) string {
		old := e.CallService
		x := &CallService{
			Dir: e.StateDir, Settings: e.Settings, Getenv: e.Server.getenv,
			Sessions: e.Sessions, Browsers: e.Browsers, Scopes: old.Scopes, PrivacyStore: e.Db, Live: e.Live,
			Budget: e.budget, Logger: e.logger, ViewerAddr: "127.0.0.1:0", DiscordBase: e.vendor, Assistant: old.Assistant,
		}
		check.Must(e.t, x.Open(e.t.Context()))
		defer func() { check.Must(e.t, x.Close(context.WithoutCancel(e.t.Context()))) }()
		return fmt.Sprintf("%+v", see(x))
	}
}

// restarted returns a property of a server started with these settings.
func restarted[T any](see func(*Server) T) func(*effects) string {
	return func(e *effects) string {
		dir := e.t.TempDir()
		for _, again := range []bool{false, true} {
			a := e.open(dir)
			text := ""
			if again {
				text = fmt.Sprintf("%+v", see(a))
			} else {
				_, _, err := a.Settings.Update(e.t.Context(), e.Settings.State().Stored, "")
				check.Must(e.t, err)
			}
			check.Must(e.t, a.Close(e.t.Context()))
			if again {
				return text
			}
		}
		return ""
	}
}

// connectedBot is a bot of which only the id is known.
type connectedBot struct{ DiscordBot }

func (connectedBot) AppID() string { return "1" }

// signingIn returns the dashboard's configuration of the sign-in with Discord.
func signingIn(e *effects) string {
	e.CallService.SetBot(connectedBot{})
	defer e.CallService.bot.Store(nil)
	who := accounts{e.Server}
	link := who.SignInURL("https://clank.example.org/login")
	return fmt.Sprint(link != "", who.Person(e.t.Context(), someone.User), e.CallService.Enabled())
}

// describe returns the description of an image for a model without vision, and which of words the vision model
// received.
func describe(words ...string) func(*effects) string {
	return func(e *effects) string {
		image := llm.Image{MediaType: "image/png", Data: []byte(strings.Repeat("p", 20_000))}
		var text string
		return e.vendors(func() error {
			e.models.descriptions = descriptions{}
			text = e.models.DescribePicture(e.t.Context(), image)
			return nil
		}, words...) + text
	}
}

// TestEverySettingHasAnEffect changes each setting in a running system, and observes an effect, which must not change
// on its own.
func TestEverySettingHasAnEffect(t *testing.T) {
	e := openEffects(t)
	seen := map[string]bool{}
	for _, row := range settingEffects {
		seen[row.key] = true
		nothing := map[string]string{row.key: "null"}
		for key := range row.with {
			nothing[key] = "null"
		}
		e.set(row.with)
		before, again := row.see(e), row.see(e)
		changed := maps.Clone(row.with)
		if changed == nil {
			changed = map[string]string{}
		}
		changed[row.key] = row.to
		e.set(changed)
		after := row.see(e)
		e.set(nothing)
		switch {
		case before != again:
			t.Errorf("%s: nothing was changed, and this is not the same:\n%s\n%s", row.key, before, again)
		case before == after:
			t.Errorf("%s = %s changes nothing of this: %s", row.key, row.to, before)
		}
	}
	for _, f := range append(settings.Fields(), e.Settings.Guild(guildOne).Fields...) {
		if !seen[f.Key] {
			t.Errorf("nothing shows the effect of %s", f.Key)
		}
	}
}

func upstreamOf(a *Server) *url.URL { return a.gate.Config.Upstream("work") }

func languageOf(e *effects) string {
	return string((&bot.Bot{Settings: e.Settings}).Locale(guildOne))
}

func downloadLimit(e *effects) int64 {
	download, _ := fileHost{e.Server}.Limits()
	return download
}

// advised returns who is asked first about something unclear.
func advised(e *effects) string {
	return e.vendors(func() error {
		e.Approver.advise(e.t.Context(), approval.Question{Class: approval.ClassUnclear, Detail: "Los"})
		return nil
	})
}

// discordAnswer connects to a Discord that gives invalid answers.
func discordAnswer(e *effects) string {
	token, err := settings.ReadSecret("DISCORD_TOKEN", e.Server.getenv)
	check.Must(e.t, err)
	return e.vendors(func() error {
		_, again := e.ConnectBot(e.t.Context(), token)
		return map[bool]error{true: io.EOF}[again]
	})
}

var searchesWith = handed(func(e *effects) string { return fmt.Sprintf("%T", e.Web.searcher.Engine()) })

func searches(e *effects) string {
	by := web.SearchAsker{Person: someone.User, Server: someone.Guild}
	return e.vendors(func() error {
		return check.Err(e.Web.searcher.Search(e.t.Context(), by, web.SearchQuery{Text: "ferries"}))
	})
}

func watchesWithBrowser(e *effects) string {
	_, err := e.Web.Watches.Host.Browse(e.t.Context(), watches.Watch{ID: "w", URL: e.page})
	return strconv.FormatBool(errors.Is(err, watches.ErrNeedsBrowser))
}
