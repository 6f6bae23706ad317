// Package demoshop is a small shop for trying out a browser: search, products, a basket, a checkout, a cookie notice.
// It is the same after every start, needs no network, and sells nothing.
//
// It has a listener of its own, because pages that the browser visits must not share an origin with the dashboard.
package demoshop
