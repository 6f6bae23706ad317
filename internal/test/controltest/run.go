package controltest

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"clank/internal/test/running"
)

// caseLimit bounds a case. None is expected to take nearly so long.
const caseLimit = 30 * time.Second

// testCase is one thing that the contract promises. It leaves behind what other cases can work with.
type testCase struct {
	Name string
	Run  func(s *suite)
	// Program says that the case needs the built program: it restarts it, runs commands beside it or changes its settings.
	Program bool
}

// caseGroup is the cases of one part of the contract, in the order in which they are run.
type caseGroup struct {
	Name    string
	Cases   []testCase
	Program bool   // it is run against the built program alone: it needs that, or cheaper tests cover it
	Needs   string // a command without which the group is skipped; "" needs none
}

// caseLanes returns all groups, so divided that both lanes take about as long.
func caseLanes() [][]caseGroup {
	return [][]caseGroup{
		{
			{Name: "doors", Cases: authCases()},
			{Name: "requests", Cases: requestFormCases()},
			{Name: "profiles", Cases: profileLifeCases()},
			{Name: "tabs", Cases: tabCases()},
			{Name: "act", Cases: actionCases()},
			{Name: "act errors", Cases: actionErrorCases()},
			{Name: "snapshots", Cases: snapshotCases()},
			{Name: "refs", Cases: refCases(), Program: true},
			{Name: "pictures", Cases: pictureCases()},
			{Name: "peers", Cases: peerCases(), Program: true, Needs: "npm"},
		},
		{
			{Name: "contract", Cases: routeContractCases()},
			{Name: "dialogs", Cases: dialogCases()},
			{Name: "files", Cases: fileCases()},
			{Name: "rings", Cases: ringBufferCases()},
			{Name: "state", Cases: stateCases()},
			{Name: "leaving", Cases: leavingClientCases(), Program: true},
			{Name: "accounts", Cases: profileReportCases()},
			{Name: "outside", Cases: foreignBrowserCases(), Program: true},
			{Name: "servers", Cases: serverCases(), Program: true},
			{Name: "commands", Cases: commandCases(), Program: true},
			{Name: "policy", Cases: policyCases()},
			{Name: "document", Cases: openAPICases()},
		},
	}
}

// StartFunc starts a server, which ends with the test. Browsers of servers with different numbers listen on different ports. If Bin of
// what it returns is empty, the server runs in this process and takes no env; its fields are set but for those of the process.
type StartFunc func(tb testing.TB, number int, env ...string) *running.Clank

// Program starts the built program at bin.
func Program(bin string) StartFunc {
	return func(tb testing.TB, number int, env ...string) *running.Clank {
		tb.Helper()
		clank, err := running.Start(tb.Context(), bin, env...)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() {
			if err := clank.Close(); err != nil {
				tb.Error(err)
			}
		})
		if number == 0 {
			return clank
		}
		if err := changeSetting(tb.Context(), clank, "cdpPortRangeStart", 18_800+200*number); err != nil {
			tb.Fatal(err)
		}
		if err := clank.Stop(); err != nil {
			tb.Fatal(err)
		}
		if err := clank.Restart(tb.Context(), env...); err != nil {
			tb.Fatal(err)
		}
		return clank
	}
}

// Run runs the cases and returns how many passed and failed. Each lane has a server and a site of its own, and its groups run in order,
// beside those of the other lanes. Cases that need the built program are left out where there is none. cache is the folder in which
// programs of others are installed.
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
			case ran: // the flag -run did not leave it out
				good.Add(1)
			}
		}
	})
}

// suite is what cases work on: a test, a server as a client sees it, and a site. What fails ends the case.
type suite struct {
	*testing.T
	*running.Clank

	Site     *testSite
	group    *testing.T // of the group that the case is in
	start    StartFunc
	cache    string // folder in which peers are installed
	deadline time.Time
}

// ctx returns a context that ends when the case must have ended.
func (s *suite) ctx() context.Context {
	ctx, cancel := context.WithDeadlineCause(s.Context(), s.deadline, fmt.Errorf("the case took longer than %v", caseLimit))
	s.Cleanup(cancel)
	return ctx
}
