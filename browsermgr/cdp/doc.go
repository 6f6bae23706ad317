// Package cdp is one connection to a browser that speaks the Chrome DevTools Protocol: requests on flat sessions, each
// with a deadline and a context it obeys at once, and events in the order they came.
//
// It goes over a pipe to browsers that were started here, so that nobody else on the machine reaches them, and over a
// WebSocket to others. Other programs that are let in get a [Branch].
//
// rod gives the protocol types; its transport panics on frames that are no protocol messages. Every message is cleaned
// of the vault's secrets here, where it enters the program, so snapshots, traces, logs and the database need no
// cleaning of their own. What methods mean is for the callers.
package cdp
