package discordtest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// channelFor finds the channel of the request and asks for permissions there.
func (s *hub) channelFor(c *RESTCall, need Permissions) (*Channel, error) {
	ch := s.Channels[c.PathValue("channel")]
	if ch == nil {
		return nil, ErrUnknownChannel
	}
	has := s.Permissions(ch, c.Bot.User.ID)
	if ch.Type == PublicThread && need&SendMessages != 0 {
		need = need&^SendMessages | SendInThreads
	}
	switch {
	case has&ViewChannel == 0:
		return nil, ErrMissingAccess
	case has&need != need:
		return nil, ErrMissingPerms
	}
	return ch, nil
}

// messageFor finds the message of the request. Ephemeral ones are not there.
func (s *hub) messageFor(c *RESTCall, ch *Channel) (*MessageRecord, error) {
	r := s.Messages[c.PathValue("message")]
	if r == nil || r.Deleted || r.ChannelID != ch.ID || r.ViewerID != "" {
		return nil, ErrUnknownMessage
	}
	return r, nil
}

func (s *hub) createMessage(c *RESTCall) (any, error) {
	ch, err := s.channelFor(c, SendMessages)
	if err != nil {
		return nil, err
	}
	if ch.GuildID == "" && s.ClosedDMs[ch.Recipients[0].ID] {
		return nil, ErrCannotDM
	}
	if ch.GuildID == "" && !s.mayMeet(c.Bot, ch.Recipients[0]) {
		return nil, ErrNoMutualGuild
	}
	var b MessageBody
	if err := DecodeBody(c.Body, &b); err != nil {
		return nil, err
	}
	has := s.Permissions(ch, c.Bot.User.ID)
	if len(c.Files) > 0 && has&AttachFiles == 0 {
		return nil, ErrMissingPerms
	}
	if again := s.sameNonce(ch, c.Bot.User, b); again != nil {
		return s.visibleMessage(again, c), nil
	}
	r := s.NewMessage(ch, c.Bot.User)
	r.Nonce = b.Nonce
	if b.Flags != nil {
		r.Flags = *b.Flags & (FlagSuppressEmbeds | FlagComponentsV2)
	}
	if b.Reference != nil && b.Reference.MessageID != "" {
		if has&ReadMessageHistory == 0 {
			return nil, ErrNoHistoryToReply
		}
		if err := s.SetReference(r, *b.Reference); err != nil {
			return nil, err
		}
	}
	if err := s.Fill(r, b, c.Files); err != nil {
		return nil, err
	}
	s.Post(r)
	return s.visibleMessage(r, c), nil
}

// mayMeet reports whether a bot and a person share a guild, or the person has installed it.
func (s *hub) mayMeet(a *Account, user User) bool {
	return a.Installed[user.ID] || slices.ContainsFunc(s.GuildsOf(a.User.ID), func(g *GuildState) bool { return g.Member(user.ID) != nil })
}

// nonceLifetime is how long an enforced nonce keeps a message from being made twice.
const nonceLifetime = 5 * time.Minute

// sameNonce finds the message that the author has made already with an enforced
// nonce.
func (s *hub) sameNonce(ch *Channel, author User, b MessageBody) *MessageRecord {
	if !b.EnforceNonce || b.Nonce == nil {
		return nil
	}
	for _, id := range s.MessagesOf[ch.ID] {
		r := s.Messages[id]
		if r.Author.ID == author.ID && reflect.DeepEqual(r.Nonce, b.Nonce) && s.Now().Sub(r.Timestamp) < nonceLifetime {
			return r
		}
	}
	return nil
}

// NewMessage makes a record that is not in the channel yet.
func (s *hub) NewMessage(ch *Channel, author User) *MessageRecord {
	return &MessageRecord{GuildID: ch.GuildID, Message: Message{
		ID: s.NewID(), ChannelID: ch.ID, Author: author, Timestamp: s.Now().UTC(),
		Mentions: []User{}, MentionRoles: []string{},
		Attachments: []Attachment{}, Components: []Component{},
	}}
}

// SetReference makes the message a reply.
func (s *hub) SetReference(r *MessageRecord, ref Reference) error {
	to := s.Messages[ref.MessageID]
	if to == nil || to.Deleted || to.ChannelID != r.ChannelID || to.ViewerID != "" {
		if ref.FailIfNotExists != nil && !*ref.FailIfNotExists {
			return nil
		}
		return FormError("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
	}
	referenced := CopyMessage(to.Message)
	referenced.Referenced = nil
	r.Type, r.Referenced = ReplyMessage, &referenced
	r.Reference = &Reference{MessageID: to.ID, ChannelID: to.ChannelID, GuildID: to.GuildID}
	return nil
}

// Post puts the message into its channel and tells everyone who may see it.
func (s *hub) Post(r *MessageRecord) {
	r.SaveVersion()
	s.Messages[r.ID] = r
	s.MessagesOf[r.ChannelID] = append(s.MessagesOf[r.ChannelID], r.ID)
	if r.ViewerID == "" {
		id := r.ID
		s.Channels[r.ChannelID].LastMessageID = &id
		s.DispatchMessage("MESSAGE_CREATE", r)
	}
	s.Notify()
}

// RecordEdit stores the change of a message and tells everyone who may see it.
func (s *hub) RecordEdit(r *MessageRecord) {
	now := s.Now().UTC()
	r.EditedTimestamp = &now
	r.SaveVersion()
	if r.ViewerID == "" {
		s.DispatchMessage("MESSAGE_UPDATE", r)
	}
	s.Notify()
}

func (s *hub) DeleteRecord(r *MessageRecord) {
	r.Deleted = true
	s.MessagesOf[r.ChannelID] = slices.DeleteFunc(s.MessagesOf[r.ChannelID], func(id string) bool { return id == r.ID })
	if r.ViewerID == "" {
		gone := map[string]any{"id": r.ID, "channel_id": r.ChannelID}
		if r.GuildID != "" {
			gone["guild_id"] = r.GuildID
		}
		s.DispatchIn(s.Channels[r.ChannelID], "MESSAGE_DELETE", gone)
	}
	s.Notify()
}

func (s *hub) editMessage(c *RESTCall) (any, error) {
	ch, err := s.channelFor(c, 0)
	if err != nil {
		return nil, err
	}
	r, err := s.messageFor(c, ch)
	if err != nil {
		return nil, err
	}
	if r.Author.ID != c.Bot.User.ID {
		return nil, ErrNotYourMessage
	}
	var b MessageBody
	if err := DecodeBody(c.Body, &b); err != nil {
		return nil, err
	}
	if err := s.Fill(r, b, c.Files); err != nil {
		return nil, err
	}
	s.RecordEdit(r)
	return s.visibleMessage(r, c), nil
}

func (s *hub) deleteMessage(c *RESTCall) (any, error) {
	ch, err := s.channelFor(c, 0)
	if err != nil {
		return nil, err
	}
	r, err := s.messageFor(c, ch)
	if err != nil {
		return nil, err
	}
	if r.Author.ID != c.Bot.User.ID && s.Permissions(ch, c.Bot.User.ID)&ManageMessages == 0 {
		return nil, ErrMissingPerms
	}
	s.DeleteRecord(r)
	return nil, nil
}

func (s *hub) deleteResponse(c *RESTCall) (any, error) {
	_, r, err := s.webhookMessage(c)
	if err == nil {
		s.DeleteRecord(r)
	}
	return nil, err
}

// visibleMessage returns the message as the calling bot may read it.
func (s *hub) visibleMessage(r *MessageRecord, c *RESTCall) Message {
	m := CopyMessage(r.Message)
	return m.ReadableBy(c.Bot.User.ID, r.GuildID, c.Bot.Forbidden&MessageContent == 0)
}

func (s *hub) listMessages(c *RESTCall) (any, error) {
	ch, err := s.channelFor(c, 0)
	if err != nil {
		return nil, err
	}
	limit := 50
	if text := c.URL.Query().Get("limit"); text != "" {
		limit, err = strconv.Atoi(text)
		if err != nil || limit < 1 || limit > 100 {
			return nil, FormError("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 100.")
		}
	}
	found := []Message{}
	if s.Permissions(ch, c.Bot.User.ID)&ReadMessageHistory == 0 {
		return found, nil
	}
	var visible []*MessageRecord
	for _, id := range s.MessagesOf[ch.ID] {
		if s.Messages[id].ViewerID == "" {
			visible = append(visible, s.Messages[id])
		}
	}
	for _, r := range pageMessages(visible, c.URL.Query(), limit) {
		found = append(found, s.visibleMessage(r, c))
	}
	slices.Reverse(found)
	return found, nil
}

// pageMessages cuts what before, after and limit ask for, oldest first.
func pageMessages(list []*MessageRecord, query url.Values, limit int) []*MessageRecord {
	if before := query.Get("before"); before != "" {
		list = slices.DeleteFunc(list, func(r *MessageRecord) bool { return SnowflakeNumber(r.ID) >= SnowflakeNumber(before) })
	}
	if after := query.Get("after"); after != "" {
		list = slices.DeleteFunc(list, func(r *MessageRecord) bool { return SnowflakeNumber(r.ID) <= SnowflakeNumber(after) })
		return list[:min(len(list), limit)]
	}
	return list[max(0, len(list)-limit):]
}

// download serves a file, as Discord's content network does.
func (s *hub) download(w http.ResponseWriter, r *http.Request) {
	id, query := r.PathValue("attachment"), r.URL.Query()
	s.Mu.Lock()
	file, ok := s.attachment(id)
	now := s.Now().Unix()
	s.Mu.Unlock()
	until, err := strconv.ParseInt(query.Get("ex"), 16, 64)
	if !ok || err != nil || until <= now || query.Get("hm") != signAttachment(id, query.Get("ex")) {
		http.Error(w, "This content is no longer available.", http.StatusNotFound)
		return
	}
	if file.ContentType != "" {
		w.Header().Set("Content-Type", file.ContentType)
	}
	_, _ = w.Write(file.Data) // a client that has gone is not our concern
}

// attachment finds a file of a message, also of an earlier version.
func (s *hub) attachment(id string) (Attachment, bool) {
	if a, ok := s.Given[id]; ok {
		return a, true
	}
	for _, r := range s.Messages {
		if r.Deleted {
			continue
		}
		for _, v := range r.Versions {
			for _, a := range v.Attachments {
				if a.ID == id {
					return a, true
				}
			}
		}
	}
	return Attachment{}, false
}

func (s *hub) postTyping(c *RESTCall) (any, error) {
	ch, err := s.channelFor(c, SendMessages)
	if err != nil {
		return nil, err
	}
	s.StartTyping(ch, c.Bot.User)
	return nil, nil
}

// StartTyping tells that somebody writes in a channel.
func (s *hub) StartTyping(ch *Channel, user User) {
	s.Typing = append(s.Typing, Typing{ChannelID: ch.ID})
	event := map[string]any{"channel_id": ch.ID, "user_id": user.ID, "timestamp": s.Now().Unix()}
	if ch.GuildID != "" {
		event["guild_id"] = ch.GuildID
		event["member"] = s.Guilds[ch.GuildID].Member(user.ID)
	}
	s.DispatchIn(ch, "TYPING_START", event)
	s.Notify()
}

func (s *hub) getGateway(*RESTCall) (any, error) {
	return map[string]any{"url": s.GatewayURL()}, nil
}

func (s *hub) getGatewayBot(c *RESTCall) (any, error) {
	return map[string]any{
		"url": s.GatewayURL(), "shards": max(1, c.Bot.shards),
		"session_start_limit": map[string]any{
			"total": 1000, "remaining": 1000, "reset_after": 86400000, "max_concurrency": max(1, c.Bot.atOnce),
		},
	}, nil
}

func (s *hub) getApplication(c *RESTCall) (any, error) {
	flags := 0
	if c.Bot.Forbidden&MessageContent == 0 {
		flags = 1 << 19
	}
	return map[string]any{"id": c.Bot.User.ID, "name": c.Bot.User.Username, "flags": flags}, nil
}

// guildFor finds the guild of the request; the bot must be in it.
func (s *hub) guildFor(c *RESTCall) (*GuildState, error) {
	g := s.Guilds[c.PathValue("guild")]
	switch {
	case g == nil:
		return nil, ErrUnknownGuild
	case g.Member(c.Bot.User.ID) == nil:
		return nil, ErrMissingAccess
	}
	return g, nil
}

func (s *hub) getGuild(c *RESTCall) (any, error) {
	g, err := s.guildFor(c)
	if err != nil {
		return nil, err
	}
	return GuildObject(g), nil
}

func (s *hub) getMember(c *RESTCall) (any, error) {
	g, err := s.guildFor(c)
	if err != nil {
		return nil, err
	}
	m := g.Member(c.PathValue("user"))
	if m == nil {
		return nil, ErrUnknownMember
	}
	return m, nil
}

func (s *hub) getChannel(c *RESTCall) (any, error) {
	ch, err := s.channelFor(c, 0)
	if err != nil {
		return nil, err
	}
	return ch, nil
}

func (s *hub) createDM(c *RESTCall) (any, error) {
	var b struct {
		RecipientID string `json:"recipient_id"`
	}
	if err := DecodeBody(c.Body, &b); err != nil {
		return nil, err
	}
	u, ok := s.Users[b.RecipientID]
	switch {
	case b.RecipientID == "":
		return nil, FormError("recipient_id", "BASE_TYPE_REQUIRED", "This field is required")
	case !ok:
		return nil, Refuse(http.StatusNotFound, 10013, "Unknown User")
	case u.Bot:
		return nil, ErrCannotDM
	}
	return s.DMChannel(c.Bot.User.ID, u), nil
}

// DMChannel finds or makes the direct channel of a bot and a person.
func (s *hub) DMChannel(bot string, user User) *Channel {
	for _, ch := range s.Channels {
		if ch.Type == DirectMessage && ch.BotID == bot && ch.Recipients[0].ID == user.ID {
			return ch
		}
	}
	ch := &Channel{ID: s.NewID(), Type: DirectMessage, Recipients: []User{user}, BotID: bot}
	s.Channels[ch.ID] = ch
	return ch
}

// postPreview keeps the thumbnail that is shown before somebody watches.
func (s *hub) postPreview(c *RESTCall) (any, error) {
	st := s.Shown[c.PathValue("key")]
	var d struct {
		Thumbnail string `json:"thumbnail"`
	}
	switch {
	case st == nil:
		return nil, ErrNotFound
	case st.Owner != c.Bot.User.ID:
		return nil, ErrMissingAccess
	case json.Unmarshal(c.Body, &d) != nil:
		return nil, ErrInvalidJSON
	case !strings.HasPrefix(d.Thumbnail, "data:image/"):
		var wrong FormErrors
		wrong.Add("thumbnail", "BASE_TYPE_BAD_IMAGE", "Invalid image data.")
		return nil, wrong.Err()
	}
	st.Preview = d.Thumbnail
	return nil, nil
}

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

// InteractionState returns how an interaction stands now, as tests see it.
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

// Interact makes an interaction and tells the bot. The lock is held.
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
		d["user"], d["context"], d["authorizing_integration_owners"] = it.User, contextOf(it.Channel, it.App.User.ID), map[string]string{"0": "0"}
	}
	if s.Permissions(it.Channel, it.App.User.ID) == 0 { // the bot is not there: the person has brought it along
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

// responseBody is what a bot answers with.
type responseBody struct {
	Type int             `json:"type"`
	Data json.RawMessage `json:"data"`
}

// respond returns the first answer to an interaction.
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

// allowedAnswers says which answers fit which interactions.
var allowedAnswers = map[int][]int{
	CommandInteraction:   {AnswerMessage, AnswerDeferred, AnswerModal, AnswerLaunch},
	ComponentInteraction: {AnswerMessage, AnswerDeferred, AnswerDeferredEdit, AnswerEdit, AnswerModal, AnswerLaunch},
	CompleteInteraction:  {AnswerChoices},
	ModalInteraction:     {AnswerMessage, AnswerDeferred, AnswerEdit}, // the last for one that a message's component has opened
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

// newAnswer makes a message of an interaction, which nobody else may see when it
// asks for that.
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

// prefixDataPath moves the complaints of a form below the field data.
func prefixDataPath(err error) error {
	var refusal *APIError
	if !errors.As(err, &refusal) || refusal.Code != 50035 {
		return err
	}
	return &APIError{Status: http.StatusBadRequest, Code: 50035, Message: refusal.Message, Errors: map[string]any{"data": refusal.Errors}}
}

// webhookFor finds the interaction whose token the request carries.
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

// webhookMessage finds @original or a follow-up of the interaction.
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

// answered changes a message of the interaction and ends the thinking.
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
	// Instance is that of the Activity which the answer has opened.
	Instance string
	// Followups are the further messages, oldest first.
	Followups []Message
	// Modal is the form that answers, nil when none does; Choices are those that complete what somebody types.
	Modal   *Modal
	Choices []OptionChoice
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
	Interaction // without its messages
	App         *Account
	Channel     *Channel
	Target      string // id of the message with the button
	OriginalID  string // of a message, "" when there is none
	FollowupIDs []string
	Forgotten   bool
}

// Commands lists what a bot has registered.
func (s *Server) Commands(bot Bot) []Command {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	if a := s.hub.Accounts[bot.ID]; a != nil {
		return slices.Clone(a.Commands)
	}
	return nil
}

// checkApplication refuses requests about the application of another bot.
func (s *hub) checkApplication(c *RESTCall) error {
	switch app := c.PathValue("app"); {
	case s.Accounts[app] == nil:
		return ErrUnknownApp
	case app != c.Bot.User.ID:
		return ErrForbiddenAction
	}
	return nil
}

func (s *hub) listCommands(c *RESTCall) (any, error) {
	if err := s.checkApplication(c); err != nil {
		return nil, err
	}
	list := append([]Command{}, c.Bot.Commands...)
	if c.Request.URL.Query().Get("with_localizations") != "true" {
		for i := range list {
			list[i].Localizations, list[i].Options = Localizations{}, withoutLocalizations(list[i].Options)
		}
	}
	return list, nil
}

func withoutLocalizations(options []CommandOption) []CommandOption {
	options = slices.Clone(options)
	for i := range options {
		o := &options[i]
		o.Localizations, o.Options, o.Choices = Localizations{}, withoutLocalizations(o.Options), slices.Clone(o.Choices)
		for n := range o.Choices {
			o.Choices[n].Names = nil
		}
	}
	return options
}

// setCommands replaces all commands. Those that keep their name keep their id.
func (s *hub) setCommands(c *RESTCall) (any, error) {
	if err := s.checkApplication(c); err != nil {
		return nil, err
	}
	var list []Command
	if err := DecodeBody(c.Body, &list); err != nil {
		return nil, err
	}
	var f FormErrors
	f.Count("", len(list), 0, 100)
	names := map[string]bool{}
	for i := range list {
		checkCommand(&f, strconv.Itoa(i), &list[i])
		if key := fmt.Sprint(list[i].Type, list[i].Name); names[key] {
			f.Add(ErrorPath("", i, "name")[1:], "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
		}
		names[fmt.Sprint(list[i].Type, list[i].Name)] = true
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := checkEntryPoint(c.Bot.Commands, list); err != nil {
		return nil, err
	}
	for i := range list {
		command := &list[i]
		command.ID, command.ApplicationID, command.Version = s.NewID(), c.Bot.User.ID, s.NewID()
		for _, old := range c.Bot.Commands {
			if old.Name == command.Name && old.Type == command.Type {
				command.ID = old.ID
			}
		}
	}
	c.Bot.Commands = list
	return append([]Command{}, list...), nil
}
