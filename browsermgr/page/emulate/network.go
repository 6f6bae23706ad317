package emulate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// SetOffline disconnects all pages of the tab's context from the network, or reconnects them. It does not affect
// requests of dedicated and shared workers that are already running.
func (s *Emulator) SetOffline(ctx context.Context, t *page.Tab, offline bool) error {
	return s.changeContext(ctx, t, "set offline", func(w *contextSettings) { w.offline = offline },
		&contextSettings{offline: true})
}

// Headers are extra request headers.
type Headers struct {
	Values map[string]string
	// Origin is the only site that receives them, in the form of [ParseOrigin]; "" means all.
	Origin string
}

// SetHeaders sets the headers sent with every request of the tab's context, replacing earlier ones. Names and values
// must be valid by RFC 9110; otherwise the error wraps page.ErrInvalid and nothing changes. Headers for a single origin
// slow down each request slightly.
func (s *Emulator) SetHeaders(ctx context.Context, t *page.Tab, h Headers) error {
	if h.Origin != "" && s.RequestsIntercepted {
		return fault.Invalidf("headers for one origin cannot be set in a browser that clank did not start: leave origin out")
	}
	for name, value := range h.Values {
		if !validHeader(name, value) {
			return fault.Invalidf("header %q cannot be sent: its name or value has characters that headers may not have", name)
		}
	}
	h.Values = maps.Clone(h.Values)
	touched := &contextSettings{headers: Headers{Values: map[string]string{"any": ""}}}
	return s.changeContext(ctx, t, "set headers", func(w *contextSettings) {
		touched.headers.Origin = cmp.Or(w.headers.Origin, h.Origin)
		w.headers = h
	}, touched)
}

// continueRequest continues an intercepted request, with the headers for its origin. It runs on the connection's
// reading goroutine.
func (s *Emulator) continueRequest(t *page.Tab, f *frame.Frame, ev cdp.Event) {
	var p struct {
		RequestID proto.FetchRequestID `json:"requestId"`
		Request   struct {
			URL     string            `json:"url"`
			Headers map[string]string `json:"headers"`
		} `json:"request"`
	}
	if f == nil || s.RequestsIntercepted || !ev.Decode(&p) {
		return
	}
	req := proto.FetchContinueRequest{RequestID: p.RequestID}
	if t != nil {
		s.mu.Lock()
		h := s.contextSettingsOf(t.ContextID()).headers
		s.mu.Unlock()
		if origin, err := ParseOrigin(p.Request.URL); err == nil && origin == h.Origin {
			for name, value := range p.Request.Headers {
				if !h.has(name) {
					req.Headers = append(req.Headers, &proto.FetchHeaderEntry{Name: name, Value: value})
				}
			}
			for name, value := range h.Values {
				req.Headers = append(req.Headers, &proto.FetchHeaderEntry{Name: name, Value: value})
			}
		}
	}
	f.Post(req)
}

// has reports whether there is a header of that name, ignoring case.
func (h Headers) has(name string) bool {
	for own := range h.Values {
		if strings.EqualFold(own, name) {
			return true
		}
	}
	return false
}

// Credentials answer challenges of HTTP servers (Basic, Digest, NTLM), but not of proxies.
type Credentials struct {
	Username string
	Password string
	// Origin is the only server that receives them; see [ParseOrigin]. Empty means the one of the tab's document.
	Origin string
}

// SetCredentials sets the credentials for servers that challenge the pages of the tab's context; nil clears them. They
// are sent only once for each request. While they are set, each request is slightly slower.
func (s *Emulator) SetCredentials(ctx context.Context, t *page.Tab, c *Credentials) error {
	if c != nil && c.Username == "" && c.Password == "" {
		return fault.Invalidf("username is required")
	}
	if c != nil {
		given := *c
		var err error
		if given.Origin, err = ParseOrigin(cmp.Or(c.Origin, t.URL())); err != nil && c.Origin != "" {
			return err
		} else if err != nil {
			return fault.Invalidf("origin is required, since the tab shows no site: name the site that gets the credentials, " +
				"such as https://example.com")
		}
		c = &given
	}
	return s.changeContext(ctx, t, "set credentials", func(w *contextSettings) { w.credentials = c },
		&contextSettings{credentials: &Credentials{}})
}

// handleChallenge answers a challenge. It runs on the connection's reading goroutine.
func (s *Emulator) handleChallenge(t *page.Tab, f *frame.Frame, ev cdp.Event) {
	var p struct {
		RequestID proto.FetchRequestID `json:"requestId"`
		Challenge struct {
			Source string `json:"source"`
			Origin string `json:"origin"`
		} `json:"authChallenge"`
	}
	if t == nil || f == nil || json.Unmarshal(ev.Params, &p) != nil {
		return
	}
	answer := &proto.FetchAuthChallengeResponse{Response: proto.FetchAuthChallengeResponseResponseDefault}
	if p.Challenge.Source != "Proxy" {
		s.mu.Lock()
		c := s.contextSettingsOf(t.ContextID()).credentials
		if origin, err := ParseOrigin(p.Challenge.Origin); c != nil && (err != nil || origin != c.Origin) {
			c = nil
		}
		answer = s.answerChallenge(c, f.Session.ID()+" "+string(p.RequestID))
		s.mu.Unlock()
	}
	f.Post(proto.FetchContinueWithAuth{RequestID: p.RequestID, AuthChallengeResponse: answer})
}

// maxAnswered bounds the number of remembered challenges.
const maxAnswered = 1000

// answerChallenge decides how to answer a server. The caller holds s.mu.
func (s *Emulator) answerChallenge(c *Credentials, request string) *proto.FetchAuthChallengeResponse {
	if len(s.answered) > maxAnswered {
		clear(s.answered)
	}
	_, again := s.answered[request]
	if c == nil || again {
		delete(s.answered, request)
		return &proto.FetchAuthChallengeResponse{Response: proto.FetchAuthChallengeResponseResponseCancelAuth}
	}
	s.answered[request] = struct{}{}
	return &proto.FetchAuthChallengeResponse{
		Response: proto.FetchAuthChallengeResponseResponseProvideCredentials, Username: c.Username, Password: c.Password,
	}
}

// ParseOrigin returns the origin of a URL in the form browsers use: scheme, host and, unless it is the scheme's
// default, port.
func ParseOrigin(address string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fault.Invalidf("origin %q: an http or https origin is required, such as https://example.com", address)
	}
	host := strings.ToLower(u.Host)
	if u.Scheme == "http" {
		host = strings.TrimSuffix(host, ":80")
	} else {
		host = strings.TrimSuffix(host, ":443")
	}
	return u.Scheme + "://" + strings.TrimSuffix(host, ":"), nil
}

// validHeader reports whether a header can be sent: its name is a token, and its value has no control characters.
func validHeader(name, value string) bool {
	if name == "" || strings.TrimSpace(value) != value {
		return false
	}
	for _, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	for _, c := range []byte(value) {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// Geolocation is an emulated position in degrees. Accuracy is in metres.
type Geolocation struct {
	Latitude  float64
	Longitude float64
	Accuracy  float64
	// Origin is the site that gets the permission to read it; empty means the one of the tab's document, or every site
	// if it has none.
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

// request returns the CDP request that sets the position; nil restores the browser's own.
func (g *Geolocation) request() proto.Request {
	if g == nil {
		return proto.EmulationClearGeolocationOverride{}
	}
	return proto.EmulationSetGeolocationOverride{Latitude: &g.Latitude, Longitude: &g.Longitude, Accuracy: &g.Accuracy}
}

// SetGeolocation sets the position for the tab's context and grants its site the permission to read it. nil clears this
// and all permissions granted in the context.
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
	return s.changeContext(ctx, t, "set geolocation", func(w *contextSettings) { w.geolocation = g },
		&contextSettings{geolocation: &Geolocation{}})
}

// GrantResult is the result of [Emulator.GrantPermissions], in the form of the control API.
type GrantResult struct {
	Origin      string   `json:"origin"`
	Granted     []string `json:"grantedPermissions"`
	Unsupported []string `json:"unsupportedPermissions"`
	Method      string   `json:"grantMethod"` // always cdp
}

// GrantPermissions grants permissions, named as in CDP's Browser.PermissionType, to an origin, for the lifetime of the
// context or until SetGeolocation clears them. Permissions granted to the origin earlier are kept. If the browser does
// not know one of optional, all of these are omitted.
func (s *Emulator) GrantPermissions(ctx context.Context, t *page.Tab, origin string, permissions, optional []string,
	limit time.Duration,
) (GrantResult, error) {
	site, err := ParseOrigin(origin)
	if err != nil {
		return GrantResult{}, err
	}
	if len(permissions) == 0 {
		return GrantResult{}, fault.Invalidf("permissions is required")
	}
	for _, p := range slices.Concat(permissions, optional) {
		if strings.HasPrefix(p, "clipboard") {
			return GrantResult{}, fault.Invalidf("%s is granted to no site: the browser's clipboard is that of other pages or "+
				"of the desktop; leave it out, and use the keys that copy and paste", p)
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, &fault.TimeLimitError{Limit: limit})
	defer cancel()
	return s.grantPermissions(ctx, t, site, permissions, optional)
}

func (s *Emulator) grantPermissions(ctx context.Context, t *page.Tab, site string, permissions,
	optional []string,
) (GrantResult, error) {
	g := GrantResult{Origin: site, Granted: unionOf(permissions, optional), Unsupported: []string{}, Method: "cdp"}
	err := s.sendGrant(ctx, t, site, g.Granted)
	if refusedBecause(err, "permission") && len(optional) > 0 {
		g.Granted = unionOf(permissions, nil)
		g.Unsupported = slices.DeleteFunc(unionOf(optional, nil), func(p string) bool {
			return slices.Contains(g.Granted, p)
		})
		err = s.sendGrant(ctx, t, site, g.Granted)
	}
	if refusedBecause(err, "permission") {
		return GrantResult{}, fault.Invalidf("the browser knows none of these permissions: %s", strings.Join(g.Granted, ", "))
	}
	if err != nil {
		return GrantResult{}, fmt.Errorf("grant permissions to %s: %w", site, err)
	}
	return g, nil
}

// sendGrant grants the permissions together with those granted earlier, since Chromium revokes those that are not
// named.
func (s *Emulator) sendGrant(ctx context.Context, t *page.Tab, site string, permissions []string) error {
	s.mu.Lock()
	all := unionOf(s.contextSettingsOf(t.ContextID()).grants[site], permissions)
	s.mu.Unlock()
	req := proto.BrowserGrantPermissions{Origin: site, BrowserContextID: contextOf(t)}
	for _, p := range all {
		req.Permissions = append(req.Permissions, proto.BrowserPermissionType(p))
	}
	if err := t.RunConcurrently(ctx, tabChangeLimit, func(ctx context.Context) error {
		return t.MainFrame().Do(ctx, req)
	}); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	grants := s.contextSettingsOf(t.ContextID()).grants
	grants[site] = unionOf(grants[site], permissions)
	return nil
}

func (s *Emulator) resetPermissions(ctx context.Context, t *page.Tab) error {
	req := proto.BrowserResetPermissions{BrowserContextID: contextOf(t)}
	if err := t.RunConcurrently(ctx, tabChangeLimit, func(ctx context.Context) error {
		return t.MainFrame().Do(ctx, req)
	}); err != nil {
		return fmt.Errorf("reset permissions: %w", err)
	}
	if err := t.DenyClipboard(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.contextSettingsOf(t.ContextID()).grants)
	return nil
}

// unionOf returns the words of both lists without duplicates, in order.
func unionOf(a, b []string) []string {
	all := []string{}
	for _, word := range slices.Concat(a, b) {
		if !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	return all
}
