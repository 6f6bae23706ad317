package emulate_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/emulate"
	"clank/internal/test/browsertest"
)

const reach = "fetch('/ping').then(() => 'online', () => 'offline')"

func TestOfflineHoldsForTheWholeContextAndNoOther(t *testing.T) {
	srv := site(t)
	b, state := connect(t)
	id := isolated(t, b)
	tab := openIn(t, b, id, srv.URL+"/framed")
	other := openIn(t, b, isolated(t, b), srv.URL+"/a")
	inFrame(t, tab, "1")
	ctx := browsertest.Within(t, 30*time.Second)
	browsertest.Must(t, state.SetOffline(ctx, tab, true))
	wantJS(t, tab, reach, `"offline"`)
	browsertest.WantEqual(t, inFrame(t, tab, reach), `"offline"`)
	wantJS(t, other, reach, `"online"`)
	later, err := b.NewTab(ctx, page.TabOptions{URL: srv.URL + "/b", ContextID: id})
	if err == nil || later == nil {
		t.Errorf("got %v, want a tab opened later to be offline", err)
	}
	browsertest.Must(t, state.SetOffline(ctx, later, false))
	wantJS(t, tab, reach, `"online"`)
	browsertest.Navigate(t, later, srv.URL+"/b")
}

func TestHeadersReplaceThoseBefore(t *testing.T) {
	srv := browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s|%s", r.Header.Get("X-One"), r.Header.Get("X-Two"))
	})
	b, state := connect(t)
	id := isolated(t, b)
	tab := openIn(t, b, id, "")
	ctx := browsertest.Within(t, 30*time.Second)
	steps := []struct {
		headers map[string]string
		want    string
	}{
		{map[string]string{"X-One": "1", "X-Two": "2"}, `"1|2"`},
		{map[string]string{"X-Two": "zwei"}, `"|zwei"`},
		{nil, `"|"`},
	}
	for _, step := range steps {
		browsertest.Must(t, state.SetHeaders(ctx, tab, step.headers))
		later := openIn(t, b, id, srv.URL)
		wantJS(t, later, "document.body.innerText", step.want)
		browsertest.Navigate(t, tab, srv.URL)
		wantJS(t, tab, "document.body.innerText", step.want)
	}
}

// guarded asks for a name and a password, and counts how often it was given which.
func guarded(t *testing.T, right, wrong *atomic.Int32) string {
	t.Helper()
	return browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		user, password, ok := r.BasicAuth()
		switch {
		case user == "ada" && password == "p:ss":
			right.Add(1)
			fmt.Fprint(w, "welcome")
			return
		case ok:
			wrong.Add(1)
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="r"`)
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, "keep out")
	}).URL
}

func TestCredentialsAnswerServersOnce(t *testing.T) {
	var right, wrong atomic.Int32
	url := guarded(t, &right, &wrong)
	ctx := browsertest.Within(t, 30*time.Second)
	tests := []struct {
		name        string
		credentials *emulate.Credentials
		text        string
		wrong       int32
	}{
		{"right", &emulate.Credentials{Username: "ada", Password: "p:ss"}, `"welcome"`, 0},
		{"wrong", &emulate.Credentials{Username: "ada", Password: "no"}, `"keep out"`, 1},
		{"for its origin", &emulate.Credentials{Username: "ada", Password: "p:ss", Origin: url + "/x"}, `"welcome"`, 0},
		{"for another origin", &emulate.Credentials{Username: "ada", Password: "p:ss", Origin: "https://example.com"}, `"keep out"`, 0},
		{"cleared", nil, `""`, 0}, // without them Chromium shows a page of its own
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wrong.Store(0)
			b, state := connect(t)
			id := isolated(t, b)
			tab := openIn(t, b, id, "")
			browsertest.Must(t, state.SetCredentials(ctx, tab, &emulate.Credentials{Username: "earlier"}))
			browsertest.Must(t, state.SetCredentials(ctx, tab, tt.credentials))
			_, _ = tab.Navigate(ctx, url)
			wantJS(t, tab, `document.body?.innerText ?? ""`, tt.text)
			browsertest.WantEqual(t, wrong.Load(), tt.wrong)
			later, _ := b.NewTab(ctx, page.TabOptions{URL: url, ContextID: id})
			wantJS(t, later, `document.body?.innerText ?? ""`, tt.text)
		})
	}
}

func TestProxiesAreNotGivenCredentials(t *testing.T) {
	var told atomic.Value
	told.Store("")
	proxy := browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if h := r.Header.Get("Proxy-Authorization"); h != "" {
			text, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(h, "Basic "))
			told.Store(string(text))
		}
		w.Header().Set("Proxy-Authenticate", `Basic realm="r"`)
		w.WriteHeader(http.StatusProxyAuthRequired)
	})
	b, state := connect(t)
	ctx := browsertest.Within(t, browsertest.Patience)
	id, err := b.NewContext(ctx, proxy.URL)
	browsertest.Must(t, err)
	tab := openIn(t, b, id, "")
	browsertest.Must(t, state.SetCredentials(ctx, tab, &emulate.Credentials{Username: "ada", Password: "p"}))
	_, _ = tab.Navigate(ctx, "http://shop.invalid/")
	browsertest.WantEqual(t, told.Load(), "")
}

const whereAmI = `new Promise(done => navigator.geolocation.getCurrentPosition(
	p => done([p.coords.latitude, p.coords.longitude, p.coords.accuracy]), e => done(e.code), {timeout: 3000}))`

func TestGeolocationIsKnownToItsOriginUntilItIsCleared(t *testing.T) {
	srv := site(t)
	host := strings.Replace(srv.URL, "127.0.0.1", "localhost", 1)
	b, state := connect(t)
	id := isolated(t, b)
	tab := openIn(t, b, id, host)
	ctx := browsertest.Within(t, 30*time.Second)
	browsertest.Must(t, state.SetGeolocation(ctx, tab, &emulate.Geolocation{Latitude: 52.5, Longitude: 13.25, Accuracy: 7}))
	wantJS(t, tab, whereAmI, "[52.5,13.25,7]")
	later := openIn(t, b, id, host+"/later")
	wantJS(t, later, whereAmI, "[52.5,13.25,7]")
	g, err := state.GrantPermissions(ctx, tab, host+"/path?x", []string{"notifications"}, nil, 0)
	browsertest.Must(t, err)
	browsertest.WantEqual(t, g,
		emulate.GrantResult{Origin: host, Granted: []string{"notifications"}, Unsupported: []string{}, Method: "cdp"})
	wantJS(t, tab, whereAmI, "[52.5,13.25,7]") // granted before, and still
	browsertest.Must(t, state.SetGeolocation(ctx, tab, nil))
	wantJS(t, later, "navigator.permissions.query({name:'geolocation'}).then(p => p.state !== 'granted')", "true")
	browsertest.Must(t, state.SetGeolocation(ctx, tab, &emulate.Geolocation{Latitude: 1, Origin: "https://elsewhere.example"}))
	wantJS(t, tab, "navigator.permissions.query({name:'geolocation'}).then(p => p.state !== 'granted')", "true")
}

func TestGrantLeavesOutWhatIsOptionalAndUnknown(t *testing.T) {
	tab, state := open(t, site(t).URL)
	ctx := browsertest.Within(t, browsertest.Patience)
	got, err := state.GrantPermissions(ctx, tab, "https://Example.com:443/", []string{"audioCapture"}, []string{"noSuchThing", "audioCapture"}, time.Second)
	browsertest.Must(t, err)
	want := emulate.GrantResult{Origin: "https://example.com", Granted: []string{"audioCapture"}, Unsupported: []string{"noSuchThing"}, Method: "cdp"}
	browsertest.WantEqual(t, got, want)
	for _, tt := range []struct {
		origin      string
		permissions []string
		want        string
	}{
		{"", []string{"midi"}, "origin is required"},
		{"ftp://x", []string{"midi"}, "http or https"},
		{"https://x.example", nil, "permissions is required"},
		{"https://x.example", []string{"noSuchThing"}, "noSuchThing"},
	} {
		if _, err := state.GrantPermissions(ctx, tab, tt.origin, tt.permissions, nil, 0); !errors.Is(err, page.ErrInvalid) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q %q: got %v, want a refusal with %q", tt.origin, tt.permissions, err, tt.want)
		}
	}
}

func TestAFrozenTabDoesNotHoldUpItsContext(t *testing.T) {
	srv := site(t)
	b, state := connect(t)
	id := isolated(t, b)
	frozen, tab := openIn(t, b, id, srv.URL), openIn(t, b, id, strings.Replace(srv.URL, "127.0.0.1", "localhost", 1))
	frozen.MainFrame().Post(evaluate("for (;;) {}"))
	start := time.Now()
	browsertest.Must(t, state.SetOffline(browsertest.Within(t, browsertest.Patience), tab, true))
	if d := time.Since(start); d > 15*time.Second {
		t.Errorf("it took %s", d)
	}
	wantJS(t, tab, reach, `"offline"`)
	browsertest.Must(t, frozen.Stop(browsertest.Within(t, browsertest.Patience)))
	wantJS(t, frozen, reach, `"offline"`)
}

func TestSettingsAreTakenWhileADialogIsOpen(t *testing.T) {
	tab, state := open(t, site(t).URL)
	ctx := browsertest.Within(t, 30*time.Second)
	res, err := tab.Act(ctx, page.Action{Kind: actiontable.KindEvaluate, Fn: "alert('hm')"})
	browsertest.Must(t, err)
	if !res.BlockedByDialog {
		t.Fatal("no dialog")
	}
	browsertest.Must(t, state.SetHeaders(ctx, tab, map[string]string{"X-Late": "1"}))
	browsertest.Must(t, state.SetColorScheme(ctx, tab, "dark"))
	browsertest.Must(t, tab.AnswerDialog(ctx, true, ""))
	wantJS(t, tab, darkQuery, "true")
}

func TestClearAllLeavesNothing(t *testing.T) {
	srv := site(t)
	b, state := connect(t)
	tab, other := openIn(t, b, isolated(t, b), srv.URL), openIn(t, b, isolated(t, b), srv.URL)
	ctx := browsertest.Within(t, 30*time.Second)
	fresh := "[" + zone + "," + geometry + ",navigator.language,navigator.userAgent," + darkQuery + "]"
	before := browsertest.JS(t, tab, fresh)
	for _, one := range []*page.Tab{tab, other} {
		browsertest.Must(t, state.SetOffline(ctx, one, true))
		browsertest.Must(t, state.SetHeaders(ctx, one, map[string]string{"X-A": "1"}))
		browsertest.Must(t, state.SetCredentials(ctx, one, &emulate.Credentials{Username: "u"}))
		browsertest.Must(t, state.SetGeolocation(ctx, one, &emulate.Geolocation{Latitude: 1}))
		browsertest.Must(t, state.SetColorScheme(ctx, one, "dark"))
		browsertest.Must(t, state.SetTimezone(ctx, one, "Asia/Tokyo"))
		browsertest.Must(t, state.SetLocale(ctx, one, "de-DE"))
		_, err := state.SetDevice(ctx, one, "iPhone 12")
		browsertest.Must(t, err)
	}
	browsertest.Must(t, state.ResetAll(ctx))
	for _, one := range []*page.Tab{tab, other} {
		browsertest.Navigate(t, one, srv.URL+"/again")
		wantJS(t, one, fresh, before)
		wantJS(t, one, "navigator.permissions.query({name:'geolocation'}).then(p => p.state !== 'granted')", "true")
	}
}

func TestAClosedTabAndACancelledCallerSaySo(t *testing.T) {
	tab, state := open(t, site(t).URL)
	gone, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped by ada")
	cancel(stopped)
	browsertest.WantError(t, browsertest.Err(state.Cookies(gone, tab)), stopped)
	browsertest.Must(t, tab.Close(browsertest.Within(t, browsertest.Patience)))
	ctx := browsertest.Within(t, browsertest.Patience)
	for name, err := range map[string]error{
		"offline": state.SetOffline(ctx, tab, true), "scheme": state.SetColorScheme(ctx, tab, "dark"), "clear": state.ResetTab(ctx, tab),
		"cookies": state.ClearCookies(ctx, tab), "storage": state.ClearStorage(ctx, tab, emulate.LocalStorage),
	} {
		if !errors.Is(err, page.ErrTabGone) {
			t.Errorf("%s: got %v, want it to say that the tab is gone", name, err)
		}
	}
	browsertest.Must(t, state.ResetAll(ctx))
}
