// Package emulate gives the pages of a browser what a person or a test would otherwise change in the browser's settings or
// by buying another machine: cookies and storage, network conditions, headers, credentials, place, permissions, time zone,
// language, colour scheme and device.
//
// A [State] follows one browser connection as a page.Observer, so that tabs opened later and frames of other processes are
// set up before their scripts run. What it sets lasts until it is cleared or the connection ends. The package does not
// decide which addresses may be loaded, and keeps nothing on disk.
package emulate
