// Package chrome finds, launches, watches and ends Chromium processes, and clears away what a predecessor that died has
// left behind.
//
// [Find] picks an executable. [Launch] starts it on a user data directory that it locks, in a process group of its own
// and on a tether, so that nothing of it outlives this program, however the program ends; it returns once a DevTools
// command was answered. A [Process] tells when and how the browser ended, and [Process.Stop] ends it in the way that
// keeps its cookies. [Reap] and [ReapTemp] look after directories whose owner died.
//
// The package is not for driving pages and not for profiles or who owns what: those are its sibling's and its parent's.
// It speaks two DevTools commands, Browser.getVersion and Browser.close, and nothing else.
package chrome
