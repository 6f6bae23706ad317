package discordtest

import (
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"time"
)

// channelFor returns the channel of the request after checking the permissions there.
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

// messageFor returns the message of the request. It does not find ephemeral ones.
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

// mayMeet reports whether a bot and a person share a guild, or the person has installed the bot.
func (s *hub) mayMeet(a *Account, user User) bool {
	return a.Installed[user.ID] ||
		slices.ContainsFunc(s.GuildsOf(a.User.ID), func(g *GuildState) bool { return g.Member(user.ID) != nil })
}

// nonceLifetime is how long an enforced nonce prevents a duplicate message.
const nonceLifetime = 5 * time.Minute

// sameNonce returns an earlier message of the author with the same enforced nonce.
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

// NewMessage returns a message record that is not in the channel yet.
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

// Post adds the message to its channel and dispatches it.
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

// RecordEdit stores an edit of a message and dispatches it.
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

// visibleMessage returns the message as the calling bot can read it.
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

// pageMessages applies before, after and limit, oldest first.
func pageMessages(list []*MessageRecord, query url.Values, limit int) []*MessageRecord {
	if before := query.Get("before"); before != "" {
		list = slices.DeleteFunc(list, func(r *MessageRecord) bool {
			return SnowflakeNumber(r.ID) >= SnowflakeNumber(before)
		})
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
	_, _ = w.Write(file.Data) // fails only if the client has gone
}

// attachment returns a file of a message, including those of earlier versions.
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

// StartTyping dispatches a typing indicator.
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
