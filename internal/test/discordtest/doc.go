// Package discordtest is Discord as a bot can see it: REST, main gateway and calls on loopback, in memory.
// A real client talks to it over sockets; a test plays the people, cuts the line, and looks at what the bot
// did.
//
// It follows API 9 and 10: opcodes, close codes, error codes, limits, permissions, and the life of an
// interaction (three seconds for the first answer, fifteen minutes for the rest); of OAuth2 the sign-in with a code and
// PKCE, and which Activities run. It is not for load.
package discordtest
