// Package rest answers requests to the emulator's REST API, with Discord's rate limits, refusals and the trouble that a test has
// ordered. What exists and who is told of it is package hub's.
package rest
