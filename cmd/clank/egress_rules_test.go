package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"clank/browseagent/browsertool"
	"clank/browsermgr/control/client"
	"clank/browsermgr/egress/policy"
	"clank/internal/server"
	"clank/internal/settings"
)

// controlAPI is the control API of a server that runs with that home.
type controlAPI struct {
	t    *testing.T
	call *browsertool.APIClient
}

func newControlAPI(t *testing.T, home string) controlAPI {
	t.Helper()
	at, err := client.Discover(home)
	if err != nil {
		t.Fatal(err)
	}
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
	if testing.Short() {
		t.Skip("one step after the other, with a browser")
	}
	t.Parallel()
	home, environ := newTestHome(t)
	environ = append(environ, server.AllowedHostsEnv+"=")
	site := newTestSite(t)
	server := startServer(t, home, environ)
	api := newControlAPI(t, home)
	door := awaitOutput(t, server.stdout, "is ready: ")
	_, door, _ = strings.Cut(door, "is ready: ")
	page, err := url.Parse(strings.Fields(door)[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, address := range map[string]string{
		"another server": site.URL + "/", "the page of the operator": "http://" + page.Host + "/", "the control API": api.call.URL + "/",
		"a service of clouds": "http://169.254.169.254/latest/", "this machine by another spelling": "http://2130706433:" + page.Port() + "/",
	} {
		status, answer := api.do("POST", "/tabs/open", map[string]any{"url": address})
		if status != http.StatusBadRequest || answer["reason"] != "navigation_blocked" || !strings.Contains(answer["error"].(string), "settings") && name == "another server" {
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
	_, answer = api.do("GET", "/", nil)
	port := int(answer["cdpPort"].(float64))
	for name, address := range map[string]string{"the control API": api.call.URL + "/", "the DevTools": "http://127.0.0.1:" + strconv.Itoa(port) + "/json/version"} {
		fetch := map[string]any{"kind": "evaluate", "targetId": target, "fn": "fetch('" + address + "', {mode: 'no-cors'}).then((r) => r.type, () => 'none')"}
		before := refusalCount(api)
		status, answer := api.do("POST", "/act", fetch)
		if status != http.StatusOK || refusalCount(api) != before+1 {
			t.Errorf("%s: %d %v, %v refused before, %v after", name, status, answer, before, refusalCount(api))
		}
	}
}

func failuresAreToldAsWithoutAProxy(t *testing.T, c *sharedServer) {
	t.Helper()
	if testing.Short() {
		t.Skip("one step after the other, with a browser")
	}
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
	noHost, refused := "no such host no-such-host.invalid: check the spelling", dead+" refused the connection: nothing listens there"
	for address, want := range map[string]string{
		"https://no-such-host.invalid/": noHost, "http://no-such-host.invalid/x": noHost,
		"https://" + dead + "/": refused, "http://" + dead + "/": refused,
		server.URL + "/?to=https://no-such-host.invalid/": noHost, server.URL + "/?to=http://" + dead + "/": refused,
	} {
		for route, body := range map[string]map[string]any{
			"/tabs/open": {"url": address}, "/navigate": {"url": address, "targetId": target},
		} {
			status, answer := api.do("POST", route, body)
			if text, _ := answer["error"].(string); status == http.StatusOK || !strings.Contains(text, want) || strings.Contains(text, "TUNNEL") {
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

func TestSettingsOfWhatPagesReachAreCheckedTogether(t *testing.T) {
	t.Parallel()
	s := settings.Defaults()
	s.Browser.ExtraArgs = "--lang=de --no-proxy-server"
	s.NetworkAccess.AllowedHosts = "a.example\nb..example:99999"
	bad := server.CheckReach(s)
	if len(bad) != 2 || !strings.HasSuffix(bad[0].Key, "allowedHostnames") || !strings.HasSuffix(bad[1].Key, "extraArgs") || bad[1].Value != "--no-proxy-server" {
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
		if err != nil {
			t.Fatal(err)
		}
		err = a.AllowEndpoint(t.Context(), u)
		if _, refused := errors.AsType[*policy.Refusal](err); refused == allowed || (err == nil) != allowed {
			t.Errorf("%s: %v", address, err)
		}
	}
}
