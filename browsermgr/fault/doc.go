// Package fault defines the errors that refuse a request to a page or for a browser: invalid input, not found,
// unavailable. The packages below and beside browsermgr share them.
//
// It has no errors for later failures of Chromium or the connection.
package fault
