package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"clank/browseagent/browsertool"
	"clank/browsermgr/control/client"
	"clank/browsermgr/egress/policy"
	"clank/internal/assistant"
	"clank/internal/budget"
	"clank/internal/server"
	"clank/internal/settings"
	"clank/internal/sqlite"
	"clank/internal/test/check"
	"clank/internal/watches"
	"clank/internal/web"
	"clank/llm"
	"clank/sessions"
)

// openTestApp opens the server without its listeners; pages may reach the given hosts.
func openTestApp(t *testing.T, hosts ...string) *server.Server {
	t.Helper()
	e := newTestEnv(t, map[string]string{server.AllowedHostsEnv: strings.Join(hosts, " ")})
	a, end := openServer(t, e, false)
	t.Cleanup(end)
	return a
}

func TestTheReaderReachesWhatPagesReachAndNothingElse(t *testing.T) {
	t.Parallel()
	a := openTestApp(t)
	w := a.OpenWeb()
	if b := w.AssistantWeb(); b.Reader == nil || b.Searcher == nil || b.Watches == nil {
		t.Errorf("the brain gets %+v", b)
	}
	if p, err := w.Reader.Read(t.Context(), web.ReadRequest{URL: a.ShopURL}); err != nil ||
		!strings.Contains(p.Text, "amp") {
		t.Errorf("the demo shop: %.200q, %v", p.Text, err)
	}
	secret := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a private address was reached")
	}))
	defer secret.Close()
	check.Fails(t, check.Err(w.Reader.Read(t.Context(), web.ReadRequest{URL: secret.URL})), nil, "not a public address")
}

func drawnPageIsWatched(t *testing.T, r *serverFixture) {
	t.Helper()
	var price atomic.Int64
	price.Store(25)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<title>Shop</title><div id=x></div><script>setTimeout(() => x.textContent = "Price: $%d", 50)</script>`, price.Load())
	}))
	defer site.Close()
	w := r.server.OpenWeb()
	got, err := w.Watches.Add(t.Context(), watches.Watch{
		Origin: sessions.Origin{Kind: sessions.FromDashboard}, URL: site.URL,
		Condition: watches.Condition{Kind: watches.KindBelow, Number: 20},
	})
	if err != nil || !got.NeedsBrowser || got.Seen.Value != "$25" {
		t.Fatalf("got %+v, %v", got.Seen, err)
	}
	if _, ok := r.server.Browsers.Lookup("watch-" + got.ID); ok {
		t.Error("the window was left open")
	}
}

func TestWatchingEndsWithTheProgram(t *testing.T) {
	t.Parallel()
	a := openTestApp(t)
	a.RunWatches(t.Context(), a.OpenWeb()) // the end waits for it
}

func TestASearchEngineIsChosenByKeyAndSetting(t *testing.T) {
	t.Parallel()
	keys := func(names ...string) func(string) string {
		return func(name string) string {
			if slices.Contains(names, name) {
				return "k"
			}
			return ""
		}
	}
	for _, c := range []struct {
		choice, searxng string
		getenv          func(string) string
		want            string
	}{
		{settings.SearchAny, "", keys(), ""},
		{settings.SearchAny, "http://s.test", keys("SERPAPI_API_KEY", "BRAVE_API_KEY"), "Brave Search"},
		{settings.SearchAny, "http://s.test", keys("SERPAPI_API_KEY"), "SerpApi"},
		{settings.SearchAny, "http://s.test", keys(), "SearXNG"},
		{settings.SearchSerpAPI, "", keys("SERPAPI_API_KEY", "BRAVE_API_KEY"), "SerpApi"},
		{settings.SearchBrave, "http://s.test", keys(), ""},
	} {
		got := ""
		if e := server.SearchEngine(settings.Web{SearchEngine: c.choice, SearXNG: c.searxng}, c.getenv); e != nil {
			got = e.Name()
		}
		check.Equal(t, c.choice, got, c.want)
	}
}

func TestOwnersOnDiscordAreNotifiedOnceItIsConnected(t *testing.T) {
	t.Parallel()
	w := new(server.Server).OpenWeb().Watches
	page := watches.Watch{Origin: sessions.Origin{Kind: sessions.FromDashboard}}
	discord := watches.Watch{Origin: sessions.Origin{Kind: sessions.FromDiscord}}
	check.Must(t, w.Host.Notify(t.Context(), page, watches.Notice{}))
	check.Fails(t, w.Host.Notify(t.Context(), discord, watches.Notice{}), nil, "not connected to Discord")
}

// textSequence is a page whose text arrives in pieces.
type textSequence struct{ bits []string }

func (x *textSequence) MainFrameText(context.Context) (string, error) {
	bit := x.bits[0]
	if len(x.bits) > 1 {
		x.bits = x.bits[1:]
	}
	return bit, nil
}

func TestAPageIsReadWhenItStandsStill(t *testing.T) {
	t.Parallel()
	if got, err := server.WaitForStableText(t.Context(),
		&textSequence{[]string{"", "Loading", "Price", "Price"}}); err != nil || got != "Price" {
		t.Errorf("got %q, %v", got, err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	why := errors.New("stopped")
	stop(why)
	check.Fails(t, check.Err(server.WaitForStableText(ctx, &textSequence{[]string{""}})), why)
}

// controlAPI is the control API of a running server with a home.
type controlAPI struct {
	t    *testing.T
	call *browsertool.APIClient
}

func newControlAPI(t *testing.T, home string) controlAPI {
	t.Helper()
	at, err := client.Discover(home)
	check.Must(t, err)
	return controlAPI{t, &browsertool.APIClient{URL: at.URL, Token: at.Token}}
}

func (a controlAPI) do(method, path string, body any) (status int, answer map[string]any) {
	a.t.Helper()
	status, data, err := a.call.Call(a.t.Context(), method, path, nil, body)
	if err != nil || json.Unmarshal(data, &answer) != nil {
		a.t.Fatalf("%s %s: %d %s %v", method, path, status, data, err)
	}
	return status, answer
}

func TestPagesReachTheShopAndNothingElseOnThisMachine(t *testing.T) {
	inHalf(t, true)
	t.Parallel()
	home, environ := newTestHome(t)
	environ = append(environ, server.AllowedHostsEnv+"=")
	site := newTestSite(t)
	server := startServer(t, home, environ)
	api := newControlAPI(t, home)
	door := awaitOutput(t, server.stdout, "is ready: ")
	_, door, _ = strings.Cut(door, "is ready: ")
	page, err := url.Parse(strings.Fields(door)[0])
	check.Must(t, err)
	for name, address := range map[string]string{
		"another server": site.URL + "/", "the page of the operator": "http://" + page.Host + "/",
		"the control API":     api.call.URL + "/",
		"a service of clouds": "http://169.254.169.254/latest/", "this machine by another spelling": "http://2130706433:" +
			page.Port() + "/",
	} {
		status, answer := api.do("POST", "/tabs/open", map[string]any{"url": address})
		if status != http.StatusBadRequest || answer["reason"] != "navigation_blocked" ||
			!strings.Contains(answer["error"].(string), "settings") && name == "another server" {
			t.Errorf("%s: %d %v", name, status, answer)
		}
	}
	if status, answer := api.do("GET", "/", nil); status != http.StatusOK || answer["running"] != false {
		t.Errorf("a refused address started the browser: %v", answer)
	}
	stdout, stderr, code := runProgram(t, home, environ, "browse", "open the demo shop, read")
	if code != exitDone {
		t.Errorf("the demo shop: exit code %d\n%s%s", code, stdout, stderr)
	}
	_, stderr, code = runProgram(t, home, environ, "browse", "open "+site.URL+"/, read")
	if code == exitDone || !strings.Contains(stderr, "Allowed hosts") {
		t.Errorf("another server: exit code %d, %q", code, stderr)
	}
	_, answer := api.do("GET", "/", nil)
	guard, _ := answer["guard"].(map[string]any)
	if refused, _ := guard["refusals"].(float64); guard["mode"] != "proxy" || refused < 6 {
		t.Errorf("status: %v", guard)
	}
	select {
	case path := <-site.hits:
		t.Errorf("%s was reached", path)
	default:
	}
}

func ownDoorsAreNoPages(t *testing.T, c *sharedServer) {
	t.Helper()
	api := newControlAPI(t, c.home)
	_, answer := api.do("POST", "/tabs/open", map[string]any{"url": c.site.URL + "/"})
	target := answer["targetId"]
	_, answer = api.do("GET", "/profiles", nil)
	port := int(answer["profiles"].([]any)[0].(map[string]any)["cdpPort"].(float64))
	for name, address := range map[string]string{
		"the control API": api.call.URL + "/",
		"the DevTools":    "http://127.0.0.1:" + strconv.Itoa(port) + "/json/version",
	} {
		fetch := map[string]any{"kind": "evaluate", "targetId": target, "fn": "fetch('" + address +
			"', {mode: 'no-cors'}).then((r) => r.type, () => 'none')"}
		before := refusalCount(api)
		status, answer := api.do("POST", "/act", fetch)
		if status != http.StatusOK || refusalCount(api) != before+1 {
			t.Errorf("%s: %d %v, %v refused before, %v after", name, status, answer, before, refusalCount(api))
		}
	}
}

func failuresAreToldAsWithoutAProxy(t *testing.T, c *sharedServer) {
	t.Helper()
	dead := deadAddress(t)
	elsewhere := http.NewServeMux()
	elsewhere.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
	})
	elsewhere.HandleFunc("/own", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Clank-Failed", "dns")
		http.Error(w, "the gateway is ill", http.StatusBadGateway)
	})
	server := httptest.NewServer(elsewhere)
	defer server.Close()
	api := newControlAPI(t, c.home)
	_, answer := api.do("POST", "/tabs/open", map[string]any{"url": server.URL + "/own"})
	target, _ := answer["targetId"].(string)
	if target == "" {
		t.Fatalf("a server's own failure is a page: %v", answer)
	}
	before := len(tabsOf(api))
	noHost, refused := "no such host no-such-host.invalid: check the spelling", dead+" refused the connection: nothing "+
		"listens there"
	for address, want := range map[string]string{
		"https://no-such-host.invalid/": noHost, "http://no-such-host.invalid/x": noHost,
		"https://" + dead + "/": refused, "http://" + dead + "/": refused,
		server.URL + "/?to=https://no-such-host.invalid/": noHost, server.URL + "/?to=http://" + dead + "/": refused,
	} {
		for route, body := range map[string]map[string]any{
			"/tabs/open": {"url": address}, "/navigate": {"url": address, "targetId": target},
		} {
			status, answer := api.do("POST", route, body)
			if text, _ := answer["error"].(string); status == http.StatusOK || !strings.Contains(text, want) ||
				strings.Contains(text, "TUNNEL") {
				t.Errorf("%s %s: %d %v, want %q", route, address, status, answer, want)
			}
		}
	}
	if tabs := tabsOf(api); len(tabs) != before {
		t.Errorf("tabs stay that did not load: %v", tabs)
	}
	act := map[string]any{"kind": "evaluate", "targetId": target, "fn": "location.href = 'http://" + dead + "/'"}
	for _, address := range []string{"https://no-such-host.invalid/", "http://" + dead + "/"} {
		for range 5 { // Chromium's page about the failure must not get in between
			api.do("POST", "/navigate", map[string]any{"url": address, "targetId": target})
			if status, answer := api.do("POST", "/act", act); status != http.StatusOK {
				t.Errorf("after %s, an action that led nowhere: %d %v", address, status, answer)
			}
		}
	}
}

func tabsOf(a controlAPI) []any {
	a.t.Helper()
	_, answer := a.do("GET", "/tabs", nil)
	tabs, _ := answer["tabs"].([]any)
	return tabs
}

func refusalCount(a controlAPI) float64 {
	a.t.Helper()
	_, answer := a.do("GET", "/", nil)
	guard, _ := answer["guard"].(map[string]any)
	n, _ := guard["refusals"].(float64)
	return n
}

func TestNetworkSettingsAreCheckedTogether(t *testing.T) {
	t.Parallel()
	s := settings.Defaults()
	s.Browser.ExtraArgs = "--lang=de --no-proxy-server"
	s.NetworkAccess.AllowedHosts = "a.example\nb..example:99999"
	bad := server.CheckReach(s)
	if len(bad) != 2 || !strings.HasSuffix(bad[0].Key, "allowedHostnames") ||
		!strings.HasSuffix(bad[1].Key, "extraArgs") || bad[1].Value != "--no-proxy-server" {
		t.Errorf("got %+v", bad)
	}
	s.NetworkAccess = settings.NetworkAccess{PrivateNetwork: settings.PrivateAllowed}
	if bad := server.CheckReach(s); len(bad) != 0 {
		t.Errorf("where everything may be reached: %+v", bad)
	}
	s.Browser.ExtraArgs = "--remote-allow-origins=*"
	if bad := server.CheckReach(s); len(bad) != 1 || bad[0].Value != "--remote-allow-origins=*" {
		t.Errorf("a flag that opens DevTools: %+v", bad)
	}
	s.Browser.ExtraArgs = "--lang=de --disable-web-security"
	if bad := server.CheckReach(s); len(bad) != 1 || bad[0].Value != "--disable-web-security" {
		t.Errorf("a flag that lets pages read each other: %+v", bad)
	}
}

func TestBrowsersOfOtherMachinesHaveRulesOfTheirOwn(t *testing.T) {
	t.Parallel()
	a := &server.Server{Settings: &settings.Manager{}}
	a.OwnListeners.Add(netip.MustParseAddrPort("192.168.1.5:18791"))
	for address, allowed := range map[string]bool{
		"http://192.168.1.9:9222": true, "ws://10.0.0.4:9222/devtools/browser/x": true, "wss://user:pw@203.0.114.7/": true,
		"http://169.254.169.254/": false, "http://[fd00:ec2::254]/": false, "http://192.168.1.5:18791": false,
	} {
		u, err := url.Parse(address)
		check.Must(t, err)
		err = a.AllowEndpoint(t.Context(), u)
		if _, refused := errors.AsType[*policy.Refusal](err); refused == allowed || (err == nil) != allowed {
			t.Errorf("%s: %v", address, err)
		}
	}
	// The name led elsewhere when it was judged.
	for at, allowed := range map[string]bool{
		"192.168.1.9": true, "169.254.169.254": false, "fd00:ec2::254": false,
		"192.168.1.5": false,
	} {
		u := &url.URL{Scheme: "http", Host: "browser.example:18791"}
		if err := a.AllowEndpointAddr(u, netip.MustParseAddr(at)); (err == nil) != allowed {
			t.Errorf("a name that leads to %s: %v", at, err)
		}
	}
}

// budgetHome returns a home with a ledger in which two people have spent something.
func budgetHome(t *testing.T) (e *commandEnv, k *budget.Enforcer) {
	t.Helper()
	e = newTestEnv(t, nil)
	h, err := server.OpenHome(e.Getenv)
	check.Must(t, err)
	db, err := sqlite.Open(t.Context(), h.DatabaseFile())
	check.Must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	k = server.NewBudgetEnforcer(db, settings.Defaults, slog.New(slog.DiscardHandler))
	for _, a := range []struct {
		llm.Account
		at time.Time
	}{
		{llm.Account{User: "discord:42", Guild: "7"}, time.Now()},
		{llm.Account{User: "discord:43", Guild: "7"}, time.Now()},
		{llm.Account{User: "discord:42"}, time.Now()},
		{llm.Account{User: "discord:42"}, time.Now().AddDate(0, 0, -1)},
	} {
		e := budget.Entry{
			At: a.at, Day: a.at.Format(time.DateOnly), Account: a.Account,
			Amount: budget.Amount{Calls: 1, Money: budget.Dollars(1.5)},
		}
		id, err := db.Reserve(t.Context(), e, func([]budget.Sum) error { return nil })
		if err == nil {
			err = db.Settle(t.Context(), id, e.Amount, budget.StateSettled, false)
		}
		check.Must(t, err)
	}
	return e, k
}

func TestBudgetIsShownInTheTerminal(t *testing.T) {
	e, _ := budgetHome(t)
	shown := runCommand(t.Context(), e, "budget").stdout
	check.Contains(t, shown, "4.50 of 20.00 USD", "SERVER  7", "3.00 of 10.00 USD", "PERSON  discord:42",
		"3.00 of 5.00 USD", "4.50 USD, 3 calls\n", "1.50 USD, 1 call\n")
	shown = runCommand(t.Context(), e, "budget", "--json").stdout
	var o budget.Overview
	if err := json.Unmarshal([]byte(shown), &o); err != nil || o.Today.Spent.Money != budget.Dollars(4.5) ||
		len(o.Users) != 2 {
		t.Errorf("%v, got %+v", err, o)
	}
}

func TestDiscordReadsOnlyDataOfThePersonWhoAsks(t *testing.T) {
	_, k := budgetHome(t)
	from := sessions.Origin{Kind: sessions.FromDiscord, Guild: "7", User: "42"}
	got, err := server.DiscordBudgets{Enforcer: k}.Budgets(t.Context(), from, false)
	if err != nil || !strings.HasPrefix(got.Mine, "3.00 of 5.00 USD") ||
		!strings.HasPrefix(got.Server, "3.00 of 10.00 USD") ||
		!strings.HasPrefix(got.Today, "4.50 of 20.00 USD") || got.People != nil {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err = server.DiscordBudgets{Enforcer: k}.Budgets(t.Context(), from, true)
	if err != nil || len(got.People) != 2 || got.People[0].User != "42" || got.People[0].Spent != "1.50 USD, 1 calls" {
		t.Errorf("a moderator got %+v, %v", got.People, err)
	}
}

// accountReader is an assistant that records the account of its calls.
type accountReader struct{ got llm.Account }

func (r *accountReader) Reply(ctx context.Context, _ assistant.Turn,
	_ func(assistant.Progress),
) (assistant.Answer, error) {
	r.got = llm.AccountOf(ctx)
	return assistant.Answer{}, nil
}

func TestTalkIsChargedToThePersonWhoIsAnswered(t *testing.T) {
	r := &accountReader{}
	turn := assistant.Turn{Origin: sessions.Origin{Kind: sessions.FromDiscord, Guild: "7", Channel: "8", User: "42"}}
	check.Must(t, check.Err((server.ChargedReplier{Replier: r}).Reply(t.Context(), turn, nil)))
	if want := (llm.Account{Guild: "7", Channel: "8", User: "discord:42", Purpose: "talk"}); r.got != want {
		t.Errorf("got %+v, want %+v", r.got, want)
	}
}
