// Package cdp is one connection to a browser that speaks the Chrome DevTools Protocol: requests on flat sessions, each
// with a deadline and a context it obeys at once, events in the order they came.
//
// It knows the protocol's envelope and the ways in which Chromium says that a document went away; what the methods mean
// is for its callers.
package cdp
