package record_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/record"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
)

func TestRequestsTellTheWholeExchangeWithoutSecrets(t *testing.T) {
	r, tab := open(t, browsertest.Routes(t, map[string]any{
		"/{$}": `<p>quiet`,
		"POST /api/login": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Add("Set-Cookie", "sid=verysecret")
			w.Header().Set("X-Plain", "told")
			w.WriteHeader(http.StatusCreated)
		},
	}))
	run(t, tab, `() => { document.cookie = 'a=verysecret'; return fetch('/api/login?token=verysecret&page=2', {method: 'POST',
headers: {'content-type': 'application/json', 'x-api-key': 'verysecret', 'x-trace': 'told'}, body: '{"user":"ada","password":"verysecret"}'}).then(r => r.text()) }`)
	req := find(t, r, tab, "/api/login", func(req record.Request) bool {
		return answered(req) && req.ResponseHeaders["set-cookie"] != ""
	})
	got, err := json.Marshal(req)
	check.Must(t, err)
	if strings.Contains(string(got), "verysecret") {
		t.Errorf("got a secret in %s", got)
	}
	want := record.Request{
		ID: req.ID, Timestamp: req.Timestamp, Method: "POST", URL: req.URL, ResourceType: "fetch", Status: 201, OK: new(true),
		StatusText: "Created", RequestHeaders: req.RequestHeaders, ResponseHeaders: req.ResponseHeaders,
		RequestBody: `{"user":"ada","password":"[REDACTED]"}`,
	}
	check.Diff(t, "req", req, want)
	check.Contains(t, req.URL, "/api/login?token=[REDACTED]&page=2")
	for name, want := range map[string]string{
		"x-api-key": record.Redacted, "x-trace": "told", "cookie": record.Redacted,
		"content-type": "application/json",
	} {
		check.Equal(t, "request header "+name, req.RequestHeaders[name], want)
	}
	for name, want := range map[string]string{"set-cookie": record.Redacted, "x-plain": "told"} {
		check.Equal(t, "response header "+name, req.ResponseHeaders[name], want)
	}
}

func TestRedirectsAreExchangesOfTheirOwn(t *testing.T) {
	hop := func(to, mark string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Hop", mark)
			http.Redirect(w, r, to, http.StatusFound)
		}
	}
	r, tab := open(t, browsertest.Routes(t, map[string]any{
		"/start": hop("/middle", "1"), "/middle": hop("/end", "2"),
		"/end": `<p>there`, "/{$}": `<p>quiet`,
	}))
	check.Must(t, check.Err(tab.Navigate(browsertest.Within(t, browsertest.Patience), tab.URL()+"start")))
	find(t, r, tab, "/end", func(req record.Request) bool { return answered(req) && len(req.ResponseHeaders) > 0 })
	var got []string
	browsertest.Eventually(t, "the headers of both redirects", func() bool {
		got = nil
		for _, req := range r.Requests(tab, "", false).Entries {
			if req.OK != nil && !strings.HasSuffix(req.URL, "/") {
				got = append(got, fmt.Sprintf("%s %d %t %s", req.URL[strings.LastIndex(req.URL, "/"):], req.Status, *req.OK,
					req.ResponseHeaders["x-hop"]))
			}
		}
		return len(got) == 3 && strings.HasSuffix(got[1], "2")
	})
	check.Diff(t, "URL", got, []string{"/start 302 false 1", "/middle 302 false 2", "/end 200 true "})
}

func TestRequestsSayWhyTheyFailed(t *testing.T) {
	r, tab := open(t, browsertest.Routes(t,
		map[string]any{"/{$}": `<p>quiet`, "/cut": func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_ = conn.Close()
			}
		}}))
	run(t, tab, `() => fetch('/cut').catch(() => {})`)
	req := find(t, r, tab, "/cut", func(req record.Request) bool { return req.FailureText != "" })
	check.Contains(t, req.FailureText, "net::ERR_")
	if req.OK != nil || req.Status != 0 {
		t.Errorf("got %+v, want no status", req)
	}
}

func TestRequestBodiesAreCutOrLeftOut(t *testing.T) {
	r, tab := open(t, browsertest.Routes(t,
		map[string]any{"/{$}": `<p>quiet`, "/take": func(http.ResponseWriter, *http.Request) {}}))
	run(t, tab, `async () => { const send = (name, body) => fetch('/take?' + name, {method: 'POST', body});
await send('long', 'é'.repeat(64001)); await send('huge', 'x'.repeat(400_000)); await send('binary', new Uint8Array([0, 1, 255]));
await send('file', new Blob(['abc'])); await send('short', 'abc'); }`)
	for name, want := range map[string]record.Request{
		"long":   {RequestBody: strings.Repeat("é", 64_000), RequestBodyTruncated: true},
		"huge":   {RequestBodyOmitted: true},
		"binary": {RequestBodyOmitted: true},
		"file":   {RequestBodyOmitted: true},
		"short":  {RequestBody: "abc"},
	} {
		req := find(t, r, tab, "/take?"+name, answered)
		got := record.Request{
			RequestBody: req.RequestBody, RequestBodyTruncated: req.RequestBodyTruncated,
			RequestBodyOmitted: req.RequestBodyOmitted,
		}
		check.Diff(t, name, got, want)
	}
}

func TestHeadersAreBounded(t *testing.T) {
	r, tab := open(t, browsertest.Routes(t, map[string]any{
		"/{$}": `<p>quiet`,
		"/many": func(w http.ResponseWriter, _ *http.Request) {
			for i := range 200 {
				w.Header().Set(fmt.Sprintf("X-%03d", i), "v")
			}
		},
		"/long": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("A-Long", strings.Repeat("v", 70_000)) },
	}))
	run(t, tab, `async () => { await fetch('/many'); await fetch('/long') }`)
	many := find(t, r, tab, "/many", func(req record.Request) bool {
		return answered(req) && len(req.ResponseHeaders) > 0
	})
	if n := len(many.ResponseHeaders); n != 128 || !many.ResponseHeadersTruncated {
		t.Errorf("got %d headers, truncated %t; want 128 and so", n, many.ResponseHeadersTruncated)
	}
	long := find(t, r, tab, "/long", func(req record.Request) bool {
		return answered(req) && len(req.ResponseHeaders) > 0
	})
	if n := len(long.ResponseHeaders["a-long"]); n > 64<<10 || n < 60<<10 || !long.ResponseHeadersTruncated {
		t.Errorf("got %d bytes, truncated %t; want almost 64 KiB and so", n, long.ResponseHeadersTruncated)
	}
}

func TestRequestsKeepTheLastFiveHundredAndCanBeCleared(t *testing.T) {
	r, tab := open(t, browsertest.Routes(t,
		map[string]any{"/{$}": `<p>quiet`, "/n": func(http.ResponseWriter, *http.Request) {}}))
	run(t, tab, `async () => { for (let i = 1; i <= 520; i += 20) await Promise.all([...Array(20).keys()].map(k => fetch('/n?i=' + (i + k) + '.'))) }`)
	find(t, r, tab, "/n?i=520.", answered)
	got := r.Requests(tab, "/n?", false).Entries
	check.Equal(t, "requests", len(got), record.MaxRequests)
	if one := r.Requests(tab, "i=321.", false).Entries; len(one) != 1 || !strings.HasSuffix(one[0].URL, "/n?i=321.") {
		t.Errorf("got %d requests by filter, want the one", len(one))
	}
	last := got[len(got)-1].ID
	r.Requests(tab, "nothing", true)
	check.Equal(t, "requests after clearing", len(r.Requests(tab, "", false).Entries), 0)
	run(t, tab, `() => fetch('/n?later').then(() => 1)`)
	if req := find(t, r, tab, "later", answered); req.ID == last || req.ID <= "r520" {
		t.Errorf("got id %s after %s, want a new one", req.ID, last)
	}
}

func TestAnAnswerStaysBelowOneMebibyte(t *testing.T) {
	r, tab := open(t, browsertest.Routes(t,
		map[string]any{"/{$}": `<p>quiet`, "/big": func(http.ResponseWriter, *http.Request) {}}))
	run(t, tab, `async () => { for (let i = 0; i < 80; i++) await fetch('/big?' + i, {method: 'POST', body: 'x'.repeat(60_000)}) }`)
	find(t, r, tab, "/big?79", answered)
	got := r.Requests(tab, "", false).Entries
	data, err := json.Marshal(map[string]any{"ok": true, "requests": got})
	if err != nil || len(data) > 1<<20 || len(data) < 900_000 {
		t.Errorf("got %d bytes (%v), want almost 1 MiB", len(data), err)
	}
	if last := got[len(got)-1]; !strings.HasSuffix(last.URL, "/big?79") {
		t.Errorf("got %s last, want the newest", last.URL)
	}
	if n := len(r.HAR(tab).Log.Entries); n < 60 || n > 75 {
		t.Errorf("got %d requests in all, want what 4 MiB hold", n)
	}
}

func TestRequestsOfFramesAndSocketsAreSeen(t *testing.T) {
	inner := strings.Replace(browsertest.Routes(t, map[string]any{
		"/{$}": `<script>fetch('/from-frame')</script>`, "/from-frame": func(http.ResponseWriter, *http.Request) {},
	}), "127.0.0.1", "localhost", 1)
	r, tab := open(t, browsertest.Routes(t, map[string]any{
		"/{$}": `<iframe src="` + inner +
			`"></iframe><script>new WebSocket('ws://' + location.host + '/socket?token=abc')</script>`,
	}))
	if req := find(t, r, tab, "/from-frame", answered); req.ResourceType != "fetch" {
		t.Errorf("got type %s, want fetch", req.ResourceType)
	}
	req := find(t, r, tab, "/socket", func(req record.Request) bool { return req.FailureText != "" || answered(req) })
	if req.ResourceType != "websocket" || !strings.HasSuffix(req.URL, "token=[REDACTED]") {
		t.Errorf("got %+v, want a websocket without its token", req)
	}
}

func TestHARHasTheTimesAndSizesOfTheRequests(t *testing.T) {
	r, tab := open(t, browsertest.Routes(t, map[string]any{
		"/{$}": `<p>quiet`,
		"/go":  func(w http.ResponseWriter, req *http.Request) { http.Redirect(w, req, "/data", http.StatusSeeOther) },
		"/data": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, strings.Repeat("x", 5000))
		},
	}))
	run(t, tab, `() => fetch('/go?a=b%20c&secret=hunter2', {method: 'POST', body: 'password=hunter2'}).then(r => r.text()).then(() => 1)`)
	var log record.HARLog
	browsertest.Eventually(t, "three ended entries", func() bool {
		log = r.HAR(tab).Log
		return len(log.Entries) == 3 && log.Entries[2].Response.Content.Size == 5000 &&
			log.Entries[2].Response.TransferSize > 5000
	})
	if log.Version != "1.2" || len(log.Pages) != 1 || log.Pages[0].ID != log.Entries[0].PageRef ||
		log.Pages[0].Title != "Test" {
		t.Errorf("got log %+v", log)
	}
	hop, data := log.Entries[1], log.Entries[2]
	if hop.Response.Status != 303 || hop.Response.RedirectURL != "/data" || hop.Request.PostData == nil ||
		hop.Request.PostData.Text != "password=[REDACTED]" {
		t.Errorf("got redirect %+v", hop)
	}
	check.Equal(t, "query", fmt.Sprint(hop.Request.QueryString), "[{a b c} {secret [REDACTED]}]")
	if data.Request.Method != "GET" || data.Response.Content.MimeType != "text/plain" ||
		data.ServerIPAddress != "127.0.0.1" {
		t.Errorf("got data %+v", data)
	}
	for _, e := range log.Entries {
		began, err := time.Parse(time.RFC3339, e.StartedDateTime)
		if err != nil || time.Since(began).Abs() > time.Hour {
			t.Errorf("got start %q: %v", e.StartedDateTime, err)
		}
		if tm := e.Timings; e.Time <= 0 || e.Time > 60_000 || tm.Send < 0 || tm.Wait < 0 || tm.Receive < 0 {
			t.Errorf("%s: got time %v of %+v", e.Request.URL, e.Time, tm)
		}
	}
	text, err := json.Marshal(r.HAR(tab))
	if err != nil || strings.Contains(string(text), "hunter2") || strings.Contains(string(text), "null") {
		t.Errorf("got %v, %s; want neither secrets nor null", err, text)
	}
}

func TestHAROfAnUnknownTabIsEmpty(t *testing.T) {
	_, tab := open(t, "about:blank")
	text, err := json.Marshal(new(record.Store).NewRecorder().HAR(tab))
	if want := `{"log":{"version":"1.2","creator":{"name":"clank","version":"1"},"pages":[],"entries":[]}}`; err != nil ||
		string(text) != want {
		t.Errorf("got %s (%v), want %s", text, err, want)
	}
}

// reply is how a response, or the lack of one, arrives.
type reply struct {
	res record.Response
	err error
}

// await starts waiting for a response, and returns when the next one will certainly be seen.
func await(ctx context.Context, t *testing.T, r *record.Recorder, tab *page.Tab, pattern string, timeout time.Duration,
	maxChars int,
) <-chan reply {
	t.Helper()
	out := make(chan reply, 1)
	waiting := r.CountWaiters(tab)
	go func() {
		res, err := r.ResponseBody(ctx, tab, pattern, timeout, maxChars)
		out <- reply{res, err}
	}()
	browsertest.Eventually(t, "it waits", func() bool { return r.CountWaiters(tab) == waiting+1 || len(out) == 1 })
	return out
}

func serve(mime string, body []byte) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mime)
		_, _ = w.Write(body)
	}
}

// endless sends a body until the client disconnects.
func endless(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	fmt.Fprint(w, "beginning")
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

var bodySite = map[string]any{
	"/{$}":   `<p>quiet`,
	"/next":  `<p>next page`,
	"/data":  serve("application/json", []byte(`{"n":"éé"}`)),
	"/bin":   serve("image/png", []byte{0x89, 'P', 0, 1, 2, 3, 4, 5, 6}),
	"/odd":   serve("application/x-thing", []byte("text all the same")),
	"/empty": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
	"/never": endless,
	"/hop":   func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/data", http.StatusFound) },
	"/slow": func(w http.ResponseWriter, _ *http.Request) {
		for i := range 20 {
			fmt.Fprintf(w, "part %d\n", i)
			_ = http.NewResponseController(w).Flush()
		}
	},
}

func TestResponseBodyIsThatOfTheNextMatch(t *testing.T) {
	r, tab := open(t, browsertest.Routes(t, bodySite))
	run(t, tab, `() => fetch('/data?old').then(() => 1)`)
	out := await(t.Context(), t, r, tab, "**/data?*", 20*time.Second, record.DefaultBodyChars)
	run(t, tab, `() => fetch('/odd').then(() => fetch('/data?token=x')).then(() => 1)`)
	got := <-out
	if got.err != nil {
		t.Fatal(got.err)
	}
	res := got.res
	if !strings.HasSuffix(res.URL, "/data?token=[REDACTED]") || res.Status != 200 || res.Body != `{"n":"éé"}` ||
		res.Truncated || res.Base64 {
		t.Errorf("got %+v, want the second answer of /data", res)
	}
	if res.Headers["content-type"] != "application/json" {
		t.Errorf("got headers %v", res.Headers)
	}
	if r.CountWaiters(tab) != 0 {
		t.Error("it still waits")
	}
}

func TestResponseBodiesOfAllForms(t *testing.T) {
	r, tab := open(t, browsertest.Routes(t, bodySite))
	for _, c := range []struct {
		name, path string
		maxChars   int
		want       record.Response
	}{
		{"cut by characters", "/data", 7, record.Response{Body: `{"n":"é`, Truncated: true, Status: 200}},
		{"binary", "/bin", 1000, record.Response{
			Body: base64.StdEncoding.EncodeToString([]byte{0x89, 'P', 0, 1, 2, 3, 4, 5, 6}), Base64: true, Status: 200,
		}},
		{"binary, cut", "/bin", 6, record.Response{
			Body:   base64.StdEncoding.EncodeToString([]byte{0x89, 'P', 0}),
			Base64: true, Truncated: true, Status: 200,
		}},
		{"text of a strange type", "/odd", 1000, record.Response{Body: "text all the same", Status: 200}},
		{"none", "/empty", 1000, record.Response{Status: 204}},
		{"after a redirect", "/hop", 1000, record.Response{Body: `{"n":"éé"}`, Status: 200}},
		{"in parts", "/slow", 8, record.Response{Body: "part 0\np", Truncated: true, Status: 200}},
	} {
		pattern := c.path
		if pattern == "/hop" {
			pattern = "/data"
		}
		out := await(t.Context(), t, r, tab, pattern, 20*time.Second, c.maxChars)
		run(t, tab, `() => fetch('`+c.path+`').then(r => r.text()).then(() => 1)`)
		got := <-out
		if got.err != nil {
			t.Errorf("%s: %v", c.name, got.err)
			continue
		}
		res := record.Response{
			Body: got.res.Body, Base64: got.res.Base64, Truncated: got.res.Truncated,
			Status: got.res.Status,
		}
		if fmt.Sprint(res) != fmt.Sprint(c.want) {
			t.Errorf("%s: got %+v, want %+v", c.name, res, c.want)
		}
	}
}

func TestResponseBodyOfAPageThatIsNavigatedTo(t *testing.T) {
	r, tab := open(t, browsertest.Routes(t, bodySite))
	out := await(t.Context(), t, r, tab, "/next", 20*time.Second, 1000)
	run(t, tab, `() => { location.href = '/next' }`)
	got := <-out
	if got.err != nil {
		t.Fatal(got.err)
	}
	check.Contains(t, got.res.Body, "<p>next page")
}

func TestResponseBodySaysWhatWasMissing(t *testing.T) {
	r, tab := open(t, browsertest.Routes(t, bodySite))
	_, err := r.ResponseBody(t.Context(), tab, "/nobody", 200*time.Millisecond, 10)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v, want a timeout", err)
	}
	check.Contains(t, err.Error(), `no response matched "/nobody"`, "200ms", "requests command")

	limit := 300 * time.Millisecond
	for {
		out := await(t.Context(), t, r, tab, "/never", limit, 10)
		run(t, tab, `() => { fetch('/never') }`)
		if err = (<-out).err; !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v, want a timeout", err)
		}
		if limit > 10*time.Second || !strings.Contains(err.Error(), "no response matched") {
			break
		}
		limit *= 5 // the response came too late on a busy machine
	}
	check.Contains(t, err.Error(), fmt.Sprintf("Response body read timed out after %dms", limit.Milliseconds()), "/never")

	_, err = r.ResponseBody(t.Context(), tab, "  ", time.Second, 10)
	check.Fails(t, err, page.ErrInvalid)
}

func TestResponseBodyThatBreaksOffIsAnError(t *testing.T) {
	routes := map[string]any{"/{$}": `<p>quiet`, "/cut": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write(bytes.Repeat([]byte("x"), 10))
	}}
	r, tab := open(t, browsertest.Routes(t, routes))
	out := await(t.Context(), t, r, tab, "/cut", 20*time.Second, 10)
	run(t, tab, `() => fetch('/cut').then(r => r.text()).catch(() => {})`)
	check.Fails(t, (<-out).err, nil, "net::ERR_")
}

func TestResponseBodyEndsWithTheTabOrTheContext(t *testing.T) {
	r := new(record.Store).NewRecorder()
	b := browser.Connect(t, page.Options{Observers: []page.Observer{r}})
	tab := browsertest.Tab(t, b, page.TabOptions{URL: browsertest.Routes(t, bodySite)})

	stopped := errors.New("stopped by a person")
	ctx, cancel := context.WithCancelCause(t.Context())
	out := await(ctx, t, r, tab, "/data", time.Minute, 10)
	cancel(stopped)
	if got := <-out; !errors.Is(got.err, stopped) {
		t.Errorf("got %v, want the cause", got.err)
	}

	one := await(t.Context(), t, r, tab, "/data", time.Minute, 10)
	two := await(t.Context(), t, r, tab, "/never", time.Minute, 10)
	run(t, tab, `() => { fetch('/never') }`)
	find(t, r, tab, "/never", answered)
	check.Must(t, tab.Close(browsertest.Within(t, browsertest.Patience)))
	for _, out := range []<-chan reply{one, two} {
		if got := <-out; !errors.Is(got.err, page.ErrTabGone) {
			t.Errorf("got %v, want that the tab is closed", got.err)
		}
	}
	check.Fails(t, check.Err(r.ResponseBody(t.Context(), tab, "/data", time.Minute, 10)), page.ErrTabGone)
}
