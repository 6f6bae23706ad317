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

// request asks for the place; nil for the browser's own.
func (g *Geolocation) request() proto.Request {
	if g == nil {
		return proto.EmulationClearGeolocationOverride{}
	}
	return proto.EmulationSetGeolocationOverride{Latitude: &g.Latitude, Longitude: &g.Longitude, Accuracy: &g.Accuracy}
}

// SetGeolocation sets the place of the tab's context and grants its site the permission to ask for it. With nil both this and
// all permissions granted in the context are taken back.
func (s *Emulator) SetGeolocation(ctx context.Context, t *page.Tab, g *Geolocation) error {
	if g == nil {
		if err := s.resetPermissions(ctx, t); err != nil {
			return err
		}
		return s.setGeolocation(ctx, t, nil)
	}
	if err := g.check(); err != nil {
		return err
	}
	given, site := *g, g.Origin
	if site != "" {
		origin, err := ParseOrigin(site)
		if err != nil {
			return err
		}
		site = origin
	} else if origin, err := ParseOrigin(t.URL()); err == nil {
		site = origin
	}
	if err := s.setGeolocation(ctx, t, &given); err != nil {
		return err
	}
	_, err := s.grantPermissions(ctx, t, site, []string{"geolocation"}, nil)
	return err
}

func (s *Emulator) setGeolocation(ctx context.Context, t *page.Tab, g *Geolocation) error {
	return s.changeContext(ctx, t, "set geolocation", func(w *contextSettings) { w.geolocation = g }, func(main bool) []proto.Request {
		if !main {
			return nil // a tab is in one place, with all its frames
		}
		return []proto.Request{g.request()}
	})
}

// GrantResult is the outcome of [Emulator.GrantPermissions], in the shape of the control API.
type GrantResult struct {
	Origin      string   `json:"origin"`
	Granted     []string `json:"grantedPermissions"`
	Unsupported []string `json:"unsupportedPermissions"`
	Method      string   `json:"grantMethod"` // cdp
}

// defaultGrantLimit bounds a grant whose caller gives no limit.
const defaultGrantLimit = 5 * time.Second

// GrantPermissions lets an origin do without asking what permissions name, in the words of CDP's Browser.PermissionType, as long as
// the context lives or until Geolocation clears them. What was granted to the origin before stays granted. If the
// browser does not know one of optional, all of these are left out. limit 0 means 5 s.
func (s *Emulator) GrantPermissions(ctx context.Context, t *page.Tab, origin string, permissions, optional []string, limit time.Duration) (GrantResult, error) {
	if strings.TrimSpace(origin) == "" {
		return GrantResult{}, fault.Invalidf("origin is required")
	}
	site, err := ParseOrigin(origin)
	if err != nil {
		return GrantResult{}, err
	}
	if len(permissions) == 0 {
		return GrantResult{}, fault.Invalidf("permissions is required")
	}
	if limit <= 0 {
		limit = defaultGrantLimit
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, &fault.TimeLimitError{Limit: limit})
	defer cancel()
	return s.grantPermissions(ctx, t, site, permissions, optional)
}

func (s *Emulator) grantPermissions(ctx context.Context, t *page.Tab, site string, permissions, optional []string) (GrantResult, error) {
	g := GrantResult{Origin: site, Granted: unionOf(permissions, optional), Unsupported: []string{}, Method: "cdp"}
	err := s.sendGrant(ctx, t, site, g.Granted)
	if unknownPermission(err) && len(optional) > 0 {
		g.Granted = unionOf(permissions, nil)
		g.Unsupported = slices.DeleteFunc(unionOf(optional, nil), func(p string) bool { return slices.Contains(g.Granted, p) })
		err = s.sendGrant(ctx, t, site, g.Granted)
	}
	if unknownPermission(err) {
		return GrantResult{}, fault.Invalidf("the browser does not know a permission of %s", strings.Join(g.Granted, ", "))
	}
	if err != nil {
		return GrantResult{}, fmt.Errorf("grant permissions to %s: %w", site, err)
	}
	return g, nil
}

// sendGrant grants what is asked together with what was granted before: Chromium takes back whatever it is not told.
func (s *Emulator) sendGrant(ctx context.Context, t *page.Tab, site string, permissions []string) error {
	s.mu.Lock()
	all := unionOf(s.contextSettingsOf(t.ContextID()).grants[site], permissions)
	s.mu.Unlock()
	req := proto.BrowserGrantPermissions{Origin: site, BrowserContextID: contextOf(t)}
	for _, p := range all {
		req.Permissions = append(req.Permissions, proto.BrowserPermissionType(p))
	}
	if err := t.RunConcurrently(ctx, tabChangeLimit, func(ctx context.Context) error { return t.MainFrame().Do(ctx, req) }); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	grants := s.contextSettingsOf(t.ContextID()).grants
	grants[site] = unionOf(grants[site], permissions)
	return nil
}

func unknownPermission(err error) bool {
	e, ok := errors.AsType[*cdp.Error](err)
	return ok && (strings.Contains(e.Message, "permission") || strings.Contains(e.Message, "Permission"))
}

func (s *Emulator) resetPermissions(ctx context.Context, t *page.Tab) error {
	req := proto.BrowserResetPermissions{BrowserContextID: contextOf(t)}
	if err := t.RunConcurrently(ctx, tabChangeLimit, func(ctx context.Context) error { return t.MainFrame().Do(ctx, req) }); err != nil {
		return fmt.Errorf("reset permissions: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.contextSettingsOf(t.ContextID()).grants)
	return nil
}

// unionOf lists the words of both lists once, in order.
func unionOf(a, b []string) []string {
	all := []string{}
	for _, word := range slices.Concat(a, b) {
		if !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	return all
}
