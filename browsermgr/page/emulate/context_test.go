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

	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/emulate"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"

	"github.com/go-rod/rod/lib/proto"
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
	check.Must(t, state.SetOffline(ctx, tab, true))
	wantJS(t, tab, reach, `"offline"`)
	browsertest.WantEqual(t, inFrame(t, tab, reach), `"offline"`)
	wantJS(t, other, reach, `"online"`)
	later, err := b.NewTab(ctx, page.TabOptions{URL: srv.URL + "/b", ContextID: id})
	check.Fails(t, err, nil, "ERR_INTERNET_DISCONNECTED")
	check.Must(t, state.SetOffline(ctx, later, false))
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
	for _, step := range []struct {
		headers map[string]string
		want    string
	}{
		{map[string]string{"X-One": "1", "X-Two": "2"}, `"1|2"`},
		{map[string]string{"X-Two": "zwei"}, `"|zwei"`},
		{nil, `"|"`},
	} {
		check.Must(t, state.SetHeaders(ctx, tab, emulate.Headers{Values: step.headers}))
		later := openIn(t, b, id, srv.URL)
		wantJS(t, later, "document.body.innerText", step.want)
		browsertest.Navigate(t, tab, srv.URL)
		wantJS(t, tab, "document.body.innerText", step.want)
	}
}

// guarded requires credentials, and counts those it received.
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
	for _, tt := range []struct {
		name        string
		credentials *emulate.Credentials
		text        string
		wrong       int32
	}{
		{"right", &emulate.Credentials{Username: "ada", Password: "p:ss"}, `"welcome"`, 0},
		{"wrong", &emulate.Credentials{Username: "ada", Password: "no"}, `"keep out"`, 1},
		{"cleared", nil, `""`, 0}, // without them Chromium shows a page of its own
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx := browsertest.Within(t, 30*time.Second)
			wrong.Store(0)
			b, state := connect(t)
			id := isolated(t, b)
			tab := openIn(t, b, id, "")
			check.Must(t, state.SetCredentials(ctx, tab, &emulate.Credentials{Username: "earlier", Origin: url}))
			if tt.credentials != nil {
				tt.credentials.Origin = url
			}
			check.Must(t, state.SetCredentials(ctx, tab, tt.credentials))
			_, _ = tab.Navigate(ctx, url)
			wantJS(t, tab, `document.body?.innerText ?? ""`, tt.text)
			browsertest.WantEqual(t, wrong.Load(), tt.wrong)
			later, err := b.NewTab(ctx, page.TabOptions{URL: url, ContextID: id})
			if later == nil {
				t.Fatal(err)
			}
			wantJS(t, later, `document.body?.innerText ?? ""`, tt.text)
		})
	}
}

// An advertisement in a frame requires credentials, as does the page's own site.
func TestOtherSitesAreNotToldCredentialsAndHeaders(t *testing.T) {
	var right, wrong atomic.Int32
	var headers atomic.Value
	other := guarded(t, &right, &wrong)
	stranger := browsertest.Serve(t, func(_ http.ResponseWriter, r *http.Request) {
		headers.Store(r.Header.Get("X-Key"))
	}).URL
	srv := browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "<!doctype html><p>%s %s<iframe src=%s></iframe><img src=%s>", r.Header.Get("X-Key"),
			r.UserAgent()[:1], other, stranger)
	})
	b, state := connect(t)
	id := isolated(t, b)
	tab := openIn(t, b, id, srv.URL)
	ctx := browsertest.Within(t, 30*time.Second)
	nowhere := state.SetCredentials(ctx, openIn(t, b, id, ""), &emulate.Credentials{Username: "ada"})
	check.Fails(t, nowhere, fault.ErrInvalid, "origin is required")
	check.Must(t, state.SetCredentials(ctx, tab, &emulate.Credentials{Username: "ada", Password: "p:ss"}))
	check.Must(t, state.SetHeaders(ctx, tab, emulate.Headers{Values: map[string]string{"x-key": "k"}, Origin: srv.URL}))
	browsertest.Navigate(t, tab, srv.URL)
	wantJS(t, tab, "document.body.innerText.trim()", `"k M"`)
	browsertest.WantEqual(t, right.Load()+wrong.Load(), 0)
	browsertest.WantEqual(t, headers.Load(), any(""))
	check.Must(t, state.SetCredentials(ctx, tab, &emulate.Credentials{Username: "ada", Password: "p:ss", Origin: other}))
	check.Must(t, state.SetHeaders(ctx, tab, emulate.Headers{}))
	browsertest.Navigate(t, tab, srv.URL)
	browsertest.WantEqual(t, right.Load(), 1)
	wantJS(t, tab, "document.body.innerText.trim()", `"M"`)
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
	check.Must(t, err)
	tab := openIn(t, b, id, "")
	check.Must(t, state.SetCredentials(ctx, tab,
		&emulate.Credentials{Username: "ada", Password: "p", Origin: "http://shop.invalid"}))
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
	check.Must(t, state.SetGeolocation(ctx, tab, &emulate.Geolocation{Latitude: 52.5, Longitude: 13.25, Accuracy: 7}))
	wantJS(t, tab, whereAmI, "[52.5,13.25,7]")
	later := openIn(t, b, id, host+"/later")
	wantJS(t, later, whereAmI, "[52.5,13.25,7]")
	g, err := state.GrantPermissions(ctx, tab, host+"/path?x", []string{"notifications"}, nil, browsertest.Patience)
	check.Must(t, err)
	browsertest.WantEqual(t, g,
		emulate.GrantResult{Origin: host, Granted: []string{"notifications"}, Unsupported: []string{}, Method: "cdp"})
	wantJS(t, tab, whereAmI, "[52.5,13.25,7]") // granted before, and still
	check.Must(t, state.SetGeolocation(ctx, tab, nil))
	wantJS(t, later, "navigator.permissions.query({name:'geolocation'}).then(p => p.state !== 'granted')", "true")
	check.Must(t, state.SetGeolocation(ctx, tab, &emulate.Geolocation{Latitude: 1, Origin: "https://elsewhere.example"}))
	wantJS(t, tab, "navigator.permissions.query({name:'geolocation'}).then(p => p.state !== 'granted')", "true")
}

func TestGrantLeavesOutWhatIsOptionalAndUnknown(t *testing.T) {
	tab, state := open(t, site(t).URL)
	ctx := browsertest.Within(t, browsertest.Patience)
	got, err := state.GrantPermissions(ctx, tab, "https://Example.com:443/", []string{"audioCapture"},
		[]string{"noSuchThing", "audioCapture"}, time.Second)
	check.Must(t, err)
	want := emulate.GrantResult{
		Origin: "https://example.com", Granted: []string{"audioCapture"},
		Unsupported: []string{"noSuchThing"}, Method: "cdp",
	}
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
		{"https://x.example", []string{"midi", "clipboardReadWrite"}, "clipboardReadWrite is granted to no site"},
	} {
		check.Fails(t, check.Err(state.GrantPermissions(ctx, tab, tt.origin, tt.permissions, nil, time.Second)),
			page.ErrInvalid, tt.want)
	}
}

func TestAFrozenTabDoesNotHoldUpItsContext(t *testing.T) {
	srv := site(t)
	b, state := connect(t)
	id := isolated(t, b)
	frozen, tab := openIn(t, b, id, srv.URL), openIn(t, b, id, strings.Replace(srv.URL, "127.0.0.1", "localhost", 1))
	frozen.MainFrame().Post(evaluate("for (;;) {}"))
	start := time.Now()
	check.Must(t, state.SetOffline(browsertest.Within(t, browsertest.Patience), tab, true))
	if d := time.Since(start); d > 15*time.Second {
		t.Errorf("it took %s", d)
	}
	wantJS(t, tab, reach, `"offline"`)
	check.Must(t, frozen.Stop(browsertest.Within(t, browsertest.Patience)))
	wantJS(t, frozen, reach, `"offline"`)
}

func TestSettingsAreTakenWhileADialogIsOpen(t *testing.T) {
	tab, state := open(t, site(t).URL)
	ctx := browsertest.Within(t, 30*time.Second)
	res, err := tab.Act(ctx, page.Action{Kind: actiontable.KindEvaluate, Fn: "alert('hm')"})
	check.Must(t, err)
	if !res.BlockedByDialog {
		t.Fatal("no dialog")
	}
	check.Must(t, state.SetHeaders(ctx, tab, emulate.Headers{Values: map[string]string{"X-Late": "1"}}))
	check.Must(t, state.SetColorScheme(ctx, tab, "dark"))
	check.Must(t, tab.AnswerDialog(ctx, true, ""))
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
		check.Must(t, state.SetOffline(ctx, one, true))
		check.Must(t, state.SetHeaders(ctx, one, emulate.Headers{Values: map[string]string{"X-A": "1"}}))
		check.Must(t, state.SetCredentials(ctx, one, &emulate.Credentials{Username: "u"}))
		check.Must(t, state.SetGeolocation(ctx, one, &emulate.Geolocation{Latitude: 1}))
		check.Must(t, state.SetColorScheme(ctx, one, "dark"))
		check.Must(t, state.SetTimezone(ctx, one, "Asia/Tokyo"))
		check.Must(t, state.SetLocale(ctx, one, "de-DE"))
		_, err := state.SetDevice(ctx, one, "iPhone 12")
		check.Must(t, err)
	}
	check.Must(t, state.ResetAll(ctx))
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
	check.Fails(t, check.Err(state.Cookies(gone, tab)), stopped)
	check.Must(t, tab.Close(browsertest.Within(t, browsertest.Patience)))
	ctx := browsertest.Within(t, browsertest.Patience)
	for name, err := range map[string]error{
		"offline": state.SetOffline(ctx, tab, true), "scheme": state.SetColorScheme(ctx, tab, "dark"),
		"clear":   state.ResetTab(ctx, tab),
		"cookies": state.ClearCookies(ctx, tab), "storage": state.ClearStorage(ctx, tab, emulate.LocalStorage),
	} {
		if !errors.Is(err, page.ErrTabGone) {
			t.Errorf("%s: got %v, want it to say that the tab is gone", name, err)
		}
	}
	check.Must(t, state.ResetAll(ctx))
}

const (
	darkQuery = "matchMedia('(prefers-color-scheme: dark)').matches"
	zone      = "Intl.DateTimeFormat().resolvedOptions().timeZone"
	geometry  = "[innerWidth, innerHeight, devicePixelRatio, screen.width, screen.height, screen.orientation.type, " +
		"navigator.maxTouchPoints]"
)

func TestWhatHoldsForATabReachesItsFramesAndNoOtherTab(t *testing.T) {
	srv := site(t)
	b, state := connect(t)
	id := isolated(t, b)
	tab, other := openIn(t, b, id, srv.URL+"/framed"), openIn(t, b, id, srv.URL+"/a")
	ctx := browsertest.Within(t, browsertest.Patience)
	check.Must(t, state.SetColorScheme(ctx, tab, "dark"))
	check.Must(t, state.SetTimezone(ctx, tab, "Asia/Tokyo"))
	check.Must(t, state.SetLocale(ctx, tab, "de-DE"))
	want := `[true,"Asia/Tokyo","de-DE","1,5"]`
	all := "[" + darkQuery + "," + zone + ",navigator.language,(1.5).toLocaleString()]"
	for _, path := range []string{"", "/framed"} {
		if path != "" {
			browsertest.Navigate(t, tab, srv.URL+path)
		}
		wantJS(t, tab, all, want)
		browsertest.WantEqual(t, inFrame(t, tab, all), want)
	}
	browsertest.Navigate(t, tab, strings.Replace(srv.URL, "127.0.0.1", "localhost", 1)+"/moved")
	wantJS(t, tab, all, want) // in another process
	wantJS(t, other, "[navigator.language,"+darkQuery+"]", `["en-US",false]`)

	check.Must(t, state.ResetTab(ctx, tab))
	wantJS(t, tab, "["+darkQuery+",navigator.language,(1.5).toLocaleString()]", `[false,"en-US","1.5"]`)
	if got := browsertest.JS(t, tab, zone); got == `"Asia/Tokyo"` {
		t.Error("the time zone stayed after Clear")
	}
}

func TestAnUnknownTimeZoneIsRefusedAlsoInPlaceOfAKnownOne(t *testing.T) {
	srv := site(t)
	tab, state := open(t, srv.URL)
	ctx := browsertest.Within(t, 10*time.Second)
	check.Must(t, state.SetTimezone(ctx, tab, "Asia/Tokyo"))
	for range 2 {
		check.Fails(t, state.SetTimezone(ctx, tab, "Mars/Olympus"), nil, "Invalid timezone ID: Mars/Olympus")
		wantJS(t, tab, zone, `"Asia/Tokyo"`)
	}
	check.Must(t, state.SetTimezone(ctx, tab, "Europe/Oslo"))
	wantJS(t, tab, zone, `"Europe/Oslo"`)
	browsertest.Navigate(t, tab, srv.URL+"/a")
	wantJS(t, tab, zone, `"Europe/Oslo"`)
}

func TestWrongValuesChangeNothing(t *testing.T) {
	tab, state := open(t, site(t).URL)
	tests := []struct {
		name string
		set  func(context.Context) error
		want string
	}{
		{"scheme", func(ctx context.Context) error { return state.SetColorScheme(ctx, tab, "blue") }, "colorScheme must be"},
		{"no zone", func(ctx context.Context) error { return state.SetTimezone(ctx, tab, " ") }, "timezoneId is required"},
		{
			"zone", func(ctx context.Context) error { return state.SetTimezone(ctx, tab, "Mars/Olympus") },
			"Invalid timezone ID",
		},
		{"locale", func(ctx context.Context) error { return state.SetLocale(ctx, tab, "xx!!") }, "Invalid locale"},
		{
			"locale with more", func(ctx context.Context) error { return state.SetLocale(ctx, tab, "de,\r\nX: y") },
			"Invalid locale",
		},
		{
			"device", func(ctx context.Context) error { _, err := state.SetDevice(ctx, tab, "iPhone 99"); return err },
			`"iPhone`,
		},
		{"viewport", func(ctx context.Context) error { return state.SetViewport(ctx, tab, 0, 10) }, "positive width"},
		{
			"large viewport", func(ctx context.Context) error { return state.SetViewport(ctx, tab, 10, 9000) },
			"must not exceed 8192",
		},
		{"header", func(ctx context.Context) error {
			return state.SetHeaders(ctx, tab, emulate.Headers{Values: map[string]string{"a b": "c"}})
		}, "cannot be sent"},
		{"header value", func(ctx context.Context) error {
			return state.SetHeaders(ctx, tab, emulate.Headers{Values: map[string]string{"a": "c\r\nX: y"}})
		}, "cannot be sent"},
		{"latitude", func(ctx context.Context) error {
			return state.SetGeolocation(ctx, tab, &emulate.Geolocation{Latitude: 91})
		}, "latitude"},
		{"credentials for nobody", func(ctx context.Context) error {
			return state.SetCredentials(ctx, tab, &emulate.Credentials{Username: "ada", Origin: "ftp://x"})
		}, "ftp://x"},
		{
			"credentials", func(ctx context.Context) error { return state.SetCredentials(ctx, tab, &emulate.Credentials{}) },
			"username",
		},
	}
	before := browsertest.JS(t, tab, "["+zone+","+geometry+",navigator.language]")
	for _, tt := range tests {
		err := tt.set(browsertest.Within(t, browsertest.Patience))
		unknown := tt.name == "zone" || tt.name == "device" // well formed, but the browser or the list does not have them
		if err == nil || errors.Is(err, page.ErrInvalid) == unknown || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want a refusal with %q", tt.name, err, tt.want)
		}
	}
	browsertest.Navigate(t, tab, tab.URL())
	check.Equal(t, "afterwards", browsertest.JS(t, tab, "["+zone+","+geometry+",navigator.language]"), before)
}

func TestDeviceChangesGeometryAndIdentity(t *testing.T) {
	seen := make(chan http.Header, 20)
	srv := browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			seen <- r.Header.Clone()
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><meta name=viewport content="width=device-width">`)
	})
	tab, state := open(t, "")
	ctx := browsertest.Within(t, 30*time.Second)
	for _, tt := range []struct{ device, geometry, agent, hints string }{
		{"iPhone 12", `[390,664,3,390,844,"portrait-primary",5]`, "iPhone OS 14_4", ""},
		{"pixel 7  LANDSCAPE", `[863,360,2.625,915,412,"landscape-primary",5]`, "Pixel 7", `"Android"`},
		{"Desktop Chrome HiDPI", `[1280,720,2,1792,1120,"landscape-primary",0]`, "Windows NT 10.0", `"Windows"`},
	} {
		d, err := state.SetDevice(ctx, tab, tt.device)
		check.Must(t, err)
		browsertest.Navigate(t, tab, srv.URL)
		wantJS(t, tab, geometry, tt.geometry)
		header := <-seen
		if got := header.Get("User-Agent"); got != d.UserAgent || !strings.Contains(got, tt.agent) {
			t.Errorf("%s: got user agent %q", tt.device, got)
		}
		wantJS(t, tab, "navigator.userAgent", fmt.Sprintf("%q", d.UserAgent))
		if got := header.Get("Sec-Ch-Ua-Platform"); got != tt.hints {
			t.Errorf("%s: got platform hint %q, want %q", tt.device, got, tt.hints)
		}
	}
	check.Must(t, state.SetViewport(ctx, tab, 700, 500))
	wantJS(t, tab, "[innerWidth,innerHeight,devicePixelRatio]", "[700,500,2]")
	check.Must(t, state.ResetTab(ctx, tab))
	wantJS(t, tab, "[devicePixelRatio, navigator.userAgent.includes('Linux')]", "[1,true]")
}

func TestClientHintsAgreeWithTheUserAgent(t *testing.T) {
	srv := site(t)
	tab, state := open(t, "")
	_, err := state.SetDevice(browsertest.Within(t, browsertest.Patience), tab, "Pixel 7")
	check.Must(t, err)
	// Client hints are for secure origins: localhost counts as one.
	browsertest.Navigate(t, tab, strings.Replace(srv.URL, "127.0.0.1", "localhost", 1))
	got := browsertest.JS(t, tab,
		`navigator.userAgentData.getHighEntropyValues(['model','platformVersion','uaFullVersion']).then(h =>
		[h.mobile, h.platform, h.model, h.platformVersion, navigator.userAgent.includes('Chrome/' + h.uaFullVersion.split('.')[0] + '.0.0.0 Mobile'), navigator.platform])`)
	check.Equal(t, "page", got, `[true,"Android","Pixel 7","14.0.0",true,"Linux armv8l"]`)
}

func TestLocaleAndDeviceDoNotUndoEachOther(t *testing.T) {
	tab, state := open(t, site(t).URL)
	ctx := browsertest.Within(t, browsertest.Patience)
	check.Must(t, state.SetLocale(ctx, tab, "fr-FR"))
	_, err := state.SetDevice(ctx, tab, "iPhone 12")
	check.Must(t, err)
	browsertest.Navigate(t, tab, tab.URL())
	wantJS(t, tab, "[navigator.language, navigator.userAgent.includes('iPhone'), (1.5).toLocaleString()]",
		`["fr-FR",true,"1,5"]`)
	check.Must(t, state.SetLocale(ctx, tab, "de-DE"))
	wantJS(t, tab, "[navigator.language, navigator.userAgent.includes('iPhone')]", `["de-DE",true]`)
}

func TestDeviceOutlivesACrash(t *testing.T) {
	srv := site(t)
	tab, state := open(t, srv.URL)
	_, err := state.SetDevice(browsertest.Within(t, browsertest.Patience), tab, "iPhone 12")
	check.Must(t, err)
	crash(t, tab)
	check.Fails(t, state.SetColorScheme(browsertest.Within(t, browsertest.Patience), tab, "dark"),
		page.ErrTabCrashed)
	browsertest.Navigate(t, tab, srv.URL)
	wantJS(t, tab, "[innerWidth,devicePixelRatio,navigator.userAgent.includes('iPhone')]", "[390,3,true]")
}

// crash kills the renderer of a tab.
func crash(t *testing.T, tab *page.Tab) {
	t.Helper()
	tab.MainFrame().Post(proto.PageCrash{})
	browsertest.Eventually(t, "the page crashed", func() bool { return tab.Err() != nil })
}
