// Package browsertest provides tests with a real Chromium, tabs, pages, and waits with a deadline.
package browsertest
