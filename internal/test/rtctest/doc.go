// Package rtctest is the other end of a connection of voice/rtc, for tests: a
// page without a browser, which speaks and listens over a second connection of
// pion's, and pictures of one colour to be shown.
package rtctest
