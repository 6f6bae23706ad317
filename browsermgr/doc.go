// Package browsermgr owns browsers and tabs, and knows which of them belong to whom.
//
// The Manager keeps one browser for each profile in use. It starts with the first Window that needs it and ends after
// ten idle minutes, unless somebody left pages open through the control API. A Window is what one session has: its
// tabs, and those that its pages open. No window sees another's tabs. If the browser crashes, the next use of a window
// starts it again with the same page, and reports that. A browser that cannot start is not tried over and over. What
// follows the tabs of a browser (recorders, emulation, downloads, traces) is an observer of its connection, made and
// closed with it, so package page knows none of them. Finding and ending processes is for browsermgr/chrome; what
// happens inside a tab is for browsermgr/page.
package browsermgr
