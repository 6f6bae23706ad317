// Package desk holds the tabs that requests of the control API work with: found by the names that clients know, one
// request at a time in a tab, and only where the navigation policy lets the tab be.
//
// It remembers, for each profile, how its tabs are named and which of them are in quarantine. It reads no requests and
// does nothing to a page.
package desk
