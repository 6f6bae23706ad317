package browsertool_test

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"clank/browseagent/browsertool"
	"clank/browsermgr/page/action/actiontable"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func TestCallsBecomeRequests(t *testing.T) {
	a := newAPI(t)
	for _, line := range []string{
		"GET /doctor", "GET /", "POST /start", "POST /stop", "GET /profiles", "GET /tabs", "POST /tabs/open", "POST /tabs/focus", "DELETE /tabs/t1",
		"GET /snapshot", "POST /navigate", "GET /console", "GET /requests", "GET /errors", "GET /text", "GET /cookies", "POST /trace/start", "POST /trace/stop", "POST /set/device", "POST /set/media",
		"POST /set/timezone", "POST /set/locale", "POST /pdf", "POST /download", "POST /wait/download", "POST /hooks/file-chooser",
		"POST /hooks/dialog", "POST /act",
	} {
		a.on(line, 200, `{"ok":true,"targetId":"T"}`)
	}
	for _, tt := range []struct{ in, want string }{
		{`{"action":"doctor","deep":true}`, `GET /doctor?deep=true`},
		{`{"action":"status","profile":"work"}`, `GET /?profile=work`},
		{`{"action":"start","profile":"work"}`, "POST /start?profile=work {}\nGET /?profile=work"},
		{`{"action":"stop"}`, "POST /stop {}\nGET /"},
		{`{"action":"profiles"}`, `GET /profiles`},
		{`{"action":"tabs","targetId":"","ref":null,"paths":[]}`, `GET /tabs`},
		{`{"action":"open","url":"https://x.test/","label":"docs"}`, `POST /tabs/open {"label":"docs","url":"https://x.test/"}`},
		{`{"action":"open","targetUrl":"https://x.test/"}`, `POST /tabs/open {"url":"https://x.test/"}`},
		{`{"action":"focus","targetId":"t1"}`, `POST /tabs/focus {"targetId":"t1"}`},
		{`{"action":"close","targetId":"t1"}`, `DELETE /tabs/t1`},
		{`{"action":"close"}`, `POST /act {"kind":"close"}`},
		{`{"action":"snapshot"}`, `GET /snapshot?maxChars=40000`},
		{`{"action":"snapshot","mode":"efficient"}`, `GET /snapshot?mode=efficient`},
		{`{"action":"snapshot","snapshotFormat":"ai","maxChars":0}`, `GET /snapshot?format=ai&maxChars=0`},
		{`{"action":"snapshot","snapshotFormat":"aria","limit":7}`, `GET /snapshot?format=aria&limit=7`},
		{`{"action":"snapshot","after":"e7"}`, `GET /snapshot?after=e7&maxChars=40000`},
		{`{"action":"snapshot","query":"sign in","targetId":"t1","interactive":true,"urls":"true"}`, `GET /snapshot?interactive=true&maxChars=0&targetId=t1&urls=true`},
		{`{"action":"navigate","targetUrl":"https://x.test/","targetId":"t1","timeoutMs":900}`, "POST /navigate {\"targetId\":\"t1\",\"timeoutMs\":900,\"url\":\"https://x.test/\"}\nGET /snapshot?mode=efficient&targetId=T"},
		{`{"action":"console","level":"error"}`, `GET /console?level=error`},
		{`{"action":"requests","filter":"api","clear":true}`, `GET /requests?clear=true&filter=api`},
		{`{"action":"errors"}`, `GET /errors`},
		{`{"action":"text","selector":"main","maxChars":100}`, `GET /text?maxChars=100&selector=main`},
		{`{"action":"emulate","device":"iPhone 15","colorScheme":"dark","timezoneId":"Europe/Berlin","locale":"de-DE","targetId":"t1"}`, "POST /set/device {\"name\":\"iPhone 15\",\"targetId\":\"t1\"}\nPOST /set/media {\"colorScheme\":\"dark\",\"targetId\":\"t1\"}\nPOST /set/timezone {\"targetId\":\"t1\",\"timezoneId\":\"Europe/Berlin\"}\nPOST /set/locale {\"locale\":\"de-DE\",\"targetId\":\"t1\"}"},
		{`{"action":"cookies","targetId":"t1"}`, `GET /cookies?targetId=t1`},
		{`{"action":"tracestart"}`, `POST /trace/start {}`},
		{`{"action":"tracestop","path":"a.zip"}`, `POST /trace/stop {"path":"a.zip"}`},
		{`{"action":"pdf"}`, `POST /pdf {}`},
		{`{"action":"download","ref":"e1","path":"a.zip"}`, `POST /download {"path":"a.zip","ref":"e1"}`},
		{`{"action":"waitfordownload","timeoutMs":1000}`, `POST /wait/download {"timeoutMs":1000}`},
		{`{"action":"upload","paths":["a"],"inputRef":"e3"}`, `POST /hooks/file-chooser {"inputRef":"e3","paths":["a"]}`},
		{`{"action":"dialog","accept":false,"promptText":""}`, `POST /hooks/dialog {"accept":false,"promptText":""}`},
		// Fields within request, beside it, and both.
		{`{"action":"act","request":{"kind":"click","ref":"e1"}}`, `POST /act {"kind":"click","ref":"e1"}`},
		{`{"action":"act","kind":"click","ref":"e1","doubleClick":true,"url":""}`, `POST /act {"doubleClick":true,"kind":"click","ref":"e1"}`},
		{`{"action":"act","ref":"e1","targetId":"t1","request":{"kind":"type","text":"  a <b> "}}`, `POST /act {"kind":"type","ref":"e1","targetId":"t1","text":"  a \u003cb\u003e "}`},
		{`{"action":"act","ref":"e9","request":{"kind":"click","ref":"e1"}}`, `POST /act {"kind":"click","ref":"e1"}`},
		{`{"action":"act","kind":"type","ref":"e1","text":""}`, `POST /act {"kind":"type","ref":"e1","text":""}`},
		{`{"action":"act","request":"{\"kind\":\"press\",\"key\":\"Enter\"}"}`, `POST /act {"key":"Enter","kind":"press"}`},
		{`{"action":"act","request":{"kind":"dragCoords","x":0,"y":1.5,"endX":2,"endY":3},"profile":"work"}`, `POST /act?profile=work {"endX":2,"endY":3,"kind":"dragCoords","x":0,"y":1.5}`},
		{`{"action":"act","profile":"work","request":{"kind":"close","profile":"other","action":"tabs"}}`, `POST /act?profile=work {"kind":"close"}`},
		{`{"kind":"hover","ref":12}`, `POST /act {"kind":"hover","ref":12}`},
		{`{"action":"click","ref":"e1"}`, `POST /act {"kind":"click","ref":"e1"}`},
		{`{"action":"snapshot","request":{"selector":"main"}}`, `GET /snapshot?maxChars=40000&selector=main`},
	} {
		s := a.session()
		s.Tool.Records = true
		r := run(t, s, tt.in)
		if got := a.taken(); got != tt.want || r.IsError {
			t.Errorf("%s\n got  %s\n want %s\n text %s", tt.in, got, tt.want, r.Text)
		}
	}
}

func TestAnArchiveHasTheLatestExchangesThatFit(t *testing.T) {
	a := newAPI(t)
	entry := func(url string) string { return `{"request":{"url":"` + url + `"}}` }
	all := strings.Join([]string{entry("/api/1"), entry("/api/2"), entry("/x"), entry("/api/3")}, ",")
	a.on("GET /har", 200, `{"har":{"log":{"entries":[`+all+`]}}}`)
	s := a.session()
	s.Tool.Records = true
	for in, want := range map[string]string{
		`{"action":"har"}`: `[` + all + `]}}}`,
		`{"action":"har","filter":"api","maxChars":"70"}`: `[` + entry("/api/2") + `,` + entry("/api/3") + `]}},"truncated":"older exchanges`,
		`{"action":"har","filter":"none"}`:                `"entries":[]`,
	} {
		if r := run(t, s, in); r.IsError || !strings.Contains(r.Text, want) || !strings.Contains(r.Text, "EXTERNAL_UNTRUSTED_CONTENT") {
			t.Errorf("%s: got %t %s, want %s", in, r.IsError, r.Text, want)
		}
	}
}

func TestCallsThatMakeNoSenseAreRefusedHere(t *testing.T) {
	a := newAPI(t)
	s := a.session()
	s.Tool.EvaluateEnabled = func() bool { return false }
	for _, tt := range []struct{ in, want string }{
		{`[]`, "not a JSON object"},
		{`{"action":`, "not a JSON object"},
		{`{"action":"tabs"} {}`, "more after it"},
		{``, "is not known; there are"},
		{`{"action":"fly"}`, `action "fly" is not known; there are`},
		{`{"action":"cookies"}`, `action "cookies" is not known; there are`},
		{`{"action":"har"}`, `action "har" is not known; there are`},
		{`{"action":"open"}`, "needs targetUrl"},
		{`{"action":"navigate"}`, "needs targetUrl"},
		{`{"action":"focus"}`, "needs targetId"},
		{`{"action":"close","targetId":".."}`, "does not name a tab"},
		{`{"action":"upload"}`, "needs paths"},
		{`{"action":"emulate"}`, "needs device"},
		{`{"action":"act"}`, "act needs a kind"},
		{`{"action":"act","request":7}`, "request is not an object"},
		{`{"action":"tabs","target":"moon"}`, "target must be"},
		{`{"action":"act","kind":"evaluate","fn":"1"}`, "browser.evaluateEnabled=false"},
		{`{"action":"act","kind":"wait","fn":"1"}`, "browser.evaluateEnabled=false"},
		{`{"action":"act","request":{"kind":"batch","actions":[{"kind":"batch","actions":[{"kind":"evaluate"}]}]}}`, "browser.evaluateEnabled=false"},
	} {
		r := run(t, s, tt.in)
		if !r.IsError || !strings.Contains(r.Text, tt.want) {
			t.Errorf("%s: got %t %q, want %q", tt.in, r.IsError, r.Text, tt.want)
		}
	}
	if got := a.taken(); got != "" {
		t.Errorf("these were sent: %s", got)
	}
}

func TestATabIDCannotLeaveItsPlaceInThePath(t *testing.T) {
	a := newAPI(t)
	run(t, a.session(), `{"action":"close","targetId":"../profiles/work?x#y"}`)
	if got, want := a.taken(), "DELETE /tabs/"+url.PathEscape("../profiles/work?x#y"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// FuzzRun checks that no input of a model breaks the tool or makes it ask for
// anything but the routes it knows.
func FuzzRun(f *testing.F) {
	for _, s := range []string{
		`{"action":"act","request":{"kind":"click"}}`, `{"action":"snapshot","query":"a b"}`, `{"action":{"a":1},"request":"{"}`, `{"action":"close","targetId":"/../.."}`,
		`{"action":"act","kind":"batch","actions":[1,{"kind":"wait","timeMs":"x"}],"timeoutMs":1e300}`,
	} {
		f.Add(s)
	}
	known := " / /doctor /start /stop /profiles /tabs /tabs/open /tabs/focus /snapshot /screenshot /navigate /console /requests /errors /text /pdf /download " +
		"/cookies /har /trace/start /trace/stop /set/device /set/media /set/timezone /set/locale /wait/download /hooks/file-chooser /hooks/dialog /act "
	f.Fuzz(func(t *testing.T, in string) {
		c := &recorder{}
		r := run(t, c.session(), in)
		if r.Text == "" {
			t.Error("the model is told nothing")
		}
		if !r.IsError && len(c.paths) == 0 {
			t.Errorf("%q succeeded without asking for anything", in)
		}
		for _, path := range c.paths {
			rest, isTab := strings.CutPrefix(path, "/tabs/")
			if !strings.Contains(known, " "+path+" ") && (!isTab || strings.Contains(rest, "/") || rest == "..") {
				t.Errorf("%q asked for %s", in, path)
			}
		}
	})
}

// recorder is a Caller without a network that says yes to all.
type recorder struct{ paths []string }

func (r *recorder) Call(_ context.Context, _, path string, _ url.Values, _ any) (int, json.RawMessage, error) {
	r.paths = append(r.paths, path)
	return 200, json.RawMessage(`{"ok":true,"targetId":"T","snapshot":"- button","tabs":[]}`), nil
}

func (r *recorder) session() *browsertool.Session {
	targets := browsertool.Targets{Host: &browsertool.Target{API: r}, AllowHostControl: true}
	return &browsertool.Session{Tool: &browsertool.Tool{Targets: targets, Records: true}}
}

func TestTheToolTakesEveryActionOfTheTable(t *testing.T) {
	d := (&browsertool.Tool{}).Definition()
	var schema struct {
		Properties map[string]struct {
			Type string
			Enum []string
		}
	}
	if err := json.Unmarshal(d.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	for _, kind := range actiontable.Kinds(actiontable.API) {
		spec, _ := actiontable.Lookup(actiontable.API, actiontable.Kind(kind))
		if !slices.Contains(schema.Properties["kind"].Enum, kind) || !strings.Contains(d.Description, kind+spec.Sketch) {
			t.Errorf("%s is not offered", kind)
		}
		for _, p := range spec.ParamsIn(actiontable.API) {
			want := strings.Replace(p.Type.String(), "objects", "array", 1)
			if got := schema.Properties[p.Name]; got.Type != want || !slices.Equal(got.Enum, p.Enum) {
				t.Errorf("%s %s: got %+v, want %s of %q", kind, p.Name, got, want, p.Enum)
			}
			a := newAPI(t)
			a.on("POST /act", 200, `{"ok":true}`)
			run(t, a.session(), `{"action":"act","kind":"`+kind+`","`+p.Name+`":7}`)
			if got := a.taken(); !strings.Contains(got, `"`+p.Name+`":7`) {
				t.Errorf("%s beside action is not sent: %s", p.Name, got)
			}
		}
	}
}

func TestTheSchemaIsOneFlatObjectThatCostsLittle(t *testing.T) {
	for _, evaluates := range []bool{true, false} {
		d := (&browsertool.Tool{EvaluateEnabled: func() bool { return evaluates }}).Definition()
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(d.Schema)))
		if err != nil {
			t.Fatalf("%s: %v", d.Schema, err)
		}
		comp := jsonschema.NewCompiler()
		if err := comp.AddResource("mem:///tool.json", doc); err != nil {
			t.Fatal(err)
		}
		if _, err := comp.Compile("mem:///tool.json"); err != nil {
			t.Error(err)
		}
		for _, word := range []string{"anyOf", "oneOf", "allOf", "$ref"} {
			if strings.Contains(string(d.Schema), `"`+word+`"`) {
				t.Errorf("the schema has %s", word)
			}
		}
		size := len(d.Name) + len(d.Description) + len(d.Schema)
		tokens := float64(size) / 3.5
		t.Logf("%d bytes, about %.0f tokens", size, tokens)
		if tokens >= 3000 {
			t.Errorf("the tool costs about %.0f tokens", tokens)
		}
		if strings.Contains(d.Description, "%") {
			t.Errorf("a part of the description was not filled in: %s", d.Description)
		}
	}
}

func TestTheSchemaHidesWhatCannotBeDone(t *testing.T) {
	for _, evaluates := range []bool{true, false} {
		d := (&browsertool.Tool{EvaluateEnabled: func() bool { return evaluates }}).Definition()
		var s struct {
			Properties map[string]struct{ Enum []string } `json:"properties"`
		}
		if err := json.Unmarshal(d.Schema, &s); err != nil {
			t.Fatal(err)
		}
		_, fn := s.Properties["fn"]
		kinds := s.Properties["kind"].Enum
		if slices.Contains(kinds, "evaluate") != evaluates || fn != evaluates || strings.Contains(d.Description, "evaluate") != evaluates ||
			!slices.Contains(kinds, "batch") {
			t.Errorf("scripts may run: %t; kinds %v, fn %t, %s", evaluates, kinds, fn, d.Description)
		}
	}
}
