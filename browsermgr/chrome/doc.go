// Package chrome finds, launches, watches and ends Chromium processes, removes what a dead predecessor left behind, and
// examines the machine for what keeps browsers from running.
//
// Browsers run with site isolation, in a process group of their own, started by a thread that lives as long as the
// program: the kernel ties "kill when the parent dies" to the parent's thread. Stop ends a browser so that its cookies
// are kept. A browser whose server died is ended, not adopted. Flags that bypass the egress proxy are refused. Timers
// are not delayed after input, which would cost each action a frame. DevTools go over a pipe that only this program has;
// where its end closes, Chromium closes itself. It speaks two CDP commands, Browser.getVersion and Browser.close, and
// drives no pages.
package chrome
