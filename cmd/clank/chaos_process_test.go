//go:build unix

package main

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"clank/internal/test/browsertest"
	"clank/internal/test/check"
)

// chaosGone is what people read of processes that end, crash or hang.
const chaosGone = "ended|crashed|reopened|started again|is gone|answer|connection|not ready|ERR_"

// chaosKinds are the processes of a browser, by what their arguments say.
var chaosKinds = []struct{ name, args string }{
	{"browser", ""},
	{"renderers", "--type=renderer"},
	{"GPU process", "--type=gpu-process"},
	{"network process", "network.mojom"},
}

// victims are processes of the home's browser by what their arguments say; "" is the browser itself, without copies of
// it that are about to become something else.
func (c *chaos) victims(kind string) (pids []int) {
	for _, p := range processesOf(c.t, c.home) {
		if kind != "" && strings.Contains(p.args, kind) ||
			kind == "" && strings.Contains(p.args, "--user-data-dir=") && check.InGroup(p.pid, p.pid) {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// awaitVictims returns those that there are, once there are some.
func (c *chaos) awaitVictims(kind string) (pids []int) {
	browsertest.Eventually(c.t, "a process "+kind, func() bool {
		pids = c.victims(kind)
		return len(pids) > 0
	})
	return pids
}

// signal sends a signal to those that there are, once there are some.
func (c *chaos) signal(kind string, sig syscall.Signal) {
	for _, pid := range c.awaitVictims(kind) {
		_ = syscall.Kill(pid, sig)
	}
}

// processFaults kill processes, and have them hang.
func (c *chaos) processFaults() (all []chaosFault) {
	for _, kind := range chaosKinds {
		all = append(all, chaosFault{
			name: "kill -9 " + kind.name, do: func() { c.signal(kind.args, syscall.SIGKILL) }, names: chaosGone,
			quick: kind.args == "",
		})
		hang := chaosFault{name: "hang " + kind.name, do: func() { c.signal(kind.args, syscall.SIGSTOP) }, names: chaosGone}
		if kind.args != "" {
			hang.lift = func() { c.signal(kind.args, syscall.SIGCONT) }
		}
		all = append(all, hang)
	}
	return append(all, chaosFault{name: "kill -9 clank", names: chaosGone, do: func() {
		check.Must(c.t, c.server.cmd.Process.Kill())
		<-c.server.done
		c.startServer()
	}}, chaosFault{
		name: "hang clank", names: chaosGone, do: func() { _ = c.server.cmd.Process.Signal(syscall.SIGSTOP) },
		lift: func() { _ = c.server.cmd.Process.Signal(syscall.SIGCONT) },
	})
}

// clockFaults have the clock of clank jump.
func (c *chaos) clockFaults() []chaosFault {
	if _, err := clockOf(os.Getpid()); err != nil {
		c.omits("clocks that jump", err)
		return nil
	}
	var all []chaosFault
	for _, jump := range []time.Duration{30 * time.Hour, -30 * time.Hour} {
		all = append(all, chaosFault{
			name: fmt.Sprintf("clock jumps by %.0f hours", jump.Hours()),
			do: func() {
				before := time.Now() // spans of time are measured by another clock
				c.moveClocks(jump)
				var now browseOutcome
				check.Must(c.t, json.Unmarshal([]byte(c.command(c.browseArgs("--json", "open "+c.site.URL+"/")...)), &now))
				server, err := requireServer(envFromList(c.t, c.environ), "it knows when its task was")
				check.Must(c.t, err)
				task, err := server.Task(c.t.Context(), now.TaskID)
				check.Must(c.t, err)
				if by := task.Task.Ended.Sub(before.Add(time.Since(before))); (by - jump).Abs() > patience {
					c.t.Errorf("the clock has jumped by %v", by)
				}
			},
			after: func() { c.moveClocks(0) },
		})
	}
	return all
}

var clockMapping = regexp.MustCompile(`(?m)^([0-9a-f]+)-([0-9a-f]+) .*\[vdso\]$`)

// clockOf returns where a program asks the kernel for the time. Programs of Go do not ask libc.
func clockOf(pid int) (at int64, err error) {
	if runtime.GOARCH != "amd64" {
		return 0, errors.New("what sets it is written for amd64")
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return 0, err
	}
	m := clockMapping.FindSubmatch(maps)
	if m == nil {
		return 0, errors.New("the kernel lends programs no clock")
	}
	from, errFrom := strconv.ParseInt(string(m[1]), 16, 64)
	to, errTo := strconv.ParseInt(string(m[2]), 16, 64)
	mem, errOpen := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err := errors.Join(errFrom, errTo, errOpen); err != nil {
		return 0, err
	}
	defer mem.Close()
	image := make([]byte, to-from)
	if _, err := mem.ReadAt(image, from); err != nil {
		return 0, err
	}
	library, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return 0, err
	}
	symbols, err := library.DynamicSymbols()
	i := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == "__vdso_clock_gettime" })
	if err != nil || i < 0 {
		return 0, errors.Join(err, errors.New("the kernel's clock has no name"))
	}
	return from + int64(symbols[i].Value), nil
}

// moveClocks has the clocks of clank and of commands in this process differ from the machine's.
func (c *chaos) moveClocks(by time.Duration) {
	c.t.Helper()
	// mov eax, clock_gettime; syscall; if edi is CLOCK_REALTIME: add qword [rsi], seconds; ret
	code := []byte{0xb8, 0xe4, 0, 0, 0, 0x0f, 0x05, 0x85, 0xff, 0x75, 0x07, 0x48, 0x81, 0x06}
	code = binary.LittleEndian.AppendUint32(code, uint32(int32(by/time.Second)))
	code = append(code, 0xc3)
	for _, pid := range []int{c.server.cmd.Process.Pid, os.Getpid()} {
		at, err := clockOf(pid)
		check.Must(c.t, err)
		mem, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
		check.Must(c.t, err)
		_, err = mem.WriteAt(code, at)
		check.Must(c.t, errors.Join(err, mem.Close()))
	}
}

// controlGroup limits what processes may use.
type controlGroup struct{ dir, base, limit string }

// controlGroup makes a group, and leaves out the faults that need it where none can be made.
func (c *chaos) controlGroup(controller, faults string) (controlGroup, bool) {
	c.t.Helper()
	g, err := newControlGroup(controller)
	if err != nil {
		c.omits(faults, err)
	}
	return g, err == nil
}

// newControlGroup makes a group of a controller of the kernel's: memory, pids or blkio.
func newControlGroup(controller string) (g controlGroup, err error) {
	const root = "/sys/fs/cgroup"
	g.base = filepath.Join(root, controller)
	g.limit = map[string]string{
		"memory": "memory.limit_in_bytes", "pids": "pids.max",
		"blkio": "blkio.throttle.write_iops_device",
	}[controller]
	if _, err := os.Stat(filepath.Join(root, "cgroup.controllers")); err == nil { // the second version
		g.base = root
		g.limit = map[string]string{"memory": "memory.max", "pids": "pids.max", "blkio": "io.max"}[controller]
		if err := os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("+memory +pids +io"), 0); err != nil {
			return g, err
		}
	}
	g.dir, err = os.MkdirTemp(g.base, "clank-chaos-")
	return g, err
}

// set limits the group, and adds processes to it.
func (g controlGroup) set(limit string, pids ...int) (err error) {
	for _, pid := range pids {
		err = errors.Join(err, os.WriteFile(filepath.Join(g.dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0))
	}
	return errors.Join(err, os.WriteFile(filepath.Join(g.dir, g.limit), []byte(limit), 0))
}

// end lets the processes that are left go on without the limit.
func (g controlGroup) end(c *chaos) {
	c.t.Helper()
	browsertest.Eventually(c.t, "the end of a control group", func() bool {
		left, _ := os.ReadFile(filepath.Join(g.dir, "cgroup.procs"))
		for pid := range strings.FieldsSeq(string(left)) {
			_ = os.WriteFile(filepath.Join(g.base, "cgroup.procs"), []byte(pid), 0) // it may have ended
		}
		return os.Remove(g.dir) == nil
	})
}

// outOfMemory has the kernel end processes since there is no memory left for them.
func (c *chaos) outOfMemory(pids ...int) {
	c.t.Helper()
	g, err := newControlGroup("memory")
	check.Must(c.t, err)
	for _, pid := range pids { // it ends those the first
		check.Must(c.t, os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("1000"), 0))
	}
	check.Must(c.t, g.set("16M", pids...))
	eater := exec.Command("sh", "-c", `echo $$ >"$0"; exec tail /dev/zero`, filepath.Join(g.dir, "cgroup.procs"))
	err = eater.Run()
	if status, ok := eater.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		c.t.Errorf("nothing was ended for want of memory: %v", err)
	}
	g.end(c)
}

// memoryFaults use up the memory.
func (c *chaos) memoryFaults() (all []chaosFault) {
	g, ok := c.controlGroup("memory", "memory that runs out")
	if !ok {
		return nil
	}
	g.end(c)
	for _, kind := range chaosKinds[:2] {
		all = append(all, chaosFault{
			name: "out of memory: " + kind.name, do: func() { c.outOfMemory(c.awaitVictims(kind.args)...) }, names: chaosGone,
		})
	}
	return append(all, chaosFault{name: "out of memory: clank", names: chaosGone, do: func() {
		c.outOfMemory(c.server.cmd.Process.Pid)
		<-c.server.done
		c.startServer()
	}})
}

// limitFaults leave clank no descriptors or threads beyond those that it has.
func (c *chaos) limitFaults() (all []chaosFault) {
	if _, err := exec.LookPath("prlimit"); err != nil {
		c.omits("descriptors that run out", err)
	} else {
		all = append(all, chaosFault{
			name: "no descriptors are left", names: chaosGone + "|open files|limit",
			do: func() { c.limit("nofile", "20") }, lift: func() { c.limit("nofile", "1024") },
		})
	}
	g, ok := c.controlGroup("pids", "threads that run out")
	if !ok {
		return all
	}
	g.end(c)
	return append(all, chaosFault{
		name: "no threads are left", names: chaosGone + "|processes|limit",
		do: func() {
			var err error
			g, err = newControlGroup("pids")
			check.Must(c.t, cmp.Or(err, g.setToCurrent(c.server.cmd.Process.Pid)))
		},
		lift: func() { c.endLimit(g) },
	})
}

// setToCurrent puts a program into a group of pids that lets it have no more threads than it has.
func (g controlGroup) setToCurrent(pid int) error {
	if err := g.set("max", pid); err != nil {
		return err
	}
	now, err := os.ReadFile(filepath.Join(g.dir, "pids.current"))
	return errors.Join(err, g.set(strings.TrimSpace(string(now))))
}

// endLimit ends a group's limit, and starts clank again if it did not live: a program of Go ends without a thread that
// it needs.
func (c *chaos) endLimit(g controlGroup) {
	c.t.Helper()
	g.end(c)
	select {
	case <-c.server.done:
		c.startServer()
	default:
	}
}

// limit sets a limit of the running server's.
func (c *chaos) limit(name, value string) {
	c.t.Helper()
	out, err := exec.Command("prlimit", "--pid", strconv.Itoa(c.server.cmd.Process.Pid), "--"+name+"="+value+
		":").CombinedOutput()
	if err != nil {
		c.t.Errorf("prlimit %s: %v %s", name, err, out)
	}
}
