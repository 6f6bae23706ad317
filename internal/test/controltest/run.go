package controltest

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/running"
)

// caseLimit bounds a case, far above the expected time even on a busy machine.
const caseLimit = 2 * time.Minute

// testCase is one promise of the contract. It leaves a state in which other cases can run.
type testCase struct {
	Name string
	Run  func(s *suite)
	// Program means that the case needs the built program: it restarts the program, runs commands or changes its
	// settings.
	Program bool
}

// caseGroup is the cases of one part of the contract, in the order in which they run.
type caseGroup struct {
	Name    string
	Cases   []testCase
	Program bool   // runs only against the built program, because it needs that or takes long
	Needs   string // a command that must be installed, otherwise the group is skipped
}

// caseLanes returns all groups, divided into lanes of similar duration.
func caseLanes() [][]caseGroup {
	return [][]caseGroup{
		{
			{Name: "doors", Cases: authCases()},
			{Name: "requests", Cases: requestFormCases()},
			{Name: "profiles", Cases: profileLifeCases(), Program: true},
			{Name: "tabs", Cases: tabCases(), Program: true},
			{Name: "act", Cases: actionCases(), Program: true},
			{Name: "act errors", Cases: actionErrorCases()},
			{Name: "snapshots", Cases: snapshotCases(), Program: true},
			{Name: "refs", Cases: refCases(), Program: true},
			{Name: "pictures", Cases: pictureCases(), Program: true},
			{Name: "peers", Cases: peerCases(), Program: true, Needs: "npm"},
		},
		{
			{Name: "contract", Cases: routeContractCases()},
			{Name: "dialogs", Cases: dialogCases(), Program: true},
			{Name: "files", Cases: fileCases(), Program: true},
			{Name: "rings", Cases: ringBufferCases(), Program: true},
			{Name: "state", Cases: stateCases(), Program: true},
			{Name: "leaving", Cases: leavingClientCases(), Program: true},
			{Name: "accounts", Cases: profileReportCases(), Program: true},
			{Name: "outside", Cases: foreignBrowserCases(), Program: true},
			{Name: "servers", Cases: serverCases(), Program: true},
			{Name: "commands", Cases: commandCases(), Program: true},
			{Name: "policy", Cases: policyCases(), Program: true},
		},
	}
}

// StartFunc starts a server, which is stopped when the test ends. Servers with different numbers use different ports
// for browsers. If Bin of the result is empty, the server runs in this process and ignores env; the fields about the
// process are not set.
type StartFunc func(tb testing.TB, number int, env ...string) *running.Clank

// Program returns a StartFunc for the built program at bin.
func Program(bin string) StartFunc {
	return func(tb testing.TB, number int, env ...string) *running.Clank {
		tb.Helper()
		clank, err := running.Start(tb.Context(), bin, env...)
		check.Must(tb, err)
		tb.Cleanup(func() {
			if err := clank.Close(); err != nil {
				tb.Error(err)
			}
		})
		if number == 0 {
			return clank
		}
		check.Must(tb, changeSetting(tb.Context(), clank, "cdpPortRangeStart", 18_800+200*number))
		check.Must(tb, clank.Stop())
		check.Must(tb, clank.Restart(tb.Context(), env...))
		return clank
	}
}

// Run runs the cases and returns how many passed and failed. Lanes run in parallel, each with its own server and
// site; the groups of a lane run in order. Cases that need the built program are skipped without it. cache is the
// folder for installed third-party programs.
func Run(t *testing.T, start StartFunc, cache string) (passed, failed int) {
	t.Helper()
	var good, bad atomic.Int64
	t.Run("lanes", func(t *testing.T) {
		for number, groups := range caseLanes() {
			t.Run(strconv.Itoa(number), func(t *testing.T) {
				t.Parallel()
				site := newTestSite()
				t.Cleanup(site.Close)
				s := suite{Clank: start(t, number), Site: site, start: start, cache: cache}
				for _, g := range groups {
					s.runGroup(t, g, &good, &bad)
				}
			})
		}
	})
	return int(good.Load()), int(bad.Load())
}

func (s suite) runGroup(t *testing.T, g caseGroup, good, bad *atomic.Int64) {
	t.Helper()
	inProcess := s.Bin == ""
	if g.Program && inProcess {
		return
	}
	t.Run(g.Name, func(t *testing.T) {
		s.group = t
		if g.Needs != "" {
			if _, err := exec.LookPath(g.Needs); err != nil {
				t.Skip(err)
			}
		}
		for _, c := range g.Cases {
			if c.Program && inProcess {
				continue
			}
			ran := false
			ok := t.Run(c.Name, func(t *testing.T) {
				ran = true
				s.T, s.deadline = t, time.Now().Add(caseLimit)
				c.Run(&s)
			})
			switch {
			case !ok:
				bad.Add(1)
			case ran: // not excluded by the flag -run
				good.Add(1)
			}
		}
	})
}

// suite is the context of cases: a test, a client of a server, and a site. Failed checks end the case.
type suite struct {
	*testing.T
	*running.Clank

	Site     *testSite
	group    *testing.T // of the current group
	start    StartFunc
	cache    string // folder of installed peers
	deadline time.Time
}

// ctx returns a context that ends at the deadline of the case.
func (s *suite) ctx() context.Context {
	ctx, cancel := context.WithDeadlineCause(s.Context(), s.deadline,
		fmt.Errorf("the case did not end by %s, its deadline", s.deadline.Format(time.TimeOnly)))
	s.Cleanup(cancel)
	return ctx
}

// requestFormCases returns the cases about parsing parameters, which is the same for every route.
func requestFormCases() []testCase {
	press := func(delay any) m { return m{"kind": "press", "key": "a", "delayMs": delay} }
	return requestCases([]requestCase{
		{
			Name: "an unknown profile is named", Path: "/?profile=nosuch", Status: 404,
			Contains: []string{"not found", "nosuch", "clank"},
		},
		{
			Name: "an unknown profile in the body", Path: "/act", Body: m{"kind": "press", "key": "a", "profile": "nosuch"},
			Status: 404, Contains: []string{"not found"},
		},
		{
			Name: "the query's profile wins", Path: "/act?profile=clank",
			Body: m{"kind": "press", "key": "a", "profile": "nosuch"}, Page: "/plain",
		},
		{Name: "an empty profile is the default one", Path: "/?profile="},
		{Name: "a known client's default profile", Path: "/?profile=openclaw"},
		{
			Name: "hexadecimal digits are no number", Path: "/act", Body: press("0x10"), Status: 400,
			Contains: []string{"must be a non-negative integer."},
		},
		{
			Name: "a boolean in a string", Path: "/act", Body: m{"kind": "clickCoords", "x": 1, "y": 1, "doubleClick": "true"},
			Page: "/plain",
		},
		{
			Name: "a ref given as a number", Path: "/act", Body: m{"kind": "click", "ref": 987654}, Page: "/plain", Status: 500,
			Contains: []string{"Unknown ref"},
		},
		{Name: "strings are trimmed", Path: "/tabs/open", Body: m{"url": "  SITE/plain  "}},
		{
			Name: "about:blank is allowed", Path: "/navigate", Body: m{"url": "about:blank"},
			Members: []string{"ok", "targetId", "url"},
		},
		{Name: "a number is no tab", Path: "/snapshot?targetId=1", Status: 404, Contains: []string{"tab not found", "tab"}},
		{Name: "start takes a boolean only", Method: "POST", Path: "/start?headless=maybe", Status: 400},
		{Name: "an unknown storage", Path: "/storage/nosuch", Status: 400},
	})
}

// serverCases returns the cases that need a server with another environment or other settings.
func serverCases() []testCase {
	return []testCase{
		{Name: "scripts switched off", Run: evaluateOff},
		{Name: "a password", Run: passwordDoor},
		{Name: "a token of the environment", Run: givenToken},
	}
}

// serverNumber is the number of these servers; lanes use other numbers.
const serverNumber = 2

// withOwnServer calls work with a new server in another environment.
func withOwnServer(s *suite, work func(*suite), env ...string) {
	s.Helper()
	own := *s
	own.Clank = s.start(s.T, serverNumber, env...)
	work(&own)
}

// evaluateOff disables evaluate in the settings.
func evaluateOff(s *suite) {
	withOwnServer(s, func(s *suite) {
		s.changeSetting("browser.evaluateEnabled", false)
		const off = "ACT_EVALUATE_DISABLED"
		script := m{"kind": "evaluate", "fn": "1"}
		s.send([]requestCase{
			{Path: "/act", Body: script, Status: 403, Code: off, Contains: []string{"browser.evaluateEnabled=false"}},
			{Path: "/act", Body: m{"kind": "evaluate", "fn": "1", "targetId": "nosuch"}, Status: 403, Code: off},
			{Path: "/act", Body: m{"kind": "wait", "fn": "1"}, Status: 403, Code: off},
			{Path: "/act", Body: m{"kind": "evaluate"}, Status: 400, Code: "ACT_INVALID_REQUEST"},
			{
				Path: "/act", Page: "/form",
				Body:     m{"kind": "batch", "stopOnError": false, "actions": []any{script, m{"kind": "press", "key": "a"}}},
				Contains: []string{`"ok":false`, "browser.evaluateEnabled=false", `{"ok":true}`},
			},
			{Path: "/storage/local/set", Body: m{"key": "a", "value": "b"}},
			{Path: "/storage/local", Contains: []string{`"a":"b"`}},
			{Path: "/snapshot?interactive=true", Contains: []string{"Save"}},
		}...)
	})
}

func passwordDoor(s *suite) {
	withOwnServer(s, func(s *suite) {
		s.send([]requestCase{
			{Name: "header", Path: "/", Header: http.Header{"X-Openclaw-Password": {"open: sesame"}}},
			{Name: "the beginning", Path: "/", Header: http.Header{"X-Openclaw-Password": {"open"}}, Status: 401},
			{Name: "the token", Path: "/"},
		}...)
	}, "OPENCLAW_GATEWAY_PASSWORD= open: sesame ")
}

func givenToken(s *suite) {
	withOwnServer(s, func(s *suite) {
		s.send(requestCase{Path: "/", Header: http.Header{"Authorization": {"Bearer a token of mine"}}})
	}, "OPENCLAW_GATEWAY_TOKEN=a token of mine")
}
