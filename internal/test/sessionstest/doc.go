// Package sessionstest defines the contracts of Store and Backend as test suites. It also provides a Store whose
// writes can fail and a scripted Backend.
package sessionstest
