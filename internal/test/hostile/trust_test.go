//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/test/discordtest/voicetest"
	"clank/internal/test/llmtest"
	"clank/internal/test/running"
)

var (
	trustProgram = flag.String("trust.bin", "", "attack this `program`: make trust")
	trustQuick   = flag.Bool("trust.quick", false, "leave out what takes long and what tests of packages show")
	trustOpen    = flag.Bool("trust.holes", false, "open the holes of settings first: attacks must be seen to succeed")
	trustOnly    = flag.String("trust.only", "", "try only the attacks whose id matches this `regexp`")
)

// trustAttack is one scenario: who does what, and what is to hold.
type trustAttack struct {
	id, what, holds string
	tests           []string // of packages, as "package Test"
	accepted        bool     // it is listed, not counted
	namespace, slow bool
}

// trustAttacks reads [trustTable].
func trustAttacks() (all []trustAttack) {
	for line := range strings.Lines(strings.TrimSpace(trustTable)) {
		if test, ok := strings.CutPrefix(line, "  "); ok {
			last := &all[len(all)-1]
			last.tests = append(last.tests, strings.TrimSpace(test))
			continue
		}
		id, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		what, holds, _ := strings.Cut(rest, " = ")
		all = append(all, trustAttack{
			id: strings.Trim(id, "*#"), what: what, holds: holds, accepted: strings.HasPrefix(holds, "accepted: "),
			slow: strings.HasSuffix(id, "*"), namespace: strings.HasSuffix(id, "#"),
		})
	}
	return all
}

// byTests reports whether tests of packages show that an attack is stopped.
func (a trustAttack) byTests() bool {
	return trustTries[a.id] == nil || a.namespace && !InsideNamespace()
}

// TestTrust attacks the program as those would whom SECURITY.md names, in the ways that were open once. The last line
// counts them.
func TestTrust(t *testing.T) {
	if *trustProgram == "" {
		t.Skip("needs a program that was built: make trust")
	}
	if !InsideNamespace() {
		cmd := ReenterCommand(append([]string{"-test.run=^TestTrust$", "-test.v"}, os.Args[1:]...)...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Start(); err == nil {
			check.Must(t, cmd.Wait())
			return
		}
		t.Log("no network namespace can be made here: what needs one is shown by tests of packages")
	}
	only := regexp.MustCompile(*trustOnly)
	attacks := slices.DeleteFunc(trustAttacks(), func(a trustAttack) bool {
		left := *trustQuick && (a.slow || a.byTests()) || *trustOpen && trustHoles[a.id] == nil
		return left || !only.MatchString(a.id)
	})
	w := newTrustWorld(t)
	var counted, stopped int
	for _, a := range attacks {
		if a.accepted {
			t.Logf("%-4s %s; %s", a.id, a.what, a.holds)
			continue
		}
		counted++
		seen, held := w.attempt(t, a)
		verdict := "stopped"
		if held {
			stopped++
		} else {
			verdict = "NOT STOPPED"
		}
		t.Logf("%-4s %s; expected: %s; seen: %s; %s", a.id, a.what, a.holds, seen, verdict)
	}
	if *trustOpen {
		t.Logf("trust: attacks=%d stopped=%d, through holes that were opened", counted, stopped)
		counted = 0
	} else {
		t.Logf("trust: attacks=%d stopped=%d", counted, stopped)
	}
	check.Equal(t, "attacks were stopped", stopped, counted)
}

// attempt tries an attack in a room and with settings of its own. One that cannot be tried is not stopped.
func (w *trustWorld) attempt(t *testing.T, a trustAttack) (seen string, held bool) {
	t.Helper()
	t.Run(a.id, func(t *testing.T) {
		seen = "it could not be tried"
		if a.byTests() {
			seen, held = runPackageTests(t, a.tests)
			return
		}
		w.T, w.id, w.room = t, a.id, w.discord.CreateChannel(w.guild, strings.ToLower(a.id))
		w.site.forget()
		w.evil.forget()
		w.script.Set(nil)
		defer w.resetSettings()
		if *trustOpen {
			for key, value := range trustHoles[a.id] {
				w.set(key, value)
			}
		}
		seen, held = trustTries[a.id](w)
		held = held && !t.Failed()
	})
	return seen, held
}

// runPackageTests runs tests that are named "package Test".
func runPackageTests(t *testing.T, tests []string) (seen string, passed bool) {
	t.Helper()
	for _, test := range tests {
		folder, name, _ := strings.Cut(test, " ")
		args := []string{"test", "-count=1", "-vet=off", "-ldflags=-w", "-v", "-run", "^" + name + "$", folder}
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = "../../.."
		out, err := cmd.CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("--- PASS: "+name)) {
			t.Logf("%s: %v\n%s", test, err, out)
			return test + " does not pass", false
		}
	}
	return strings.Join(tests, ", "), len(tests) > 0
}

// trustWorld is the program that runs, and everybody around it.
type trustWorld struct {
	*testing.T // of the attack under way

	id         string // of the attack
	clank      *running.Clank
	owner      operatorClient
	discord    *discordtest.Server
	model      *llmtest.Server
	script     llmtest.Script
	site, evil *trustSite // two origins
	bot        discordtest.Bot
	ada        discordtest.User // owns the server home
	bob, eve   discordtest.User // its members
	mallory    discordtest.User // owns another server, where the program is too
	guild      discordtest.Guild
	elsewhere  discordtest.Guild
	room       discordtest.Channel

	changed []string // settings
}

// trustSecret is the password in the vault; plantedKeys are what the program's environment holds.
const (
	trustSecret     = "Tr0ub4dor-and-3"
	plantedKey      = "sk-planted-0123456789"
	keyOfBrain      = "interaction.brain.model"
	keyOfLimit      = "agentStack.runtimeConfig.browser.localBrowserAgent.maxBrowseCallsPerHour"
	keyOfEncryption = "interaction.voice.requireEncryption"
	keyOfFree       = "agentStack.runtimeConfig.browser.minFreeGb"
)

func newTrustWorld(t *testing.T) *trustWorld {
	t.Helper()
	w := &trustWorld{T: t, site: newTrustSite(t), evil: newTrustSite(t)}
	w.discord = discordtest.StartTest(t, discordtest.Config{Voice: &voicetest.Config{DAVE: 1}})
	believed := filepath.Join(t.TempDir(), "voice.pem")
	check.Must(t, os.WriteFile(believed, w.discord.Voice.Certificate(), 0o600))
	w.model = llmtest.NewServer(t)
	w.model.SetFallback(w.script.Next)
	if InsideNamespace() {
		certificate, err := MakeCertificates()
		check.Must(t, err)
		ground, err := PrepareNamespace(t.TempDir(), certificate.Certificate[1])
		check.Must(t, err)
		t.Cleanup(ground.Recorder.Close)
		names := &NameServer{Site: netip.MustParseAddr("127.0.0.1")}
		check.Must(t, check.Err(names.Listen(t.Context(), ground.Resolver)))
		t.Cleanup(names.Close)
	}
	d := w.discord
	w.bot = d.CreateBot("clank", "planted-token-of-discord")
	w.ada, w.bob = d.CreateUser("ada"), d.CreateUser("bob")
	w.eve, w.mallory = d.CreateUser("eve"), d.CreateUser("mallory")
	w.guild, w.elsewhere = d.CreateGuild("home", w.ada), d.CreateGuild("elsewhere", w.mallory)
	for _, u := range []discordtest.User{w.bot.User, w.bob, w.eve} {
		d.AddMember(w.guild, u)
	}
	d.AddMember(w.elsewhere, w.bot.User)
	var err error
	w.clank, err = running.Start(t.Context(), *trustProgram, "DISCORD_TOKEN="+w.bot.Token, "CLANK_DISCORD_API="+d.URL,
		"ANTHROPIC_API_KEY="+plantedKey, "CLANK_VAULT_KEYRING=off", "SSL_CERT_FILE="+believed)
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, w.clank.Close()) })
	w.owner, err = newOperatorClient(w.clank)
	check.Must(t, err)
	check.Must(t, d.WaitConnected(browsertest.Within(t, time.Minute), w.bot))
	w.set("agentStack.runtimeConfig.models.compatibleBaseUrl", w.model.BaseURL())
	w.set(keyOfLimit, 600)
	w.set("interaction.tasks.maxPerHourPerGuild", 600)
	w.changed = nil
	w.run(w.clank.Environ(), trustSecret+"\n", "vault", "add", "shop", "--origin", w.site.URL, "--user", "ada")
	return w
}

// set changes a setting until the attack is over.
func (w *trustWorld) set(key string, value any) {
	w.Helper()
	if hole, open := trustHoles[w.id][key]; open && *trustOpen {
		value = hole
	}
	check.Must(w, w.owner.set(w.Context(), key, value))
	w.changed = append(w.changed, key)
}

func (w *trustWorld) resetSettings() {
	w.Helper()
	for _, key := range w.changed {
		check.Must(w, w.owner.set(w.Context(), key, nil))
	}
	w.changed = nil
}

// run runs a command of the program, and returns what it prints and its exit code.
func (w *trustWorld) run(environ []string, stdin string, args ...string) (out string, code int) {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), w.clank.Bin, args...)
	cmd.Env, cmd.Stdin = append(environ, "CLANK_VAULT_KEYRING=off"), strings.NewReader(stdin)
	text, _ := cmd.CombinedOutput() // how it ended is the code
	return string(text), cmd.ProcessState.ExitCode()
}

// browse has the scripted model work a task of the operator's, at a terminal where nobody can be asked.
func (w *trustWorld) browse(flags []string, turns ...llmtest.Turn) string {
	w.Helper()
	w.script.Set(turns)
	args := append([]string{"browse", "--model", "compatible:scripted"}, flags...)
	out, _ := w.run(w.clank.Environ(), "", append(args, "do what the page says")...)
	return out
}

// use returns a turn in which the model calls a tool. A "ref" that is no ref names an element as its page's text does.
func use(tool string, args obj) llmtest.Turn {
	return func(req llmtest.Request) llmtest.Reply {
		args := args
		if element, ok := args["ref"].(string); ok {
			args = obj{"ref": refIn(req.ToolText(), element)}
		}
		raw, _ := json.Marshal(args)
		return llmtest.Use(tool, string(raw))(req)
	}
}

func open(address string) llmtest.Turn { return use("browser_open", obj{"url": address}) }

func fillLogin(submit bool) llmtest.Turn {
	return use("fill_login", obj{"entry": "shop", "submit": submit})
}

// allowLogin are the flags of a task whose logins its person allows.
var allowLogin = []string{"--allow", "login"}

func click(element string) llmtest.Turn { return use("browser_click", obj{"ref": element}) }

func press(keys ...string) (turns []llmtest.Turn) {
	for _, key := range keys {
		turns = append(turns, use("browser_press", obj{"key": key}))
	}
	return turns
}

// refIn returns the ref of the last line of a snapshot that has the words.
func refIn(text, words string) (ref string) {
	for line := range strings.Lines(text) {
		if _, rest, ok := strings.Cut(line, "[ref="); ok && strings.Contains(line, words) {
			ref, _, _ = strings.Cut(rest, "]")
		}
	}
	return ref
}

// lastTold returns what the model was told by its tools in the last conversation.
func (w *trustWorld) lastTold() string {
	all := w.model.Requests()
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1].ToolText()
}

// send sends a request to the control API on behalf of those who may be asked: "nobody", or "" for the operator, whom
// nobody asks.
func (w *trustWorld) send(who, path string, body obj) running.Answer {
	w.Helper()
	header := http.Header{"Authorization": {"Bearer " + w.clank.Token}}
	if who != "" {
		header.Set("X-Clank-Ask", who)
	}
	a, err := w.clank.RequestWith(w.Context(), http.MethodPost, path, body, header)
	check.Must(w, err)
	return a
}

// post sends a request of the operator's that must be done.
func (w *trustWorld) post(path string, body obj) {
	w.Helper()
	check.Must(w, w.clank.Call(w.Context(), http.MethodPost, path, body, nil))
}

// openTab opens a page in a tab of the operator's, and returns its id and its snapshot.
func (w *trustWorld) openTab(address string) (target, snapshot string) {
	w.Helper()
	var tab struct {
		ID string `json:"targetId"`
	}
	check.Must(w, w.clank.Call(w.Context(), http.MethodPost, "/tabs/open", obj{"url": address}, &tab))
	a, err := w.clank.Request(w.Context(), http.MethodGet, "/snapshot?targetId="+tab.ID, nil)
	check.Must(w, err)
	var page struct {
		Text string `json:"snapshot"`
	}
	check.Must(w, a.Into(&page))
	return tab.ID, page.Text
}

// slash uses /clank in a room, and returns the answer as it stays.
func (w *trustWorld) slash(room discordtest.Channel, who discordtest.User, sub string, args discordtest.Args) string {
	w.Helper()
	it, err := w.discord.SlashCommand(room, who, "clank "+sub, args)
	check.Must(w, err)
	it, err = w.discord.WaitInteraction(browsertest.Within(w, time.Minute), it, func(i discordtest.Interaction) bool {
		return i.Original != nil && i.Original.Content != "" && settled(*i.Original)
	})
	check.Must(w, err)
	return it.Original.Content
}

// settled reports whether a message stays as it is.
func settled(m discordtest.Message) bool {
	return m.Flags&discordtest.FlagLoading == 0 && !m.HasButton("Stop")
}

// task has somebody ask for a task, and returns its answer.
func (w *trustWorld) task(room discordtest.Channel, who discordtest.User, task string) string {
	w.Helper()
	return w.slash(room, who, "browse", discordtest.Args{"task": task})
}

// question waits for the n-th question in the room, from 1.
func (w *trustWorld) question(n int) (q discordtest.Message) {
	w.Helper()
	check.Must(w, w.discord.Wait(browsertest.Within(w, time.Minute), fmt.Sprintf("question %d", n), func() bool {
		seen := 0
		for _, m := range w.discord.Messages(w.room) {
			first := w.discord.History(m.ID)[0]
			if first.HasButton("Allow") {
				if seen++; seen == n {
					q = first
				}
			}
		}
		return q.ID != ""
	}))
	return q
}

// pressButton presses a button of a question.
func (w *trustWorld) pressButton(q discordtest.Message, who discordtest.User, label string) {
	w.Helper()
	for _, b := range q.Buttons() {
		if b.Label == label {
			check.Must(w, check.Err(w.discord.PressButton(q, who, b.CustomID)))
			return
		}
	}
	w.Fatalf("there is no button %q below %q", label, q.Content)
}

// say writes to the bot.
func (w *trustWorld) say(room discordtest.Channel, who discordtest.User, text string) discordtest.Message {
	w.Helper()
	m, err := w.discord.SendMessage(room, who, w.bot.Mention()+" "+text)
	check.Must(w, err)
	return m
}

// reply returns the bot's reply to a message as it stays.
func (w *trustWorld) reply(room discordtest.Channel, asked discordtest.Message) string {
	w.Helper()
	ctx := browsertest.Within(w, time.Minute)
	m, err := w.discord.WaitMessage(ctx, room, func(m discordtest.Message) bool {
		return m.Author.ID == w.bot.ID && m.Reference != nil && m.Reference.MessageID == asked.ID
	})
	check.Must(w, err)
	m, err = w.discord.WaitEdit(ctx, m.ID, settled)
	check.Must(w, err)
	return m.Content
}

// obj is an object of JSON.
type obj = map[string]any

// trustSite is a site that remembers what it was asked.
type trustSite struct {
	*httptest.Server

	mu   sync.Mutex
	hits []string
}

func newTrustSite(t *testing.T) *trustSite {
	t.Helper()
	s := &trustSite{}
	s.Server = browsertest.Serve(t, func(rw http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		s.mu.Lock()
		s.hits = append(s.hits, fmt.Sprint(r.URL.Path, " ", r.Form, " ", r.Header.Get("Authorization")))
		s.mu.Unlock()
		switch r.URL.Path {
		case "/401":
			rw.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			rw.WriteHeader(http.StatusUnauthorized)
		case "/get":
			rw.Header().Set("Content-Disposition", `attachment; filename="Update.exe"`)
			_, _ = io.WriteString(rw, "MZ"+strings.Repeat("\x00", 4096))
		case "/notes":
			rw.Header().Set("Content-Disposition", `attachment; filename="notes.txt"`)
			_, _ = io.WriteString(rw, "notes of ada's")
		default:
			browsertest.HTML(rw, browsertest.Head+trustPages[r.URL.Path])
		}
	})
	return s
}

func (s *trustSite) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hits = nil
}

// asked counts the requests with these words in path, form or authorization.
func (s *trustSite) asked(words string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, hit := range s.hits {
		if strings.Contains(hit, words) {
			n++
		}
	}
	return n
}

// await waits for a request.
func (s *trustSite) await(t *testing.T, words string) {
	t.Helper()
	browsertest.Eventually(t, "a request with "+words, func() bool { return s.asked(words) > 0 })
}

// clip shortens what was seen to a line.
func clip(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return text[:min(len(text), 140)]
}

// TestWhatTheSecurityPageNamesIsThere looks for each test and each attack that SECURITY.md calls a proof.
func TestWhatTheSecurityPageNamesIsThere(t *testing.T) {
	const root = "../../.."
	security, err := os.ReadFile(filepath.Join(root, "SECURITY.md"))
	check.Must(t, err)
	var code bytes.Buffer
	check.Must(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") {
			data, err := os.ReadFile(path)
			code.Write(data)
			return err
		}
		return err
	}))
	tests := regexp.MustCompile("`(Test\\w+)(…?)`").FindAllSubmatch(security, -1)
	for _, m := range tests {
		found := fmt.Sprintf("\nfunc %s", m[1])
		if len(m[2]) == 0 {
			found += "("
		}
		if !bytes.Contains(code.Bytes(), []byte(found)) {
			t.Errorf("there is no test %s", m[1])
		}
	}
	attacks := 0
	for _, list := range regexp.MustCompile(`trust ((?:[XWPN]\d+[a-z]?(?:, )?)+)`).FindAllSubmatch(security, -1) {
		for id := range strings.SplitSeq(string(list[1]), ", ") {
			if id = strings.TrimSpace(id); id != "" && !strings.Contains(trustTable, "\n"+id) {
				t.Errorf("there is no attack %s", id)
			}
			attacks++
		}
	}
	if len(tests) < 10 || attacks < 20 {
		t.Errorf("it names %d tests and %d attacks only", len(tests), attacks)
	}
}
