package emulate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"clank/browsermgr/fault"
	"clank/browsermgr/page"

	"github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/proto"
)

// Geolocation is where the pages believe to be, in degrees. Accuracy is in metres.
type Geolocation struct {
	Latitude  float64
	Longitude float64
	Accuracy  float64
	// Origin is the site that may ask without the person being asked; empty means the one that the tab shows, or every
	// site if it shows none.
	Origin string
}

func (g Geolocation) check() error {
	switch {
	case !(g.Latitude >= -90 && g.Latitude <= 90):
		return fault.Invalidf("latitude must be between -90 and 90")
	case !(g.Longitude >= -180 && g.Longitude <= 180):
		return fault.Invalidf("longitude must be between -180 and 180")
	case !(g.Accuracy >= 0):
		return fault.Invalidf("accuracy must not be negative")
	}
	return nil
}

func (g Geolocation) request() proto.Request {
	return proto.EmulationSetGeolocationOverride{Latitude: &g.Latitude, Longitude: &g.Longitude, Accuracy: &g.Accuracy}
}

// Geolocation sets the place of the tab's context and grants its site the permission to ask for it. With nil both this and
// all permissions granted in the context are taken back.
func (s *State) Geolocation(ctx context.Context, t *page.Tab, g *Geolocation) error {
	if g == nil {
		if err := s.resetPermissions(ctx, t); err != nil {
			return err
		}
		return s.place(ctx, t, nil)
	}
	if err := g.check(); err != nil {
		return err
	}
	given, site := *g, g.Origin
	if site != "" {
		origin, err := Origin(site)
		if err != nil {
			return err
		}
		site = origin
	} else if origin, err := Origin(t.URL()); err == nil {
		site = origin
	}
	if err := s.place(ctx, t, &given); err != nil {
		return err
	}
	_, err := s.grant(ctx, t, site, []string{"geolocation"}, nil)
	return err
}

func (s *State) place(ctx context.Context, t *page.Tab, g *Geolocation) error {
	var req proto.Request = proto.EmulationClearGeolocationOverride{}
	if g != nil {
		req = g.request()
	}
	return s.change(ctx, t, "set geolocation", func(w *wide) { w.place = g }, func(main bool) []proto.Request {
		if !main {
			return nil // a tab is in one place, with all its frames
		}
		return []proto.Request{req}
	})
}

// Grant is the outcome of [State.Grant], in the shape of the control API.
type Grant struct {
	Origin      string   `json:"origin"`
	Granted     []string `json:"grantedPermissions"`
	Unsupported []string `json:"unsupportedPermissions"`
	Method      string   `json:"grantMethod"` // cdp
}

// defaultGrantLimit bounds a grant whose caller gives no limit.
const defaultGrantLimit = 5 * time.Second

// Grant lets an origin do without asking what permissions name, in the words of CDP's Browser.PermissionType, as long as
// the context lives or until Geolocation clears them. What was granted to the origin before stays granted. If the
// browser does not know one of optional, all of these are left out. limit 0 means 5 s.
func (s *State) Grant(ctx context.Context, t *page.Tab, origin string, permissions, optional []string, limit time.Duration) (Grant, error) {
	if strings.TrimSpace(origin) == "" {
		return Grant{}, fault.Invalidf("origin is required")
	}
	site, err := Origin(origin)
	if err != nil {
		return Grant{}, err
	}
	if len(permissions) == 0 {
		return Grant{}, fault.Invalidf("permissions is required")
	}
	if limit <= 0 {
		limit = defaultGrantLimit
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, &fault.LimitError{Limit: limit})
	defer cancel()
	return s.grant(ctx, t, site, permissions, optional)
}

func (s *State) grant(ctx context.Context, t *page.Tab, site string, permissions, optional []string) (Grant, error) {
	g := Grant{Origin: site, Granted: union(permissions, optional), Unsupported: []string{}, Method: "cdp"}
	err := s.sendGrant(ctx, t, site, g.Granted)
	if unknownPermission(err) && len(optional) > 0 {
		g.Granted = union(permissions, nil)
		g.Unsupported = slices.DeleteFunc(union(optional, nil), func(p string) bool { return slices.Contains(g.Granted, p) })
		err = s.sendGrant(ctx, t, site, g.Granted)
	}
	if unknownPermission(err) {
		return Grant{}, fault.Invalidf("the browser does not know a permission of %s", strings.Join(g.Granted, ", "))
	}
	if err != nil {
		return Grant{}, fmt.Errorf("grant permissions to %s: %w", site, err)
	}
	return g, nil
}

// sendGrant grants what is asked together with what was granted before: Chromium takes back whatever it is not told.
func (s *State) sendGrant(ctx context.Context, t *page.Tab, site string, permissions []string) error {
	s.mu.Lock()
	all := union(s.context(t.ContextID()).grants[site], permissions)
	s.mu.Unlock()
	req := proto.BrowserGrantPermissions{Origin: site, BrowserContextID: contextOf(t)}
	for _, p := range all {
		req.Permissions = append(req.Permissions, proto.BrowserPermissionType(p))
	}
	if err := t.Within(ctx, changeLimit, func(ctx context.Context) error { return t.Main().Do(ctx, req) }); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	grants := s.context(t.ContextID()).grants
	grants[site] = union(grants[site], permissions)
	return nil
}

func unknownPermission(err error) bool {
	e, ok := errors.AsType[*cdp.Error](err)
	return ok && (strings.Contains(e.Message, "permission") || strings.Contains(e.Message, "Permission"))
}

func (s *State) resetPermissions(ctx context.Context, t *page.Tab) error {
	req := proto.BrowserResetPermissions{BrowserContextID: contextOf(t)}
	if err := t.Within(ctx, changeLimit, func(ctx context.Context) error { return t.Main().Do(ctx, req) }); err != nil {
		return fmt.Errorf("reset permissions: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.context(t.ContextID()).grants)
	return nil
}

// union lists the words of both lists once, in order.
func union(a, b []string) []string {
	all := []string{}
	for _, word := range slices.Concat(a, b) {
		if !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	return all
}
