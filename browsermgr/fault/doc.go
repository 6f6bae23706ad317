// Package fault holds the errors by which a request to a page, or for a browser, is refused: wrong input, not found,
// out of reach. It exists so that the packages below and beside browsermgr share sentinels.
//
// It is not for what Chromium or the connection does wrong later.
package fault
