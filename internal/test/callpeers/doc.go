// Package callpeers tests calls that discord.js joins together with our voice connection and the emulator's members.
package callpeers
