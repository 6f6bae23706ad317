package settings_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strconv"
	"strings"
	"sync"
	"testing"

	"clank/internal/settings"
	"clank/internal/test/check"
	"clank/sessions"
)

const (
	keySteps = "agentStack.runtimeConfig.browser.localBrowserAgent.maxStepsPerTask"
	keyStep  = "agentStack.runtimeConfig.browser.localBrowserAgent.stepTimeoutMs"
	keyModel = "agentStack.runtimeConfig.browser.localBrowserAgent.execution.model"
	keyBase  = "agentStack.runtimeConfig.models.compatibleBaseUrl"
	keyStop  = "interaction.stop.allowedTo"
)

// memory is an in-memory Store.
type memory struct {
	mu      sync.Mutex
	values  map[string]json.RawMessage
	version int
	fail    error
}

func (m *memory) LoadSettings(context.Context) (map[string]json.RawMessage, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.values), m.name(), m.fail
}

func (m *memory) SaveSettings(_ context.Context, values map[string]json.RawMessage, expect string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return "", m.fail
	}
	if expect != m.name() {
		return "", fmt.Errorf("save version %s: %w", expect, settings.ErrConflict)
	}
	m.values = maps.Clone(values)
	m.version++
	return m.name(), nil
}

func (m *memory) name() string {
	if m.version == 0 {
		return ""
	}
	return strconv.Itoa(m.version)
}

func open(t *testing.T, store settings.Store) *settings.Manager {
	t.Helper()
	l := &settings.Manager{
		Store: store, Log: slog.New(slog.DiscardHandler),
		Providers: []string{"plain", "openai", "compatible", "anthropic", "gemini"},
	}
	check.Must(t, l.Open(t.Context()))
	return l
}

func values(pairs ...string) map[string]json.RawMessage {
	m := map[string]json.RawMessage{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	return m
}

func TestAChangeIsSavedAndAppliedAtOnce(t *testing.T) {
	store := &memory{}
	l := open(t, store)
	got, version, err := l.Update(t.Context(), values(keySteps, "12", keyModel, `" openai:gpt-5.6 "`, keyStep, "3e4"), "")
	check.Must(t, err)
	if got.MaxSteps != 12 || got.AgentModel != "openai:gpt-5.6" || l.Current() != got {
		t.Errorf("settings = %+v, live = %+v", got, l.Current())
	}
	want := values(keySteps, "12", keyModel, `"openai:gpt-5.6"`) // the step timeout is the default, so it is not stored
	check.Diff(t, "stored", store.values, want)
	if again := open(t, store); again.Current() != got || again.State().Version != version {
		t.Errorf("after a restart: %+v", again.State())
	}
}

func TestNullIsTheDefaultAgain(t *testing.T) {
	store := &memory{values: values(keySteps, "12", "some.future.setting", "1"), version: 3}
	l := open(t, store)
	if _, _, err := l.Update(t.Context(), values(keySteps, "null", "some.future.setting", "null"), "3"); err != nil {
		t.Fatal(err)
	}
	if got := l.Current().MaxSteps; got != 30 || len(store.values) != 0 {
		t.Errorf("steps = %d, stored = %v", got, store.values)
	}
}

func TestValuesAreCheckedWhenTheyAreSet(t *testing.T) {
	const (
		stun, turn = "interaction.share.stunServers", "interaction.share.turnServers"
		nodes      = "interaction.tool.browser.nodes"
		proxies    = keyReach + "upstreamProxies"
		sites      = "interaction.consent.sites"
		colour     = "agentStack.runtimeConfig.browser.color"
		outside    = "interaction.share.publicAddress"
		engine     = "interaction.web.search.engine"
		format     = "interaction.voice.speech.format"
	)
	for _, tc := range []struct {
		key, value string
		want       string // of the refusal; "" if it is accepted
	}{
		{keySteps, "201", keySteps + " = 201: must be a whole number, 1 to 200"},
		{keySteps, "1.5", "must be a whole number, 1 to 200"},
		{keySteps, `"ten"`, `= "ten": must be a whole number`},
		{keySteps, "1e400", "must be a whole number"},
		{keyStep, "100", "must be 5 s to 2 min (5000 to 120000 milliseconds)"},
		{keyModel, `"gpt"`, "must be provider:model, such as plain:steps"},
		{keyModel, `""`, "must be provider:model"},
		{keyModel, `"acme:x"`, `unknown provider "acme"; there are plain, openai, compatible`},
		{keyModel, `"openai:` + strings.Repeat("x", 200) + `"`, "at most 120 characters fit"},
		{keyModel, `"openai:a\u0007"`, "control characters"},
		{keyBase, `"ftp://x"`, "begins with http:// or https://"},
		{keyBase, `"http://me:pw@host/v1"`, "must not hold a user name or password"},
		{keyBase, "7", "must be text"},
		{keyStop, `"nobody"`, `must be one of "requester_and_moderators", "anyone"`},
		{"agentStack.runtimeConfig.browser.headed", `"yes"`, "must be true or false"},
		{"OPENAI_API_KEY", `"k"`, "set the environment variable OPENAI_API_KEY or OPENAI_API_KEY_FILE"},
		{"OPENAI_API_KEY", "null", "is a secret"},
		{"no.such", "1", "is not a setting of this version"},
		{"no.such", "null", "is not a setting of this version"},

		{colour, `"red"`, "must be a colour"},
		{colour, `"#FF45"`, "must be a colour"},
		{colour, `"#GG4500"`, "must be a colour"},
		{colour, `"FF4500"`, "must be a colour"},
		{colour, `"#+12345"`, "must be a colour"},
		{colour, `""`, "must be a colour"},
		{colour, `" #00aa00 "`, ""},

		{keyReach + "allowPrivateNetwork", `"yes"`, "must be one of"},
		{proxies, `"work"`, "a profile and an address"},
		{proxies, `"work http://x more"`, "a profile and an address"},
		{proxies, `"work ftp://x"`, "http, https or socks5"},
		{proxies, `"work x:1080"`, "http, https or socks5"},
		{proxies, `"work http://"`, "http, https or socks5"},
		{proxies, `"work http://ok\n* socks4://x"`, "http, https or socks5"},
		{proxies, `"ok http://ok\n\nwork http://%zz"`, "http, https or socks5"},
		{proxies, `"work http://a:b@x"`, "CLANK_UPSTREAM_LOGIN"},
		{sites, `"https://example.com/"`, "host names"},
		{sites, `"a,b"`, "host names"},
		{sites, `"ex*mple.com"`, "host names"},

		{nodes, `"\nfar https://far.example\n\nnear http://10.0.0.1:18790\n"`, ""},
		{nodes, `"far"`, "a name and an address"},
		{nodes, `"far https://far.example more"`, "a name and an address"},
		{nodes, `"far far.example:18790"`, "must have an address"},
		{nodes, `"far ftp://far.example"`, "must have an address"},
		{nodes, `"far https://"`, "must have an address"},
		{nodes, `"far https://ada@far.example"`, "must have an address"},
		{nodes, `"near http://10.0.0.1\nfar https://%zz"`, "must have an address"},

		{stun, `"stun:stun.example:3478 stuns:stun.example"`, ""},
		{stun, `"turn:turn.example"`, "must be addresses"},
		{stun, `"stun:stun.example?transport=udp"`, "must be addresses"},
		{turn, `"turn:turn.example"`, ""},
		{turn, `"turns:turn.example:5349?transport=tcp  turn:[2001:db8::7]:3478?transport=udp"`, ""},
		{turn, `"turn.example:3478"`, "must be addresses"},
		{turn, `"turn:"`, "must be addresses"},
		{turn, `"turn:turn.example:99999"`, "must be addresses"},
		{turn, `"turn:turn.example:0"`, "must be addresses"},
		{turn, `"turn:turn.example?transport=quic"`, "must be addresses"},
		{turn, `"turn:turn.example/path"`, "must be addresses"},
		{turn, `"turn://turn.example"`, "must be addresses"},
		{turn, `"turn:ada:secret@turn.example"`, "must not hold a user name"},
		{turn, `"https://turn.example"`, "must be addresses"},
		{outside, `"203.0.113.7"`, ""},
		{outside, `"2001:db8::7"`, ""},
		{outside, `"example.org"`, "must be an IP address"},
		{outside, `"203.0.113.7:80"`, "must be an IP address"},

		{engine, `"searxng"`, ""},
		{engine, `"altavista"`, "must be one of"},
		{format, `"wav"`, ""},
		{format, `"mp3"`, `"opus", "wav", "pcm"`},
		{"agentStack.runtimeConfig.budget.day", `"3 USD"`, ""},
		{"agentStack.runtimeConfig.budget.day", `"many USD"`, "must "},
		{"agentStack.runtimeConfig.budget.timeZone", `"Mars/Olympus"`, "must be a time zone"},
		{"agentStack.runtimeConfig.models.prices", `"my-model 1 2"`, "must have a model and three prices"},
	} {
		store := &memory{}
		l := open(t, store)
		got, _, err := l.Update(t.Context(), values(tc.key, tc.value, "interaction.tasks.maxAtOnce", "7"), "")
		if tc.want == "" {
			if err != nil || got.MaxTasks != 7 || len(store.values) != 2 {
				t.Errorf("%s = %s: %v, stored %s", tc.key, tc.value, err, store.values)
			}
			continue
		}
		var invalid *settings.InvalidError
		if !errors.As(err, &invalid) || len(invalid.Fields) != 1 || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s = %s: error %v, want %q", tc.key, tc.value, err, tc.want)
		}
		if l.Current() != settings.Defaults() || store.version != 0 {
			t.Errorf("%s = %s: the valid change beside it was applied", tc.key, tc.value)
		}
	}
}

func TestAStaleChangeIsAConflictAndReturnsTheCurrentSettings(t *testing.T) {
	store := &memory{}
	l := open(t, store)
	if _, _, err := l.Update(t.Context(), values(keySteps, "5"), ""); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.Update(t.Context(), values(keySteps, "6"), ""); !errors.Is(err, settings.ErrConflict) {
		t.Errorf("change based on an old version: %v", err)
	}
	check.Equal(t, "steps", l.Current().MaxSteps, 5)

	elsewhere := open(t, store) // another process
	if _, _, err := elsewhere.Update(t.Context(), values(keySteps, "7"), "1"); err != nil {
		t.Fatal(err)
	}
	got, version, err := l.Update(t.Context(), values(keyStop, `"anyone"`), "1")
	if !errors.Is(err, settings.ErrConflict) || got.MaxSteps != 7 || version != "2" ||
		got.WhoMayStop != settings.StopRequester {
		t.Errorf("conflict = %v, settings %+v at %q; want what the other process saved", err, got, version)
	}
}

// trusting is a store that accepts every save, so that the Manager must detect stale ones.
type trusting struct{ memory }

func (s *trusting) SaveSettings(ctx context.Context, values map[string]json.RawMessage, _ string) (string, error) {
	s.mu.Lock()
	now := s.name()
	s.mu.Unlock()
	return s.memory.SaveSettings(ctx, values, now)
}

func TestOneOfTwoConcurrentWritersIsRefused(t *testing.T) {
	store := &trusting{}
	l := open(t, store)
	version := l.State().Version
	errs := make([]error, 2)
	var both sync.WaitGroup
	for i, steps := range []string{"5", "6"} {
		both.Go(func() { _, _, errs[i] = l.Update(t.Context(), values(keySteps, steps), version) })
	}
	both.Wait()
	if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs...), settings.ErrConflict) {
		t.Fatalf("got %v and %v, want one save and one conflict", errs[0], errs[1])
	}
	want := map[bool]int{true: 5, false: 6}[errs[0] == nil]
	if got := l.Current().MaxSteps; got != want || store.version != 1 {
		t.Errorf("steps = %d after %d saves, want %d after one", got, store.version, want)
	}
	for _, stale := range []string{"", "0", "2"} {
		if _, _, err := l.Update(t.Context(), values(keySteps, "7"), stale); !errors.Is(err, settings.ErrConflict) ||
			l.Current().MaxSteps != want {
			t.Errorf("based on version %q: %v, steps %d", stale, err, l.Current().MaxSteps)
		}
	}
}

func TestStoredValuesThatCannotBeUsedAreReportedAndKept(t *testing.T) {
	future := values(keySteps, "999", keyStep, "60000", "some.future.setting", `{"a":1}`, keyModel, "12", "DISCORD_TOKEN",
		`"x"`)
	store := &memory{values: maps.Clone(future), version: 1}
	var log bytes.Buffer
	l := &settings.Manager{Store: store, Log: slog.New(slog.NewTextHandler(&log, nil))}
	if err := l.Open(t.Context()); err != nil {
		t.Fatalf("the start was stopped: %v", err)
	}
	now := l.Current()
	if now.MaxSteps != 30 || now.AgentModel != "plain:steps" || now.StepTimeout.Seconds() != 60 {
		t.Errorf("settings = %+v", now)
	}
	if got := len(l.State().Problems); got != 4 || strings.Count(log.String(), "stored setting is not used") != 4 {
		t.Errorf("%d problems, log:\n%s", got, log.String())
	}
	if _, _, err := l.Update(t.Context(), values(keyStop, `"anyone"`), "1"); err != nil {
		t.Fatal(err)
	}
	future[keyStop] = json.RawMessage(`"anyone"`)
	check.Diff(t, "stored after an unrelated change", store.values, future)
}

func TestADamagedRuleAboutHostsLetsPagesReachNothing(t *testing.T) {
	const rules = "agentStack.runtimeConfig.browser.ssrfPolicy."
	for _, key := range []string{"hostnameAllowlist", "blockedHostnames", "upstreamProxies", "askNewHosts"} {
		l := &settings.Manager{
			Store: &memory{values: values(rules+key, "{}"), version: 1},
			Log:   slog.New(slog.DiscardHandler),
		}
		check.Must(t, l.Open(t.Context()))
		if got := l.Current().NetworkAccess.HostAllowlist; !strings.HasSuffix(got, ".invalid") {
			t.Errorf("%s: pages may reach %q", key, got)
		}
	}
}

func TestADamagedRuleAboutPeopleAdmitsNobody(t *testing.T) {
	ada := sessions.Origin{Guild: "7", Channel: "8", User: "9"}
	check.Must(t, settings.Defaults().Access.Rules().Check(ada))
	for _, key := range []string{"guilds", "channels", "people", "direct", "profiles"} {
		l := &settings.Manager{
			Store: &memory{values: values("interaction.access."+key, "{}"), version: 1},
			Log:   slog.New(slog.DiscardHandler),
		}
		check.Must(t, l.Open(t.Context()))
		if len(l.State().Problems) != 1 || l.Current().Access.Rules().Check(ada) == nil {
			t.Errorf("%s: problems %v, and anybody may use clank", key, l.State().Problems)
		}
	}
}

func TestAStoreThatFailsChangesNothing(t *testing.T) {
	store := &memory{}
	l := open(t, store)
	store.fail = errors.New("disk full")
	if _, _, err := l.Update(t.Context(), values(keySteps, "5"), ""); err == nil ||
		!strings.Contains(err.Error(), "save settings: disk full") {
		t.Errorf("error = %v", err)
	}
	if l.Current() != settings.Defaults() {
		t.Error("the change was applied")
	}
	check.Fails(t, (&settings.Manager{Store: store, Log: slog.New(slog.DiscardHandler)}).Open(t.Context()),
		nil, "load settings: disk full")
}

func TestOfManyChangesAtOnceEveryOneIsSavedOrRefused(t *testing.T) {
	store := &memory{}
	l := open(t, store)
	var wg sync.WaitGroup
	var mu sync.Mutex
	saved := 0
	for i := range 20 {
		wg.Go(func() {
			for {
				_, _, err := l.Update(t.Context(), values(keySteps, strconv.Itoa(i+1)), l.State().Version)
				if errors.Is(err, settings.ErrConflict) {
					continue
				}
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				saved++
				mu.Unlock()
				return
			}
		})
	}
	wg.Wait()
	if saved != 20 || store.version != 20 || open(t, store).Current() != l.Current() {
		t.Errorf("saved %d changes, version %d", saved, store.version)
	}
}
