package discordtest

import "time"

// An Interaction is a command, a pressed button, a filled modal or a question
// for completions, and what the bot has answered so far.
type Interaction struct {
	ID        string
	Token     string
	Type      int
	ChannelID string
	GuildID   string
	User      User
	At        time.Time
	// Answer is the type of the first answer, 0 before it came.
	Answer     int
	AnsweredAt time.Time
	// Ephemeral says that the answer is for the user's eyes alone.
	Ephemeral bool
	// Thinking is true from a deferred answer until the first edit.
	Thinking bool
	// Original is the message that answers (or, for AnswerEdit and
	// AnswerDeferredEdit, the one with the button); nil when there is none.
	Original *Message
	// Followups are the further messages, oldest first.
	Followups []Message
}

// Text returns what the original answer says now.
func (i Interaction) Text() string {
	if i.Original == nil {
		return ""
	}
	return i.Original.Content
}

// InteractionExchange is the server's side of it.
type InteractionExchange struct {
	ID, Token  string
	App        *Account
	Kind       int
	Channel    *Channel
	User       User
	Name       string // of the command
	At         time.Time
	Target     string // id of the message with the button
	Answer     int
	AnsweredAt time.Time
	Ephemeral  bool
	Thinking   bool
	Original   string // id of a message, "" when there is none
	Followups  []string
	Forgotten  bool
}
