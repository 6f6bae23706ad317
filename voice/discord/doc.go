// Package discord is calls in Discord's voice channels: who is in which
// channel, how we get into one over the main gateway, and our end of it, a
// [Line].
//
// It is not for the voice connection itself, which is package media's, nor for
// the main gateway's, which is the bot's: [Joiner.Send] and [Joiner.Dispatch]
// are how they meet.
package discord
