// Package demoshop is a small shop to try a browser on: search, products, a basket, a checkout, a cookie
// notice. It is the same at every start, needs no network, and sells nothing.
//
// It has a listener of its own: pages that the browser visits must not share an origin with the dashboard.
package demoshop
