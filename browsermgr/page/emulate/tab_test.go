package emulate_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/emulate"
	"clank/internal/test/browsertest"

	"github.com/go-rod/rod/lib/proto"
)

const (
	darkQuery = "matchMedia('(prefers-color-scheme: dark)').matches"
	zone      = "Intl.DateTimeFormat().resolvedOptions().timeZone"
	geometry  = "[innerWidth, innerHeight, devicePixelRatio, screen.width, screen.height, screen.orientation.type, navigator.maxTouchPoints]"
)

func TestWhatHoldsForATabReachesItsFramesAndNoOtherTab(t *testing.T) {
	srv := site(t)
	b, state := connect(t)
	id := isolated(t, b)
	tab, other := openIn(t, b, id, srv.URL+"/framed"), openIn(t, b, id, srv.URL+"/a")
	ctx := browsertest.Within(t, browsertest.Patience)
	browsertest.Must(t, state.SetColorScheme(ctx, tab, "dark"))
	browsertest.Must(t, state.SetTimezone(ctx, tab, "Asia/Tokyo"))
	browsertest.Must(t, state.SetLocale(ctx, tab, "de-DE"))
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

	browsertest.Must(t, state.ResetTab(ctx, tab))
	wantJS(t, tab, "["+darkQuery+",navigator.language,(1.5).toLocaleString()]", `[false,"en-US","1.5"]`)
	if got := browsertest.JS(t, tab, zone); got == `"Asia/Tokyo"` {
		t.Error("the time zone stayed after Clear")
	}
}

func TestAnUnknownTimeZoneIsRefusedAlsoInPlaceOfAKnownOne(t *testing.T) {
	srv := site(t)
	tab, state := open(t, srv.URL)
	ctx := browsertest.Within(t, 10*time.Second)
	browsertest.Must(t, state.SetTimezone(ctx, tab, "Asia/Tokyo"))
	for range 2 {
		browsertest.WantError(t, state.SetTimezone(ctx, tab, "Mars/Olympus"), nil, "Invalid timezone ID: Mars/Olympus")
		wantJS(t, tab, zone, `"Asia/Tokyo"`)
	}
	browsertest.Must(t, state.SetTimezone(ctx, tab, "Europe/Oslo"))
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
		{"zone", func(ctx context.Context) error { return state.SetTimezone(ctx, tab, "Mars/Olympus") }, "Invalid timezone ID"},
		{"locale", func(ctx context.Context) error { return state.SetLocale(ctx, tab, "xx!!") }, "Invalid locale"},
		{"locale with more", func(ctx context.Context) error { return state.SetLocale(ctx, tab, "de,\r\nX: y") }, "Invalid locale"},
		{"device", func(ctx context.Context) error { _, err := state.SetDevice(ctx, tab, "iPhone 99"); return err }, `"iPhone`},
		{"viewport", func(ctx context.Context) error { return state.SetViewport(ctx, tab, 0, 10) }, "positive width"},
		{"large viewport", func(ctx context.Context) error { return state.SetViewport(ctx, tab, 10, 9000) }, "must not exceed 8192"},
		{"header", func(ctx context.Context) error { return state.SetHeaders(ctx, tab, map[string]string{"a b": "c"}) }, "cannot be sent"},
		{"header value", func(ctx context.Context) error {
			return state.SetHeaders(ctx, tab, map[string]string{"a": "c\r\nX: y"})
		}, "cannot be sent"},
		{"latitude", func(ctx context.Context) error {
			return state.SetGeolocation(ctx, tab, &emulate.Geolocation{Latitude: 91})
		}, "latitude"},
		{"credentials", func(ctx context.Context) error { return state.SetCredentials(ctx, tab, &emulate.Credentials{}) }, "username"},
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
	if after := browsertest.JS(t, tab, "["+zone+","+geometry+",navigator.language]"); after != before {
		t.Errorf("got %s afterwards, want %s", after, before)
	}
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
	tests := []struct{ device, geometry, agent, hints string }{
		{"iPhone 12", `[390,664,3,390,844,"portrait-primary",5]`, "iPhone OS 14_4", ""},
		{"pixel 7  LANDSCAPE", `[863,360,2.625,915,412,"landscape-primary",5]`, "Pixel 7", `"Android"`},
		{"Desktop Chrome HiDPI", `[1280,720,2,1792,1120,"landscape-primary",0]`, "Windows NT 10.0", `"Windows"`},
	}
	for _, tt := range tests {
		d, err := state.SetDevice(ctx, tab, tt.device)
		browsertest.Must(t, err)
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
	browsertest.Must(t, state.SetViewport(ctx, tab, 700, 500))
	wantJS(t, tab, "[innerWidth,innerHeight,devicePixelRatio]", "[700,500,2]")
	browsertest.Must(t, state.ResetTab(ctx, tab))
	wantJS(t, tab, "[devicePixelRatio, navigator.userAgent.includes('Linux')]", "[1,true]")
}

func TestClientHintsAgreeWithTheUserAgent(t *testing.T) {
	srv := site(t)
	tab, state := open(t, "")
	_, err := state.SetDevice(browsertest.Within(t, browsertest.Patience), tab, "Pixel 7")
	browsertest.Must(t, err)
	// Client hints are for secure origins: localhost counts as one.
	browsertest.Navigate(t, tab, strings.Replace(srv.URL, "127.0.0.1", "localhost", 1))
	got := browsertest.JS(t, tab, `navigator.userAgentData.getHighEntropyValues(['model','platformVersion','uaFullVersion']).then(h =>
		[h.mobile, h.platform, h.model, h.platformVersion, navigator.userAgent.includes('Chrome/' + h.uaFullVersion.split('.')[0] + '.0.0.0 Mobile'), navigator.platform])`)
	if want := `[true,"Android","Pixel 7","14.0.0",true,"Linux armv8l"]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestLocaleAndDeviceDoNotUndoEachOther(t *testing.T) {
	tab, state := open(t, site(t).URL)
	ctx := browsertest.Within(t, browsertest.Patience)
	browsertest.Must(t, state.SetLocale(ctx, tab, "fr-FR"))
	_, err := state.SetDevice(ctx, tab, "iPhone 12")
	browsertest.Must(t, err)
	browsertest.Navigate(t, tab, tab.URL())
	wantJS(t, tab, "[navigator.language, navigator.userAgent.includes('iPhone'), (1.5).toLocaleString()]", `["fr-FR",true,"1,5"]`)
	browsertest.Must(t, state.SetLocale(ctx, tab, "de-DE"))
	wantJS(t, tab, "[navigator.language, navigator.userAgent.includes('iPhone')]", `["de-DE",true]`)
}

func TestDeviceOutlivesACrash(t *testing.T) {
	srv := site(t)
	tab, state := open(t, srv.URL)
	_, err := state.SetDevice(browsertest.Within(t, browsertest.Patience), tab, "iPhone 12")
	browsertest.Must(t, err)
	crash(t, tab)
	browsertest.WantError(t, state.SetColorScheme(browsertest.Within(t, browsertest.Patience), tab, "dark"),
		page.ErrTabCrashed)
	browsertest.Navigate(t, tab, srv.URL)
	wantJS(t, tab, "[innerWidth,devicePixelRatio,navigator.userAgent.includes('iPhone')]", "[390,3,true]")
}

// crash kills the process of a tab's page.
func crash(t *testing.T, tab *page.Tab) {
	t.Helper()
	tab.MainFrame().Post(proto.PageCrash{})
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for ctx := browsertest.Within(t, browsertest.Patience); tab.Err() == nil; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("the page did not crash")
		}
	}
}
