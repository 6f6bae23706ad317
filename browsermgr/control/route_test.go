package control_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/control"
	"clank/internal/test/browsertest"

	"github.com/google/go-cmp/cmp"
)

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
		control.NewRoute("POST", "/thing/{id}", "Does it.", func(context.Context, *control.Call) (answer, error) { return answer{}, nil }).
			WithQuery(control.OptionalParam("q", "integer", "how many")).
			WithBody(control.RequiredParam("name", "string", "which"), control.EnumParam("how", "so", "a", "b"), control.OptionalParam("list", "objects", "them")),
	}
	data, err := json.Marshal(control.OpenAPIDocument(routes, ""))
	browsertest.Must(t, err)
	var doc map[string]any
	browsertest.Must(t, json.Unmarshal(data, &doc))
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

// called is the status of a request with that query and body. find looks at it as a handler does: it runs once if the request is good, and
// else never.
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
		if code := called(t, c.query, c.kind, c.body, func(c *control.Call) { got = c.Profile() }); code != http.StatusOK || got != c.want {
			t.Errorf("%+v: got %d %q", c, code, got)
		}
	}
}

func TestTimesAreHeldBetweenBounds(t *testing.T) {
	for body, want := range map[string]time.Duration{
		`{}`: 5 * time.Second, `{"timeoutMs":1}`: time.Second, `{"timeoutMs":"3000"}`: 3 * time.Second, `{"timeoutMs":1000000}`: 2 * time.Minute,
	} {
		code := called(t, "", "", body, func(c *control.Call) {
			if got := c.Timeout(5*time.Second, time.Second); got != want || c.Err() != nil {
				t.Errorf("%s: got %v %v, want %v", body, got, c.Err(), want)
			}
		})
		if code != http.StatusOK {
			t.Errorf("%s: got %d", body, code)
		}
	}
	code := called(t, "", "", `{"timeoutMs":"soon"}`, func(c *control.Call) {
		c.Timeout(5*time.Second, time.Second)
		if _, err := c.Tab(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "timeoutMs") {
			t.Errorf("a tab is looked for though the time is wrong: %v", err)
		}
	})
	if code != http.StatusOK {
		t.Errorf("got %d", code)
	}
}

func TestBodiesThatAreNoneAreToldAsSuch(t *testing.T) {
	for body, want := range map[string]int{"{": 400, strings.Repeat(" ", 1<<20+1): 413, `[1]`: 200, "": 200} {
		if got := called(t, "", "application/json", body, func(*control.Call) {}); got != want {
			t.Errorf("%.10q: got %d, want %d", body, got, want)
		}
	}
}
