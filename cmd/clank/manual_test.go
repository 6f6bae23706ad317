package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	gobuild "go/build"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/test/llmtest"
)

// snippet is a fenced block of a page of the manual.
type snippet struct {
	page           string // its path from the root of the repository
	line           int    // of its first line
	language, text string
	notRun         string // the reason that is written before it: <!-- not run: … -->
}

var (
	fence    = regexp.MustCompile("(?ms)^(?: *<!-- not run: ([^\n]*) -->\n)?( *)```(\\w*)\n(.*?)^ *```$")
	doneElse = regexp.MustCompile(`\bTest\w+|\bmake [a-z-]+`)
)

// snippets returns the blocks of a page.
func snippets(t *testing.T, page string) []snippet {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("../..", page))
	check.Must(t, err)
	text := string(raw)
	var list []snippet
	for _, m := range fence.FindAllStringSubmatchIndex(text, -1) {
		s := snippet{page: page, line: 1 + strings.Count(text[:m[8]], "\n"), language: text[m[6]:m[7]], text: text[m[8]:m[9]]}
		if m[2] >= 0 {
			s.notRun = text[m[2]:m[3]]
		}
		list = append(list, s)
	}
	if marks := strings.Count(text, "\n```") + strings.Count(text, " ```"); marks != 2*len(list) {
		t.Errorf("%s has %d lines with ```, and %d blocks", page, marks, len(list))
	}
	return list
}

// manualPort counts the ports that were given out.
var manualPort atomic.Int32

// unusedAddress returns an address that nobody listens at, beyond the ports that the system gives to connections.
func unusedAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		addr := fmt.Sprint("127.0.0.1:", 61000+(37*os.Getpid()+int(manualPort.Add(1)))%4500)
		if l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", addr); err == nil {
			check.Must(t, l.Close())
			return addr
		}
	}
	t.Fatal("no port is free")
	return ""
}

// manual is where the blocks of a page are run.
type manual struct {
	dir     string
	environ []string
	names   *strings.Replacer
}

// newManual makes a home with a server, models of all vendors, Discord and a site for a page of the manual.
func newManual(t *testing.T) *manual {
	t.Helper()
	openAI, err := llmtest.Open()
	check.Must(t, err)
	claude, gemini := llmtest.OpenAnthropic(), llmtest.OpenGemini()
	for _, model := range []*llmtest.Server{openAI, claude, gemini} {
		t.Cleanup(model.Close)
		model.SetFallback(llmtest.Say(`It is done. {"met": false}`))
	}
	discord, err := discordtest.Start(discordtest.Config{})
	check.Must(t, err)
	t.Cleanup(func() { discord.Close() })
	site := browsertest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<!doctype html><title>Shop</title><link rel=icon href=data:,><p>Lamp, 19 €</p>
<form method=post><input name=user autocomplete=username><input type=password autocomplete=current-password><button>Log in</button></form>`)
	}).URL

	home, environ := newTestHome(t)
	m := &manual{dir: filepath.Join(filepath.Dir(home), "work")}
	root, err := filepath.Abs("../..")
	check.Must(t, err)
	tools := filepath.Join(root, "cmd/clank/testdata/manual")
	for _, dir := range []string{"bin", "run", "home/chrome-data"} {
		check.Must(t, os.MkdirAll(filepath.Join(m.dir, dir), 0o700))
	}
	check.Must(t, os.Symlink(filepath.Join(tools, "clank"), filepath.Join(m.dir, "bin/clank")))
	token := discord.CreateBot("clank", "secret").Token
	check.Must(t, os.WriteFile(filepath.Join(m.dir, "token"), []byte(token), 0o600))
	caches, err := os.UserCacheDir()
	check.Must(t, err)
	addr, control, shop := unusedAddress(t), unusedAddress(t), unusedAddress(t)
	m.environ = append(environ, "PATH="+tools+":"+os.Getenv("PATH"), "HOME="+filepath.Join(m.dir, "home"),
		"CLANK_VAULT_KEYRING=off",
		// New ones would download all modules and compile pprof.
		"GOPATH="+gobuild.Default.GOPATH, "GOCACHE="+cmp.Or(os.Getenv("GOCACHE"), filepath.Join(caches, "go-build")),
		"MANUAL_PROGRAM="+*builtProgram, "MANUAL_STATE="+filepath.Join(m.dir, "run"), "MANUAL_ROOT="+root,
		"MANUAL_ADDR="+addr, "MANUAL_CONTROL="+control, "MANUAL_SHOP="+shop, "CLANK_DISCORD_API="+discord.URL,
		"OPENAI_BASE_URL="+openAI.BaseURL(), "ANTHROPIC_BASE_URL="+claude.BaseURL(), "GEMINI_BASE_URL="+gemini.BaseURL(),
		"OPENAI_API_KEY="+testKey, "ANTHROPIC_API_KEY=sk-ant-test-0123456789", "GEMINI_API_KEY=AIzaTest0123456789")
	m.names = strings.NewReplacer(
		"127.0.0.1:8787", addr, "127.0.0.1:18791", control, "127.0.0.1:8788", shop, "127.0.0.1:8791", unusedAddress(t),
		"127.0.0.1:18790", unusedAddress(t), "0.0.0.0:18790", unusedAddress(t),
		"https://shop.example", site, "open shop.example …", "open "+site, "open shop.example", "open "+site,
		"--profile work '…'", "--profile clank 'open "+site+"'",
		"wss://host", "wss://127.0.0.1:9",
		"https://example.com", site, "http://localhost:8080", site,
		"DISCORD_TOKEN=…", "DISCORD_TOKEN="+token, "/run/secrets/discord", filepath.Join(m.dir, "token"),
		"OPENAI_API_KEY=…", "OPENAI_API_KEY="+testKey, "TURN_SECRET=…", "TURN_SECRET=secret",
		"/etc/prometheus/clank.token", filepath.Join(m.dir, "clank.token"),
		"KEY VALUE", "interaction.tasks.threadAfterMs 5m", " KEY\n", " interaction.tasks.threadAfterMs\n",
		"seconds=10", "seconds=1", // of a profile
	)
	return m
}

// preamble has Bash tell the page and the line at which a block fails, and gives what stands for ID: of the newest
// watch or session.
const preamble = `trap 'echo "$PAGE:$LINENO: exit code $?" >&2' ERR; id() { clank $1 --json | grep -oE '"(id|session_id)": *"[^"]*"' | head -n 1 | cut -d '"' -f 4; }; `

// run runs a block as a script that ends at the first error, and returns what it writes to stdout.
func (m *manual) run(t *testing.T, s snippet) string {
	t.Helper()
	of := "sessions"
	if strings.Contains(s.page, "watches") {
		of = "watches"
	}
	text := strings.ReplaceAll(m.names.Replace(s.text), " ID", ` "$(id `+of+`)"`)
	file := filepath.Join(m.dir, "script")
	// Lines keep their numbers, as Bash tells of them.
	check.Must(t, os.WriteFile(file, []byte(preamble+strings.Repeat("\n", s.line-1)+text), 0o600))
	cmd := exec.CommandContext(testDeadline(t), "bash", "-Eeuo", "pipefail", file)
	cmd.Dir, cmd.Env = m.dir, append(m.environ, "PAGE="+s.page)
	cmd.Stdin = strings.NewReader("123456789012345678\n") // a password, or who is to be forgotten
	var out, said check.Log
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		t.Errorf("%s:%d: %v\n%s%s", s.page, s.line, err, out.String(), said.String())
	}
	return out.String()
}

// connectMCP starts what a client's configuration names, and fails the test unless it has the browser.
func (m *manual) connectMCP(t *testing.T, s snippet) {
	t.Helper()
	var config struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
		}
	}
	check.Must(t, json.Unmarshal([]byte(s.text), &config))
	for name, server := range config.MCPServers {
		cmd := exec.CommandContext(testDeadline(t), filepath.Join(m.dir, "bin", server.Command), server.Args...)
		cmd.Env = m.environ
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(testDeadline(t),
			&mcp.CommandTransport{Command: cmd}, nil)
		if err != nil {
			t.Errorf("%s:%d: %s: %v", s.page, s.line, name, err)
			continue
		}
		tools, err := session.ListTools(testDeadline(t), nil)
		if err != nil || len(tools.Tools) != 2 {
			t.Errorf("%s:%d: %s has the tools %v, %v", s.page, s.line, name, tools, err)
		}
		check.Must(t, session.Close())
	}
}

// TestTheManual does what README.md and the pages in docs show, as it stands there: commands in a shell beside a
// server, with models of all vendors and Discord emulated. What is not done says so, and why, in a comment before it.
func TestTheManual(t *testing.T) {
	if *builtProgram == "" {
		t.Skip("needs a program that was built: make manual")
	}
	pages, err := filepath.Glob("../../docs/*.md")
	check.Must(t, err)
	if len(pages) < 10 {
		t.Fatalf("docs has %d pages", len(pages))
	}
	for _, page := range append(pages, "../../README.md") {
		page = strings.TrimPrefix(filepath.ToSlash(page), "../../")
		list := snippets(t, page)
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			checkReasons(t, list)
			doPage(t, page, list)
		})
	}
}

// begun is what has to be there before the blocks of a page.
var begun = map[string]string{
	"docs/mcp.md": "; openssl req -x509 -newkey rsa:2048 -nodes -days 9 -subj /CN=office.example -keyout key.pem " +
		"-out cert.pem 2>openssl.log",
	"docs/sessions.md": "; clank browse '" + firstTry + "'",
	"docs/watches.md":  "; clank config set interaction.brain.model openai:gpt-5.6", // it judges
}

// doPage does the blocks of a page one after the other.
func doPage(t *testing.T, page string, list []snippet) {
	t.Helper()
	list = slices.DeleteFunc(list, func(s snippet) bool { return s.notRun != "" })
	if len(list) == 0 {
		return
	}
	m := newManual(t)
	m.run(t, snippet{page: page, line: 1, text: "clank serve" + begun[page]})
	var out strings.Builder
	for _, s := range list {
		switch s.language {
		case "sh":
			out.WriteString(m.run(t, s))
		case "json":
			m.connectMCP(t, s)
		default:
			t.Errorf("%s:%d: nobody knows how to try this; or write <!-- not run: the reason --> before it", s.page, s.line)
		}
	}
	m.run(t, snippet{page: page, line: 1, text: "clank end"})
	if page == "README.md" || page == "docs/cli.md" {
		check.Contains(t, out.String(), "Aurora Desk Lamp")
	}
}

// checkReasons fails the test if a test or a target that tries a block instead is not there.
func checkReasons(t *testing.T, list []snippet) {
	t.Helper()
	for _, s := range list {
		for _, name := range doneElse.FindAllString(s.notRun, -1) {
			pattern, files := "^func "+name+`\(`, "*_test.go"
			if target, ok := strings.CutPrefix(name, "make "); ok {
				pattern, files = "^"+target+":", "Makefile"
			}
			if err := exec.CommandContext(t.Context(), "grep", "-rqE", "--include="+files, pattern, "../..").Run(); err != nil {
				t.Errorf("%s:%d: there is no %s", s.page, s.line, name)
			}
		}
	}
}
