// Package control serves the control API: HTTP on the loopback interface by which programs list, open and work the tabs
// of the browsers that browsermgr keeps.
//
// One table of routes makes both the server and its OpenAPI document. A request is read by control/body, let in by
// control/gate and answered by one handler; when its client goes away, what it does in the browser ends. Tabs are named by
// package tabname.
//
// The package does nothing to a page itself and starts no browser: that is what page, act, and browsermgr are for.
package control
