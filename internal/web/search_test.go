package web_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"clank/internal/test/check"
	"clank/internal/web"
)

const (
	braveBody = `{"type":"search","query":{"original":"heron"},"web":{"type":"search","results":[
		{"type":"search_result","title":"Heron &amp; co","url":"https://a.test/1","description":"A <strong>heron</strong> is a bird","age":"2 days ago","page_age":"2026-01-01T00:00:00"},
		{"title":"bad","url":"javascript:alert(1)"},{"title":"again","url":"https://a.test/1"},{"title":"Two","url":"https://a.test/2","page_age":"2025-12-31T00:00:00"}]}}`
	serpBody = `{"search_metadata":{"status":"Success"},"organic_results":[
		{"position":1,"title":"Heron & co","link":"https://a.test/1","snippet":"A heron is a bird","date":"2 days ago"},
		{"position":2,"title":"Two","link":"https://a.test/2","date":"2025-12-31T00:00:00"}]}`
	searxBody = `{"query":"heron","number_of_results":0,"results":[
		{"url":"https://a.test/1","title":"Heron & co","content":"A heron is a bird","engine":"x","score":1.5,"publishedDate":"2 days ago"},
		{"url":"https://a.test/2","title":"Two","content":"","publishedDate":"2025-12-31T00:00:00"},
		{"url":"https://a.test/3","title":"Three","content":"","publishedDate":null}],"unresponsive_engines":[["y","timeout"]]}`
)

// nobody in particular searches, where it does not matter who.
var nobody web.SearchAsker

// engines returns the search engines that ask a server at base.
func engines(base string) map[string]web.SearchEngine {
	return map[string]web.SearchEngine{
		"brave":   &web.Brave{Key: "s3cret", Base: base},
		"serpapi": &web.SerpAPI{Key: "s3cret", Base: base},
		"searxng": &web.SearXNG{URL: base + "/"},
	}
}

func searcher(e web.SearchEngine) *web.Searcher {
	return &web.Searcher{Engine: func() web.SearchEngine { return e }, PerHour: func() (int, int) { return 20, 20 }}
}

func serveEngine(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL
}

func TestEachEngineIsAskedInItsOwnWay(t *testing.T) {
	bodies := map[string]string{"/res/v1/web/search": braveBody, "/search.json": serpBody, "/search": searxBody}
	now := time.Now()
	week := now.AddDate(0, 0, -7).Format(time.DateOnly) + "to" + now.Format(time.DateOnly)
	want := map[string]string{
		"brave": "/res/v1/web/search?count=2&freshness=" + week +
			"&q=heron+%26+co&result_filter=web&text_decorations=false token=s3cret",
		"serpapi": "/search.json?api_key=s3cret&engine=google&num=2&q=heron+%26+co&tbs=qdr%3Ad7 token=",
		"searxng": "/search?categories=general&format=json&q=heron+%26+co&time_range=week token=",
	}
	asked := make(chan string, 1)
	base := serveEngine(t, func(w http.ResponseWriter, r *http.Request) {
		asked <- fmt.Sprintf("%s token=%s", r.URL, r.Header.Get("X-Subscription-Token"))
		fmt.Fprint(w, bodies[r.URL.Path])
	})
	for name, e := range engines(base) {
		t.Run(name, func(t *testing.T) {
			q := web.SearchQuery{Text: "  heron\n& co ", RecencyDays: 7, MaxResults: 2}
			got, err := searcher(e).Search(t.Context(), nobody, q)
			check.Must(t, err)
			check.Equal(t, "<-asked", <-asked, want[name])
			results := []web.SearchResult{
				{Title: "Heron & co", URL: "https://a.test/1", Snippet: "A heron is a bird", Date: "2 days ago"},
				{Title: "Two", URL: "https://a.test/2", Date: "2025-12-31T00:00:00"},
			}
			check.Diff(t, "results", got, results)
		})
	}
}

func TestNoResultsAreNotAnError(t *testing.T) {
	base := serveEngine(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/search.json" {
			fmt.Fprint(w, `{"error":"Google hasn't returned any results for this query."}`)
			return
		}
		fmt.Fprint(w, `{"results":[]}`)
	})
	for name, e := range engines(base) {
		got, err := searcher(e).Search(t.Context(), nobody, web.SearchQuery{Text: "x"})
		if err != nil || len(got) != 0 {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}

func TestErrorsDoNotContainTheKey(t *testing.T) {
	for name, c := range map[string]struct {
		handle http.HandlerFunc
		want   string
		calls  int
	}{
		"too many": {
			func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Retry-After", "30"); w.WriteHeader(429) },
			"(429); try again in 30s", 1,
		},
		"bad key": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, "does not take the key (401)", 1},
		"explained": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(422)
			if r.URL.Path == "/search.json" {
				fmt.Fprint(w, `{"error":"wrong: s3cret"}`)
				return
			}
			fmt.Fprint(w, `{"type":"ErrorResponse","error":{"status":422,"detail":"wrong"}}`)
		}, "it answered 422", 1},
		"broken":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "it answered 500", 2},
		"no json": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, "not the JSON", 1},
		"redirect": {
			func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
			"it answered 302", 1,
		},
		"too long": {
			func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat(" ", 5<<20)) },
			"larger than 4 MiB", 1,
		},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9")
			fmt.Fprint(w, "{")
		}, "broke off", 2},
		"gone": {func(w http.ResponseWriter, _ *http.Request) {
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				conn.Close()
			}
		}, "cannot be reached", 2},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int64
			base := serveEngine(t, func(w http.ResponseWriter, r *http.Request) { calls.Add(1); c.handle(w, r) })
			for name, e := range engines(base) {
				calls.Store(0)
				_, err := searcher(e).Search(t.Context(), nobody, web.SearchQuery{Text: "x"})
				if _, ok := errors.AsType[*web.SearchError](err); !ok {
					t.Fatalf("%s: got %v", name, err)
				}
				if got := err.Error(); !strings.Contains(got, c.want) || strings.Contains(got, "s3cret") ||
					!strings.Contains(got, e.Name()) {
					t.Errorf("%s: %s; want %q", name, got, c.want)
				}
				if calls := int(calls.Load()); calls != c.calls && !strings.Contains(c.want, "reached") {
					t.Errorf("%s: %d calls, want %d", name, calls, c.calls)
				}
			}
		})
	}
}

func TestSearXNGErrorsWithoutJSONOrEnginesAreExplained(t *testing.T) {
	answer := ""
	base := serveEngine(t, func(w http.ResponseWriter, _ *http.Request) {
		if answer == "" {
			w.WriteHeader(http.StatusForbidden)
		}
		fmt.Fprint(w, answer)
	})
	s := searcher(&web.SearXNG{URL: base})
	check.Fails(t, check.Err(s.Search(t.Context(), nobody, web.SearchQuery{Text: "x"})), nil, "search.formats")
	answer = `{"results":[],"unresponsive_engines":[["google","CAPTCHA"],["bing","timeout"]]}`
	check.Fails(t, check.Err(s.Search(t.Context(), nobody, web.SearchQuery{Text: "x"})),
		nil, "google: CAPTCHA, bing: timeout")
}

// fake answers what it is told to.
type fake func(ctx context.Context, n int) ([]web.SearchResult, error)

type fakeEngine struct {
	f fake
	n int
}

func (e *fakeEngine) Name() string { return "Fake" }

func (e *fakeEngine) Search(ctx context.Context, _ web.SearchQuery) ([]web.SearchResult, error) {
	e.n++
	return e.f(ctx, e.n)
}

func TestASlowEngineIsAskedTwiceForFiveSecondsEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		s := searcher(&fakeEngine{f: func(ctx context.Context, _ int) ([]web.SearchResult, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		_, err := s.Search(t.Context(), nobody, web.SearchQuery{Text: "x"})
		if err == nil || !strings.Contains(err.Error(), "no answer within 5s") || time.Since(begun) != 10*time.Second {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
	})
}

func TestAStopEndsASearch(t *testing.T) {
	why := errors.New("stopped by @ada")
	ctx, stop := context.WithCancelCause(t.Context())
	e := &fakeEngine{f: func(ctx context.Context, _ int) ([]web.SearchResult, error) {
		stop(why)
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	if _, err := searcher(e).Search(ctx, nobody, web.SearchQuery{Text: "x"}); !errors.Is(err, why) || e.n != 1 {
		t.Errorf("got %v after %d calls", err, e.n)
	}
}

func TestTheHourHasALimitForEachPersonAndEachServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		person, server := 3, 5
		s := searcher(&fakeEngine{f: func(context.Context, int) ([]web.SearchResult, error) { return nil, nil }})
		s.PerHour = func() (int, int) { return person, server }
		for i, c := range []struct {
			who, where string
			want       string // of the refusal; "" for none
		}{
			{"ada", "one", ""},
			{"ada", "one", ""},
			{"ada", "two", ""}, // her third, ten minutes apart
			{"ada", "one", "one person may make 3, and you have; the next is possible in 30 minutes"},
			{"ada", "", "one person may make 3"},
			{"bob", "one", ""},
			{"bob", "one", ""},
			{"bob", "two", ""},
			{"bob", "one", "one person"}, // and does not count
			{"cy", "one", ""},
			{"dan", "one", "the people of one server may make 5, and those of this one have"},
			{"dan", "two", ""},
			{"dan", "", ""},
		} {
			by := web.SearchAsker{Person: c.who, Server: c.where}
			can := s.Available(by)
			_, err := s.Search(t.Context(), by, web.SearchQuery{Text: "x"})
			switch {
			case c.want == "" && (err != nil || can != nil):
				t.Errorf("search %d of %s: %v, %v", i, c.who, err, can)
			case c.want != "":
				check.Fails(t, err, web.ErrSearchLimit, c.want, "; the next is possible in ")
				check.Fails(t, can, web.ErrSearchLimit, c.want)
			}
			if i < 3 {
				<-time.After(10 * time.Minute)
			}
		}
		<-time.After(30 * time.Minute)
		ada := web.SearchAsker{Person: "ada", Server: "one"}
		check.Must(t, check.Err(s.Search(t.Context(), ada, web.SearchQuery{Text: "x"}))) // after the hour
		for _, none := range []func(){func() { person = 0 }, func() { person, server = 30, 0 }} {
			if none(); !errors.Is(s.Available(ada), web.ErrNoEngine) {
				t.Error("searched though none are allowed")
			}
		}
	})
}

func TestWithoutAnEngineTheErrorSaysHowToSetOneUp(t *testing.T) {
	s := &web.Searcher{Engine: func() web.SearchEngine { return nil }, PerHour: func() (int, int) { return 20, 20 }}
	check.Fails(t, check.Err(s.Search(t.Context(), nobody, web.SearchQuery{Text: "x"})), web.ErrNoEngine, "BRAVE_API_KEY")
}

func TestBadQueriesAreRefused(t *testing.T) {
	for _, q := range []web.SearchQuery{
		{},
		{Text: " \n"},
		{Text: strings.Repeat("x", 401)},
		{Text: "x", RecencyDays: -1},
	} {
		e := &fakeEngine{}
		if _, err := searcher(e).Search(t.Context(), nobody, q); !errors.Is(err, web.ErrInvalidQuery) || e.n != 0 {
			t.Errorf("%.20q: got %v after %d calls", q.Text, err, e.n)
		}
	}
}

// trip answers requests without a network.
type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func FuzzAnswer(f *testing.F) {
	f.Add(http.StatusOK, []byte(braveBody))
	f.Add(http.StatusOK, []byte(serpBody))
	f.Add(http.StatusOK, []byte(searxBody))
	f.Add(http.StatusForbidden, []byte(`{"error":{"detail":"x"}}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		client := &http.Client{Transport: trip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Body: io.NopCloser(bytes.NewReader(body)), Header: http.Header{}}, nil
		})}
		for name, e := range map[string]web.SearchEngine{
			"brave": &web.Brave{Client: client}, "serpapi": &web.SerpAPI{Client: client},
			"searxng": &web.SearXNG{URL: "http://x.test", Client: client},
		} {
			got, err := searcher(e).Search(t.Context(), nobody, web.SearchQuery{Text: "x"})
			if err != nil {
				continue
			}
			for _, r := range got {
				if u, err := url.Parse(r.URL); err != nil || u.Host == "" || len([]rune(r.Snippet)) > 500 ||
					strings.ContainsAny(r.Title, "\n\r") {
					t.Errorf("%s: %+v", name, r)
				}
			}
		}
	})
}
