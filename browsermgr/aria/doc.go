// Package aria reads the accessibility tree that Chromium makes of a page (CDP domain Accessibility), and binds its nodes
// to elements.
//
// It is slow on large pages, and only for those who want that very tree; snapshots are taken in the page, see package
// capture.
package aria
