package control_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/control"
	"clank/browsermgr/fault"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/check"

	"github.com/google/go-cmp/cmp"
)

func decode(t *testing.T, text string) *control.RequestFields {
	t.Helper()
	f, err := control.DecodeFields([]byte(text))
	check.Must(t, err)
	return f
}

func TestStringsAreTrimmedAndScalarsWrittenOut(t *testing.T) {
	for given, want := range map[string]string{
		`" a b "`: "a b", `12`: "12", `1e3`: "1000", `1.5`: "1.5", `-0.25`: "-0.25", `true`: "true", `null`: "", `{}`: "",
		`["a"]`: "", `""`: "",
	} {
		f := decode(t, `{"v":`+given+`}`)
		if got := f.String("v"); got != want || f.Err() != nil {
			t.Errorf("String of %s: got %q, %v; want %q", given, got, f.Err(), want)
		}
	}
}

func TestWholeNumbersAreStrict(t *testing.T) {
	const bad = "v must be a positive integer."
	for given, want := range map[string]any{
		`25`: 25, `"25"`: 25, `" 25 "`: 25, `25.0`: 25, `1e3`: 1000, `"+7"`: 7, `null`: nil, `""`: nil, `"  "`: nil,
		`"0x10"`: bad, `"1e3"`: bad, `"1000ms"`: bad, `"1.5"`: bad, `1.5`: bad, `0`: bad, `-1`: bad, `"--1"`: bad,
		`true`: bad, `[1]`: bad,
		`{}`: bad, `1e999`: bad, `"9007199254740993"`: bad, `"."`: bad, `"-"`: bad, `"NaN"`: bad, `"Infinity"`: bad,
		`"1_000"`: bad,
	} {
		f := decode(t, `{"v":`+given+`}`)
		n, ok := f.Positive("v")
		var got any
		switch {
		case f.Err() != nil:
			got = f.Err().Error()
			if !errors.Is(f.Err(), fault.ErrInvalid) {
				t.Errorf("%s: %v does not wrap ErrInvalid", given, f.Err())
			}
		case ok:
			got = n
		}
		check.Diff(t, "Positive of "+given, got, want)
	}
}

func TestTheKindsOfNumbersDiffer(t *testing.T) {
	f := decode(t, `{"zero":0,"minus":"-3","x":"42.5","half":0.5}`)
	if n, ok := f.NonNegative("zero"); n != 0 || !ok {
		t.Errorf("NonNegative of 0: got %d, %t", n, ok)
	}
	if n, ok := f.Number("x"); n != 42.5 || !ok {
		t.Errorf(`Number of "42.5": got %g, %t`, n, ok)
	}
	if f.Err() != nil {
		t.Fatal(f.Err())
	}
	for read, want := range map[string]string{
		"negative": "minus must be a non-negative integer.", "whole": "half must be a non-negative integer.",
		"finite": "w must be a finite number.",
	} {
		f := decode(t, `{"minus":-3,"half":0.5,"w":"1e5"}`)
		switch read {
		case "negative":
			f.NonNegative("minus")
		case "whole":
			f.NonNegative("half")
		case "finite":
			f.Number("w")
		}
		if f.Err() == nil || f.Err().Error() != want {
			t.Errorf("%s: got %v, want %q", read, f.Err(), want)
		}
	}
}

func TestBooleansAcceptTheWordsOfClients(t *testing.T) {
	for given, want := range map[string]string{
		`true`: "true", `false`: "false", `"TRUE"`: "true", `"1"`: "true", `"Yes"`: "true", `"false"`: "false",
		`"0"`: "false", `" no "`: "false",
		`1`: "undefined", `0`: "undefined", `"maybe"`: "undefined", `null`: "undefined", `[]`: "undefined",
	} {
		value, ok := decode(t, `{"v":`+given+`}`).Bool("v")
		got := map[bool]string{true: "true", false: "false"}[value]
		if !ok {
			got = "undefined"
		}
		check.Equal(t, "Bool of "+given, got, want)
	}
	if !decode(t, `{}`).Flag("v", true) {
		t.Error("an undefined flag is not what it is otherwise")
	}
}

func TestListsDropBlanksWhereTheyMeanNothing(t *testing.T) {
	f := decode(t, `{"v":[" a ","",null,3,{},true," "],"no":"a"}`)
	check.Diff(t, "Strings", f.Strings("v"), []string{"a", "3", "true"})
	if got := f.Strings("no"); got != nil {
		t.Errorf("a text is a list: %q", got)
	}
}

func TestBodiesThatAreNoObjectsHaveNoFields(t *testing.T) {
	for _, text := range []string{"", " \n", "null", "[1,2]", `"x"`, "3", "{}"} {
		if f := decode(t, text); f.Has("x") || f.String("x") != "" {
			t.Errorf("%q has fields", text)
		}
	}
	for text, want := range map[string]string{
		"{": "is not JSON", `{"a":1}}`: "is not JSON", "{} {}": "is not JSON", "undefined": "is not JSON",
		"{\"text\":\"caf\xe9\"}": "the body is not valid UTF-8",
	} {
		check.Fails(t, check.Err(control.DecodeFields([]byte(text))), fault.ErrInvalid, want)
	}
	check.Fails(t, control.QueryFields(url.Values{"query": {"caf\xe9"}}).Err(), fault.ErrInvalid, "query is not valid")
}

func TestTheFirstMistakeIsTold(t *testing.T) {
	f := decode(t, `{"b":"x"}`)
	f.Required("a")
	f.Positive("b")
	check.Equal(t, "error", f.Err().Error(), "a is required")
	check.Diff(t, "Asked", f.NamesRead(), []string{"a", "b"})
}

func TestNestedObjects(t *testing.T) {
	f := decode(t, `{"many":[{"a":2},7],"none":[]}`)
	many, ok := f.Objects("many")
	if !ok || len(many) != 2 || many[0].String("a") != "2" || many[1].Has("a") {
		t.Errorf("Objects: %v, %t", many, ok)
	}
	if list, ok := f.Objects("none"); !ok || len(list) != 0 {
		t.Errorf("an empty list: %v, %t", list, ok)
	}
}

func TestNumbersStayWithinTheirBounds(t *testing.T) {
	q := control.QueryFields(url.Values{"low": {"1", "9"}, "high": {"99999"}, "fit": {"700"}})
	for name, want := range map[string]int{"low": 500, "high": 60000, "fit": 700, "absent": 8000} {
		check.Equal(t, "Clamp("+name+")", q.Clamp(name, 8000, 500, 60000), want)
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"v":"25"}`, `{"v":1e400}`, `[]`, `{"v":[1,"",null]}`, `{"v":[{"v":1}]}`,
		`{"v":"0x1p-2"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fields, err := control.DecodeFields(data)
		if err != nil {
			if !errors.Is(err, fault.ErrInvalid) {
				t.Fatalf("%v does not wrap ErrInvalid", err)
			}
			return
		}
		if s := fields.String("v"); s != strings.TrimSpace(s) {
			t.Fatalf("%q is not trimmed", s)
		}
		if slices.Contains(fields.Strings("v"), "") {
			t.Fatal("a blank entry")
		}
		n, ok := fields.Positive("v")
		if ok && (n < 1 || fields.Err() != nil) || !ok && n != 0 {
			t.Fatalf("Positive: %d, %t, %v", n, ok, fields.Err())
		}
		fields.Number("v")
		fields.Bool("v")
		if list, ok := fields.Objects("v"); ok && len(list) > 0 {
			list[0].Text("v")
		}
		if fields.Err() != nil && !errors.Is(fields.Err(), fault.ErrInvalid) {
			t.Fatalf("%v does not wrap ErrInvalid", fields.Err())
		}
	})
}

func TestADocumentDescribesWhatARouteTakesAndAnswers(t *testing.T) {
	type inner struct {
		OK bool `json:"ok"`
	}
	type answer struct {
		inner

		At    time.Time         `json:"at"`
		Names []string          `json:"names"`
		More  map[string]int    `json:"more,omitempty"`
		Any   *json.RawMessage  `json:"any"`
		Out   string            `json:"-"`
		Plain map[string]string // named as it is
	}
	routes := []control.Route{
		control.NewRoute("POST", "/thing/{id}", "Does it.", func(context.Context, *control.Call) (answer, error) {
			return answer{}, nil
		}).
			WithQuery(control.OptionalParam("q", "integer", "how many")).
			WithBody(control.RequiredParam("name", "string", "which"), control.EnumParam("how", "so", "a", "b"),
				control.OptionalParam("list", "objects", "them")),
	}
	data, err := json.Marshal(control.OpenAPIDocument(routes, ""))
	check.Must(t, err)
	var doc map[string]any
	check.Must(t, json.Unmarshal(data, &doc))
	at := func(path ...string) any {
		var v any = doc
		for _, name := range path {
			m, _ := v.(map[string]any)
			v = m[name]
		}
		return v
	}
	post := []string{"paths", "/thing/{id}", "post"}
	body := append(post[:3:3], "requestBody", "content", "application/json", "schema")
	done := append(post[:3:3], "responses", "200", "content", "application/json", "schema", "properties")
	got := map[string]any{
		"version": at("info", "version"), "required": at(append(slices.Clip(body), "required")...),
		"how": at(append(slices.Clip(body), "properties", "how", "enum")...), "answer": at(done...),
		"parameters": len(at(append(post[:3:3], "parameters")...).([]any)),
	}
	str := map[string]any{"type": "string"}
	want := map[string]any{
		"version": "dev", "required": []any{"name"}, "how": []any{"a", "b"}, "parameters": 3,
		"answer": map[string]any{
			"ok": map[string]any{"type": "boolean"}, "at": map[string]any{"type": "string", "format": "date-time"},
			"names": map[string]any{"type": "array", "items": str}, "any": map[string]any{},
			"more":  map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "integer"}},
			"Plain": map[string]any{"type": "object", "additionalProperties": str},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// called returns the status of a request with that query and body. find reads it as a handler does: it runs once if the
// request is valid, and never otherwise.
func called(t *testing.T, query, kind, body string, find func(*control.Call)) int {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/x?"+query, strings.NewReader(body))
	r.Header.Set("Content-Type", kind)
	ran, want := 0, 0
	control.ReadJSONBody(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ran++
		find(control.NewCall(nil, w, r))
	})).ServeHTTP(w, r)
	if w.Code == http.StatusOK {
		want = 1
	}
	if ran != want {
		t.Errorf("?%s %.20q: answered %d, and the handler ran %d times", query, body, w.Code, ran)
	}
	return w.Code
}

func TestAProfileOfTheQueryCountsFirst(t *testing.T) {
	for _, c := range []struct{ query, kind, body, want string }{
		{"profile=a", "application/json", `{"profile":"b"}`, "a"},
		{"", "application/json; charset=utf-8", `{"profile":"b"}`, "b"},
		{"profile=", "application/problem+json", `{"profile":"b"}`, "b"},
		{"", "text/plain", `{"profile":"b"}`, ""},
		{"", "", ``, ""},
	} {
		var got string
		if code := called(t, c.query, c.kind, c.body, func(c *control.Call) { got = c.Profile() }); code != http.StatusOK ||
			got != c.want {
			t.Errorf("%+v: got %d %q", c, code, got)
		}
	}
}

func TestABodyOfAnotherTypeIsToldWhereAFieldIsMissing(t *testing.T) {
	for kind, told := range map[string]bool{
		"application/x-www-form-urlencoded": true, "text/plain; charset=utf-8": true, "application/json": false,
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/x", strings.NewReader(`{"nam":"work"}`))
		r.Header.Set("Content-Type", kind)
		control.ReadJSONBody(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c := control.NewCall(nil, w, r)
			c.Body.Required("name")
			control.WriteError(w, c.Err())
		})).ServeHTTP(w, r)
		if text := w.Body.String(); w.Code != http.StatusBadRequest || !strings.Contains(text, "name is required") ||
			strings.Contains(text, "not application/json") != told {
			t.Errorf("%s: got %d %s", kind, w.Code, text)
		}
	}
}

func TestTimesAreHeldBetweenBounds(t *testing.T) {
	for body, want := range map[string]time.Duration{
		`{}`: 5 * time.Second, `{"timeoutMs":1}`: time.Second, `{"timeoutMs":"3000"}`: 3 * time.Second,
		`{"timeoutMs":1000000}`: 2 * time.Minute,
	} {
		code := called(t, "", "", body, func(c *control.Call) {
			if got := c.Timeout(5*time.Second, time.Second); got != want || c.Err() != nil {
				t.Errorf("%s: got %v %v, want %v", body, got, c.Err(), want)
			}
		})
		check.Equal(t, body, code, http.StatusOK)
	}
}

func TestTheDocumentListsEveryRouteThatIsServed(t *testing.T) {
	c := serve(t, nil)
	doc := c.ok("GET", "/openapi.json", nil)
	check.Equal(t, "openapi", doc.str("openapi"), "3.1.0")
	paths, _ := doc.body["paths"].(map[string]any)
	listed := map[string]bool{}
	for path, item := range paths {
		for method, op := range item.(map[string]any) {
			listed[strings.ToUpper(method)+" "+path] = true
			if o, _ := op.(map[string]any); o["summary"] == "" || o["responses"] == nil {
				t.Errorf("%s %s is not described", method, path)
			}
		}
	}
	served := map[string]bool{}
	for _, route := range control.RouteTable() {
		served[route] = true
	}
	check.Diff(t, "served and listed", listed, served)
}

func TestHandlersReadNothingThatTheDocumentDoesNotDeclare(t *testing.T) {
	c := serve(t, nil)
	bodies := map[string][]string{
		"POST /tabs/open": {`{"url":"about:blank","label":"x"}`},
		"POST /navigate":  {`{"url":"about:blank","timeoutMs":1000}`},
		"POST /tabs/action": {
			`{"action":"select","index":0}`, `{"action":"label","targetId":"t1","label":"y"}`,
			`{"action":"new","label":"z"}`,
		},
		"POST /tabs/focus":         {`{"targetId":"x"}`},
		"POST /permissions/grant":  {`{"origin":"https://example.com","permissions":["geolocation"]}`},
		"POST /cookies/set":        {`{"cookie":{"name":"a","value":"b","url":"https://example.com"}}`},
		"POST /storage/{kind}/set": {`{"key":"a","value":"b"}`},
		"POST /profiles/create":    {`{"name":"BAD NAME"}`},
		"POST /hooks/dialog":       {`{"accept":true,"promptText":"x","dialogId":"d1","timeoutMs":500}`},
	}
	for _, route := range control.RouteTable() {
		for _, body := range append([]string{"{}"}, bodies[route]...) {
			if got := control.UndeclaredFields(c.server, "asleep", route, body); len(got) > 0 {
				t.Errorf("%s %s reads %q", route, body, got)
			}
		}
	}
}

func TestTheDocumentDescribesEveryActionOfTheTable(t *testing.T) {
	c := serve(t, nil)
	doc := c.ok("GET", "/openapi.json", nil)
	at := func(v any, path ...string) any {
		for _, name := range path {
			object, _ := v.(map[string]any)
			v = object[name]
		}
		return v
	}
	properties := at(doc.body, "paths", "/act", "post", "requestBody", "content", "application/json", "schema",
		"properties")
	var kinds []string
	for _, kind := range at(properties, "kind", "enum").([]any) {
		kinds = append(kinds, kind.(string))
	}
	check.Diff(t, "kinds", kinds, actiontable.Kinds(actiontable.API))
	for _, kind := range kinds {
		spec, _ := actiontable.Lookup(actiontable.API, actiontable.Kind(kind))
		for _, p := range spec.ParamsIn(actiontable.API) {
			want := p.Type.String()
			if want == "objects" {
				want = "array"
			}
			if got := at(properties, p.Name, "type"); got != want || at(properties, p.Name, "description") == "" {
				t.Errorf("%s %s: got %v, want a described %s", kind, p.Name, got, want)
			}
		}
		for _, body := range []string{`{"kind":"` + kind + `"}`, `{"kind":"` + kind + `","timeoutMs":"x"}`} {
			if a := c.do("POST", "/act", body); a.str("code") == "ACT_KIND_REQUIRED" {
				t.Errorf("%s is not read: %s", kind, a.text)
			}
			if got := control.UndeclaredFields(c.server, "asleep", "POST /act", body); len(got) > 0 {
				t.Errorf("%s reads %q, which the document does not declare", kind, got)
			}
		}
	}
}
