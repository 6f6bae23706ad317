package discordtest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Interaction types, with Discord's numbers.
const (
	CommandInteraction   = 2
	ComponentInteraction = 3
	CompleteInteraction  = 4
	ModalInteraction     = 5
)

// Answers to interactions, with Discord's numbers.
const (
	AnswerMessage       = 4
	AnswerDeferred      = 5
	AnswerDeferredEdit  = 6
	AnswerEdit          = 7
	AnswerChoices       = 8
	AnswerModal         = 9
	AnswerLaunch        = 12 // an Activity
	answerInTime        = 3 * time.Second
	interactionLifetime = 15 * time.Minute
)

// InteractionState returns the current state of an interaction for tests.
func (s *hub) InteractionState(it *InteractionExchange) Interaction {
	out := it.Interaction
	if r := s.Messages[it.OriginalID]; r != nil && !r.Deleted {
		m := CopyMessage(r.Message)
		out.Original = &m
	}
	for _, id := range it.FollowupIDs {
		if r := s.Messages[id]; !r.Deleted {
			out.Followups = append(out.Followups, CopyMessage(r.Message))
		}
	}
	return out
}

// Interact creates an interaction and sends it to the bot. The caller holds the lock.
func (s *hub) Interact(it *InteractionExchange, data any) Interaction {
	it.ID, it.Token, it.At = s.NewID(), "interaction-"+s.NewID(), s.Now()
	it.ChannelID, it.GuildID = it.Channel.ID, it.Channel.GuildID
	s.Interactions[it.ID] = it
	d := map[string]any{
		"id": it.ID, "application_id": it.App.User.ID, "type": it.Type, "token": it.Token, "version": 1,
		"channel_id": it.Channel.ID, "channel": it.Channel, "locale": cmp.Or(it.User.Locale, "en-US"), "data": data,
		"app_permissions": s.Permissions(it.Channel, it.App.User.ID), "entitlements": []any{},
		"authorizing_integration_owners": map[string]string{"0": it.Channel.GuildID}, "context": 0,
		"attachment_size_limit": s.fileLimit(it.Channel.GuildID),
	}
	if g := s.Guilds[it.Channel.GuildID]; g != nil {
		d["guild_id"], d["guild_locale"] = g.ID, cmp.Or(g.Locale, "en-US")
		d["member"] = memberWithPermissions{g.Member(it.User.ID), s.Permissions(it.Channel, it.User.ID)}
	} else {
		d["user"], d["context"], d["authorizing_integration_owners"] = it.User, contextOf(it.Channel, it.App.User.ID),
			map[string]string{"0": "0"}
	}
	if s.Permissions(it.Channel, it.App.User.ID) == 0 { // the bot is not in the channel: the person has installed it
		d["authorizing_integration_owners"] = map[string]string{"1": it.User.ID}
	}
	if r := s.Messages[it.Target]; r != nil {
		d["message"] = r.Message
	}
	for _, ses := range s.SessionsInOrder() {
		if ses.Bot == it.App && ses.hears(it.GuildID) {
			s.Dispatch(ses, "INTERACTION_CREATE", d)
		}
	}
	s.Notify()
	return s.InteractionState(it)
}

type memberWithPermissions struct {
	*Member
	Permissions Permissions `json:"permissions"`
}

// responseBody is a bot's response.
type responseBody struct {
	Type int             `json:"type"`
	Data json.RawMessage `json:"data"`
}

// respond handles the first response to an interaction.
func (s *hub) respond(c *RESTCall) (any, error) {
	it := s.Interactions[c.PathValue("interaction")]
	switch {
	case it == nil, it.Token != c.PathValue("token"), it.Forgotten:
		return nil, ErrUnknownInteract
	case it.Answer != 0:
		return nil, ErrAlreadyAnswered
	case s.Now().Sub(it.At) > answerInTime:
		return nil, ErrUnknownInteract
	}
	var b responseBody
	if err := DecodeBody(c.Body, &b); err != nil {
		return nil, err
	}
	if err := s.respondWith(it, b, c.Files); err != nil {
		return nil, err
	}
	it.Answer, it.AnsweredAt = b.Type, s.Now()
	return nil, nil
}

// allowedAnswers maps interaction types to the allowed response types.
var allowedAnswers = map[int][]int{
	CommandInteraction:   {AnswerMessage, AnswerDeferred, AnswerModal, AnswerLaunch},
	ComponentInteraction: {AnswerMessage, AnswerDeferred, AnswerDeferredEdit, AnswerEdit, AnswerModal, AnswerLaunch},
	CompleteInteraction:  {AnswerChoices},
	// the last only for a modal opened by a message component
	ModalInteraction: {AnswerMessage, AnswerDeferred, AnswerEdit},
}

func (s *hub) respondWith(it *InteractionExchange, b responseBody, files []UploadedFile) error {
	if !slices.Contains(allowedAnswers[it.Type], b.Type) {
		return FormError("type", "INTERACTION_APPLICATION_INVALID_CALLBACK_TYPE",
			fmt.Sprintf("Callback type %d does not fit an interaction of type %d.", b.Type, it.Type))
	}
	if len(b.Data) == 0 {
		b.Data = []byte("{}")
	}
	switch b.Type {
	case AnswerLaunch:
		return s.launch(it)
	case AnswerDeferredEdit:
		it.OriginalID = it.Target
		return nil
	case AnswerEdit:
		return s.respondByEdit(it, b, files)
	case AnswerModal:
		return respondByModal(it, b)
	case AnswerChoices:
		return respondByChoices(it, b)
	}
	return s.respondByMessage(it, b, files)
}

func (s *hub) respondByMessage(it *InteractionExchange, b responseBody, files []UploadedFile) error {
	var body MessageBody
	if err := DecodeBody(b.Data, &body); err != nil {
		return prefixDataPath(err)
	}
	r := s.newAnswer(it, body)
	it.Ephemeral = r.ViewerID != ""
	if b.Type == AnswerDeferred {
		r.Flags |= FlagLoading
		it.Thinking = true
	} else if err := s.Fill(r, body, files); err != nil {
		return prefixDataPath(err)
	}
	it.OriginalID = r.ID
	s.Post(r)
	return nil
}

// newAnswer creates the message that answers an interaction, ephemeral if requested.
func (s *hub) newAnswer(it *InteractionExchange, body MessageBody) *MessageRecord {
	r := s.NewMessage(it.Channel, it.App.User)
	r.WebhookID = it.App.User.ID
	if it.Type == CommandInteraction {
		r.Type = SlashCommandMessage
	}
	if body.Flags != nil {
		r.Flags = *body.Flags & (FlagEphemeral | FlagSuppressEmbeds | FlagComponentsV2)
	}
	if r.Flags&FlagEphemeral != 0 {
		r.ViewerID = it.User.ID
	}
	return r
}

// prefixDataPath moves the paths of form errors below the field data.
func prefixDataPath(err error) error {
	var refusal *APIError
	if !errors.As(err, &refusal) || refusal.Code != 50035 {
		return err
	}
	return &APIError{
		Status: http.StatusBadRequest, Code: 50035, Message: refusal.Message,
		Errors: map[string]any{"data": refusal.Errors},
	}
}

// webhookFor returns the interaction whose token the request contains.
func (s *hub) webhookFor(c *RESTCall) (*InteractionExchange, error) {
	if s.Accounts[c.PathValue("app")] == nil {
		return nil, ErrUnknownWebhook
	}
	for _, it := range s.Interactions {
		if it.Token != c.PathValue("token") || it.App.User.ID != c.PathValue("app") {
			continue
		}
		switch {
		case it.Answer == 0 || it.Forgotten:
			return nil, ErrUnknownWebhook
		case s.Now().Sub(it.At) > interactionLifetime:
			return nil, ErrInvalidWebhook
		}
		return it, nil
	}
	return nil, ErrInvalidWebhook
}

// webhookMessage returns @original or a follow-up of the interaction.
func (s *hub) webhookMessage(c *RESTCall) (*InteractionExchange, *MessageRecord, error) {
	it, err := s.webhookFor(c)
	if err != nil {
		return nil, nil, err
	}
	id := c.PathValue("message")
	if id == "@original" {
		id = it.OriginalID
	}
	r := s.Messages[id]
	if r == nil || r.Deleted || id != it.OriginalID && !slices.Contains(it.FollowupIDs, id) {
		return nil, nil, ErrUnknownMessage
	}
	return it, r, nil
}

// followup makes a further message. Straight after a deferred answer it is the
// answer, and what the deferral said about ephemeral holds.
// maxFollowupsAway is how many there may be where the bot is no member: Discord's reference, "Create Followup Message".
const maxFollowupsAway = 5

func (s *hub) followup(c *RESTCall) (any, error) {
	it, err := s.webhookFor(c)
	if err != nil {
		return nil, err
	}
	var b MessageBody
	if err := DecodeBody(c.Body, &b); err != nil {
		return nil, err
	}
	if r := s.Messages[it.OriginalID]; it.Thinking && r != nil && !r.Deleted {
		return s.answered(it, r, b, c.Files)
	}
	if s.Permissions(it.Channel, it.App.User.ID) == 0 && len(it.FollowupIDs) == maxFollowupsAway {
		return nil, ErrTooManyFollowups
	}
	r := s.newAnswer(it, b)
	r.Type = PlainMessage
	if to := s.Messages[it.OriginalID]; to != nil && !to.Deleted {
		r.Type, r.Reference = ReplyMessage, &Reference{MessageID: to.ID, ChannelID: to.ChannelID, GuildID: to.GuildID}
	}
	if err := s.Fill(r, b, c.Files); err != nil {
		return nil, err
	}
	it.FollowupIDs = append(it.FollowupIDs, r.ID)
	s.Post(r)
	return r.Message, nil
}

// answered edits a message of the interaction and ends the "thinking" state.
func (s *hub) answered(it *InteractionExchange, r *MessageRecord, b MessageBody, files []UploadedFile) (any, error) {
	if err := s.Fill(r, b, files); err != nil {
		return nil, err
	}
	if r.ID == it.OriginalID {
		it.Thinking = false
	}
	r.Flags &^= FlagLoading
	s.RecordEdit(r)
	return r.Message, nil
}

func (s *hub) editResponse(c *RESTCall) (any, error) {
	it, r, err := s.webhookMessage(c)
	if err != nil {
		return nil, err
	}
	var b MessageBody
	if err := DecodeBody(c.Body, &b); err != nil {
		return nil, err
	}
	return s.answered(it, r, b, c.Files)
}

// An Interaction is a command, a pressed button, a submitted modal or a request for completions, with the bot's
// responses so far.
type Interaction struct {
	ID        string
	Token     string
	Type      int
	ChannelID string
	GuildID   string
	User      User
	At        time.Time
	// Answer is the type of the first response, 0 before there is one.
	Answer     int
	AnsweredAt time.Time
	// Ephemeral means that only the user sees the answer.
	Ephemeral bool
	// Thinking is true from a deferred response until the first edit.
	Thinking bool
	// Original is the message that answers (or, for AnswerEdit and
	// AnswerDeferredEdit, the one with the button); nil when there is none.
	Original *Message
	// Instance is that of the Activity which the answer has opened.
	Instance string
	// Followups are the further messages, oldest first.
	Followups []Message
	// Modal is the modal that answers, or nil; Choices are the completions of the typed option.
	Modal   *Modal
	Choices []OptionChoice
}

// Text returns the current text of the original answer.
func (i Interaction) Text() string {
	if i.Original == nil {
		return ""
	}
	return i.Original.Content
}

// InteractionExchange is the server's state of an interaction.
type InteractionExchange struct {
	Interaction // without its messages
	App         *Account
	Channel     *Channel
	Target      string // id of the message with the button
	OriginalID  string // of a message, "" if there is none
	FollowupIDs []string
	Forgotten   bool
}
