package discordtest

import (
	"strings"
	"time"
	"unicode/utf8"
)

// ShapeTyping is one "… is typing", which lasts ten seconds.
type ShapeTyping struct {
	ChannelID string
	User      ShapeUser
	At        time.Time
}

// ParseEmoji reads a character or "name:id".
func ParseEmoji(text string) ShapeEmoji {
	if name, id, ok := strings.Cut(text, ":"); ok {
		return ShapeEmoji{Name: name, ID: &id}
	}
	return ShapeEmoji{Name: text}
}

func (e ShapeEmoji) text() string {
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
