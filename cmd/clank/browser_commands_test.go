package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"clank/internal/test/check"
)

// envForServer returns an environment whose commands use the server at this address.
func envForServer(tb testing.TB, address string) *commandEnv {
	tb.Helper()
	return newTestEnv(tb, map[string]string{"CLANK_BROWSER_URL": address, "CLANK_BROWSER_TOKEN": "s3"})
}

// runBrowser runs a command of "clank browser" against the server at this address.
func runBrowser(tb testing.TB, address, line string) commandResult {
	tb.Helper()
	return runCommand(tb.Context(), envForServer(tb, address), append([]string{"browser"}, splitWords(line)...)...)
}

// recordedRequest is one request that a server got.
type recordedRequest struct{ line, body, auth string }

// newScriptedServer starts a server that gives the same answer to everything and records requests.
func newScriptedServer(t *testing.T, status int, answer string) (address string, got func() []recordedRequest) {
	t.Helper()
	seen := make(chan recordedRequest, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen <- recordedRequest{r.Method + " " + r.RequestURI, string(body), r.Header.Get("Authorization")}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []recordedRequest {
		var list []recordedRequest
		for len(seen) > 0 {
			list = append(list, <-seen)
		}
		return list
	}
}

// commandCase is a command line with the expected request, its response, and the expected output.
type commandCase struct {
	line   string
	asks   string // method and URI
	body   string // JSON with sorted keys, "" for none
	answer string // "" is {"ok":true}
	stdout string
	stderr string // a part of it
	code   int
}

const dialogOpen = `"blockedByDialog":true,"browserState":{"dialogs":{"pending":[{"id":"d1","type":"confirm","message":"Sure?"}],"recent":[]}}`

// getValue is what asks for the value of a field.
const getValue = `{"fn":"(el) =\u003e el.selectedOptions ? Array.from(el.selectedOptions, (o) =\u003e o.value).join(\"\\n\") : ` +
	`typeof el.value === \"string\" ? el.value : el.isContentEditable ? el.innerText : null","kind":"evaluate","ref":"e4"}`

// What find asks, and a page in which it looks.
const (
	findAsks   = "GET /snapshot?compact=false&depth=1000&interactive=false&maxChars=0"
	findAnswer = `{"snapshot":"- heading \"Save it\" [level=1]\n- textbox \"Name\" [required] [ref=e1]: before\n` +
		`- row [ref=e2]:\n  - cell:\n    - text: as\n    - paragraph: wash\n  - button \"Save\" [ref=e3]\n- button \"Save as [ref=e9]\" [ref=e4] [cursor:pointer]"}`
)

var commandCases = []commandCase{
	// Browser and profiles.
	{
		line: "status", asks: "GET /",
		answer: `{"profile":"clank","running":true,"driver":"openclaw","transport":"cdp","pid":7,"cdpPort":18800,"cdpUrl":"http://127.0.0.1:18800","chosenBrowser":"chromium","detectedBrowser":null,"headless":true,"headlessSource":"env","color":"#FF4500","graphics":{"a":1},"guard":{"mode":"best-effort","refusals":2,"note":"less than a proxy"}}`,
		stdout: "profile: clank\nrunning: true\ndriver: clank\ntransport: cdp\npid: 7\nport: 18800\naddress: " +
			"http://127.0.0.1:18800\nbrowser: chromium\nheadless: true (env)\ncolor: #FF4500\nguard: best-effort, 2 " +
			"refused\nabout it: less than a proxy\n",
	},
	{line: "status --json", asks: "GET /", answer: `{"profile":"clank","x":"<&>"}`, stdout: "{\n  \"profile\": " +
		"\"clank\",\n  \"x\": \"<&>\"\n}\n"},
	{
		line: "doctor --deep", asks: "GET /doctor?deep=true",
		answer: `{"ok":true,"profile":"clank","transport":"cdp","checks":[{"id":"a","label":"Display","status":"pass","summary":"fine"},{"id":"b","label":"Sandbox","status":"warn","summary":"off","fixHint":"turn it on"},{"id":"c","label":"Browser","status":"info","summary":"not running"}]}`,
		stdout: "profile: clank (cdp)\n✓ ok    Display: fine\n! warn  Sandbox: off\n          to mend it: turn it on\n- " +
			"info  Browser: not running\n",
	},
	{
		line: "doctor", asks: "GET /doctor",
		answer: `{"ok":false,"profile":"clank","transport":"cdp","checks":[{"label":"Port","status":"fail","summary":"taken"}]}`,
		stdout: "profile: clank (cdp)\n✗ FAIL  Port: taken\n", stderr: "a check failed", code: 1,
	},
	{
		line: "doctor --json", asks: "GET /doctor", answer: `{"ok":false,"checks":[]}`,
		stdout: "{\n  \"ok\": false,\n  \"checks\": []\n}\n", stderr: "a check failed", code: 1,
	},
	{line: "start", asks: "POST /start", answer: `{"ok":true,"profile":"clank"}`, stdout: "profile clank is running\n"},
	{
		line: "start --headless --browser-profile work", asks: "POST /start?headless=true&profile=work",
		answer: `{"profile":"work"}`, stdout: "profile work is running\n",
	},
	{
		line: "start --headless=false", asks: "POST /start?headless=false", answer: `{"profile":"work"}`,
		stdout: "profile work is running\n",
	},
	{
		line: "stop", asks: "POST /stop", body: `{}`, answer: `{"ok":true,"stopped":true,"profile":"clank"}`,
		stdout: "profile clank is stopped\n",
	},
	{
		line: "stop", asks: "POST /stop", body: `{}`, answer: `{"ok":true,"stopped":false,"profile":"clank"}`,
		stdout: "profile clank was not running\n",
	},
	{
		line: "reset-profile", asks: "POST /reset-profile", body: `{}`,
		answer: `{"moved":true,"from":"/a","to":"/b","profile":"clank"}`, stdout: "profile clank is empty again; its data " +
			"is in /b\n",
	},
	{
		line: "reset-profile", asks: "POST /reset-profile", body: `{}`,
		answer: `{"moved":true,"from":"/a","profile":"clank@person-1"}`,
		stdout: "profile clank@person-1 is empty again\n",
	},
	{
		line: "reset-profile", asks: "POST /reset-profile", body: `{}`,
		answer: `{"moved":false,"from":"/a","profile":"clank"}`, stdout: "profile clank has no data to move\n",
	},
	{
		line: "profiles", asks: "GET /profiles",
		answer: `{"profiles":[{"name":"clank","transport":"cdp","cdpPort":18800,"cdpUrl":"http://a",` +
			`"color":"#FF4500","running":true,"tabCount":1,"memoryMb":190,"isDefault":true},` +
			`{"name":"clank@server-1","cdpPort":18801,"listening":true,"running":true,"memoryMb":10},` +
			`{"name":"far","cdpPort":null,"cdpUrl":"http://a","isRemote":true,"missingFromConfig":true,` +
			`"reconcileReason":"why"},{"name":"user","transport":"cdp"}],"maxRunning":8}`,
		stdout: "clank: running, 1 tab, 190 MB, default\n   cdp, color #FF4500\n" +
			"clank@server-1: running, 0 tabs, 10 MB\n   port 18801, color \n" +
			"far: stopped, remote, no longer configured\n   http://a, color \n   why\nuser: stopped\n   cdp, color \n" +
			"2 of at most 8 browsers run, with 200 MB together\n",
	},
	{
		line: "create-profile --name work --color #0066CC --cdp-url http://h:1 --user-data-dir /d --driver " +
			"existing-session",
		asks:   "POST /profiles/create",
		body:   `{"cdpUrl":"http://h:1","color":"#0066CC","driver":"existing-session","name":"work","userDataDir":"/d"}`,
		answer: `{"profile":"work"}`, stdout: "profile work is created\n",
	},
	{line: "create-profile", stderr: "--name is needed", code: 2},
	{line: "create-profile --name x --color red", stderr: `--color takes a colour such as #0066CC, not "red"`, code: 2},
	{
		line: "rename-profile --name a/b --to c", asks: "POST /profiles/a%2Fb/rename", body: `{"name":"c"}`,
		answer: `{"profile":"c","from":"a/b"}`, stdout: "profile a/b is c now\n",
	},
	{line: "rename-profile --name a", stderr: "--to is needed", code: 2},
	{
		line: "delete-profile --name a/b", asks: "DELETE /profiles/a%2Fb", answer: `{"profile":"a/b","deleted":true}`,
		stdout: "profile a/b is deleted\n",
	},
	{line: "delete-profile", stderr: "--name is needed", code: 2},

	// Tabs.
	{
		line: "tabs", asks: "GET /tabs",
		answer: `{"running":true,"tabs":[{"tabId":"t1","label":"docs","targetId":"AB","title":"A\u001b[31m\nB","url":"https://a.test/"},{"tabId":"t2","targetId":"CD","title":"","url":"","urlUnavailableReason":"navigation_blocked"}]}`,
		stdout: "1. A[31m B\n   https://a.test/\n   id: AB\n   tab: t1 docs\n2. (untitled)\n   (navigation_blocked)\n   " +
			"id: CD\n   tab: t2\n",
	},
	{
		line: "--json tabs", asks: "GET /tabs", answer: `{"running":true,"tabs":[{"tabId":"t1"}]}`,
		stdout: "{\n  \"tabs\": [\n    {\n      \"tabId\": \"t1\"\n    }\n  ]\n}\n",
	},
	{
		line: "tabs", asks: "GET /tabs", answer: `{"running":false,"tabs":[]}`,
		stderr: `the browser does not run; "clank browser open <url>" starts it`,
	},
	{line: "tabs", asks: "GET /tabs", answer: `{"running":true,"tabs":[]}`, stderr: "there is no tab"},
	{
		line: "snapshot", asks: "GET /snapshot", answer: `{"snapshot":"(empty)","url":"about:blank"}`, stdout: "(empty)\n",
		stderr: "nothing is open in this tab",
	},
	{line: "snapshot --mode short", stderr: `--mode is one of efficient, not "short"`, code: 2},
	{
		line: "console --level loud", stderr: `--level is one of error, warning, warn, info, log, debug, not "loud"`,
		code: 2,
	},
	{line: "resize x y", stderr: `width must be a positive whole number, not "x"`, code: 2},
	{
		line: "tab", asks: "POST /tabs/action", body: `{"action":"list"}`,
		answer: `{"tabs":[{"title":"A","url":"u","targetId":"X"}]}`, stdout: "1. A\n   u\n   id: X\n",
	},
	{
		line: "tab new --label docs", asks: "POST /tabs/action", body: `{"action":"new","label":"docs"}`,
		answer: `{"tab":{"targetId":"X"}}`, stdout: "opened a new tab\nid: X\n",
	},
	{
		line: "tab label t2 docs", asks: "POST /tabs/action", body: `{"action":"label","label":"docs","targetId":"t2"}`,
		stdout: "tab t2 is named docs\n",
	},
	{line: "tab select 2", asks: "POST /tabs/action", body: `{"action":"select","index":1}`, stdout: "selected tab 2\n"},
	{line: "tab select 0", stderr: "must be a positive whole number", code: 2},
	{line: "tab close 3", asks: "POST /tabs/action", body: `{"action":"close","index":2}`, stdout: "closed the tab\n"},
	{line: "tab close", asks: "POST /tabs/action", body: `{"action":"close"}`, stdout: "closed the tab\n"},
	{
		line: "open https://a.test --label docs", asks: "POST /tabs/open", body: `{"label":"docs","url":"https://a.test"}`,
		answer: `{"targetId":"X","url":"https://a.test/"}`, stdout: "opened: https://a.test/\nid: X\n",
	},
	{
		line: "focus t1", asks: "POST /tabs/focus", body: `{"targetId":"t1"}`, answer: `{"targetId":"X"}`,
		stdout: "focused tab X\n",
	},
	{line: "focus --target-id t1", asks: "POST /tabs/focus", body: `{"targetId":"t1"}`, stdout: "focused tab t1\n"},
	{line: "focus", stderr: "[tab] is missing", code: 2},
	{line: "focus t1 --target-id t2", stderr: "two tabs are named", code: 2},
	{line: "close a/b", asks: "DELETE /tabs/a%2Fb", stdout: "closed the tab\n"},
	{line: "close --target-id t1", asks: "DELETE /tabs/t1", stdout: "closed the tab\n"},
	{line: "close", asks: "POST /act", body: `{"kind":"close"}`, stdout: "closed the tab\n"},

	// Reading.
	{
		line: "navigate https://a.test --target-id t1 --timeout-ms 5000", asks: "POST /navigate",
		body:   `{"targetId":"t1","timeoutMs":5000,"url":"https://a.test"}`,
		answer: `{"url":"https://a.test/x"}`, stdout: "navigated to https://a.test/x\n",
	},
	{
		line: "navigate https://a.test/p", asks: "POST /navigate", body: `{"url":"https://a.test/p"}`,
		answer: `{"url":"https://a.test/p","refused":"10.0.0.1 may not be reached"}`,
		stdout: "navigated to https://a.test/p\n", stderr: "10.0.0.1 may not be reached",
	},
	{
		line: "open https://a.test/p", asks: "POST /tabs/open", body: `{"url":"https://a.test/p"}`,
		answer: `{"url":"https://a.test/p","targetId":"AB","refused":"10.0.0.1 may not be reached"}`,
		stdout: "opened: https://a.test/p\nid: AB\n", stderr: "10.0.0.1 may not be reached",
	},
	{
		line: "open a.test/p", asks: "POST /tabs/open", body: `{"url":"https://a.test/p"}`,
		answer: `{"url":"https://a.test/p","targetId":"AB"}`, stdout: "opened: https://a.test/p\nid: AB\n",
	},
	{
		line: "navigate localhost:8080", asks: "POST /navigate", body: `{"url":"http://localhost:8080"}`, answer: `{}`,
		stdout: "navigated to localhost:8080\n",
	},
	{
		line: "navigate not,a*host", asks: "POST /navigate", body: `{"url":"not,a*host"}`, answer: `{}`,
		stdout: "navigated to not,a*host\n",
	},
	{
		line: "navigate https://a.test/f", asks: "POST /navigate", body: `{"url":"https://a.test/f"}`,
		answer: `{"download":{"path":"/d/f"}}`, stdout: "navigated to https://a.test/f\ndownloaded: /d/f\n",
	},
	{
		line: "snapshot", asks: "GET /snapshot", answer: `{"snapshot":"- link \"a\u001b[1m\" [ref=e1]\n- b"}`,
		stdout: "- link \"a[1m\" [ref=e1]\n- b\n",
	},
	{line: "snapshot", asks: "GET /snapshot", answer: `{"snapshot":"(empty)"}`, stdout: "(empty)\n"},
	{
		line: "snapshot --selector b", asks: "GET /snapshot?selector=b",
		answer: `{"snapshot":"(empty)","reason":"no element matches the selector"}`, stdout: "(empty)\n",
		stderr: "no element matches the selector\n",
	},
	{
		line: "snapshot --format ai --mode efficient --interactive --compact --depth 0 --selector main --frame iframe " +
			"--labels --urls --refs aria --max-chars 0 --query 'a b' --after e9 --timeout-ms 900 --target-id t1",
		asks: "GET /snapshot?after=e9&compact=true&depth=0&format=ai&frame=iframe&interactive=true&labels=true&maxChars=0&mode=efficient&query=a+b&refs=aria&selector=main&targetId=t1&timeoutMs=900&urls=true", answer: `{"snapshot":"x","imagePath":"/m/a.png"}`, stdout: "x\nMEDIA:/m/a.png\n",
	},
	{
		line: "snapshot --efficient --compact=false", asks: "GET /snapshot?compact=false&mode=efficient",
		answer: `{"snapshot":"x"}`, stdout: "x\n",
	},
	{
		line: "snapshot --format aria --limit 2", asks: "GET /snapshot?format=aria&limit=2",
		answer: `{"nodes":[{"ref":"ax1","role":"main","name":"","depth":0},{"ref":"ax2","role":"textbox","name":"a\"b","value":"v","depth":1}]}`,
		stdout: "- main [ref=ax1]\n  - textbox \"a\\\"b\" [ref=ax2]: v\n",
	},
	{
		line: "snapshot --json", asks: "GET /snapshot", answer: `{"ok":true,"snapshot":"x"}`,
		stdout: "{\n  \"captured\": true,\n  \"ok\": true,\n  \"snapshot\": \"x\"\n}\n",
	},
	{line: "snapshot", asks: "GET /snapshot", answer: `{"ok":true,"snapshot":""}`, stderr: "made no snapshot", code: 1},
	{
		line: "snapshot --json", asks: "GET /snapshot", answer: `{"ok":true,"snapshot":""}`,
		stdout: "{\n  \"captured\": false,\n  \"ok\": false,\n  \"snapshot\": \"\"\n}\n", stderr: "made no snapshot",
		code: 1,
	},
	{
		line: "snapshot", asks: "GET /snapshot", answer: `{"snapshot":"",` + dialogOpen + `}`,
		stderr: `a dialog is open (d1, confirm "Sure?"): answer it with "clank browser dialog --accept"`, code: 1,
	},
	{
		line: "screenshot t1 --full-page --type jpeg --labels --timeout-ms 5000", asks: "POST /screenshot",
		body:   `{"fullPage":true,"labels":true,"targetId":"t1","timeoutMs":5000,"type":"jpeg"}`,
		answer: `{"path":"/m/a b.jpg"}`, stdout: "MEDIA:/m/a b.jpg\n",
	},
	{
		line: "screenshot --ref e1 --element img --target-id t2", asks: "POST /screenshot",
		body: `{"element":"img","ref":"e1","targetId":"t2"}`, answer: `{"path":"/p"}`, stdout: "MEDIA:/p\n",
	},
	{
		line: "screenshot --out x.png", asks: "POST /screenshot", body: `{}`, answer: `{"path":"/nowhere/p.png"}`,
		stderr: "made as /nowhere/p.png on the server's machine", code: 1,
	},
	{
		line: "screenshot --out x.JPG", asks: "POST /screenshot", body: `{"type":"jpeg"}`,
		answer: `{"path":"/nowhere/p.jpg"}`, stderr: "no such file", code: 1,
	},
	{line: "screenshot --out x.gif", stderr: "--out x.gif: a picture is a .png or a .jpg file", code: 2},
	{line: "trace stop --out /nowhere/t.zip", stderr: "make the directory /nowhere first", code: 1},
	{line: "screenshot --full-page --ref e1", stderr: "--full-page cannot go with", code: 2},
	{line: "screenshot", asks: "POST /screenshot", body: `{}`, answer: `{"ok":true}`, stderr: "made no file", code: 1},
	{
		line: "screenshot --json", asks: "POST /screenshot", body: `{}`, answer: `{"ok":true,"path":""}`,
		stdout: "{\n  \"captured\": false,\n  \"ok\": false,\n  \"path\": \"\"\n}\n", stderr: "made no file", code: 1,
	},
	{line: "pdf", asks: "POST /pdf", body: `{}`, answer: `{"path":"/m/a.pdf"}`, stdout: "PDF: /m/a.pdf\n"},
	{
		line: "text --selector p --max-chars 5", asks: "GET /text?maxChars=5&selector=p",
		answer: `{"text":"hello","truncated":true}`, stdout: "hello\n", stderr: "the text is cut",
	},
	{line: "text", asks: "GET /text", answer: `{"text":""}`, stderr: "no text is shown there"},
	{line: "text", asks: "GET /text", answer: `{"text":"",` + dialogOpen + `}`, stderr: "a dialog is open", code: 1},
	{line: "find --label save", asks: findAsks, answer: findAnswer, stdout: "e3\n"},
	{line: "find --label 'SAVE  as' --target-id t1", asks: findAsks + "&targetId=t1", answer: findAnswer, stdout: "e4\n"},
	{
		line: "find --role Button", asks: findAsks, answer: findAnswer, stdout: "e3\ne4\n",
		stderr: "e3 is button \"Save\"\ne4 is button \"Save as [ref=e9]\"\n",
	},
	{line: "find --text 'as'", asks: findAsks, answer: findAnswer, stdout: "e2\ne4\n", stderr: `e2 is row`},
	{line: "find --text before --role textbox", asks: findAsks, answer: findAnswer, stdout: "e1\n"},
	{line: "find --text wash", asks: findAsks, answer: findAnswer, stdout: "e2\n"},
	{
		line: "find --label wash", asks: findAsks, answer: findAnswer,
		stderr: `no element labeled "wash" is on this page; similar: e2 is row ""`, code: 4,
	},
	{
		line: "find --label wash --json", asks: findAsks, answer: findAnswer, stdout: "{\n  \"elements\": []\n}\n",
		stderr: `{"error":"no element labeled \"wash\" is on this page; similar: e2 is row \"\""}`, code: 4,
	},
	{
		line: "find --role button --label Serch --text now", asks: findAsks, answer: findAnswer,
		stderr: `no button labeled "Serch" with the text "now" is on this page; similar: e3 is button "Save", e4 is button ` +
			`"Save as [ref=e9]"`, code: 4,
	},
	{
		line: "find --role link", asks: findAsks, answer: findAnswer,
		stderr: `no link is on this page; the roles on it are textbox, row, button`, code: 4,
	},
	{
		line: "find --label x", asks: findAsks, answer: findAnswer,
		stderr: `no element labeled "x" is on this page; "clank browser snapshot" shows what there is`, code: 4,
	},
	{
		line: "find --role textbox --label Find", asks: findAsks,
		answer: `{"snapshot":"- textbox \"Name\" [ref=e1]\n- searchbox \"Find\" [ref=e2]"}`,
		stdout: "e2\n", stderr: "e2 is searchbox \"Find\"\n",
	},
	{
		line: "find --role textbox", asks: findAsks,
		answer: `{"snapshot":"- textbox \"Name\" [ref=e1]\n- searchbox \"Find\" [ref=e2]"}`, stdout: "e1\n",
	},
	{
		line: "find --role checkbox", asks: findAsks, answer: `{"snapshot":"- switch \"On\" [ref=e2]"}`, stdout: "e2\n",
		stderr: "e2 is switch \"On\"\n",
	},
	{line: "find --role row --json", asks: findAsks, answer: findAnswer, stdout: "{\n  \"elements\": [\n    {\n      " +
		"\"ref\": \"e2\",\n      \"role\": \"row\",\n      \"name\": \"\"\n    }\n  ]\n}\n"},
	{line: "find", stderr: "--role or --label or --text is needed", code: 2},
	{
		line: "find --role x", asks: findAsks, answer: `{"snapshot":"",` + dialogOpen + `}`, stderr: "a dialog is open",
		code: 1,
	},
	{
		line: "get text e4 --target-id t1", asks: "POST /act",
		body:   `{"fn":"(el) =\u003e el.innerText ?? el.textContent","kind":"evaluate","ref":"e4","targetId":"t1"}`,
		answer: `{"result":"a\u001b\nb"}`, stdout: "a\nb\n",
	},
	{
		line: `get attribute e4 'a"b'`, asks: "POST /act",
		body:   `{"fn":"(el) =\u003e el.getAttribute(\"a\\\"b\")","kind":"evaluate","ref":"e4"}`,
		answer: `{"result":null}`, stderr: `e4 has no attribute a"b`, code: 1,
	},
	{
		line: "get value e4 --json", asks: "POST /act", body: getValue, answer: `{"result":""}`,
		stdout: "{\n  \"result\": \"\"\n}\n",
	},
	{line: "get attribute e4", stderr: "<name> is missing", code: 2},
	{
		line: "open a.test/x", asks: "POST /tabs/open", body: `{"url":"https://a.test/x"}`,
		answer: `{"url":"https://a.test/x","targetId":"AB","notes":["the server answered HTTP 404"]}`,
		stdout: "opened: https://a.test/x\nid: AB\n", stderr: "the server answered HTTP 404\n",
	},
	{line: "get text ''", stderr: "<ref> is empty", code: 2},
	{
		line: "click e1", asks: "POST /act", body: `{"kind":"click","ref":"e1"}`,
		answer: `{"ok":true,"notDone":true,` + dialogOpen + `}`, stderr: `a dialog is open (d1, confirm "Sure?")`, code: 1,
	},
	{
		line: "click e1", asks: "POST /act", body: `{"kind":"click","ref":"e1"}`,
		answer: `{"ok":true,"notes":["downloaded a (3 bytes) to /d/a","a new tab opened: t2"],"downloads":[{"path":"/d/a"}]}`,
		stdout: "clicked e1\ndownloaded: /d/a\n", stderr: "a new tab opened: t2\n",
	},
	{line: "batch --actions {}", stderr: "actions must be a JSON array: put [ and ] around it", code: 2},
	{line: "snapshot --format x", stderr: `--format is one of ai, aria, not "x"`, code: 2},
	{line: "screenshot --type gif", stderr: `--type is one of png, jpeg, not "gif"`, code: 2},
	{line: "highlight e3", asks: "POST /highlight", body: `{"ref":"e3"}`, stdout: "highlighted e3\n"},

	// Acting.
	{
		line:   "click e12 --double --button right --modifiers Alt,Shift, --delay-ms 5 --target-id t1 --timeout-ms 700",
		asks:   "POST /act",
		body:   `{"button":"right","delayMs":5,"doubleClick":true,"kind":"click","modifiers":["Alt","Shift"],"ref":"e12","targetId":"t1","timeoutMs":700}`,
		answer: `{"ok":true,"url":"https://a.test/"}`, stdout: "clicked e12 on https://a.test/\n",
	},
	{line: "click --json e12", asks: "POST /act", body: `{"kind":"click","ref":"e12"}`, stdout: "{\n  \"ok\": true\n}\n"},
	{
		line: "click e1", asks: "POST /act", body: `{"kind":"click","ref":"e1"}`,
		answer: `{"downloads":[{"path":"/d/a"},{"path":"/d/b"},{"suggestedFilename":"c","error":"too large"},{"suggestedFilename":"d","inProgress":true}]}`,
		stdout: "clicked e1\ndownloaded: /d/a\ndownloaded: /d/b\nnot downloaded: c: too large\nstill downloading: d\n",
	},
	{
		line: "click e1", asks: "POST /act", body: `{"kind":"click","ref":"e1"}`, answer: `{` + dialogOpen + `}`,
		stdout: "clicked e1, and a dialog opened\n", stderr: `a dialog is open (d1, confirm "Sure?")`,
	},
	{
		line: "click-coords -1.5 20 --double", asks: "POST /act",
		body: `{"doubleClick":true,"kind":"clickCoords","x":-1.5,"y":20}`, stdout: "clicked at -1.5,20\n",
	},
	{line: "click-coords a 1", stderr: "x must be a number", code: 2},
	{line: "click-coords NaN 1", stderr: "x must be a number", code: 2},
	{
		line: "type e5 'a  b' --submit --slowly", asks: "POST /act",
		body: `{"kind":"type","ref":"e5","slowly":true,"submit":true,"text":"a  b"}`, stdout: "typed into e5\n",
	},
	{line: "type e5 ''", asks: "POST /act", body: `{"kind":"type","ref":"e5","text":""}`, stdout: "typed into e5\n"},
	{
		line: "type e5 -- --json", asks: "POST /act", body: `{"kind":"type","ref":"e5","text":"--json"}`,
		stdout: "typed into e5\n",
	},
	{line: "type e5 -5", asks: "POST /act", body: `{"kind":"type","ref":"e5","text":"-5"}`, stdout: "typed into e5\n"},
	{
		line: "press Control+a", asks: "POST /act", body: `{"key":"Control+a","kind":"press"}`,
		stdout: "pressed Control+a\n",
	},
	{
		line: "press End --ref e5", asks: "POST /act", body: `{"key":"End","kind":"press","ref":"e5"}`,
		stdout: "pressed End\n",
	},
	{line: "press -", asks: "POST /act", body: `{"key":"-","kind":"press"}`, stdout: "pressed -\n"},
	{line: "hover e1", asks: "POST /act", body: `{"kind":"hover","ref":"e1"}`, stdout: "hovered over e1\n"},
	{
		line: "scrollintoview e1 --timeout-ms 600", asks: "POST /act",
		body: `{"kind":"scrollIntoView","ref":"e1","timeoutMs":600}`, stdout: "scrolled to e1\n",
	},
	{
		line: "scroll --direction up --pixels 40", asks: "POST /act", body: `{"direction":"up","kind":"scroll","pixels":40}`,
		stdout: "scrolled\n",
	},
	{line: "scroll up", asks: "POST /act", body: `{"direction":"up","kind":"scroll"}`, stdout: "scrolled\n"},
	{line: "scroll e4", asks: "POST /act", body: `{"kind":"scroll","ref":"e4"}`, stdout: "scrolled\n"},
	{
		line: "back", asks: "POST /act", body: `{"kind":"back"}`, answer: `{"url":"https://a.test/"}`,
		stdout: "went back on https://a.test/\n",
	},
	{line: "forward", asks: "POST /act", body: `{"kind":"forward"}`, stdout: "went forward\n"},
	{
		line: "reload --timeout-ms 900", asks: "POST /act", body: `{"kind":"reload","timeoutMs":900}`,
		stdout: "loaded the page again\n",
	},
	{
		line: "wait main --load complete", stderr: `--load is one of load, domcontentloaded, networkidle, not "complete"`,
		code: 2,
	},
	{
		line: "drag e1 e2", asks: "POST /act", body: `{"endRef":"e2","kind":"drag","startRef":"e1"}`,
		stdout: "dragged e1 to e2\n",
	},
	{
		line: "drag-coords 1 2 30.5 4 --timeout-ms 900", asks: "POST /act",
		body:   `{"endX":30.5,"endY":4,"kind":"dragCoords","timeoutMs":900,"x":1,"y":2}`,
		stdout: "dragged from 1,2 to 30.5,4\n",
	},
	{line: "drag-coords 1 2 3", stderr: "<endY> is missing", code: 2},
	{
		line: "check e1 --target-id t1", asks: "POST /act",
		body:   `{"fields":[{"ref":"e1","type":"checkbox","value":true}],"kind":"fill","targetId":"t1"}`,
		stdout: "checked e1\n",
	},
	{
		line: "uncheck e1", asks: "POST /act",
		body: `{"fields":[{"ref":"e1","type":"checkbox","value":false}],"kind":"fill"}`, stdout: "unchecked e1\n",
	},
	{
		line: "select e1 a 'b c'", asks: "POST /act", body: `{"kind":"select","ref":"e1","values":["a","b c"]}`,
		stdout: "selected in e1\n",
	},
	{
		line: "fill --fields '[{\"ref\":\"e1\",\"value\":true}]'", asks: "POST /act",
		body: `{"fields":[{"ref":"e1","value":true}],"kind":"fill"}`, stdout: "filled the fields\n",
	},
	{line: "fill", stderr: "--fields or --fields-file is needed", code: 2},
	{line: "fill --fields {}", stderr: "must be a JSON array", code: 2},
	{line: "fill --fields []", stderr: "at least one entry", code: 2},
	{line: "fill --fields [1] --fields-file x", stderr: "exclude one another", code: 2},
	{line: "fill --fields-file /nowhere/at/all", stderr: "no such file", code: 2},
	{
		line: "resize 800 600", asks: "POST /act", body: `{"height":600,"kind":"resize","width":800}`,
		stdout: "resized to 800x600\n",
	},
	{line: "resize 800 0", stderr: "height must be a positive", code: 2},
	{
		line: "wait main --time 10 --text a --text-gone b --url **/c --load load --fn 'x => 1' --timeout-ms 9000",
		asks: "POST /act",
		body: `{"fn":"x =\u003e 1","kind":"wait","loadState":"load","selector":"main","text":"a","textGone":"b","timeMs":10,"timeoutMs":9000,"url":"**/c"}`, stdout: "wait complete\n",
	},
	{line: "wait --url ''", stderr: "--time or --text or --text-gone or [selector] or --url", code: 2},
	{line: "evaluate ''", stderr: "--fn or [fn] is needed", code: 2},
	{line: "wait --target-id t1", stderr: "--time or --text or --text-gone or [selector] or --url or --load or --fn " +
		"is needed", code: 2},
	{
		line: "evaluate --fn '() => 1' --ref e1", asks: "POST /act",
		body: `{"fn":"() =\u003e 1","kind":"evaluate","ref":"e1"}`, answer: `{"result":{"a":"<"}}`,
		stdout: "{\n  \"a\": \"<\"\n}\n",
	},
	{line: "evaluate 1", asks: "POST /act", body: `{"fn":"1","kind":"evaluate"}`, answer: `{}`, stdout: "null\n"},
	{
		line: "evaluate 1", asks: "POST /act", body: `{"fn":"1","kind":"evaluate"}`, answer: `{` + dialogOpen + `}`,
		stderr: "there is no result: a dialog is open", code: 1,
	},
	{line: "evaluate", stderr: "--fn or [fn] is needed", code: 2},
	{line: "evaluate 1 --fn 2", stderr: "fn is given twice", code: 2},
	{
		line: "batch --actions '[{\"kind\":\"close\"},{\"kind\":\"x\"}]' --continue --target-id t1", asks: "POST /act",
		body:   `{"actions":[{"kind":"close"},{"kind":"x"}],"kind":"batch","stopOnError":false,"targetId":"t1"}`,
		answer: `{"results":[{"ok":true,"navigated":true,"url":"u"},{"ok":false,"error":"no\nway"}]}`,
		stdout: "1. done, now on u\n2. failed: no way\n", stderr: "1 of 2 actions failed", code: 1,
	},
	{
		line: "batch --actions [1]", asks: "POST /act", body: `{"actions":[1],"kind":"batch"}`,
		answer: `{"results":[{"ok":true,"result":{"a": 1}}],"downloads":[{"path":"/d"}]}`,
		stdout: "1. done: {\"a\": 1}\ndownloaded: /d\n",
	},
	{
		line: "batch --actions [1,2]", asks: "POST /act", body: `{"actions":[1,2],"kind":"batch"}`,
		answer: `{"results":[{"ok":true}],"aborted":{"reason":"navigation","afterAction":1,"skipped":1}}`,
		stdout: "1. done\n", stderr: "1 action left undone: navigation after action 1", code: 1,
	},
	{
		line: "batch --actions [1]", asks: "POST /act", body: `{"actions":[1],"kind":"batch"}`, answer: `{"results":[]}`,
		stderr: "none of the actions", code: 1,
	},
	{line: "batch", stderr: "--actions or --actions-file is needed", code: 2},

	// Files and dialogs.
	{
		line: "upload a.png b.png --ref e1", asks: "POST /hooks/file-chooser", body: `{"paths":["a.png","b.png"],"ref":"e1"}`,
		stdout: "chose 2 files\n",
	},
	{
		line: "upload a.png --input-ref e1 --timeout-ms 9", asks: "POST /hooks/file-chooser",
		body: `{"inputRef":"e1","paths":["a.png"],"timeoutMs":9}`, stdout: "chose 1 file\n",
	},
	{
		line: "upload a.png", asks: "POST /hooks/file-chooser", body: `{"paths":["a.png"]}`,
		stdout: "the next file chooser gets 1 file\n",
	},
	{line: "upload /", stderr: "/ is not a regular file", code: 2},
	{line: "upload /no/such/file", stderr: "there is no file /no/such/file", code: 2},
	{line: "upload", stderr: "<path> is missing", code: 2},
	{line: "upload a --ref e1 --element x", stderr: "--ref cannot go with", code: 2},
	{line: "upload a --input-ref e1 --element x", stderr: "exclude one another", code: 2},
	{
		line: "download e1 a.pdf", asks: "POST /download", body: `{"path":"a.pdf","ref":"e1"}`,
		answer: `{"download":{"path":"/d/a.pdf"}}`, stdout: "downloaded: /d/a.pdf\n",
	},
	{
		line: "download e1 a.pdf", asks: "POST /download", body: `{"path":"a.pdf","ref":"e1"}`, stderr: "made no file",
		code: 1,
	},
	{
		line: "waitfordownload --timeout-ms 600", asks: "POST /wait/download", body: `{"timeoutMs":600}`,
		answer: `{"download":{"path":"/d/x"}}`, stdout: "downloaded: /d/x\n",
	},
	{
		line: "waitfordownload x", asks: "POST /wait/download", body: `{"path":"x"}`, answer: `{` + dialogOpen + `}`,
		stderr: "a dialog is open", code: 1,
	},
	{
		line: "dialog --accept --prompt Ada --dialog-id d2 --timeout-ms 5", asks: "POST /hooks/dialog",
		body: `{"accept":true,"dialogId":"d2","promptText":"Ada","timeoutMs":5}`, stdout: "the dialog is accepted, or the " +
			"next one will be\n",
	},
	{
		line: "dialog --dismiss", asks: "POST /hooks/dialog", body: `{"accept":false}`,
		stdout: "the dialog is dismissed, or the next one will be\n",
	},
	{line: "dialog", stderr: "either --accept or --dismiss", code: 2},
	{line: "dialog --accept --dismiss", stderr: "either --accept or --dismiss", code: 2},
	{
		line: "dialogs", asks: "GET /dialogs", answer: `{"browserState":{"dialogs":{}}}`,
		stdout: "{\n  \"dialogs\": {}\n}\n",
	},

	// Watching.
	{
		line: "console --level error", asks: "GET /console?level=error", answer: `{"messages":[{"text":"x"}],"dropped":7}`,
		stdout: "[\n  {\n    \"text\": \"x\"\n  }\n]\n", stderr: "older ones left out: 7",
	},
	{line: "console", asks: "GET /console", stdout: "[]\n"},
	{
		line: "errors --clear", asks: "GET /errors?clear=true",
		answer: `{"errors":[{"timestamp":"T","name":"TypeError","message":"x\u001b"},{"timestamp":"U","message":"y"}],"dropped":1}`,
		stdout: "T TypeError: x\nU y\n", stderr: "older ones left out: 1",
	},
	{line: "errors", asks: "GET /errors", answer: `{"errors":[]}`, stderr: "there are no errors"},
	{
		line: "requests --filter api --clear", asks: "GET /requests?clear=true&filter=api",
		answer: `{"requests":[{"timestamp":"T","method":"GET","url":"u","status":200},{"timestamp":"T","method":"POST","url":"v","failureText":"net::ERR"},{"timestamp":"T","method":"GET","url":"w"}],"dropped":1500}`,
		stderr: "older ones left out: 1500",
		stdout: "T GET 200 u\nT POST failed (net::ERR) v\nT GET pending w\n",
	},
	{line: "requests", asks: "GET /requests", stderr: "there are no requests"},
	{
		line: "responsebody **/api --max-chars 4 --timeout-ms 9000", asks: "POST /response/body",
		body:   `{"maxChars":4,"timeoutMs":9000,"url":"**/api"}`,
		answer: `{"response":{"body":"{\"a\"","truncated":true}}`, stdout: "{\"a\"\n", stderr: "the body is cut",
	},
	{line: "har", asks: "GET /har", answer: `{"ok":true,"har":{"log":{}}}`, stdout: "{\n  \"log\": {}\n}\n"},
	{line: "har", asks: "GET /har", answer: `{"log":{"version":"1.2"}}`, stdout: "{\n  \"log\": {\n    \"version\": " +
		"\"1.2\"\n  }\n}\n"},
	{line: "har", asks: "GET /har", stderr: "no HTTP archive", code: 1},
	{
		line: "trace start --no-screenshots --no-snapshots --sources", asks: "POST /trace/start",
		body: `{"screenshots":false,"snapshots":false,"sources":true}`, stdout: "trace started\n",
	},
	{line: "trace start", asks: "POST /trace/start", body: `{}`, stdout: "trace started\n"},
	{
		line: "trace stop --out a.zip", asks: "POST /trace/stop", body: `{}`, answer: `{"path":"/nowhere/a.zip"}`,
		stderr: "made as /nowhere/a.zip on the server's machine", code: 1,
	},
	{line: "trace stop", asks: "POST /trace/stop", body: `{}`, answer: `{"path":"/t/a.zip"}`, stdout: "TRACE:/t/a.zip\n"},

	// State.
	{line: "cookies", asks: "GET /cookies", answer: `{"cookies":[]}`, stdout: "[]\n"},
	{
		line: "cookies set a b --url https://a.test", asks: "POST /cookies/set",
		body: `{"cookie":{"name":"a","url":"https://a.test","value":"b"}}`, stdout: "cookie a is set\n",
	},
	{
		line: "cookies set a b --domain a.test", asks: "POST /cookies/set",
		body: `{"cookie":{"domain":"a.test","name":"a","path":"/","value":"b"}}`, stdout: "cookie a is set\n",
	},
	{line: "cookies set a b", stderr: "--url or --domain is needed", code: 2},
	{line: "cookies clear", asks: "POST /cookies/clear", body: `{}`, stdout: "the cookies are removed\n"},
	{
		line: "storage local get", asks: "GET /storage/local", answer: `{"values":{"k":"v"}}`,
		stdout: "{\n  \"k\": \"v\"\n}\n",
	},
	{line: "storage session get ' k '", asks: "GET /storage/session?key=+k+", stdout: "{}\n"},
	{
		line: "storage local set k ' v '", asks: "POST /storage/local/set", body: `{"key":"k","value":" v "}`,
		stdout: "k is set\n",
	},
	{
		line: "storage session clear --target-id t1", asks: "POST /storage/session/clear", body: `{"targetId":"t1"}`,
		stdout: "the session storage is empty\n",
	},
	{line: "storage local clear", asks: "POST /storage/local/clear", body: `{}`, stdout: "the local storage is empty\n"},
	{
		line: "storage session set k ''", asks: "POST /storage/session/set", body: `{"key":"k","value":""}`,
		stdout: "k is set\n",
	},
	{
		line: "set viewport 390 664", asks: "POST /act", body: `{"height":664,"kind":"resize","width":390}`,
		stdout: "resized to 390x664\n",
	},
	{line: "set offline on", asks: "POST /set/offline", body: `{"offline":true}`, stdout: "offline: on\n"},
	{line: "set offline off", asks: "POST /set/offline", body: `{"offline":false}`, stdout: "offline: off\n"},
	{line: "set offline maybe", stderr: "offline is on or off", code: 2},
	{
		line: "set headers '{\"A\":\"1\"}'", asks: "POST /set/headers", body: `{"headers":{"A":"1"}}`,
		stdout: "the headers are set\n",
	},
	{
		line: "set headers --headers-json {} --json", asks: "POST /set/headers", body: `{"headers":{}}`,
		stdout: "{\n  \"ok\": true\n}\n",
	},
	{line: "set headers", stderr: "must be a JSON object", code: 2},
	{line: "set headers null", stderr: "must be a JSON object", code: 2},
	{line: "set headers {} --headers-json {}", stderr: "given twice", code: 2},
	{
		line: "set headers '{\"Cookie\":\"1\"}' --origin https://a.test", asks: "POST /set/headers",
		body:   `{"headers":{"Cookie":"1"},"origin":"https://a.test"}`,
		answer: `{"ok":true,"warning":"Cookie goes everywhere"}`, stdout: "Cookie goes everywhere\nthe headers are set\n",
	},
	{
		line: "set credentials ada pw --origin https://a.test", asks: "POST /set/credentials",
		body:   `{"origin":"https://a.test","password":"pw","username":"ada"}`,
		answer: `{"ok":true,"origin":"https://a.test"}`, stdout: "the credentials are set for https://a.test\n",
	},
	{
		line: "set credentials --clear", asks: "POST /set/credentials", body: `{"clear":true}`,
		stdout: "the credentials are forgotten\n",
	},
	{line: "set credentials ada", stderr: "give username and password, or --clear", code: 2},
	{line: "set credentials ada pw --clear", stderr: "--clear takes no", code: 2},
	{
		line: "set geo -33.87 151.2 --accuracy 10.5 --origin https://a.test", asks: "POST /set/geolocation",
		body: `{"accuracy":10.5,"latitude":-33.87,"longitude":151.2,"origin":"https://a.test"}`, stdout: "the place is set\n",
	},
	{
		line: "set geo --clear", asks: "POST /set/geolocation", body: `{"clear":true}`,
		stdout: "the place is the real one again\n",
	},
	{line: "set geo x 1", stderr: "the latitude must be a number", code: 2},
	{line: "set geo 1", stderr: "give latitude and longitude", code: 2},
	{line: "set media blue", stderr: `<scheme> is one of dark, light, no-preference, none, not "blue"`, code: 2},
	{line: "set media dark", asks: "POST /set/media", body: `{"colorScheme":"dark"}`, stdout: "media: dark\n"},
	{
		line: "set timezone Europe/Vienna", asks: "POST /set/timezone", body: `{"timezoneId":"Europe/Vienna"}`,
		stdout: "timezone: Europe/Vienna\n",
	},
	{line: "set locale de-AT", asks: "POST /set/locale", body: `{"locale":"de-AT"}`, stdout: "locale: de-AT\n"},
	{
		line: "set device 'iPhone 14'", asks: "POST /set/device", body: `{"name":"iPhone 14"}`,
		stdout: "device: iPhone 14\n",
	},
	{
		line:   "permissions grant https://a.test audioCapture --optional b,c --timeout-ms 1000",
		asks:   "POST /permissions/grant",
		body:   `{"optionalPermissions":["b","c"],"origin":"https://a.test","permissions":["audioCapture"],"timeoutMs":1000}`,
		answer: `{"origin":"https://a.test","grantedPermissions":["audioCapture"],"unsupportedPermissions":["b"]}`,
		stdout: "https://a.test may use: audioCapture\nunknown to this browser: b\n",
	},
}

func TestEveryCommand(t *testing.T) {
	tried := map[string]bool{}
	for _, tc := range commandCases {
		t.Run(tc.line, func(t *testing.T) {
			if tc.answer == "" {
				tc.answer = `{"ok":true}`
			}
			address, asks := newScriptedServer(t, 200, tc.answer)
			got := runBrowser(t, address, tc.line)
			check.Equal(t, "exit code", got.code, tc.code)
			check.Diff(t, "stdout", got.stdout, tc.stdout)
			if !strings.Contains(got.stderr, tc.stderr) || (tc.stderr == "" && got.stderr != "") {
				t.Errorf("got stderr %q, want %q in it", got.stderr, tc.stderr)
			}
			var want []recordedRequest
			if tc.asks != "" {
				want = []recordedRequest{{tc.asks, tc.body, "Bearer s3"}}
			}
			check.Diff(t, "requests", asks(), want, cmp.AllowUnexported(recordedRequest{}))
		})
		if tc.asks != "" {
			name, _, _, _ := resolveForTest(t, append([]string{"browser"}, splitWords(tc.line)...))
			tried[name] = true
		}
	}
	for _, section := range browserSections() {
		for _, c := range section.commands() {
			if !tried["browser "+c.name] {
				t.Errorf("no conversation tries %q", c.name)
			}
		}
	}
}
