// Package web reads an address as Markdown without a browser, and asks search engines.
//
// Reading goes through the egress proxy; it runs no scripts, keeps no cookies and signs in nowhere. Searching uses
// the engine that the operator chose, and no other. What comes back was written by strangers; the caller marks it.
package web
