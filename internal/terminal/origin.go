package terminal

import (
	"clank/dashboard"
	"clank/sessions"
)

// Origin says who asks at a terminal: the person at this terminal.
func Origin() sessions.Origin {
	return sessions.Origin{Kind: sessions.FromTerminal, Channel: dashboard.TerminalChannel, UserName: "you"}
}
