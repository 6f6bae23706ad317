package activity_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/internal/activity"
	"clank/internal/liveview"
	"clank/internal/test/check"
	"clank/internal/test/sessionstest"
	"clank/sessions"

	"github.com/coder/websocket"
)

// discord is a fake Discord for the Activity.
type discord struct {
	mu        sync.Mutex
	codes     map[string]string   // user by code
	instances map[string][]string // users by instance, which is in channel c1 of guild g1
	away      map[string]bool     // "user channel" of those who do not see a channel
	moderator string
	asked     int
}

func (d *discord) Begin() (app, state, challenge string) { return "app", "state", "challenge" }

func (d *discord) SignIn(_ context.Context, state, code string) (user, name, token string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	user = d.codes[code]
	delete(d.codes, code)
	if user == "" || state != "state" {
		return "", "", "", errors.New("Discord does not accept this sign-in")
	}
	return user, user, "bearer of " + user, nil
}

func (d *discord) Instance(_ context.Context, id string) (guild, channel string, users []string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked++
	users, ok := d.instances[id]
	if !ok {
		return "", "", nil, errors.New("this Activity is not open any more")
	}
	return "g1", "c1", users, nil
}

func (d *discord) Origin(_ context.Context, o sessions.Origin) (sessions.Origin, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.away[o.User+" "+o.Channel] {
		return o, errors.New("you do not see that channel")
	}
	o.Moderator = o.User == d.moderator
	o.ModeratesChannel = func(string) bool { return o.Moderator }
	return o, nil
}

// rig is an Activity in channel c1 with ada, bob, and the moderator mod.
type rig struct {
	*activity.Server
	t       *testing.T
	discord *discord
	site    string
	log     bytes.Buffer
	late    atomic.Int64 // by how much the clock is ahead
}

func start(t *testing.T) *rig {
	t.Helper()
	m := sessionstest.OpenManager(t)
	noWindow := func(context.Context, sessions.Session, bool) (*browsermgr.Window, error) { return nil, nil }
	live := &liveview.Server{Sessions: m, Scopes: m.Scopes, Window: noWindow}
	t.Cleanup(func() { check.Must(t, live.Close(context.Background())) })
	r := &rig{t: t, discord: &discord{
		codes: map[string]string{}, instances: map[string][]string{"i1": {"ada", "bob", "mod"}}, away: map[string]bool{},
		moderator: "mod",
	}}
	r.Server = &activity.Server{
		Sessions: m, Live: live, Discord: r.discord, CheckShare: func(sessions.Origin, sessions.Session) error { return nil },
		Logger: slog.New(slog.NewTextHandler(&r.log, nil)), Now: func() time.Time {
			return time.Now().Add(time.Duration(r.late.Load()))
		},
	}
	check.Must(t, r.Open())
	site := httptest.NewServer(r.Handler())
	t.Cleanup(site.Close)
	r.site = site.URL
	return r
}

// session creates a session of a person in a channel of guild g1.
func (r *rig) session(user, channel string, private bool) sessions.Session {
	r.t.Helper()
	rec, err := r.Sessions.Run(r.t.Context(), sessions.Task{Prompt: "p", Origin: origin(user, channel, private)}, nil)
	check.Must(r.t, err)
	s, err := r.Sessions.Session(r.t.Context(), rec.SessionID)
	check.Must(r.t, err)
	return s
}

func origin(user, channel string, private bool) sessions.Origin {
	return sessions.Origin{
		Kind: sessions.FromDiscord, Guild: "g1", Channel: channel, User: user, UserName: user, Private: private,
	}
}

// ask sends a request and returns its status and answer.
func (r *rig) ask(method, path, token, body string) (int, string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.site+path, strings.NewReader(body))
	check.Must(r.t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	check.Must(r.t, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	check.Must(r.t, err)
	return res.StatusCode, string(data)
}

// enter signs a person in and returns their token.
func (r *rig) enter(user string) string {
	r.t.Helper()
	r.discord.mu.Lock()
	r.discord.codes["code of "+user] = user
	r.discord.mu.Unlock()
	status, body := r.ask("POST", "/.proxy/signin", "", `{"state":"state","code":"code of `+user+`","instance":"i1"}`)
	var in struct{ Token, Discord string }
	if err := json.Unmarshal([]byte(body), &in); err != nil || status != http.StatusOK || in.Discord != "bearer of "+user {
		r.t.Fatalf("%s is not let in: %d %s", user, status, body)
	}
	return in.Token
}

// sees returns the ids of the sessions offered to a person.
func (r *rig) sees(token string) (ids []string) {
	r.t.Helper()
	status, body := r.ask("GET", "/.proxy/sessions", token, "")
	var list []struct{ ID string }
	if err := json.Unmarshal([]byte(body), &list); err != nil || status != http.StatusOK {
		r.t.Fatalf("got %d %s", status, body)
	}
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	return ids
}

// watch opens the live view and returns its first state, or the status with which it is refused.
func (r *rig) watch(token, session string) (status int, state liveview.State, conn *websocket.Conn) {
	r.t.Helper()
	at := "ws" + strings.TrimPrefix(r.site, "http") + "/.proxy/live?session=" + session
	opts := &websocket.DialOptions{Subprotocols: []string{"clank.live", "key." + token}}
	conn, res, err := websocket.Dial(r.t.Context(), at, opts)
	if err != nil {
		return res.StatusCode, state, nil
	}
	r.t.Cleanup(func() { _ = conn.CloseNow() })
	_, data, err := conn.Read(r.t.Context())
	check.Must(r.t, err)
	check.Must(r.t, json.Unmarshal(data, &state))
	return http.StatusOK, state, conn
}

func TestEveryRouteButThePageAndTheSignInWantsAToken(t *testing.T) {
	t.Parallel()
	r := start(t)
	s := r.session("ada", "c1", false)
	for _, prefix := range []string{"", "/.proxy"} {
		for _, token := range []string{"", "guessed"} {
			for _, path := range []string{"/sessions", "/steps?session=" + s.ID, "/live?session=" + s.ID} {
				status, body := r.ask("GET", prefix+path, token, "")
				if status != http.StatusUnauthorized || strings.Contains(body, s.ID) {
					t.Errorf("%s%s with token %q: got %d %s", prefix, path, token, status, body)
				}
			}
		}
		if status, body := r.ask("GET", prefix+"/", "", ""); status != http.StatusOK ||
			!strings.Contains(body, ".proxy/assets/") {
			t.Errorf("the page: got %d %s", status, body)
		}
	}
	if status, _, _ := r.watch("guessed", s.ID); status != http.StatusUnauthorized {
		t.Errorf("a WebSocket with a guessed token: got %d", status)
	}
}

func TestOnlyPeopleInTheActivityAreAdmitted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		user, body string
		want       int
		says       string
	}{
		"somebody in the Activity": {"ada", `{"state":"state","code":"good","instance":"i1"}`, http.StatusOK, "token"},
		"a forged code": {
			"ada", `{"state":"state","code":"bad","instance":"i1"}`, http.StatusForbidden,
			"does not accept",
		},
		"another state": {
			"ada", `{"state":"other","code":"good","instance":"i1"}`, http.StatusForbidden,
			"does not accept",
		},
		"a stranger": {
			"eve", `{"state":"state","code":"good","instance":"i1"}`, http.StatusForbidden, "not in this Activity",
		},
		"an Activity that is not open": {
			"ada", `{"state":"state","code":"good","instance":"i2"}`, http.StatusForbidden,
			"not open",
		},
		"somebody who does not see the channel": {
			"bob", `{"state":"state","code":"good","instance":"i1"}`, http.StatusForbidden, "do not see that channel",
		},
		"garbage": {"ada", `{`, http.StatusBadRequest, "open the Activity again"},
		"no code": {"ada", `{"state":"state","instance":"i1"}`, http.StatusBadRequest, "open the Activity again"},
		"too much": {
			"ada", `{"code":"` + strings.Repeat("x", 10_000) + `"}`, http.StatusBadRequest,
			"open the Activity again",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			r.discord.codes["good"] = tc.user
			r.discord.away["bob c1"] = true
			status, body := r.ask("POST", "/signin", "", tc.body)
			if status != tc.want || !strings.Contains(body, tc.says) {
				t.Errorf("got %d %s, want %d with %q", status, body, tc.want, tc.says)
			}
			if strings.Contains(r.log.String(), "good") || strings.Contains(r.log.String(), "bearer") {
				t.Errorf("a secret is in the log: %s", &r.log)
			}
		})
	}
}

func TestACodeIsGoodOnce(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.enter("ada")
	if status, body := r.ask("POST", "/signin", "",
		`{"state":"state","code":"code of ada","instance":"i1"}`); status != http.StatusForbidden {
		t.Errorf("got %d %s", status, body)
	}
}

func TestSessionPermissions(t *testing.T) {
	t.Parallel()
	r := start(t)
	here, secret := r.session("ada", "c1", false), r.session("ada", "c1", true)
	elsewhere, bobs := r.session("eve", "c2", false), r.session("bob", "c2", false)
	all := map[string]sessions.Session{"here": here, "secret": secret, "elsewhere": elsewhere, "bobs": bobs}
	for user, want := range map[string]map[string]sessions.Rights{
		"ada": {"here": {Control: true, Stop: true, Note: true}, "secret": {Control: true, Stop: true, Note: true}},
		"bob": {"here": {}, "bobs": {Control: true, Stop: true, Note: true}},
		"mod": {"here": {Stop: true, Note: true}},
	} {
		token := r.enter(user)
		seen := r.sees(token)
		for name, s := range all {
			rights, may := want[name]
			check.Equal(t, fmt.Sprintf("%s is offered %s", user, name), slices.Contains(seen, s.ID), may)
			status, state, _ := r.watch(token, s.ID)
			if steps, _ := r.ask("GET", "/steps?session="+s.ID, token, ""); (steps == http.StatusOK) != may ||
				(status == http.StatusOK) != may {
				t.Errorf("%s asks for %s: got %d, steps %d, want to see it: %v", user, name, status, steps, may)
			}
			if may && state.May != rights {
				t.Errorf("%s at %s may %+v, want %+v", user, name, state.May, rights)
			}
		}
		if status, _, _ := r.watch(token, "guessed"); status != http.StatusForbidden {
			t.Errorf("%s asks for a session that is not there: got %d", user, status)
		}
	}
}

func TestALaunchShowsASession(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		by        sessions.Origin
		private   bool
		share     bool
		refused   string
		seenByBob bool
	}{
		"to oneself":                     {by: origin("eve", "c2", false)},
		"to all":                         {by: origin("eve", "c2", false), share: true, seenByBob: true},
		"what is private, to oneself":    {by: origin("eve", "c2", false), private: true, share: true},
		"of somebody's, in its channel":  {by: origin("ada", "c2", false)},
		"of somebody's, to all":          {by: origin("ada", "c2", false), share: true, refused: "only its owner"},
		"of somebody's, from elsewhere":  {by: origin("ada", "c1", false), refused: "only its owner"},
		"of somebody's, which is secret": {by: origin("ada", "c2", false), private: true, refused: "private"},
		"from another server": {
			by: sessions.Origin{Kind: sessions.FromDiscord, Guild: "g2", Channel: "c2", User: "eve"}, refused: "another server",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			r.discord.instances["i1"] = []string{"ada", "bob", "eve"}
			r.session("ada", "c1", false)
			s := r.session("eve", "c2", tc.private)
			err := r.Launch(tc.by, s, tc.share)
			if tc.refused != "" {
				check.Fails(t, err, nil, tc.refused)
				return
			}
			check.Must(t, err)
			if seen := r.sees(r.enter(tc.by.User)); seen[0] != s.ID {
				t.Errorf("who has asked for it sees %v, want %s first", seen, s.ID)
			}
			bob := r.enter("bob")
			status, _, _ := r.watch(bob, s.ID)
			if seen := slices.Contains(r.sees(bob), s.ID); seen != tc.seenByBob || (status == http.StatusOK) != seen {
				t.Errorf("another person sees it: %v, watches with status %d, want %v", seen, status, tc.seenByBob)
			}
		})
	}
}

func TestALaunchChangesAnActivityThatIsOpen(t *testing.T) {
	t.Parallel()
	r := start(t)
	first, second := r.session("ada", "c1", false), r.session("ada", "c2", false)
	token, bob := r.enter("ada"), r.enter("bob")
	check.Equal(t, "r.sees(token)[0]", r.sees(token)[0], first.ID)
	check.Must(t, r.Launch(origin("ada", "c2", false), second, true))
	if mine, others := r.sees(token)[0], r.sees(bob)[0]; mine != second.ID || others != second.ID {
		t.Errorf("got %s and %s first, want %s", mine, others, second.ID)
	}
}

func TestASignInEnds(t *testing.T) {
	t.Parallel()
	r := start(t)
	s := r.session("ada", "c1", false)
	for name, end := range map[string]struct {
		do   func(user string)
		want int
	}{
		"after its time": {func(string) { r.late.Add(int64(activity.Lifetime)) }, http.StatusUnauthorized},
		"with leaving the Activity": {
			func(string) { r.discord.instances["i1"] = nil; r.late.Add(int64(time.Minute)) },
			http.StatusForbidden,
		},
		"with leaving the channel": {
			func(user string) { r.discord.away[user+" c1"] = true; r.late.Add(int64(time.Minute)) },
			http.StatusForbidden,
		},
		"with the end of the Activity": {
			func(string) { delete(r.discord.instances, "i1"); r.late.Add(int64(time.Minute)) }, http.StatusForbidden,
		},
	} {
		r.discord.instances["i1"], r.discord.away = []string{"ada"}, map[string]bool{}
		token := r.enter("ada")
		if status, _ := r.ask("GET", "/sessions", token, ""); status != http.StatusOK {
			t.Fatalf("got %d", status)
		}
		end.do("ada")
		for _, path := range []string{"/sessions", "/steps?session=" + s.ID, "/live?session=" + s.ID} {
			if status, _ := r.ask("GET", path, token, ""); status != end.want {
				t.Errorf("%s, %s: got %d, want %d", name, path, status, end.want)
			}
		}
	}
}

func TestAViewEndsWithTheRightToSeeIt(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		do   func(r *rig)
		want string
	}{
		"leaving the Activity": {func(r *rig) { r.discord.instances["i1"] = nil }, "you are not in this Activity"},
		"leaving the channel":  {func(r *rig) { r.discord.away["bob c1"] = true }, "you do not see that channel"},
		"being signed in for long": {
			func(r *rig) { r.discord.mu.Unlock(); r.late.Add(int64(activity.Lifetime)); r.discord.mu.Lock() },
			"you are not signed in, or not any more",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			r.Recheck = time.Millisecond
			s := r.session("ada", "c1", false)
			status, _, conn := r.watch(r.enter("bob"), s.ID)
			if status != http.StatusOK {
				t.Fatalf("got %d", status)
			}
			r.discord.mu.Lock()
			tc.do(r)
			r.discord.mu.Unlock()
			for {
				_, data, err := conn.Read(t.Context())
				if err != nil {
					t.Fatalf("the view ended without a word: %v", err)
				}
				var m struct{ Type, Reason string }
				check.Must(t, json.Unmarshal(data, &m))
				if m.Type == "ended" {
					check.Equal(t, "it ended with", m.Reason, tc.want)
					return
				}
			}
		})
	}
}
