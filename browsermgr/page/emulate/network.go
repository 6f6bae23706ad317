package emulate

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"strings"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// SetOffline takes the network away from all pages of the tab's context, or gives it back. Requests of dedicated and shared
// workers that run already are not covered.
func (s *Emulator) SetOffline(ctx context.Context, t *page.Tab, offline bool) error {
	return s.changeContext(ctx, t, "set offline", func(w *contextSettings) { w.offline = offline }, func(bool) []proto.Request {
		return []proto.Request{networkConditions(offline)}
	})
}

// SetHeaders sets the headers sent with every request of the tab's context, in place of those set before. Names
// and values must be what RFC 9110 allows; otherwise the error wraps page.ErrInvalid and nothing changes.
func (s *Emulator) SetHeaders(ctx context.Context, t *page.Tab, headers map[string]string) error {
	for name, value := range headers {
		if !validHeader(name, value) {
			return fault.Invalidf("header %q cannot be sent: its name or value has characters that headers may not have", name)
		}
	}
	headers = maps.Clone(headers)
	return s.changeContext(ctx, t, "set headers", func(w *contextSettings) { w.headers = headers }, func(bool) []proto.Request {
		return []proto.Request{extraHeaders(headers)}
	})
}

// Credentials answer the challenges of HTTP servers (Basic, Digest, NTLM), never those of proxies.
type Credentials struct {
	Username string
	Password string
	// Origin, if given, is the only one (scheme, host and port) that gets them; empty means every server that asks.
	Origin string
}

// SetCredentials sets what servers that ask the pages of the tab's context for a name and a password are told; nil clears it.
// A server that refuses them once is not told again for the same request. While they are set, each request takes a
// little longer.
func (s *Emulator) SetCredentials(ctx context.Context, t *page.Tab, c *Credentials) error {
	var request proto.Request = proto.FetchDisable{}
	if s.RequestsIntercepted {
		request = interceptRequest(false)
	}
	if c != nil {
		given := *c
		if given.Username == "" && given.Password == "" {
			return fault.Invalidf("username is required")
		}
		if given.Origin != "" {
			origin, err := ParseOrigin(given.Origin)
			if err != nil {
				return err
			}
			given.Origin = origin
		}
		c, request = &given, interceptRequest(true)
	}
	return s.changeContext(ctx, t, "set credentials", func(w *contextSettings) { w.credentials = c }, func(bool) []proto.Request {
		return []proto.Request{request}
	})
}

// handleChallenge answers a challenge. It runs on the reading goroutine.
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
		answer = s.answerChallenge(s.contextSettingsOf(t.ContextID()).credentials, p.Challenge.Origin, f.Session.ID()+" "+string(p.RequestID))
		s.mu.Unlock()
	}
	f.Post(proto.FetchContinueWithAuth{RequestID: p.RequestID, AuthChallengeResponse: answer})
}

// maxAnswered bounds how many challenges are remembered.
const maxAnswered = 1000

// answerChallenge decides what a server is told. The caller holds s.mu.
func (s *Emulator) answerChallenge(c *Credentials, origin, request string) *proto.FetchAuthChallengeResponse {
	if len(s.answered) > maxAnswered {
		clear(s.answered)
	}
	_, again := s.answered[request]
	if c == nil || again || c.Origin != "" && c.Origin != strings.TrimSuffix(origin, "/") {
		delete(s.answered, request)
		return &proto.FetchAuthChallengeResponse{Response: proto.FetchAuthChallengeResponseResponseCancelAuth}
	}
	s.answered[request] = struct{}{}
	return &proto.FetchAuthChallengeResponse{
		Response: proto.FetchAuthChallengeResponseResponseProvideCredentials, Username: c.Username, Password: c.Password,
	}
}

// ParseOrigin reduces a web address to its origin as browsers write it: scheme, host and, if it is not the scheme's own, port.
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

// validHeader reports whether a header can be sent: a token as its name, and no control characters in the value.
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
