// Package control serves the control API: HTTP on the loopback interface by which programs list, open and work the tabs
// of the browsers that browsermgr keeps.
//
// One table of routes makes both the server and its OpenAPI document. A request is let in by control/gate, read by
// control/route and control/body, finds its tab in control/desk and is answered by one handler through control/reply. When
// its client goes away, what it does in the browser ends. The handlers for profiles, tabs and dialogs are here; acting,
// looking and what follows tabs have packages of their own.
//
// The package does nothing to a page itself and starts no browser: that is what page, act, and browsermgr are for.
package control
