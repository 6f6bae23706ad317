// Package browsertest gives tests a real Chromium, tabs, pages, and waiting with a deadline.
package browsertest
