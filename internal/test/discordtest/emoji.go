package discordtest

import "time"

// Typing is one "… is typing", which lasts ten seconds.
type Typing struct {
	ChannelID string
	User      User
	At        time.Time
}
