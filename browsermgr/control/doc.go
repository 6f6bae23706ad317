// Package control serves the control API: HTTP on a loopback address, for programs that list, open and drive tabs.
//
// One table of routes defines the server and its OpenAPI document; a handler reads only what its route declares. A
// request passes the checks of host, body, cross-site guard and secret, then the route. One list maps the sentinel
// errors of the packages below to answers. Requests that act in the same tab run one at a time; they never wait for
// other tabs. When a client disconnects, its scripts are terminated and the tab stays open. Requests with X-Clank-Ask
// need a person's approval for their effects. The package imports the features of pages directly: passing fifty routes
// through the Manager would only add pass-through methods. It does not drive pages itself.
package control
