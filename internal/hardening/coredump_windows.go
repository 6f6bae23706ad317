package hardening

import "golang.org/x/sys/windows"

// DisableCoreDumps keeps a crash from being reported, with this program's memory and the keys in it, and from opening a
// box that somebody has to answer. That goes on to programs started here.
func DisableCoreDumps() error {
	windows.SetErrorMode(windows.SEM_FAILCRITICALERRORS | windows.SEM_NOGPFAULTERRORBOX | windows.SEM_NOOPENFILEERRORBOX)
	return nil
}
