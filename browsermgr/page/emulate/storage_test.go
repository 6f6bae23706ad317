package emulate_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/emulate"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"

	"github.com/go-rod/rod/lib/proto"
	"github.com/google/go-cmp/cmp"
)

func evaluate(expression string) proto.Request { return proto.RuntimeEvaluate{Expression: expression} }

func TestCookiesAreThoseOfTheContext(t *testing.T) {
	srv := site(t)
	b, state := connect(t)
	tab, other := openIn(t, b, isolated(t, b), srv.URL), openIn(t, b, isolated(t, b), srv.URL)
	ctx := browsertest.Within(t, browsertest.Patience)
	expires := float64(time.Now().Add(time.Hour).Unix())
	check.Must(t, state.SetCookie(ctx, tab, &emulate.CookieParams{Name: "a", Value: new("1"), URL: srv.URL + "/deep/x"}))
	check.Must(t, state.SetCookie(ctx, tab, &emulate.CookieParams{
		Name: "b", Value: new(""), Domain: "example.com", Path: "/p", Expires: &expires, HTTPOnly: true, Secure: true,
		SameSite: "Strict",
	}))
	got, err := state.Cookies(ctx, tab)
	check.Must(t, err)
	want := []emulate.Cookie{
		{Name: "a", Value: "1", Domain: "127.0.0.1", Path: "/", Expires: -1, SameSite: "Lax"},
		{Name: "b", Domain: "example.com", Path: "/p", Expires: expires, HTTPOnly: true, Secure: true, SameSite: "Strict"},
	}
	slices.SortFunc(got, func(a, b emulate.Cookie) int { return strings.Compare(a.Name, b.Name) })
	browsertest.WantEqual(t, got, want)
	if got, err := state.Cookies(ctx, other); err != nil || len(got) != 0 {
		t.Errorf("another context: got %v, %v", got, err)
	}
	check.Must(t, state.ClearCookies(ctx, tab))
	if got, err := state.Cookies(ctx, tab); err != nil || len(got) != 0 {
		t.Errorf("after clearing: got %v, %v", got, err)
	}
}

func TestWrongCookiesAreRefused(t *testing.T) {
	tab, state := open(t, site(t).URL)
	ctx := browsertest.Within(t, browsertest.Patience)
	for _, tt := range []struct {
		body, want string
	}{
		{`null`, "cookie is required"},
		{`[]`, "right shape"},
		{`{"name":1}`, "right shape"},
		{`{"value":"x","url":"http://a.example"}`, "cookie name is required"},
		{`{"name":"x","url":"http://a.example"}`, "cookie value is required"},
		{`{"name":"x","value":"y"}`, "url, or domain and path"},
		{`{"name":"x","value":"y","domain":"a.example"}`, "url, or domain and path"},
		{`{"name":"x","value":"y","url":"http://a.example","domain":"a.example"}`, "but not both"},
		{`{"name":"x","value":"y","url":"file:///etc"}`, "http or https"},
		{`{"name":"x","value":"y","domain":"bad domain;","path":"/"}`, "not a host name"},
		{`{"name":"x","value":"y","domain":"a.example","path":"p"}`, "slash"},
		{`{"name":"x","value":"y","url":"http://a.example","sameSite":"lax"}`, "Lax, Strict or None"},
		{`{"name":"x","value":"y;z","url":"http://a.example"}`, "may not have"},
		{`{"name":"x","value":"y","url":"http://a.example","expires":-5}`, "seconds since 1970"},
		{`{"name":"__Host-x","value":"y","domain":"a.example","path":"/p"}`, "the browser refuses"},
	} {
		c, err := emulate.ParseCookie([]byte(tt.body))
		if err == nil {
			err = state.SetCookie(ctx, tab, c)
		}
		check.Fails(t, err, page.ErrInvalid, tt.want)
	}
	if got, _ := state.Cookies(ctx, tab); len(got) != 0 {
		t.Errorf("got cookies %v", got)
	}
}

func FuzzCookie(f *testing.F) {
	f.Add(`{"name":"a","value":"b","url":"http://x.example"}`)
	f.Add(`{"name":"a","value":"","domain":".x.example","path":"/","expires":1e300,"sameSite":"None"}`)
	f.Add(`null`)
	f.Fuzz(func(t *testing.T, body string) {
		c, err := emulate.ParseCookie([]byte(body))
		if err != nil {
			return
		}
		if c.Name == "" || c.Value == nil || c.URL == "" && c.Domain == "" ||
			strings.ContainsAny(c.Name+*c.Value+c.Domain, ";\n") {
			t.Errorf("accepted %q as %+v", body, c)
		}
	})
}

func TestStorageKeepsKeysAsTheyAre(t *testing.T) {
	srv := site(t)
	tab, state := open(t, srv.URL)
	ctx := browsertest.Within(t, browsertest.Patience)
	want := map[string]string{"  padded ": " v ", "__proto__": "p", "length": "l", "ключ🔑": "\x00\n\"", "e": ""}
	for _, kind := range []emulate.StorageKind{emulate.LocalStorage, emulate.SessionStorage} {
		for k, v := range want {
			check.Must(t, state.SetStorage(ctx, tab, kind, k, v))
		}
		got, err := state.Storage(ctx, tab, kind, nil)
		check.Must(t, err)
		check.Diff(t, fmt.Sprint(kind), got, want)
		got, err = state.Storage(ctx, tab, kind, new("  padded "))
		if d := cmp.Diff(map[string]string{"  padded ": " v "}, got); d != "" || err != nil {
			t.Errorf("one key: %v (-want +got)\n%s", err, d)
		}
		got, err = state.Storage(ctx, tab, kind, new("padded"))
		if len(got) != 0 || got == nil || err != nil {
			t.Errorf("a key that is not there: got %v, %v", got, err)
		}
	}
	wantJS(t, tab, "localStorage.getItem('  padded ')", `" v "`)
	check.Must(t, state.ClearStorage(ctx, tab, emulate.LocalStorage))
	wantJS(t, tab, "[localStorage.length, sessionStorage.length]", "[0,5]")
	browsertest.Navigate(t, tab, strings.Replace(srv.URL, "127.0.0.1", "localhost", 1))
	if got, err := state.Storage(ctx, tab, emulate.SessionStorage, nil); err != nil || len(got) != 0 {
		t.Errorf("another origin: got %v, %v", got, err)
	}
}

func TestAHostilePageDoesNotComeBetween(t *testing.T) {
	tab, state := open(t, site(t).URL)
	ctx := browsertest.Within(t, browsertest.Patience)
	browsertest.JS(t, tab, `(() => {
		localStorage.setItem('real', '1');
		Storage.prototype.getItem = Storage.prototype.setItem = Storage.prototype.key = () => 'forged';
		Object.defineProperty(window, 'localStorage', {get() { throw new Error('gone') }});
		Array.prototype.push = () => { throw new Error('no') };
		return 1;
	})()`)
	check.Must(t, state.SetStorage(ctx, tab, emulate.LocalStorage, "mine", "2"))
	got, err := state.Storage(ctx, tab, emulate.LocalStorage, nil)
	if d := cmp.Diff(map[string]string{"real": "1", "mine": "2"}, got); d != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, d)
	}
}

func TestStorageThatIsNotThere(t *testing.T) {
	tab, state := open(t, "")
	ctx := browsertest.Within(t, browsertest.Patience)
	check.Fails(t, check.Err(state.Storage(ctx, tab, emulate.LocalStorage, nil)), nil,
		"local storage of about:blank")
	check.Fails(t, check.Err(state.Storage(ctx, tab, "cookie", nil)), page.ErrInvalid)
	check.Fails(t, state.SetStorage(ctx, tab, emulate.LocalStorage, "", "x"), page.ErrInvalid)
	browsertest.Navigate(t, tab, site(t).URL)
	check.Fails(t, state.SetStorage(ctx, tab, emulate.LocalStorage, "k", strings.Repeat("x", 6<<20)), nil,
		"quota")
	res, err := tab.Act(ctx, page.Action{Kind: actiontable.KindEvaluate, Fn: "alert(1)"})
	check.Must(t, err)
	var dialog *page.DialogError
	if _, err := state.Storage(ctx, tab, emulate.LocalStorage, nil); !res.BlockedByDialog || !errors.As(err, &dialog) {
		t.Errorf("behind a dialog: got %v", err)
	}
}

func TestDevicesMakeSense(t *testing.T) {
	names := emulate.Devices()
	if len(names) < 100 {
		t.Errorf("got %d devices", len(names))
	}
	seen := map[string]bool{}
	for _, name := range names {
		d, err := emulate.FindDevice(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		turned := strings.HasSuffix(name, " landscape")
		switch {
		case seen[name], d.Name != name, d.Landscape != turned:
			t.Errorf("%s: got %+v", name, d)
		case d.Width < 280 || d.Height < 250 || d.Width > 2000 || d.Height > 2000 || d.Scale < 1 || d.Scale > 5:
			t.Errorf("%s has a viewport of %dx%d at %g", name, d.Width, d.Height, d.Scale)
		case turned && d.Width <= d.Height:
			t.Errorf("%s is higher than wide", name)
		case d.Width > max(d.ScreenWidth, d.ScreenHeight) || d.Height > max(d.ScreenWidth, d.ScreenHeight):
			t.Errorf("%s shows more than its screen has", name)
		}
		seen[name] = true
	}
	for _, name := range []string{
		"iPhone 15 Pro Max", "Pixel 9 Pro XL landscape", "Galaxy S24", "iPad Mini",
		"Desktop Edge",
	} {
		if !seen[name] {
			t.Errorf("%s is missing", name)
		}
	}
	if seen["Desktop Chrome landscape"] {
		t.Error("a desktop was turned")
	}
}

func TestUnknownDevicesOfferTheNearest(t *testing.T) {
	for given, want := range map[string]string{
		"iphone15": `"iPhone 15"`, "Pixel 99": `"Pixel 9"`, "Galaxy": `"Galaxy S`, "Deskto Chrome": `"Desktop Chrome"`,
		"":                         "required",
		strings.Repeat("x", 10000): "nearest",
	} {
		_, err := emulate.FindDevice(given)
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 300 {
			t.Errorf("%.20q: got %v, want it to offer %s", given, err, want)
		}
	}
}

func FuzzFindDevice(f *testing.F) {
	for _, s := range []string{"iPhone 12", "pixel 7 LANDSCAPE", "\xff\x00", " landscape"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		d, err := emulate.FindDevice(name)
		if (err == nil) != (d.Name != "") {
			t.Errorf("%q: got %+v, %v", name, d, err)
		}
	})
}

func FuzzOrigin(f *testing.F) {
	for _, s := range []string{"https://a.example/x?y", "http://[::1]:80", "http://u:p@h", "javascript:1", "https://"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, address string) {
		origin, err := emulate.ParseOrigin(address)
		if err != nil {
			return
		}
		again, err := emulate.ParseOrigin(origin)
		if err != nil || again != origin ||
			strings.Contains(strings.TrimPrefix(strings.TrimPrefix(origin, "http://"), "https://"), "/") {
			t.Errorf("%q gives %q, which gives %q, %v", address, origin, again, err)
		}
	})
}
