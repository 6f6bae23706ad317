// Package sessionstest defines what a Store and a Backend must do, as suites; with a Store in memory and a
// Backend that follows a script.
package sessionstest
