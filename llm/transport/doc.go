// Package transport is what clients of model vendors have in common between the caller and the socket: visible
// retries, silence that is noticed, events read, errors that keep what the server said and contain no secrets.
//
// Vendors' own libraries bring retries nobody sees, errors that lose the header, and readers that trust
// what they get. It knows no vendor and no message format, and is not for other HTTP.
package transport
