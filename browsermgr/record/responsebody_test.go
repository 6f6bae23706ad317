package record_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/record"
	"clank/internal/test/browsertest"
)

// reply is how a response, or the lack of one, arrives.
type reply struct {
	res record.Response
	err error
}

// await starts to wait for a response, and returns when it is certain that the next one will be seen.
func await(ctx context.Context, t *testing.T, r *record.Recorder, tab *page.Tab, pattern string, timeout time.Duration, maxChars int) <-chan reply {
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

// endless answers with a body that goes on until the client leaves.
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
	if !strings.HasSuffix(res.URL, "/data?token=[REDACTED]") || res.Status != 200 || res.Body != `{"n":"éé"}` || res.Truncated || res.Base64 {
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
		{"binary", "/bin", 1000, record.Response{Body: base64.StdEncoding.EncodeToString([]byte{0x89, 'P', 0, 1, 2, 3, 4, 5, 6}), Base64: true, Status: 200}},
		{"binary, cut", "/bin", 6, record.Response{Body: base64.StdEncoding.EncodeToString([]byte{0x89, 'P', 0}), Base64: true, Truncated: true, Status: 200}},
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
		res := record.Response{Body: got.res.Body, Base64: got.res.Base64, Truncated: got.res.Truncated, Status: got.res.Status}
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
	browsertest.WantContains(t, got.res.Body, "<p>next page")
}

func TestResponseBodySaysWhatWasMissing(t *testing.T) {
	r, tab := open(t, browsertest.Routes(t, bodySite))
	_, err := r.ResponseBody(t.Context(), tab, "/nobody", 200*time.Millisecond, 10)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v, want a timeout", err)
	}
	browsertest.WantContains(t, err.Error(), `no response matched "/nobody"`, "200ms", "requests command")

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
	browsertest.WantContains(t, err.Error(), fmt.Sprintf("Response body read timed out after %dms", limit.Milliseconds()), "/never")

	_, err = r.ResponseBody(t.Context(), tab, "  ", time.Second, 10)
	if !errors.Is(err, page.ErrInvalid) {
		t.Errorf("got %v for no pattern, want it refused", err)
	}
}

func TestResponseBodyThatBreaksOffIsAnError(t *testing.T) {
	routes := map[string]any{"/{$}": `<p>quiet`, "/cut": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write(bytes.Repeat([]byte("x"), 10))
	}}
	r, tab := open(t, browsertest.Routes(t, routes))
	out := await(t.Context(), t, r, tab, "/cut", 20*time.Second, 10)
	run(t, tab, `() => fetch('/cut').then(r => r.text()).catch(() => {})`)
	if got := <-out; got.err == nil || !strings.Contains(got.err.Error(), "net::ERR_") {
		t.Errorf("got %v, want what broke it off", got.err)
	}
}

func TestResponseBodyEndsWithTheTabOrTheContext(t *testing.T) {
	r := record.NewRecorder()
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
	browsertest.Must(t, tab.Close(browsertest.Within(t, browsertest.Patience)))
	for _, out := range []<-chan reply{one, two} {
		if got := <-out; !errors.Is(got.err, page.ErrTabGone) {
			t.Errorf("got %v, want that the tab is closed", got.err)
		}
	}
	if _, err := r.ResponseBody(t.Context(), tab, "/data", time.Minute, 10); !errors.Is(err, page.ErrTabGone) {
		t.Errorf("got %v for a closed tab", err)
	}
}
