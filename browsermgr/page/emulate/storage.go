package emulate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
	"github.com/ysmood/gson"
)

// StorageKind is local or session storage.
type StorageKind string

// Values of StorageKind.
const (
	LocalStorage   StorageKind = "local"
	SessionStorage StorageKind = "session"
)

// worldName names the isolated world for access to storage. No other package may use it, because its first use in a
// process determines its access rights.
const worldName = "clank-storage"

// storageLimit bounds one access to storage. The browser takes a second for five megabytes, on a busy machine ten.
const storageLimit = 30 * time.Second

// Storage reads the storage of the main frame's origin: all entries or, if key is not nil, at most the one with exactly
// this key.
func (s *Emulator) Storage(ctx context.Context, t *page.Tab, kind StorageKind, key *string) (map[string]string, error) {
	const read = `function (kind, key) {
		const store = kind === 'local' ? localStorage : sessionStorage;
		const entries = [];
		if (key !== null) {
			const value = store.getItem(key);
			return value === null ? [] : [[key, value]];
		}
		for (let i = 0; i < store.length; i++) entries.push([store.key(i), store.getItem(store.key(i))]);
		return entries;
	}`
	var entries [][2]string
	var asked any
	if key != nil {
		asked = *key
	}
	if err := s.callInStorage(ctx, t, kind, read, &entries, asked); err != nil {
		return nil, err
	}
	values := map[string]string{}
	for _, e := range entries {
		values[e[0]] = e[1]
	}
	return values, nil
}

// SetStorage writes one entry. The key is used as is, including spaces, and must not be empty.
func (s *Emulator) SetStorage(ctx context.Context, t *page.Tab, kind StorageKind, key, value string) error {
	if key == "" {
		return fault.Invalidf("key is required")
	}
	const write = `function (kind, key, value) {
		(kind === 'local' ? localStorage : sessionStorage).setItem(key, value);
		return null;
	}`
	return s.callInStorage(ctx, t, kind, write, nil, key, value)
}

// ClearStorage removes all entries of the main frame's origin.
func (s *Emulator) ClearStorage(ctx context.Context, t *page.Tab, kind StorageKind) error {
	const empty = `function (kind) {
		(kind === 'local' ? localStorage : sessionStorage).clear();
		return null;
	}`
	return s.callInStorage(ctx, t, kind, empty, nil)
}

// callInStorage calls a function in an isolated world, which the page's scripts cannot reach.
func (s *Emulator) callInStorage(ctx context.Context, t *page.Tab, kind StorageKind, fn string, result any,
	args ...any,
) error {
	if kind != LocalStorage && kind != SessionStorage {
		return fault.Invalidf("storage kind must be local or session")
	}
	err := t.RunExclusive(ctx, storageLimit, func(ctx context.Context) error {
		world, err := cdp.Ask[proto.PageCreateIsolatedWorldResult](ctx, t.MainFrame().Session, proto.PageCreateIsolatedWorld{
			FrameID: t.MainFrame().ID(), WorldName: worldName,
		})
		if err != nil {
			return err
		}
		req := proto.RuntimeCallFunctionOn{
			FunctionDeclaration: fn, ExecutionContextID: world.ExecutionContextID, ReturnByValue: true,
			Arguments: []*proto.RuntimeCallArgument{{Value: gson.New(string(kind))}},
		}
		for _, arg := range args {
			req.Arguments = append(req.Arguments, &proto.RuntimeCallArgument{Value: gson.New(arg)})
		}
		var res frame.EvaluateResult[any]
		res.Result.Value = result
		if err := t.MainFrame().Begin(req).Wait(ctx, &res); err != nil {
			return err
		}
		if res.Exception != nil {
			return frame.ExceptionError(res.Exception)
		}
		return nil
	})
	if cdp.IsDocumentGone(err) {
		err = errors.New("the page navigated meanwhile: try again")
	}
	if err != nil {
		return fmt.Errorf("%s storage of %s: %w", kind, t.URL(), err)
	}
	return nil
}

// Cookie is a cookie in the form of the control API.
type Cookie struct {
	Name     string  `json:"name"`
	Value    string  `json:"value"`
	Domain   string  `json:"domain"`
	Path     string  `json:"path"`
	Expires  float64 `json:"expires"` // seconds since 1970; -1 for a session cookie
	HTTPOnly bool    `json:"httpOnly"`
	Secure   bool    `json:"secure"`
	SameSite string  `json:"sameSite"` // Lax, Strict or None; Lax if not set
}

// Cookies lists the cookies of the tab's browser context, for all sites.
func (s *Emulator) Cookies(ctx context.Context, t *page.Tab) ([]Cookie, error) {
	var res struct {
		Cookies []Cookie `json:"cookies"`
	}
	err := t.RunConcurrently(ctx, tabChangeLimit, func(ctx context.Context) error {
		return t.MainFrame().Begin(proto.NetworkGetAllCookies{}).Wait(ctx, &res)
	})
	if err != nil {
		return nil, fmt.Errorf("cookies of tab %s: %w", t.ID(), err)
	}
	for i := range res.Cookies {
		if res.Cookies[i].SameSite == "" {
			res.Cookies[i].SameSite = "Lax"
		}
	}
	return res.Cookies, nil
}

// CookieParams is a cookie to set: for the site of URL, or for Path and Domain (with a leading dot: including
// subdomains).
type CookieParams struct {
	Name     string   `json:"name"`
	Value    *string  `json:"value"` // required, may be empty
	URL      string   `json:"url"`
	Domain   string   `json:"domain"`
	Path     string   `json:"path"`
	Expires  *float64 `json:"expires"` // seconds since 1970; nil or -1 for a session cookie
	HTTPOnly bool     `json:"httpOnly"`
	Secure   bool     `json:"secure"`
	SameSite string   `json:"sameSite"` // Lax, Strict, None or empty
}

// ParseCookie parses and checks the cookie of a request. The error wraps page.ErrInvalid.
func ParseCookie(data []byte) (*CookieParams, error) {
	var c *CookieParams
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, fault.Invalidf("cookie is not of the right shape: %v", err)
	}
	return c, c.Validate()
}

// Validate returns an error that wraps page.ErrInvalid if fields are missing or contradictory.
func (c *CookieParams) Validate() error {
	switch {
	case c == nil:
		return fault.Invalidf("cookie is required")
	case c.Name == "":
		return fault.Invalidf("cookie name is required")
	case c.Value == nil:
		return fault.Invalidf("cookie value is required")
	case strings.ContainsFunc(c.Name+*c.Value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f || r == ';' }),
		strings.Contains(c.Name, "="):
		return fault.Invalidf("cookie name or value has characters that cookies may not have")
	case c.SameSite != "" && !slices.Contains([]string{"Lax", "Strict", "None"}, c.SameSite):
		return fault.Invalidf("cookie sameSite must be Lax, Strict or None")
	case c.Expires != nil && (math.IsNaN(*c.Expires) || *c.Expires < 0 && *c.Expires != -1):
		return fault.Invalidf("cookie expires must be seconds since 1970, or -1")
	case c.URL == "" && (c.Domain == "" || c.Path == ""):
		return fault.Invalidf("cookie requires url, or domain and path")
	case c.URL != "" && (c.Domain != "" || c.Path != ""):
		return fault.Invalidf("cookie takes url, or domain and path, but not both")
	case c.Domain != "" && strings.ContainsFunc(c.Domain, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune(";,/\\%@?#", r)
	}):
		return fault.Invalidf("cookie domain %q is not a host name", c.Domain)
	case c.Path != "" && c.Path[0] != '/':
		return fault.Invalidf("cookie path must begin with a slash")
	}
	if c.URL != "" {
		if u, err := url.Parse(c.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fault.Invalidf("cookie url %q: an http or https address is required", c.URL)
		}
	}
	return nil
}

// SetCookie sets a cookie in the tab's browser context. If Chromium refuses it, such as a __Host- cookie with a domain,
// the error wraps page.ErrInvalid.
func (s *Emulator) SetCookie(ctx context.Context, t *page.Tab, c *CookieParams) error {
	if err := c.Validate(); err != nil {
		return err
	}
	param := &proto.NetworkCookieParam{
		Name: c.Name, Value: *c.Value, URL: c.URL, Domain: c.Domain, Path: c.Path,
		Secure: c.Secure, HTTPOnly: c.HTTPOnly, SameSite: proto.NetworkCookieSameSite(c.SameSite),
	}
	if c.Expires != nil && *c.Expires >= 0 {
		param.Expires = proto.TimeSinceEpoch(*c.Expires)
	}
	err := t.RunConcurrently(ctx, tabChangeLimit, func(ctx context.Context) error {
		return t.MainFrame().Do(ctx, proto.NetworkSetCookies{Cookies: []*proto.NetworkCookieParam{param}})
	})
	if refusedBecause(err, "Invalid cookie") {
		return fault.Invalidf("the browser refuses the cookie %q: its name, domain, path, secure and sameSite do not go "+
			"together", c.Name)
	}
	if err != nil {
		return fmt.Errorf("set cookie %q: %w", c.Name, err)
	}
	return nil
}

// ClearCookies removes all cookies of the tab's browser context.
func (s *Emulator) ClearCookies(ctx context.Context, t *page.Tab) error {
	err := t.RunConcurrently(ctx, tabChangeLimit, func(ctx context.Context) error {
		return t.MainFrame().Do(ctx, proto.NetworkClearBrowserCookies{})
	})
	if err != nil {
		return fmt.Errorf("clear cookies: %w", err)
	}
	return nil
}

// contextOf returns the tab's context, for requests that otherwise apply to the default context.
func contextOf(t *page.Tab) proto.BrowserBrowserContextID {
	return proto.BrowserBrowserContextID(t.ContextID())
}
