// Package check provides one-line forms of common test code.
package check

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

// Main runs the tests of a package, then end, and fails if a goroutine is left. It returns the exit code for
// [os.Exit].
func Main(m *testing.M, end ...func() error) int {
	code := m.Run()
	for _, f := range end {
		if err := f(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if code != 0 {
		return code // failed tests may leave goroutines
	}
	http.DefaultClient.CloseIdleConnections() // idle connections are intended
	err := goleak.Find(leftByLibraries...)
	for until := time.Now().Add(leakPatience); err != nil && time.Now().Before(until); {
		err = goleak.Find(leftByLibraries...) // Find retries by itself
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the tests left goroutines behind:", err)
		return 1
	}
	return 0
}

// leakPatience is how long goroutines may take to end on a busy machine.
const leakPatience = 20 * time.Second

// leftByLibraries are goroutines that nothing can stop. When a client disconnects in the middle of a response,
// toxiproxy v2.12 drops the link, and its goroutines block forever while they pass on the rest.
var leftByLibraries = []goleak.Option{
	goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2.(*ToxicLink).read"),
	goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2/toxics.(*ToxicStub).Run"),
}

// Must fails the test immediately if err is not nil.
func Must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// Kill kills a process.
func Kill(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}

// Err returns the error of a call whose other result is not needed.
func Err[T any](_ T, err error) error { return err }

// Fails fails the test unless err wraps target and its text contains all of want. A nil target accepts any error.
func Fails(tb testing.TB, err, target error, want ...string) {
	tb.Helper()
	if err == nil {
		tb.Errorf("got no error, want one: %v %q", target, want)
		return
	}
	if target != nil && !errors.Is(err, target) {
		tb.Errorf("got error %v, want %v", err, target)
	}
	Contains(tb, err.Error(), want...)
}

// Outcome fails the test unless err contains want or, if want is empty, is nil.
func Outcome(tb testing.TB, what string, err error, want string) {
	tb.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		tb.Errorf("%s: got error %v, want %q", what, err, want)
	}
}

// Contains fails the test for each text that got does not contain.
func Contains(tb testing.TB, got string, want ...string) {
	tb.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			tb.Errorf("got\n%s\nwant it to contain %q", got, w)
		}
	}
}

// Lacks fails the test for each text that got contains.
func Lacks(tb testing.TB, got string, unwanted ...string) {
	tb.Helper()
	for _, u := range unwanted {
		if strings.Contains(got, u) {
			tb.Errorf("got\n%s\nwant no %q in it", got, u)
		}
	}
}

// Equal fails the test unless got is want. The failure says what was compared.
func Equal[T comparable](tb testing.TB, what string, got, want T) {
	tb.Helper()
	if got == want {
		return
	}
	form := "%#v"
	if _, readable := any(got).(fmt.Stringer); readable {
		form = "%v"
	}
	tb.Errorf("%s: got "+form+", want "+form, what, got, want)
}

// Diff fails the test, with their difference, if [cmp.Diff] finds one between got and want.
func Diff(tb testing.TB, what string, got, want any, opts ...cmp.Option) {
	tb.Helper()
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		tb.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Installed fails the test unless the programs are installed, which scripts/ensure-speech does on Linux. On other
// systems it skips the test.
func Installed(tb testing.TB, programs ...string) {
	tb.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			if runtime.GOOS != "linux" {
				tb.Skip(err)
			}
			tb.Fatalf("%v: run scripts/ensure-speech", err)
		}
	}
}

// Log collects what is written to it. It can be read at any time and is safe for concurrent use.
type Log struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements [io.Writer].
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns all that was written.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
