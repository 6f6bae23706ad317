package control_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"clank/browsermgr/control"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/check"
	"clank/sessions"
)

// people answer the approver's questions.
type people struct {
	mu    sync.Mutex
	asked []sessions.Question
	ids   []string
	say   func(q sessions.Question) error // nil says yes
	place string                          // whose profile requests work with; "" = any
}

func (p *people) Ask(_ context.Context, id, _ string, q sessions.Question) error {
	p.mu.Lock()
	p.asked, p.ids = append(p.asked, q), append(p.ids, id)
	say := p.say
	p.mu.Unlock()
	if say == nil {
		return nil
	}
	return say(q)
}

// Profile gives everybody a profile configured like the default one; those of others are refused.
func (p *people) Profile(id, want string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.place == "":
		return want, nil
	case want == "" || want == "clank":
		return "clank@" + p.place, nil
	}
	return "", errors.New("it belongs to others")
}

// classes returns the classes of the questions so far and clears them.
func (p *people) classes() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []string
	for _, q := range p.asked {
		all = append(all, strings.Join(q.Classes, "+"))
	}
	p.asked = nil
	return strings.Join(all, " ")
}

func no(sessions.Question) error { return errors.New("not done: @ada said no") }

// market returns a page where things are bought, and one that changes on request.
func market(t *testing.T) (url string, swap chan struct{}) {
	t.Helper()
	swap = make(chan struct{})
	over := make(chan struct{}) // browsers ask again where a connection broke
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><title>Market</title><button id=b onclick="document.title = this.textContent">Buy a pencil</button>
			<button onclick="document.title = confirm('Delete all?') ? 'gone' : 'kept'">Tidy</button><input type=file aria-label=File>
			<a href="/setup.exe" download>Program</a><script>fetch('/swap').then(() => { b.textContent = 'Buy a yacht' })</script>`)
	})
	mux.HandleFunc("GET /swap", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-swap:
		case <-over:
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("GET /setup.exe", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "MZ") })
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		close(over)
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL, swap
}

// model sends a request on behalf of a model.
func (c *client) model(method, path string, body any) answer {
	c.tb.Helper()
	r := c.request(c.tb.Context(), method, path, body)
	r.Header.Set(control.ApprovalHeader, "id-1")
	return c.send(r)
}

func (c *client) title(target string) string {
	c.tb.Helper()
	return fmt.Sprint(c.ok("POST", "/act",
		map[string]any{"targetId": target, "kind": "evaluate", "fn": "document.title"}).body["result"])
}

func TestWhatModelsSetOffIsAskedFirst(t *testing.T) {
	p := &people{}
	c := serve(t, func(s *control.Server) { s.Approver = p })
	base, _ := market(t)
	target := c.ok("POST", "/tabs/open", map[string]any{"url": base}).str("targetId")
	buy := c.ref(target, "Buy a pencil")
	for _, tt := range []struct {
		name  string
		path  string
		body  map[string]any
		asked string
	}{
		{"a click that buys", "/act", map[string]any{"kind": "click", "ref": buy}, "buy"},
		{"in a batch", "/act", map[string]any{"kind": "batch", "actions": []any{
			map[string]any{"kind": "hover", "ref": buy},
			map[string]any{"kind": "click", "selector": "#b"},
		}}, "buy"},
		{
			"in a batch in a batch", "/act",
			map[string]any{
				"kind": "batch",
				"actions": []any{map[string]any{
					"kind":    "batch",
					"actions": []any{map[string]any{"kind": "click", "selector": "#b"}},
				}},
			},
			"buy",
		},
		{"a script", "/act", map[string]any{"kind": "evaluate", "fn": "b.click()"}, "safety"},
		{"a script to wait for", "/act", map[string]any{"kind": "wait", "fn": "b.click() || true"}, "safety"},
	} {
		tt.body["targetId"] = target
		p.say = no
		got := c.model("POST", tt.path, tt.body)
		refused := got.status == http.StatusForbidden && got.str("reason") == control.ReasonConsentRefused ||
			strings.Contains(got.text, `"ok":false`)
		if !refused || !strings.Contains(got.text, "not done: @ada said no") || p.classes() != tt.asked {
			t.Errorf("%s, and the answer is no: %d %s", tt.name, got.status, got.text)
		}
		if got := c.title(target); got != "Market" {
			t.Fatalf("%s was done: %s", tt.name, got)
		}
		p.say = nil
		if got := c.model("POST", tt.path, tt.body); got.status != http.StatusOK || p.classes() != tt.asked {
			t.Errorf("%s, and the answer is yes: %d %s", tt.name, got.status, got.text)
		}
		if got := c.title(target); got != "Buy a pencil" {
			t.Errorf("%s was not done: %s", tt.name, got)
		}
		c.ok("POST", "/act", map[string]any{"targetId": target, "kind": "evaluate", "fn": "void (document.title = 'Market')"})
	}
	check.Equal(t, "a person's own requests asked about", p.classes(), "")
	want := []string{"id-1"}
	check.Diff(t, "ids", p.ids[:1], want)
}

func TestModelsGetCookiesAndRecordingsIfPeopleAgree(t *testing.T) {
	p := &people{}
	c := serve(t, func(s *control.Server) { s.Approver = p })
	target := c.open("/")
	for _, tt := range []struct{ method, path, asked string }{
		{"GET", "/cookies", "login"},
		{"GET", "/har", "safety"},
		{"POST", "/trace/start", "safety"},
		{"POST", "/trace/stop", "safety"},
	} {
		path, body := tt.path, any(map[string]any{"targetId": target})
		if tt.method == "GET" {
			path, body = path+"?targetId="+target, nil
		}
		p.say = no
		if got := c.model(tt.method, path, body); got.status != http.StatusForbidden || p.classes() != tt.asked {
			t.Errorf("%s, and the answer is no: %d %s", tt.path, got.status, got.text)
		}
		p.say = nil
		if got := c.model(tt.method, path, body); got.status != http.StatusOK || p.classes() != tt.asked {
			t.Errorf("%s, and the answer is yes: %d %s", tt.path, got.status, got.text)
		}
	}
	c.ok("GET", "/cookies?targetId="+target, nil)
	check.Equal(t, "a person's own requests asked about", p.classes(), "")
}

func TestGoingElsewhereDialogsAndFilesAreAskedFirst(t *testing.T) {
	p := &people{}
	c := serve(t, func(s *control.Server) { s.Approver = p })
	base, _ := market(t)
	target := c.ok("POST", "/tabs/open", map[string]any{"url": base}).str("targetId")
	p.say = no
	refused := func(path string, body map[string]any, asked, text string) {
		t.Helper()
		got := c.model("POST", path, body)
		p.mu.Lock()
		said := ""
		if len(p.asked) > 0 {
			said = p.asked[0].Text
		}
		p.mu.Unlock()
		if classes := p.classes(); got.status != http.StatusForbidden || classes != asked || !strings.HasPrefix(said, text) {
			t.Errorf("%s %v: %d %s; asked about %q: %s", path, body, got.status, got.text, classes, said)
		}
	}
	refused("/navigate", map[string]any{"url": "https://elsewhere.example/", "targetId": target}, "leave",
		"Go to elsewhere.example")
	refused("/tabs/open", map[string]any{"url": "https://elsewhere.example/"}, "leave", "Go to elsewhere.example")
	refused("/hooks/dialog", map[string]any{"accept": true, "targetId": target}, "safety",
		"Say yes to whatever is asked next by the page at 127.0.0.1")
	check.Must(t, os.MkdirAll(features.Dir+"/uploads", 0o700))
	file := c.ref(target, "File")
	for path, body := range map[string]map[string]any{ // what is wrong is told without asking anybody
		"/hooks/file-chooser": {"paths": []string{"taxes.pdf"}, "inputRef": file, "targetId": target},
		"/download":           {"ref": c.ref(target, "Program"), "path": "../../x.exe", "targetId": target},
		"/trace/stop":         {"path": "../../x.zip", "targetId": target},
		"/navigate":           {"url": "gopher://elsewhere.example/", "targetId": target},
		"/hooks/dialog":       {"targetId": target},
	} {
		if got := c.model("POST", path, body); got.status != http.StatusBadRequest || p.classes() != "" {
			t.Errorf("%s %v: %d %s", path, body, got.status, got.text)
		}
	}
	check.Must(t, os.WriteFile(features.Dir+"/uploads/taxes.pdf", []byte("%PDF-"), 0o600))
	upload := map[string]any{"paths": []string{"taxes.pdf"}, "inputRef": file, "targetId": target}
	refused("/hooks/file-chooser", upload, "submit", `Hand over files to the page at 127.0.0.1`)
	refused("/download", map[string]any{"ref": c.ref(target, "Program"), "path": "x.exe", "targetId": target},
		"executable", "Download a program")
	if got := c.model("POST", "/act", map[string]any{
		"kind": "click", "ref": c.ref(target, "Tidy"),
		"targetId": target,
	}); got.body["blockedByDialog"] != true {
		t.Fatalf("the click: %s", got.text)
	}
	refused("/hooks/dialog", map[string]any{"accept": true, "targetId": target}, "delete", "Delete or cancel something")
	if got := c.model("POST", "/hooks/dialog",
		map[string]any{"accept": false, "targetId": target}); got.status != http.StatusOK || p.classes() != "" {
		t.Errorf("to dismiss: %d %s", got.status, got.text)
	}
	check.Equal(t, "title", c.title(target), "kept")
}

func TestAPageThatChangesItsMeaningWhileAPersonThinksIsAskedAboutAgain(t *testing.T) {
	p := &people{}
	c := serve(t, func(s *control.Server) { s.Approver = p })
	base, swap := market(t)
	target := c.ok("POST", "/tabs/open", map[string]any{"url": base}).str("targetId")
	buy := c.ref(target, "Buy a pencil")
	details := []string{}
	p.say = func(q sessions.Question) error {
		details = append(details, q.Detail)
		if q.Detail == "Buy a yacht" {
			return no(q)
		}
		swap <- struct{}{}
		eventually(t, "the button is another one", func() bool {
			return strings.Contains(c.do("GET", "/text?targetId="+target, nil).text, "yacht")
		})
		return nil
	}
	got := c.model("POST", "/act", map[string]any{"kind": "click", "ref": buy, "targetId": target})
	if got.status != http.StatusForbidden || strings.Join(details, ", ") != "Buy a pencil, Buy a yacht" {
		t.Errorf("asked about %q: %d %s", details, got.status, got.text)
	}
	check.Equal(t, "title", c.title(target), "Market")
}

func TestModelsMayUseTheRoutesOfTheirToolAlone(t *testing.T) {
	p := &people{}
	c := serve(t, func(s *control.Server) { s.Approver = p })
	for _, path := range []string{
		"/permissions/grant", "/cookies/set", "/storage/local/set", "/set/headers",
		"/set/credentials", "/profiles/create", "/cookies/clear", "/highlight",
	} {
		if got := c.model("POST", path, map[string]any{}); got.status != http.StatusForbidden &&
			got.status != http.StatusNotFound || got.status == http.StatusForbidden &&
			!strings.Contains(got.text, "is not for models") {
			t.Errorf("%s: %d %s", path, got.status, got.text)
		}
	}
	if got := c.model("POST", "/permissions/grant", map[string]any{}); got.status != http.StatusForbidden {
		t.Errorf("a grant: %d %s", got.status, got.text)
	}
	for _, name := range control.ModelRoutes() {
		if !slices.Contains(control.RouteTable(), name) {
			t.Errorf("there is no route %s", name)
		}
	}
	if got := c.model("GET", "/", nil); got.status != http.StatusOK {
		t.Errorf("the status: %d %s", got.status, got.text)
	}
}

func TestAModelWorksInTheBrowserOfWhomItWorksFor(t *testing.T) {
	p := &people{place: "server-1"}
	c := serve(t, func(s *control.Server) { s.Approver = p })
	own := c.open("/") // the operator's
	opened := c.model("POST", "/tabs/open", map[string]any{"url": site})
	if opened.status != http.StatusOK || opened.str("resolvedProfile") != "clank@server-1" {
		t.Fatalf("opened %d %s", opened.status, opened.text)
	}
	for _, path := range []string{"/tabs", "/tabs?profile=clank"} {
		if got := c.model("GET", path, nil); strings.Contains(got.text, own) ||
			!strings.Contains(got.text, opened.str("targetId")) {
			t.Errorf("%s lists %s", path, got.text)
		}
	}
	if got := c.model("GET", "/text?targetId="+own, nil); got.status != http.StatusNotFound {
		t.Errorf("reads the operator's page: %d %s", got.status, got.text)
	}
	if got := c.model("GET", "/profiles", nil); strings.Contains(got.text, `"name":"clank"`) ||
		!strings.Contains(got.text, `"name":"clank@server-1"`) {
		t.Errorf("the profiles: %s", got.text)
	}
	for _, r := range []struct {
		method, path string
		body         any
	}{
		{"GET", "/?profile=user", nil},
		{"GET", "/tabs?profile=clank@server-2", nil},
		{"POST", "/start?profile=user", map[string]any{}},
		{"POST", "/tabs/open", map[string]any{"url": site, "profile": "clank@person-2"}},
		{"POST", "/act?profile=user", map[string]any{"kind": "click", "ref": "e1", "profile": "clank"}},
	} {
		if got := c.model(r.method, r.path, r.body); got.status != http.StatusForbidden ||
			got.str("reason") != control.ReasonProfileRefused {
			t.Errorf("%s %s: %d %s", r.method, r.path, got.status, got.text)
		}
	}
	if got := c.ok("GET", "/tabs", nil); strings.Contains(got.text, opened.str("targetId")) {
		t.Errorf("the operator's profile has the place's tab: %s", got.text)
	}
}

func TestWithoutAnybodyToAskTheAnswerIsNo(t *testing.T) {
	c := serve(t, nil)
	target := c.open("/")
	for kind, want := range map[string]int{"evaluate": http.StatusForbidden, "hover": http.StatusOK} {
		body := map[string]any{"kind": kind, "targetId": target}
		if kind == "evaluate" {
			body["fn"] = "1"
		} else {
			body["ref"] = c.ref(target, "Press me")
		}
		if got := c.model("POST", "/act", body); got.status != want {
			t.Errorf("%s: %d %s", kind, got.status, got.text)
		}
	}
}

// A model answers the dialog between the assessment and its click.
func TestNothingIsDoneUnaskedWhenADialogGoes(t *testing.T) {
	p := &people{say: no}
	url, _ := market(t)
	c := serve(t, func(s *control.Server) { s.Approver = p })
	target := c.ok("POST", "/tabs/open", map[string]any{"url": url}).str("targetId")
	act := page.Action{Kind: actiontable.KindClick, Ref: c.ref(target, "Buy a pencil")}
	c.ok("POST", "/act", map[string]any{"kind": "evaluate", "targetId": target, "fn": "setTimeout(() => alert('x'))"})
	eventually(t, "the dialog is there", func() bool {
		return strings.Contains(c.do("GET", "/dialogs?targetId="+target, nil).text, "alert")
	})
	profile, err := shared.FindProfile("")
	check.Must(t, err)
	use, err := profile.Acquire(t.Context(), false)
	check.Must(t, err)
	defer use.Release()
	tab := use.Browser.Tab(target)
	err = control.DoApproved(t.Context(), p, tab, act, func() error {
		c.ok("POST", "/hooks/dialog", map[string]any{"accept": true, "targetId": target})
		return check.Err(tab.Act(t.Context(), act))
	})
	if _, held := errors.AsType[*page.DialogError](err); !held {
		t.Errorf("got %v", err)
	}
	c.ok("POST", "/hooks/dialog", map[string]any{"accept": true, "targetId": target})
	check.Equal(t, "title", c.title(target), "Market")
}

func TestItIsKnownWhichModelWorksATab(t *testing.T) {
	c := serve(t, func(s *control.Server) { s.Approver = &people{} })
	target := c.model("POST", "/tabs/open", map[string]any{"url": site + "/"}).str("targetId")
	person := c.open("/")
	for _, step := range []struct {
		what string
		do   func()
		tab  string
		want string
	}{
		{"a model opened it", func() {}, target, "id-1"},
		{"a person opened it", func() {}, person, ""},
		{"a person looks at it", func() { c.ok("GET", "/snapshot?targetId="+target, nil) }, target, "id-1"},
		{"a model takes it over", func() { c.model("GET", "/snapshot?targetId="+person, nil) }, person, "id-1"},
		{"a person takes it back", func() { c.title(target) }, target, ""},
		{
			"it closed it", func() { c.model("POST", "/act", map[string]any{"kind": "close", "targetId": person}) }, person,
			"id-1",
		},
	} {
		step.do()
		check.Equal(t, step.what, shared.TabModel(step.tab), step.want)
	}
}

// fullDisk has no free space.
type fullDisk struct {
	control.FileHost

	why error
}

func (d fullDisk) Room(int64) error { return d.why }

func TestPicturesAreNotKeptWithoutRoom(t *testing.T) {
	full := errors.New("the disk is nearly full")
	f := &control.Features{Dir: t.TempDir(), Host: fullDisk{why: full}}
	_, err := f.SavePicture("clank", ".png", []byte("x"))
	status, refused := errors.AsType[*control.StatusError](err)
	if !refused || status.Status != http.StatusInsufficientStorage || !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	if files, _ := os.ReadDir(f.Dir); len(files) > 0 {
		t.Errorf("got %v", files)
	}
}
