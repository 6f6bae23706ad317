package emulate

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"clank/browsermgr/fault"
	"clank/browsermgr/page"

	"github.com/go-rod/rod/lib/proto"
)

// Cookie is a cookie as the control API writes it.
type Cookie struct {
	Name     string  `json:"name"`
	Value    string  `json:"value"`
	Domain   string  `json:"domain"`
	Path     string  `json:"path"`
	Expires  float64 `json:"expires"` // seconds since 1970; -1 for a cookie of the session
	HTTPOnly bool    `json:"httpOnly"`
	Secure   bool    `json:"secure"`
	SameSite string  `json:"sameSite"` // Lax, Strict or None; Lax if it was not given
}

// Cookies lists the cookies of the tab's browser context, of all sites.
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

// CookieParams is a cookie to set: for the site of URL, or for Domain (with a leading dot: its subdomains too) and Path.
type CookieParams struct {
	Name     string
	Value    *string // required, may be empty
	URL      string
	Domain   string
	Path     string
	Expires  *float64 // seconds since 1970; nil or -1 for a cookie of the session
	HTTPOnly bool
	Secure   bool
	SameSite string // Lax, Strict, None or empty
}

// UnmarshalJSON reads the cookie of a request. What has the wrong shape is refused with page.ErrInvalid.
func (c *CookieParams) UnmarshalJSON(data []byte) error {
	var in struct {
		Name     string   `json:"name"`
		Value    *string  `json:"value"`
		URL      string   `json:"url"`
		Domain   string   `json:"domain"`
		Path     string   `json:"path"`
		Expires  *float64 `json:"expires"`
		HTTPOnly bool     `json:"httpOnly"`
		Secure   bool     `json:"secure"`
		SameSite string   `json:"sameSite"`
	}
	if string(data) == "null" {
		return fault.Invalidf("cookie is required")
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return fault.Invalidf("cookie is not of the right shape: %v", err)
	}
	*c = CookieParams(in)
	return nil
}

// Validate says what is missing or contradictory, as an error that wraps page.ErrInvalid.
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
	case c.Domain != "" && strings.ContainsFunc(c.Domain, func(r rune) bool { return r <= ' ' || strings.ContainsRune(";,/\\%@?#", r) }):
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

// SetCookie sets a cookie in the tab's browser context. What Chromium refuses, such as a __Host- cookie with a domain, is
// an error that wraps page.ErrInvalid.
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
		return fault.Invalidf("the browser refuses the cookie %q: its name, domain, path, secure and sameSite do not go together", c.Name)
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

// contextOf returns the tab's context, for requests that are about the browser's own otherwise.
func contextOf(t *page.Tab) proto.BrowserBrowserContextID {
	return proto.BrowserBrowserContextID(t.ContextID())
}
