package discordtest

import (
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"time"
)

// channelFor finds the channel of the request and asks for permissions there.
func (s *Server) channelFor(c *call, need Permissions) (*Channel, error) {
	ch := s.channels[c.PathValue("channel")]
	if ch == nil {
		return nil, errUnknownChannel
	}
	has := s.permissions(ch, c.bot.user.ID)
	switch {
	case has&ViewChannel == 0:
		return nil, errMissingAccess
	case has&need != need:
		return nil, errMissingPerms
	}
	return ch, nil
}

// messageFor finds the message of the request. Ephemeral ones are not there.
func (s *Server) messageFor(c *call, ch *Channel) (*record, error) {
	r := s.messages[c.PathValue("message")]
	if r == nil || r.deleted || r.ChannelID != ch.ID || r.ViewerID != "" {
		return nil, errUnknownMessage
	}
	return r, nil
}

func (s *Server) createMessage(c *call) (any, error) {
	ch, err := s.channelFor(c, SendMessages)
	if err != nil {
		return nil, err
	}
	if ch.GuildID == "" && s.closedDMs[ch.Recipients[0].ID] {
		return nil, errCannotDM
	}
	b, err := readMessageBody(c.body)
	if err != nil {
		return nil, err
	}
	has := s.permissions(ch, c.bot.user.ID)
	if len(c.files) > 0 && has&AttachFiles == 0 || b.Embeds != nil && len(*b.Embeds) > 0 && has&EmbedLinks == 0 {
		return nil, errMissingPerms
	}
	if again := s.sameNonce(ch, c.bot.user, b); again != nil {
		return s.seen(again, c), nil
	}
	r := s.newMessage(ch, c.bot.user)
	r.TTS, r.Nonce = b.TTS, b.Nonce
	if b.Flags != nil {
		r.Flags = *b.Flags & (FlagSuppressEmbeds | FlagSilent | FlagComponentsV2)
	}
	if b.Reference != nil && b.Reference.MessageID != "" {
		if has&ReadMessageHistory == 0 {
			return nil, errNoHistoryToReply
		}
		if err := s.refer(r, *b.Reference); err != nil {
			return nil, err
		}
	}
	if err := s.fill(r, b, c.files); err != nil {
		return nil, err
	}
	s.post(r)
	return s.seen(r, c), nil
}

// nonceLife is how long an enforced nonce keeps a message from being made twice.
const nonceLife = 5 * time.Minute

// sameNonce finds the message that the author has made already with an enforced
// nonce.
func (s *Server) sameNonce(ch *Channel, author User, b messageBody) *record {
	if !b.EnforceNonce || b.Nonce == nil {
		return nil
	}
	for _, id := range s.messagesOf[ch.ID] {
		r := s.messages[id]
		if r.Author.ID == author.ID && reflect.DeepEqual(r.Nonce, b.Nonce) && s.now().Sub(r.Timestamp) < nonceLife {
			return r
		}
	}
	return nil
}

// newMessage makes a record that is not in the channel yet.
func (s *Server) newMessage(ch *Channel, author User) *record {
	return &record{guildID: ch.GuildID, Message: Message{
		ID: s.newID(), ChannelID: ch.ID, Author: author, Timestamp: s.now().UTC(),
		Mentions: []User{}, MentionRoles: []string{},
		Attachments: []Attachment{}, Embeds: []Embed{}, Components: []Component{},
	}}
}

// refer makes the message a reply.
func (s *Server) refer(r *record, ref Reference) error {
	to := s.messages[ref.MessageID]
	if to == nil || to.deleted || to.ChannelID != r.ChannelID || to.ViewerID != "" {
		if ref.FailIfNotExists != nil && !*ref.FailIfNotExists {
			return nil
		}
		return formError("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
	}
	referenced := copyMessage(to.Message)
	referenced.Referenced = nil
	r.Type, r.Referenced = ReplyMessage, &referenced
	r.Reference = &Reference{MessageID: to.ID, ChannelID: to.ChannelID, GuildID: to.guildID}
	return nil
}

// post puts the message into its channel and tells everyone who may see it.
func (s *Server) post(r *record) {
	r.keep(s.now())
	s.messages[r.ID] = r
	s.messagesOf[r.ChannelID] = append(s.messagesOf[r.ChannelID], r.ID)
	if r.ViewerID == "" {
		id := r.ID
		s.channels[r.ChannelID].LastMessageID = &id
		s.dispatchMessage("MESSAGE_CREATE", r)
	}
	s.notify()
}

// edited stores the change of a message and tells everyone who may see it.
func (s *Server) edited(r *record) {
	now := s.now().UTC()
	r.EditedTimestamp = &now
	r.keep(now)
	if r.ViewerID == "" {
		s.dispatchMessage("MESSAGE_UPDATE", r)
	}
	s.notify()
}

// remove deletes the message.
func (s *Server) remove(r *record) {
	r.deleted = true
	s.messagesOf[r.ChannelID] = slices.DeleteFunc(s.messagesOf[r.ChannelID], func(id string) bool { return id == r.ID })
	if r.ViewerID == "" {
		gone := map[string]any{"id": r.ID, "channel_id": r.ChannelID}
		if r.guildID != "" {
			gone["guild_id"] = r.guildID
		}
		s.dispatchIn(s.channels[r.ChannelID], "MESSAGE_DELETE", gone)
	}
	s.notify()
}

func (s *Server) editMessage(c *call) (any, error) {
	ch, err := s.channelFor(c, 0)
	if err != nil {
		return nil, err
	}
	r, err := s.messageFor(c, ch)
	if err != nil {
		return nil, err
	}
	if r.Author.ID != c.bot.user.ID {
		return nil, errNotYourMessage
	}
	b, err := readMessageBody(c.body)
	if err != nil {
		return nil, err
	}
	if err := s.fill(r, b, c.files); err != nil {
		return nil, err
	}
	s.edited(r)
	return s.seen(r, c), nil
}

func (s *Server) deleteMessage(c *call) (any, error) {
	ch, err := s.channelFor(c, 0)
	if err != nil {
		return nil, err
	}
	r, err := s.messageFor(c, ch)
	if err != nil {
		return nil, err
	}
	if r.Author.ID != c.bot.user.ID && s.permissions(ch, c.bot.user.ID)&ManageMessages == 0 {
		return nil, errMissingPerms
	}
	s.remove(r)
	return nil, nil
}

func (s *Server) getMessage(c *call) (any, error) {
	ch, err := s.channelFor(c, ReadMessageHistory)
	if err != nil {
		return nil, err
	}
	r, err := s.messageFor(c, ch)
	if err != nil {
		return nil, err
	}
	return s.seen(r, c), nil
}

// seen is the message as the calling bot may read it.
func (s *Server) seen(r *record, c *call) Message {
	m := copyMessage(r.Message)
	m.Reactions = r.counted(c.bot.user.ID)
	return m.readableBy(c.bot.user.ID, r.guildID, c.bot.forbidden&MessageContent == 0)
}

func (s *Server) listMessages(c *call) (any, error) {
	ch, err := s.channelFor(c, 0)
	if err != nil {
		return nil, err
	}
	limit := 50
	if text := c.URL.Query().Get("limit"); text != "" {
		limit, err = strconv.Atoi(text)
		if err != nil || limit < 1 || limit > 100 {
			return nil, formError("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 100.")
		}
	}
	found := []Message{}
	if s.permissions(ch, c.bot.user.ID)&ReadMessageHistory == 0 {
		return found, nil
	}
	var visible []*record
	for _, id := range s.messagesOf[ch.ID] {
		if s.messages[id].ViewerID == "" {
			visible = append(visible, s.messages[id])
		}
	}
	for _, r := range window(visible, c.URL.Query(), limit) {
		found = append(found, s.seen(r, c))
	}
	slices.Reverse(found)
	return found, nil
}

// window cuts what before, after, around and limit ask for, oldest first.
func window(list []*record, query map[string][]string, limit int) []*record {
	bound := func(name string) (int64, bool) {
		if len(query[name]) == 0 {
			return 0, false
		}
		return number64(query[name][0]), true
	}
	if id, ok := bound("before"); ok {
		list = slices.DeleteFunc(list, func(r *record) bool { return number64(r.ID) >= id })
	} else if id, ok := bound("after"); ok {
		list = slices.DeleteFunc(list, func(r *record) bool { return number64(r.ID) <= id })
		return list[:min(limit, len(list))]
	} else if id, ok := bound("around"); ok {
		i := slices.IndexFunc(list, func(r *record) bool { return number64(r.ID) >= id })
		if i < 0 {
			i = len(list)
		}
		list = list[max(0, i-limit/2):]
		return list[:min(limit, len(list))]
	}
	return list[max(0, len(list)-limit):]
}

func number64(id string) int64 {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// download serves a file, as Discord's content network does.
func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	file, ok := s.attachment(r.PathValue("attachment"))
	s.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	if file.ContentType != "" {
		w.Header().Set("Content-Type", file.ContentType)
	}
	_, _ = w.Write(file.Data) // a client that has gone is not our concern
}

// attachment finds a file of a message, also of an earlier version, or of a
// command.
func (s *Server) attachment(id string) (Attachment, bool) {
	if a, ok := s.uploads[id]; ok {
		return a, true
	}
	for _, r := range s.messages {
		if r.deleted {
			continue
		}
		for _, v := range r.versions {
			for _, a := range v.Attachments {
				if a.ID == id {
					return a, true
				}
			}
		}
	}
	return Attachment{}, false
}
