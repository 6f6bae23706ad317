// Package running starts the real clank in a process, a home and a temporary directory of its own, for suites that
// judge the program from outside. It is a client that knows only the contract.
package running
