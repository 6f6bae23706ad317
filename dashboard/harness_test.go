package dashboard_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/egress"
	"clank/browsermgr/egress/policy"
	"clank/browsermgr/profile"
	"clank/cancel"
	"clank/dashboard"
	"clank/dashboard/api"
	"clank/internal/budget"
	"clank/internal/recording"
	"clank/internal/recording/video"
	"clank/internal/settings"
	"clank/internal/sqlite"
	"clank/internal/telemetry"
	"clank/internal/test/check"
	"clank/internal/test/sqlitetest"
	"clank/sessions"
	"clank/sessions/access"
	"clank/sessions/approval"
)

// rig is a page with a real Manager and a scripted Backend behind it.
type rig struct {
	t       *testing.T
	server  *dashboard.Server
	manager *sessions.Manager
	backend *script
	store   *sqlite.DB
	scopes  *cancel.Scopes
	desk    *approval.Queue
	mgr     *browsermgr.Manager
	gate    *egress.Proxy
	said    said
	tokens  *access.TokenStore
	log     *check.Log
	token   string
	dir     string
	closed  bool
}

func start(t *testing.T) *rig {
	t.Helper()
	return startIn(t, t.TempDir(), "127.0.0.1:0")
}

// startIn starts a page on a home that may have been used before.
func startIn(t *testing.T, dir, addr string, change ...func(*dashboard.Server)) *rig {
	t.Helper()
	database := filepath.Join(dir, "clank.db")
	sqlitetest.Create(t, database)
	store, err := sqlite.Open(t.Context(), database)
	check.Must(t, err)
	r := &rig{
		t: t, backend: new(script), store: store, scopes: new(cancel.Scopes), desk: new(approval.Queue), said: said{},
		log: new(check.Log), dir: dir,
	}
	logger := slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	live := &settings.Manager{
		Store: store, Guilds: store, Log: logger,
		Providers: []string{"plain", "openai", "compatible"},
	}
	check.Must(t, live.Open(t.Context()))
	r.manager = &sessions.Manager{
		Store: store, Backends: map[string]sessions.Backend{"local": r.backend}, DefaultRuntime: "local",
		Limits: func() sessions.Limits { return sessions.Limits{Running: 2, MaxSteps: 10, Views: 20} }, Scopes: r.scopes,
		Logger: logger,
	}
	check.Must(t, r.manager.Open(t.Context()))
	r.tokens, err = access.OpenTokens(filepath.Join(dir, "tokens.json"))
	check.Must(t, err)
	r.gate = &egress.Proxy{Config: allowedHosts{settings: live}, Logger: logger}
	check.Must(t, r.gate.Open(t.Context()))
	r.mgr = &browsermgr.Manager{
		Home: dir, Config: func() profile.Config { return profile.Config{NoSandbox: true, Headless: new(true)} },
	}
	check.Must(t, r.mgr.Open(t.Context()))
	r.server = &dashboard.Server{
		Addr: addr, Tokens: r.tokens, LocalSecret: secret, Version: "test", Manager: r.manager, Scopes: r.scopes,
		Questions: r.desk, Settings: live,
		Films: &video.Recorder{Dir: dir, Mode: func() video.Mode { return video.Never }},
		Runs:  new(records), Watches: watching(store), Browsers: r.mgr, Gate: r.gate,
		Scripts: recording.ScriptStore{Dir: filepath.Join(dir, "scripts")}, Transcripts: r.said,
		Telemetry: &telemetry.Recorder{Store: store, Metrics: telemetry.NewMetrics("test"), Logger: logger},
		Nodes:     lent(nil), Host: new(host),
		Budgets: &budget.Enforcer{Ledger: store, Rules: func() budget.Rules { return budget.Rules{Limits: dayLimit} }},
		Logger:  logger,
	}
	for _, c := range change {
		c(r.server)
	}
	check.Must(t, r.server.Open(t.Context()))
	t.Cleanup(r.close)
	r.token = secret
	return r
}

// allowedHosts are rules for pages that have the settings' list of hosts.
type allowedHosts struct {
	egress.DefaultConfig

	settings *settings.Manager
}

func (a allowedHosts) Rules() policy.Rules {
	return policy.Rules{AllowedHosts: settings.SplitHosts(a.settings.Current().NetworkAccess.AllowedHosts)}
}

// close ends the page and what is behind it. It may be called twice.
func (r *rig) close() {
	if r.closed {
		return
	}
	r.closed = true
	ctx, done := context.WithTimeout(context.WithoutCancel(r.t.Context()), 10*time.Second)
	defer done()
	if err := r.server.Close(ctx); err != nil {
		r.t.Errorf("close the page: %v", err)
	}
	if err := r.manager.Close(ctx); err != nil {
		r.t.Errorf("close the manager: %v", err)
	}
	if err := r.mgr.Close(ctx); err != nil {
		r.t.Errorf("close the browsers: %v", err)
	}
	if err := r.gate.Close(ctx); err != nil {
		r.t.Errorf("close the proxy: %v", err)
	}
	if err := r.store.Close(); err != nil {
		r.t.Errorf("close the database: %v", err)
	}
}

func (r *rig) client() *api.Client {
	return &api.Client{Base: r.server.URL(), Token: r.token}
}

// change is a change of a request before it is sent.
type change func(*http.Request)

func header(name, value string) change {
	return func(r *http.Request) {
		if value == "" {
			r.Header.Del(name)
			return
		}
		r.Header.Set(name, value)
	}
}

// ask sends a request as a program would, with the token, and returns status and body.
func (r *rig) ask(method, path, body string, changes ...change) (int, string) {
	r.t.Helper()
	res := r.do(method, path, body, changes...)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	check.Must(r.t, err)
	return res.StatusCode, string(b)
}

func (r *rig) do(method, path, body string, changes ...change) *http.Response {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.server.URL()+path, strings.NewReader(body))
	check.Must(r.t, err)
	req.Header.Set("Authorization", "Bearer "+r.token)
	if method != http.MethodGet {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, c := range changes {
		c(req)
	}
	hc := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := hc.Do(req)
	check.Must(r.t, err)
	return res
}

// secret is that of each run.
const secret = "the secret of this run"

// start asks for a task and returns its id.
func (r *rig) startTask(body string) api.TaskStarted {
	r.t.Helper()
	status, answer := r.ask("POST", "/api/tasks", body)
	if status != http.StatusAccepted {
		r.t.Fatalf("start: %d %s", status, answer)
	}
	return decode[api.TaskStarted](r.t, answer)
}

// finish starts a task and waits until it is final.
func (r *rig) finish(body string) sessions.TaskRecord {
	r.t.Helper()
	ctx, done := context.WithTimeout(r.t.Context(), 10*time.Second)
	defer done()
	rec, err := r.client().Follow(ctx, r.startTask(body).TaskID, func(sessions.Event) {})
	check.Must(r.t, err)
	return rec
}

func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("decode %s: %v", text, err)
	}
	return v
}

// eventually waits until ok holds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("it did not happen in time: %s", what)
		}
	}
}

// lent are nodes of which one works. It implements [dashboard.Nodes].
type lent []api.Node

func (l lent) Lending() api.Lending {
	if l == nil {
		return api.Lending{}
	}
	return api.Lending{
		URL: "https://10.0.0.2:18790", CertificateFor: "office.test", CertificateUntil: time.Now().AddDate(1, 0, 0),
		Profiles: []string{"clank"}, Callers: []api.NodeCaller{{From: "10.0.0.3", At: time.Now()}},
	}
}

func (l lent) Nodes() []api.Node { return l }

func (l lent) TestNode(_ context.Context, name string) (api.Node, error) {
	for i, n := range l {
		if n.Name == name {
			l[i].At, l[i].Version, l[i].Browsers = time.Now(), "1.2", []api.NodeBrowser{{Name: "clank", Running: true}}
			return l[i], nil
		}
	}
	return api.Node{}, sessions.ErrNotFound
}

// onServers is a Discord of these servers, all of whose channels have one name.
type onServers struct {
	servers []api.DiscordServer
	channel string
}

func (d onServers) State() api.Discord { return api.Discord{Status: "Connected.", Servers: d.servers} }

func (d onServers) ChannelName(string, string) string { return d.channel }

func (onServers) GuildParts(guild string) (channels, roles []settings.Option) {
	return []settings.Option{
			{Value: "20000000000000000" + guild, Label: "#room"},
			{Value: "200000000000000009", Label: "#hall"},
		},
		[]settings.Option{{Value: "300000000000000001", Label: "@helpers"}}
}
