// Package record keeps what the pages of a browser told lately, for each tab and within bounds: console messages,
// uncaught errors and requests, with secrets removed. It also hands out the body of a response, and the requests as an
// HTTP archive.
//
// A [Recorder] is a page.Observer and serves one connection. It is not for intercepting or changing requests, and not for
// keeping bodies of responses: Chromium does that, within bounds of its own.
//
// Console messages and stack traces of errors are to be had only with the protocol's Runtime domain enabled. It costs an
// action or a snapshot nothing that could be measured, and a page about 60 µs for each message. A page that looks for it
// can find it: Error.prepareStackTrace is called for errors that are logged, and console.table of large tables is slow.
package record
