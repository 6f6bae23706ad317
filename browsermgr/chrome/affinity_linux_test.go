package chrome_test

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"testing"

	"clank/browsermgr/chrome"
	"clank/internal/test/check"
)

var allowed = regexp.MustCompile(`Cpus_allowed_list:\s*(\S+)`)

// processorsOf returns the processors that the main thread of a process may use.
func processorsOf(t *testing.T, pid int) string {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	check.Must(t, err)
	return string(allowed.FindSubmatch(data)[1])
}

func TestABrowserStartsOnOneProcessorAndUsesAllAfterwards(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("there is only one processor")
	}
	ours := processorsOf(t, os.Getpid())
	p := launch(t, chrome.LaunchOptions{OneProcessor: true})
	if got := processorsOf(t, p.PID); !regexp.MustCompile(`^\d+$`).MatchString(got) {
		t.Errorf("it starts on %s, want one processor", got)
	}
	p.UseAllProcessors()
	if got := processorsOf(t, p.PID); got != ours {
		t.Errorf("then it uses %s, want %s as we do", got, ours)
	}
	check.Equal(t, "we use after the start", processorsOf(t, os.Getpid()), ours)
}
