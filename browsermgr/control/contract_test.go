package control_test

import (
	"context"
	"flag"
	"os"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/control"
	"clank/browsermgr/egress"
	"clank/browsermgr/egress/policy"
	"clank/browsermgr/profile"
	"clank/internal/test/check"
	"clank/internal/test/controltest"
	"clank/internal/test/running"
)

var (
	binary = flag.String("control.bin", "", "run the contract against the program at this `path`, and nothing else")
	peers  = flag.String("control.peers", ".cache/peers", "`folder` in which programs of others are installed for the "+
		"contract")

	// contractPassed and contractFailed count the cases of the contract.
	contractPassed, contractFailed int
)

// TestContract runs the cases of the control API's contract against a program, as "make conformance" does, or else the
// quick ones against a server in this process.
func TestContract(t *testing.T) {
	start := startInProcess
	if *binary != "" {
		start = controltest.Program(*binary)
	}
	contractPassed, contractFailed = controltest.Run(t, start, *peers)
}

// startInProcess starts a server with its own browsers, whose requests are checked as in the program.
func startInProcess(tb testing.TB, number int, _ ...string) *running.Clank {
	tb.Helper()
	gate := &egress.Proxy{Config: localPages{}}
	closeAfter(tb, gate.Open, gate.Close)
	home := tb.TempDir()
	features := &control.Features{Dir: home, Held: true}
	m := &browsermgr.Manager{
		Home: home, Config: func() profile.Config {
			return profile.Config{
				Executable: os.Getenv("CLANK_CHROMIUM"), Headless: new(true), NoSandbox: true,
				LaunchTimeout: time.Minute,
			}
		},
		FirstPort: 18_400 + 100*number, LastPort: 18_499 + 100*number,
		NewObservers: features.Observe, Gate: gate,
	}
	closeAfter(tb, m.Open, m.Close)
	s := &control.Server{
		Manager: m, Features: features, Policy: gate, Addr: "127.0.0.1:0",
		Secrets: control.Secrets{Token: token},
	}
	closeAfter(tb, s.Open, s.Close)
	return &running.Clank{URL: s.URL(), Token: token, Home: home, Temp: tb.TempDir()}
}

// localPages allows pages on this machine.
type localPages struct{ egress.DefaultConfig }

func (localPages) Rules() policy.Rules {
	return policy.Rules{AllowedHosts: []string{"127.0.0.1", "localhost", "[::1]"}}
}

// closeAfter opens something that is closed when the test ends.
func closeAfter(tb testing.TB, open, end func(context.Context) error) {
	tb.Helper()
	check.Must(tb, open(tb.Context()))
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 45*time.Second)
		defer cancel()
		if err := end(ctx); err != nil {
			tb.Error(err)
		}
	})
}
