// Package browsermgr owns browsers and tabs, and knows which of them belong to whom.
//
// The Manager keeps one browser for each profile in use. It starts with the first Window that needs it and stops after
// ten idle minutes, unless pages that were opened through the control API are left. A Window is the tabs of one
// session, including those that its pages open. No window sees another's tabs. If the browser crashes, the next use of
// a window restarts it with the same page and reports that. A browser that repeatedly fails to start is not started
// again for a while. Whatever follows the tabs of a browser (recorders, emulation, downloads, traces) is an observer of
// its connection, made and closed with it, so that package page knows none of them. Package browsermgr/chrome finds and
// ends processes; package browsermgr/page handles a single tab.
package browsermgr
