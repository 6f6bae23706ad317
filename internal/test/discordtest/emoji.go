package discordtest

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Typing is one "… is typing", which lasts ten seconds.
type Typing struct {
	ChannelID string
	User      User
	At        time.Time
}

// ParseEmoji reads a character or "name:id".
func ParseEmoji(text string) Emoji {
	if name, id, ok := strings.Cut(text, ":"); ok {
		return Emoji{Name: name, ID: &id}
	}
	return Emoji{Name: text}
}

func (e Emoji) text() string {
	if e.ID != nil {
		return e.Name + ":" + *e.ID
	}
	return e.Name
}

// KnownEmoji takes "name:id" and short text without letters, which is as near as
// one comes without Unicode's table.
func KnownEmoji(text string) bool {
	if name, id, ok := strings.Cut(text, ":"); ok {
		return name != "" && SnowflakeNumber(id) > 0
	}
	r, _ := utf8.DecodeRuneInString(text)
	keycap := strings.HasSuffix(text, "\u20e3")
	return text != "" && utf8.RuneCountInString(text) <= 12 && (r > 0x7f || keycap)
}
