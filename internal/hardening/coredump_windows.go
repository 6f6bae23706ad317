package hardening

import "golang.org/x/sys/windows"

// DisableCoreDumps keeps a crash from being reported with this process's memory, which contains keys, and from
// opening a dialog. Child processes inherit this.
func DisableCoreDumps() error {
	windows.SetErrorMode(windows.SEM_FAILCRITICALERRORS | windows.SEM_NOGPFAULTERRORBOX | windows.SEM_NOOPENFILEERRORBOX)
	return nil
}
