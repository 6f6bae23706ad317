// Package member is another person in a call: a client of a voice server that shares no code with the one under test. It
// joins by the protocol, sends frames of sound and pictures, and hands out what it hears.
//
// End-to-end encryption is a hook, [Privacy], so that any implementation can be the other side. It is not a player: a frame
// is sent when the test says so, and what comes is neither sorted nor decoded. It does not reconnect.
package member
