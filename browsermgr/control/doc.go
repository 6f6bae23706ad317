// Package control serves the control API: HTTP on loopback, by which programs list, open and work tabs.
//
// One table of routes makes the server and its OpenAPI document; a handler reads only what its route declares. A
// request passes host, body, cross-site guard, secret and route. Errors are told apart by the sentinels of the packages
// below, in one list. Requests that act in one tab take turns; those for other tabs never wait for them. When a client
// goes away, its scripts end in the page and the tab remains. Requests with X-Clank-Ask ask people before they set
// something off. It imports the features of pages directly: going through the Manager for fifty routes would be a list
// of pass-through methods. It does nothing to a page itself.
package control
