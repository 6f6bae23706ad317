package discordtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"clank/internal/test/check"

	_ "embed"
)

//go:embed client.html
var clientPage string

// A Client is Discord's own client with one Activity, as far as the Activity can tell: a page at https://discord.com
// that frames the Activity and speaks the protocol of the Embedded App SDK (opcodes, HANDSHAKE, READY, AUTHORIZE,
// AUTHENTICATE), and the proxy at https://<application>.discordsays.com, with its prefix and a
// Content-Security-Policy that restricts the Activity to it. A browser needs the flags of Args to reach it.
type Client struct {
	server *Server
	bot    Bot
	site   *httptest.Server
	proxy  *httputil.ReverseProxy
}

// NewClient starts a client, which is closed when the test ends. target is the target of "/" in the portal's URL
// mapping.
func NewClient(tb testing.TB, s *Server, bot Bot, target string) *Client {
	tb.Helper()
	to, err := url.Parse(target)
	check.Must(tb, err)
	c := &Client{server: s, bot: bot}
	c.proxy = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Path, r.Out.URL.RawPath = strings.TrimPrefix(r.In.URL.Path, "/.proxy"), ""
		r.SetURL(to)
	}, ModifyResponse: func(r *http.Response) error {
		here := c.host() + "/.proxy/"
		r.Header.Add("Content-Security-Policy", fmt.Sprintf("default-src 'none'; script-src https://%[1]s; "+
			"style-src https://%[1]s; "+
			"img-src https://%[1]s blob: data:; connect-src https://%[1]s wss://%[1]s https://discord.com/api/; "+
			"frame-ancestors https://discord.com", here))
		return nil
	}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET discord.com/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, clientPage)
	})
	mux.HandleFunc("POST discord.com/authorize", c.authorize)
	mux.HandleFunc("POST discord.com/authenticate", c.authenticate)
	mux.HandleFunc("/", c.forward)
	c.site = httptest.NewTLSServer(mux)
	tb.Cleanup(c.site.Close)
	return c
}

// Args returns the Chromium flags for reaching the client.
func (c *Client) Args() []string {
	return []string{
		"--host-resolver-rules=MAP discord.com " + c.site.Listener.Addr().String() + ", MAP *.discordsays.com " +
			c.site.Listener.Addr().String(), "--ignore-certificate-errors",
	}
}

func (c *Client) host() string { return c.bot.ID + ".discordsays.com" }

// Origin returns the origin of the Activity's frame.
func (c *Client) Origin() string { return "https://" + c.host() }

// PageURL returns the address of the client page for a user in an instance. The platform is "desktop" or "mobile".
func (c *Client) PageURL(user User, instance, platform string) string {
	q := url.Values{"app": {c.bot.ID}, "user": {user.ID}, "instance_id": {instance}, "platform": {platform}}
	c.server.hub.Mu.Lock()
	defer c.server.hub.Mu.Unlock()
	if i := c.server.hub.instances[instance]; i != nil {
		q.Set("channel_id", i.Location.ChannelID)
		if i.Location.GuildID != nil {
			q.Set("guild_id", *i.Location.GuildID)
		}
	}
	return "https://discord.com/activity?" + q.Encode()
}

// forward is the proxy. It forwards the Activity's page and everything below its prefix.
func (c *Client) forward(w http.ResponseWriter, r *http.Request) {
	if r.Host != c.host() || r.URL.Path != "/" && !strings.HasPrefix(r.URL.Path, "/.proxy/") {
		http.NotFound(w, r)
		return
	}
	c.proxy.ServeHTTP(w, r)
}

// authorize authorizes the application on behalf of the user.
func (c *Client) authorize(w http.ResponseWriter, r *http.Request) {
	var in struct {
		User string
		Args struct {
			ClientID        string `json:"client_id"`
			ResponseType    string `json:"response_type"`
			State           string
			Scope           []string
			CodeChallenge   string `json:"code_challenge"`
			ChallengeMethod string `json:"code_challenge_method"`
		}
	}
	err := json.NewDecoder(r.Body).Decode(&in)
	a := in.Args
	if err != nil || a.ClientID != c.bot.ID || a.ResponseType != "code" || a.State == "" || len(a.Scope) != 1 ||
		a.Scope[0] != "identify" || a.CodeChallenge == "" || a.ChallengeMethod != "S256" {
		http.Error(w, "Invalid OAuth2 request", http.StatusBadRequest)
		return
	}
	code := c.server.Authorize(c.bot, User{ID: in.User, Username: c.server.userName(in.User)}, a.CodeChallenge)
	fmt.Fprintf(w, `{"code":%q}`, code)
}

func (s *Server) userName(id string) string {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	return s.hub.Users[id].Username
}

// authenticate checks that a token belongs to the user.
func (c *Client) authenticate(w http.ResponseWriter, r *http.Request) {
	var in struct {
		User string
		Args struct {
			AccessToken string `json:"access_token"`
		}
	}
	err := json.NewDecoder(r.Body).Decode(&in)
	c.server.hub.Mu.Lock()
	defer c.server.hub.Mu.Unlock()
	u, ok := c.server.hub.bearers[in.Args.AccessToken]
	if err != nil || !ok || u.ID != in.User {
		http.Error(w, "Invalid token", http.StatusBadRequest)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"access_token": in.Args.AccessToken, "scopes": []string{"identify"}, "expires": "2030-01-01T00:00:00+00:00",
		"user":        map[string]any{"id": u.ID, "username": u.Username, "discriminator": "0", "public_flags": 0},
		"application": map[string]any{"id": c.bot.ID, "name": c.bot.Username, "description": "", "icon": nil},
	})
}
