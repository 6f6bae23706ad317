package terminal

import (
	"clank/dashboard/wire"
	"clank/sessions"
)

// Origin says who asks at a terminal: the person at this terminal.
func Origin() sessions.Origin {
	return sessions.Origin{Kind: sessions.FromTerminal, Channel: wire.TerminalChannel, UserName: "you"}
}
