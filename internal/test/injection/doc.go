// Package injection tests prompt injection: pages that pretend to speak for someone else are shown to both loops
// through a real browser. It contains only tests.
package injection
