// Package discord is the bot's client of Discord: the main gateway, REST, a cache of guilds and permissions, and the
// formatting of messages.
//
// A relay between discordgo and the network passes on only what the library can handle: discordgo crashes on a dispatch
// without data, deadlocks when a reconnect is requested during a resume, and hides the close code. The REST client is
// used for one request at a time with our own rate limiting, because the library sleeps regardless of the context and
// puts all interactions into one bucket. A request that was sent is always finished, so that edits stay in order. A
// write to the gateway is never cancelled midway, since that would close the connection. The package does not know what
// a dispatch means to the bot. It uses API version 9.
package discord
