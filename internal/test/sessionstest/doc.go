// Package sessionstest defines what a Store and a Backend must do, as suites; with a Store whose
// writing can fail and a Backend that follows a script.
package sessionstest
