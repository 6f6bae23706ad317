// Package cdp implements connections to browsers that speak the Chrome DevTools Protocol: requests on flat sessions,
// each with a deadline and a context that is obeyed at once, and events in order.
//
// Browsers started here are connected by a pipe, so that no other program on the machine has access, and others by a
// WebSocket. Other programs that are given access use a [Branch].
//
// Protocol types come from rod, whose own transport panics on malformed messages. Vault secrets are removed from every
// message here, where it enters the program, so that snapshots, traces, logs and the database need no redaction. The
// package does not interpret methods.
package cdp
