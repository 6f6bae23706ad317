// Package record keeps what pages told lately, within bounds and without secrets: console messages, errors, requests
// and the body of a response. It also writes HTTP archives (HAR 1.2) and traces for Playwright's viewer, format 10.
//
// A recorder serves one connection. Console messages need the domain Runtime, which costs an action nothing that could
// be measured and a page about 60 µs per message; a page that looks for it can find it. It intercepts nothing, and
// keeps no bodies.
package record
