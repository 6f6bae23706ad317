package server

import (
	"clank/dashboard/api"
	"clank/sessions"
)

// TerminalOrigin says who asks at a terminal: the person at this terminal.
func TerminalOrigin() sessions.Origin {
	return sessions.Origin{Kind: sessions.FromTerminal, Channel: api.TerminalChannel, UserName: "you"}
}
