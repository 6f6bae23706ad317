// Package discordtest emulates Discord as a bot sees it: REST, main gateway and calls on loopback, in memory. A real
// client connects to it over sockets; a test acts as the people, breaks connections, and checks what the bot did.
//
// It implements API versions 9 and 10: opcodes, close codes, error codes, limits, permissions, and the life of an
// interaction (three seconds for the first response, fifteen minutes for the rest); of OAuth2 the authorization code
// flow with PKCE; and which Activities are open. It is not for load tests.
package discordtest
