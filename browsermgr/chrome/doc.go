// Package chrome finds, launches, supervises and ends Chromium processes, cleans up after crashed ones, and checks the
// machine for problems that keep browsers from running.
//
// Browsers run with site isolation, in a separate process group, started by a thread that lives as long as the program,
// since the kernel's "kill when the parent dies" follows the parent's thread. Stop ends a browser so that cookies are
// saved. A browser whose clank process died is ended, not adopted. Flags that bypass the egress proxy are refused.
// Timers are not delayed after input, which would cost each action a frame. DevTools uses a pipe that only this program
// has; when it closes, Chromium exits. The package uses two CDP commands, Browser.getVersion and Browser.close, and
// does not drive pages.
package chrome
