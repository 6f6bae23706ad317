// Package endpoint turns the address of a browser's DevTools, as a person writes it, into one that can be connected to.
//
// An [Endpoint] is an http(s) address, whose /json/version names the WebSocket; a ws(s) address below /devtools, which is
// one already; or a bare ws(s) address as hosted browsers have, which may be either. A [Connector] finds out which,
// repairs what a browser behind a container or a proxy says of itself, tries a bounded number of times and tells which
// layer failed. No text of this package shows a credential of an address, nor what a server answered with.
//
// The package is not for starting browsers, and it keeps no connection: who dials owns what comes of it.
package endpoint
