// Package record keeps recent console messages, errors and requests of pages, and waits for response bodies. Everything
// is bounded and secrets are removed. It also writes HTTP archives (HAR 1.2) and traces for Playwright's viewer (format
// 10).
//
// A recorder observes one connection. Console messages need the Runtime domain, which has no measurable cost for
// actions and about 60 µs per message for the page; a page can detect it. The package intercepts nothing and keeps no
// bodies.
package record
