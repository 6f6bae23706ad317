package discordtest

import (
	"encoding/json"
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
		r.Flags = *b.Flags & FlagSuppressEmbeds
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

// DeleteRecord deletes the message.
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

// pageMessages cuts what before and limit ask for, oldest first.
func pageMessages(list []*MessageRecord, query url.Values, limit int) []*MessageRecord {
	if before := query.Get("before"); before != "" {
		list = slices.DeleteFunc(list, func(r *MessageRecord) bool { return SnowflakeNumber(r.ID) >= SnowflakeNumber(before) })
	}
	return list[max(0, len(list)-limit):]
}

// download serves a file, as Discord's content network does.
func (s *hub) download(w http.ResponseWriter, r *http.Request) {
	s.Mu.Lock()
	file, ok := s.attachment(r.PathValue("attachment"))
	s.Mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	if file.ContentType != "" {
		w.Header().Set("Content-Type", file.ContentType)
	}
	_, _ = w.Write(file.Data) // a client that has gone is not our concern
}

// attachment finds a file of a message, also of an earlier version.
func (s *hub) attachment(id string) (Attachment, bool) {
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

func (s *hub) getGatewayBot(*RESTCall) (any, error) {
	return map[string]any{
		"url": s.GatewayURL(), "shards": 1,
		"session_start_limit": map[string]any{
			"total": 1000, "remaining": 1000, "reset_after": 86400000, "max_concurrency": 1,
		},
	}, nil
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
