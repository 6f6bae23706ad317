// Package record keeps what the pages of a browser told lately, for each tab and within bounds: console messages,
// uncaught errors and requests, with secrets removed. It also hands out the body of a response, and the requests as an
// HTTP archive.
//
// A [Recorder] is a page.Observer and serves one connection. It is not for intercepting or changing requests, and not for
// keeping bodies of responses: Chromium does that, within bounds of its own.
package record
