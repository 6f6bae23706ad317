package check

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// ObeyModes makes the rest of the test, on its own goroutine, obey the modes of files and folders even if root runs it.
func ObeyModes(tb testing.TB) {
	tb.Helper()
	runtime.LockOSThread() // the thread ends with the goroutine of the test
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	Must(tb, unix.Capget(&header, &data[0]))
	const over = 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
	data[0].Effective &^= over
	data[0].Permitted &^= over // access(2) asks for these
	Must(tb, unix.Capset(&header, &data[0]))
}
