package chrome_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
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

// What the program does takes less than the kernel's tick of 10 ms, in which CPU times are counted.
func TestAProgramThatDoesLittleIsNotIdle(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `while read line; do
	i=0; while [ $i -lt 6000 ]; do i=$((i+1)); done
	echo done
done`)
	check.OwnGroup(cmd)
	in, err := cmd.StdinPipe()
	check.Must(t, err)
	out, err := cmd.StdoutPipe()
	check.Must(t, err)
	check.Must(t, cmd.Start())
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	p := &chrome.Process{PID: cmd.Process.Pid}
	asleep := func() bool { return !p.UsedCPU() }
	eventually(t, "it sleeps", asleep)
	for range 20 {
		check.Must(t, check.Err(io.WriteString(in, "work\n")))
		check.Must(t, check.Err(io.ReadAll(io.LimitReader(out, int64(len("done\n"))))))
		if !p.UsedCPU() {
			t.Fatal("it is said to be idle, though it has worked")
		}
		eventually(t, "it sleeps again", asleep)
	}
}
