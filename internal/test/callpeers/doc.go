// Package callpeers is tests in which discord.js sits in emulated calls with our line and with the
// emulator's people.
package callpeers
