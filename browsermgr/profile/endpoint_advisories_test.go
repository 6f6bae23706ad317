package profile_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"clank/browsermgr/profile"
)

// CVE-2026-28395: an address of all interfaces in what a browser says made a relay listen on all of them. Here it means
// the host that was asked, and nothing listens.
func TestAdvisoryWildcardAddressOfABrowser(t *testing.T) {
	for _, wildcard := range []string{"0.0.0.0", "[::]", "[::ffff:0.0.0.0]", "127.0.0.1", "localhost"} {
		got, err := profile.RewriteWebSocketURL("http://box.example:9000", "ws://"+wildcard+":9222/devtools/browser/1")
		if want := "ws://box.example:9000/devtools/browser/1"; err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", wildcard, got, err, want)
		}
	}
}

// CVE-2026-22174: the secret of the control API was sent to whatever listened on a port that was tried for a browser.
func TestAdvisorySecretsSentToATriedPort(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.Method+" "+r.URL.String())
		for name, values := range r.Header {
			switch name {
			case "User-Agent", "Accept-Encoding", "Connection":
			default:
				t.Errorf("it was told %s: %q", name, values)
			}
		}
		http.NotFound(w, r)
	}))
	defer stranger.Close()
	if p := (profile.Connector{}).Probe(t.Context(), parse(t, stranger.URL)); p.Ready {
		t.Error("a stranger passes for a browser")
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != 1 || asked[0] != "GET /json/version" {
		t.Errorf("asked %q, want the version only", asked)
	}
}

// A browser elsewhere, asked where its WebSocket is, could lead to hosts of the operator's network: by what it names, or
// by a redirect.
func TestAdvisoryDiscoveryLeadsElsewhere(t *testing.T) {
	visited := make(chan string, 8)
	inside := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { visited <- r.URL.Path }))
	defer inside.Close()
	for name, answer := range map[string]http.HandlerFunc{
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, inside.URL+"/json/version", http.StatusFound)
		},
		"names a host": advertise(func(*http.Request) string { return "ws://metadata.example/devtools/browser/1" }),
		"names an odd address": advertise(func(*http.Request) string {
			return "ws://0xa9fea9fe/devtools/browser/1"
		}),
	} {
		f := fake{discovery: answer}
		host := f.serve(t)
		c := profile.Connector{Allow: func(context.Context, *url.URL) error { return errors.New("on nobody's list") }}
		p := c.Probe(t.Context(), parse(t, "http://"+host))
		if p.Ready || p.Err == nil {
			t.Errorf("%s: got %+v, want a refusal", name, p)
		}
		if name != "redirect" && !errors.Is(p.Err, profile.ErrEndpointBlocked) {
			t.Errorf("%s: got %v, want ErrBlocked", name, p.Err)
		}
	}
	select {
	case path := <-visited:
		t.Errorf("%s was asked for inside", path)
	default:
	}
}

// The login in the address of a browser elsewhere was shown with errors and profiles.
func TestAdvisoryLoginInAnAddressIsShown(t *testing.T) {
	f := fake{}
	host := f.serve(t)
	e := parse(t, "http://ada:hunter2@"+host+"/?token=hunter2")
	p := profile.Connector{}.Probe(t.Context(), e)
	if p.Err == nil || strings.Contains(p.Err.Error(), "hunter2") || strings.Contains(e.String(), "hunter2") {
		t.Errorf("got %v and %s", p.Err, e)
	}
}
