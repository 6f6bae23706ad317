// Package browsermgr owns profiles, browsers and tabs, and knows which of them belong to whom.
//
// A [Manager] keeps one browser for each profile that is in use: it starts with the first [Manager.Window] that needs
// it, and again after it has ended. A [Window] is what one session has of it: its first tab, and the tabs that its pages
// open. No window sees another's tabs. A window outlives its browser: when that has crashed or was stopped, the next use
// of the window brings back its current page and says so.
//
// The package is not for finding and ending processes (browsermgr/chrome) nor for what happens inside a tab
// (browsermgr/page), and it does not know what a window is used for.
package browsermgr
