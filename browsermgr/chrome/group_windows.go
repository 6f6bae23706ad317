package chrome

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// inheritPipe passes the child its ends of the pipe, which are inheritable, and their handles as a flag.
func inheritPipe(cmd *exec.Cmd, requests, answers *os.File) error {
	handles := []syscall.Handle{syscall.Handle(requests.Fd()), syscall.Handle(answers.Fd())}
	cmd.SysProcAttr = &syscall.SysProcAttr{AdditionalInheritedHandles: handles}
	flag := fmt.Sprintf("--remote-debugging-io-pipes=%d,%d", handles[0], handles[1])
	cmd.Args = append([]string{cmd.Args[0], flag}, cmd.Args[1:]...)
	return nil
}

// groups holds the job object of each running browser, a windows.Handle, by the id of its main process.
var groups sync.Map

// tether ties the life of a child and its descendants to this program with a job object: the system ends its processes
// when the last handle is closed, at the latest when this program ends.
type tether struct{ pid int }

func newTether(*exec.Cmd) *tether { return &tether{} }

// attach assigns a new process to a job. Processes that it started before that also end with it, since Chromium's
// processes hold a channel to the main process.
func (t *tether) attach(pid int) error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return fmt.Errorf("tie the browser to this program: %w", err)
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = withProcess(pid, windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, func(process windows.Handle) error {
			return windows.AssignProcessToJobObject(job, process)
		})
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return fmt.Errorf("tie the browser to this program: %w", err)
	}
	t.pid = pid
	groups.Store(pid, job)
	return nil
}

func (t *tether) release() {
	if job, ok := groups.LoadAndDelete(t.pid); ok {
		_ = windows.CloseHandle(job.(windows.Handle))
	}
}

func withProcess(pid int, access uint32, do func(windows.Handle) error) error {
	process, err := windows.OpenProcess(access, false, uint32(pid)) //nolint:gosec // what the system calls a process
	if err != nil {
		return err
	}
	defer windows.CloseHandle(process) //nolint:errcheck // nothing is lost
	return do(process)
}

// terminateGroup does nothing: a process without a window can only be asked through DevTools.
func terminateGroup(int) error { return nil }

// killGroup kills all processes of a browser. One that has ended is no error.
func killGroup(pid int) error {
	var err error
	if job, ok := groups.Load(pid); ok {
		err = windows.TerminateJobObject(job.(windows.Handle), killedExitCode)
	} else {
		err = withProcess(pid, windows.PROCESS_TERMINATE, func(p windows.Handle) error {
			return windows.TerminateProcess(p, killedExitCode)
		})
	}
	if err != nil && !errors.Is(err, windows.ERROR_INVALID_PARAMETER) && len(groupMembers(pid)) > 0 {
		return fmt.Errorf("end browser %d: %w", pid, err)
	}
	return nil
}

// killedExitCode is the exit code of processes killed here; Windows has no signals.
const killedExitCode = 137

// reapGroup does nothing: Windows has no zombies to reap.
func reapGroup(int) {}

// describeExit returns how a process ended, such as "exited with status 1".
func describeExit(state *os.ProcessState) string {
	if state.ExitCode() == killedExitCode {
		return "killed"
	}
	return "exited with status " + strconv.Itoa(state.ExitCode())
}

// groupMembers lists the running processes of a browser.
func groupMembers(pid int) []int {
	job, ok := groups.Load(pid)
	if !ok {
		if _, running := inspectProcess(pid); running {
			return []int{pid}
		}
		return nil
	}
	var list struct { // JOBOBJECT_BASIC_PROCESS_ID_LIST
		assigned, listed uint32
		pids             [256]uintptr
	}
	err := windows.QueryInformationJobObject(job.(windows.Handle), windows.JobObjectBasicProcessIdList,
		uintptr(unsafe.Pointer(&list)), uint32(unsafe.Sizeof(list)), nil)
	if err != nil && !errors.Is(err, windows.ERROR_MORE_DATA) {
		return nil
	}
	var pids []int
	for _, pid := range list.pids[:min(int(list.listed), len(list.pids))] {
		pids = append(pids, int(pid))
	}
	return pids
}

// inspectProcess returns false if there is no such process.
func inspectProcess(pid int) (processInfo, bool) {
	p := processInfo{pid: pid, pgid: pid}
	err := withProcess(pid, windows.PROCESS_QUERY_LIMITED_INFORMATION, func(process windows.Handle) error {
		var code uint32
		if err := windows.GetExitCodeProcess(process, &code); err != nil {
			return err
		}
		if code != uint32(windows.STATUS_PENDING) {
			return os.ErrProcessDone
		}
		var created, exited, kernel, user windows.Filetime
		if err := windows.GetProcessTimes(process, &created, &exited, &kernel, &user); err != nil {
			return err
		}
		p.start = strconv.FormatInt(created.Nanoseconds(), 10)
		p.args = processArgs(process)
		return nil
	})
	return p, err == nil
}

// processArgs returns the command line of a process; nil if unknown.
func processArgs(process windows.Handle) []string {
	buf := make([]byte, 70<<10) // a command line has up to 64 KiB
	var n uint32
	if windows.NtQueryInformationProcess(process, windows.ProcessCommandLineInformation, unsafe.Pointer(&buf[0]),
		uint32(len(buf)), &n) != nil {
		return nil
	}
	args, err := windows.DecomposeCommandLine((*windows.NTUnicodeString)(unsafe.Pointer(&buf[0])).String())
	if err != nil {
		return nil
	}
	return args
}

// UsedCPU returns true: CPU times are not read on Windows.
func (*Process) UsedCPU() bool { return true }

// cpuTime returns the time since the start: CPU times are not read here.
func (p *Process) cpuTime() time.Duration { return time.Since(p.StartedAt) }

// Functions that package windows does not have.
var (
	getProcessMemoryInfo = windows.NewLazySystemDLL("kernel32.dll").NewProc("K32GetProcessMemoryInfo")
	getExtendedTCPTable  = windows.NewLazySystemDLL("iphlpapi.dll").NewProc("GetExtendedTcpTable")
)

// MemoryMB returns the private memory of a browser's processes, in MiB.
func MemoryMB(pid int) int {
	var private uintptr
	for _, pid := range groupMembers(pid) {
		var m struct { // PROCESS_MEMORY_COUNTERS
			size, pageFaults uint32
			notUsed          [6]uintptr
			committed, peak  uintptr // private memory
		}
		m.size = uint32(unsafe.Sizeof(m))
		// An error means that the process has ended: it has none.
		_ = withProcess(pid, windows.PROCESS_QUERY_LIMITED_INFORMATION, func(process windows.Handle) error {
			_, _, err := getProcessMemoryInfo.Call(uintptr(process), uintptr(unsafe.Pointer(&m)), uintptr(m.size))
			private += m.committed
			return err
		})
	}
	return int(private >> 20)
}

// portOwner returns the process that listens on a TCP port of this machine; 0 if unknown.
func portOwner(port int) int {
	for _, table := range []struct {
		family            uint32
		size, port, owner int // of a row, and of its fields where they begin, in units of 4 bytes
	}{
		{windows.AF_INET, 6, 2, 5},    // MIB_TCPROW_OWNER_PID
		{windows.AF_INET6, 14, 5, 13}, // MIB_TCP6ROW_OWNER_PID
	} {
		for row := range slices.Chunk(tcpListeners(table.family, table.size), table.size) {
			if int(bits.ReverseBytes16(uint16(row[table.port]))) == port { //nolint:gosec // the rest is unused
				return int(row[table.owner])
			}
		}
	}
	return 0
}

// tcpListeners returns the rows of the system's table of listening sockets.
func tcpListeners(family uint32, rowSize int) []uint32 {
	const listenersWithOwners = 3 // TCP_TABLE_OWNER_PID_LISTENER
	table := make([]uint32, 4<<10)
	for range 5 { // it may grow in between
		size := uint32(len(table) * 4) //nolint:gosec // it is small
		result, _, _ := getExtendedTCPTable.Call(uintptr(unsafe.Pointer(&table[0])), uintptr(unsafe.Pointer(&size)), 0,
			uintptr(family), listenersWithOwners, 0)
		switch windows.Errno(result) {
		case windows.NO_ERROR:
			rows := table[1:]
			return rows[:min(int(table[0])*rowSize, len(rows)/rowSize*rowSize)]
		case windows.ERROR_INSUFFICIENT_BUFFER:
			table = make([]uint32, size/4+4<<10)
		default:
			return nil
		}
	}
	return nil
}
