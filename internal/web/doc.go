// Package web reads web pages as Markdown without a browser, and queries search engines.
//
// All requests of the reader go through the egress proxy; it runs no scripts, keeps no cookies and never signs in.
// Searching uses only the engine that the operator chose. The results are untrusted; the caller marks them as such.
package web
