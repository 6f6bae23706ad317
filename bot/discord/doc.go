// Package discord is Discord as a bot needs it: the main gateway, REST, what is known of guilds and
// permissions, and text that is fit for messages.
//
// Between discordgo and the network stands a relay: discordgo crashes on a dispatch without data, waits for
// itself when a reconnect is requested during a resume, and hides the close code. The relay passes on what
// it can handle. The REST client is used one request at a time with our own rate limiting, because the
// library sleeps whatever the context says and puts all interactions into one bucket. A request that is on
// the wire is finished, so that edits stay in order. A write to the gateway is never cancelled midway: that
// would close the connection for everybody. It does not know what a dispatch means to the bot. It follows
// API version 9.
package discord
