package discordtest

import (
	"encoding/json"
	"time"
)

// Interaction types, with Discord's numbers.
const (
	CommandInteraction      = 2
	ComponentInteraction    = 3
	AutocompleteInteraction = 4
	ModalInteraction        = 5
)

// Answers to interactions, with Discord's numbers.
const (
	AnswerPong          = 1
	AnswerMessage       = 4
	AnswerDeferred      = 5
	AnswerDeferredEdit  = 6
	AnswerEdit          = 7
	AnswerChoices       = 8
	AnswerModal         = 9
	answerInTime        = 3 * time.Second
	interactionLifetime = 15 * time.Minute
)

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
	// Modal is set when the answer is a modal.
	Modal *Modal
	// Choices are the completions.
	Choices []OptionChoice
}

// Text is what the original answer says now.
func (i Interaction) Text() string {
	if i.Original == nil {
		return ""
	}
	return i.Original.Content
}

// A Modal is a form that the person sees.
type Modal struct {
	CustomID   string
	Title      string
	Components []Component
}

// interaction is the server's side of it.
type interaction struct {
	id, token  string
	app        *account
	kind       int
	channel    *Channel
	user       User
	name       string // of the command
	at         time.Time
	target     string // id of the message with the button
	answer     int
	answeredAt time.Time
	ephemeral  bool
	thinking   bool
	original   string // id of a message, "" when there is none
	followups  []string
	modal      *Modal
	choices    []OptionChoice
	forgotten  bool
}

// Interaction returns how an interaction stands now.
func (s *Server) Interaction(id string) (Interaction, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	it := s.interactions[id]
	if it == nil {
		return Interaction{}, false
	}
	return s.standing(it), true
}

func (s *Server) standing(it *interaction) Interaction {
	out := Interaction{
		ID: it.id, Token: it.token, Type: it.kind, ChannelID: it.channel.ID, GuildID: it.channel.GuildID,
		User: it.user, At: it.at, Answer: it.answer, AnsweredAt: it.answeredAt, Ephemeral: it.ephemeral,
		Thinking: it.thinking, Modal: it.modal, Choices: it.choices,
	}
	if r := s.messages[it.original]; r != nil && !r.deleted {
		m := copyMessage(r.Message)
		out.Original = &m
	}
	for _, id := range it.followups {
		if r := s.messages[id]; !r.deleted {
			out.Followups = append(out.Followups, copyMessage(r.Message))
		}
	}
	return out
}

// interact makes an interaction and tells the bot. The lock is held.
func (s *Server) interact(it *interaction, data any) Interaction {
	it.id, it.token, it.at = s.newID(), "interaction-"+s.newID(), s.now()
	s.interactions[it.id] = it
	d := map[string]any{
		"id": it.id, "application_id": it.app.user.ID, "type": it.kind, "token": it.token, "version": 1,
		"channel_id": it.channel.ID, "channel": it.channel, "locale": "en-US", "data": data,
		"app_permissions": s.permissions(it.channel, it.app.user.ID), "entitlements": []any{},
		"authorizing_integration_owners": map[string]string{"0": it.channel.GuildID}, "context": 0,
	}
	if g := s.guilds[it.channel.GuildID]; g != nil {
		d["guild_id"], d["guild_locale"] = g.ID, "en-US"
		d["member"] = memberWithPermissions{g.member(it.user.ID), s.permissions(it.channel, it.user.ID)}
	} else {
		d["user"], d["context"], d["authorizing_integration_owners"] = it.user, 1, map[string]string{"0": "0"}
	}
	if r := s.messages[it.target]; r != nil {
		d["message"] = r.Message
	}
	for _, ses := range s.sessionsInOrder() {
		if ses.bot == it.app {
			s.dispatch(ses, "INTERACTION_CREATE", d)
		}
	}
	s.notify()
	return s.standing(it)
}

type memberWithPermissions struct {
	*Member
	Permissions Permissions `json:"permissions"`
}

// responseBody is what a bot answers with.
type responseBody struct {
	Type int             `json:"type"`
	Data json.RawMessage `json:"data"`
}

// responseData is the part that is not a message.
type responseData struct {
	CustomID   string         `json:"custom_id"`
	Title      string         `json:"title"`
	Components []Component    `json:"components"`
	Choices    []OptionChoice `json:"choices"`
}
