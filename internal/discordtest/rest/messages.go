package rest

import (
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"time"

	"clank/internal/discordtest/shape"
)

// channelFor finds the channel of the request and asks for permissions there.
func (s *Server) channelFor(c *shape.Call, need shape.Permissions) (*shape.Channel, error) {
	ch := s.Channels[c.PathValue("channel")]
	if ch == nil {
		return nil, shape.ErrUnknownChannel
	}
	has := s.Permissions(ch, c.Bot.User.ID)
	switch {
	case has&shape.ViewChannel == 0:
		return nil, shape.ErrMissingAccess
	case has&need != need:
		return nil, shape.ErrMissingPerms
	}
	return ch, nil
}

// messageFor finds the message of the request. Ephemeral ones are not there.
func (s *Server) messageFor(c *shape.Call, ch *shape.Channel) (*shape.Record, error) {
	r := s.Messages[c.PathValue("message")]
	if r == nil || r.Deleted || r.ChannelID != ch.ID || r.ViewerID != "" {
		return nil, shape.ErrUnknownMessage
	}
	return r, nil
}

func (s *Server) createMessage(c *shape.Call) (any, error) {
	ch, err := s.channelFor(c, shape.SendMessages)
	if err != nil {
		return nil, err
	}
	if ch.GuildID == "" && s.ClosedDMs[ch.Recipients[0].ID] {
		return nil, shape.ErrCannotDM
	}
	b, err := readMessageBody(c.Body)
	if err != nil {
		return nil, err
	}
	has := s.Permissions(ch, c.Bot.User.ID)
	if len(c.Files) > 0 && has&shape.AttachFiles == 0 || b.Embeds != nil && len(*b.Embeds) > 0 && has&shape.EmbedLinks == 0 {
		return nil, shape.ErrMissingPerms
	}
	if again := s.sameNonce(ch, c.Bot.User, b); again != nil {
		return s.seen(again, c), nil
	}
	r := s.NewMessage(ch, c.Bot.User)
	r.TTS, r.Nonce = b.TTS, b.Nonce
	if b.Flags != nil {
		r.Flags = *b.Flags & (shape.FlagSuppressEmbeds | shape.FlagSilent | shape.FlagComponentsV2)
	}
	if b.Reference != nil && b.Reference.MessageID != "" {
		if has&shape.ReadMessageHistory == 0 {
			return nil, shape.ErrNoHistoryToReply
		}
		if err := s.Refer(r, *b.Reference); err != nil {
			return nil, err
		}
	}
	if err := s.Fill(r, b, c.Files); err != nil {
		return nil, err
	}
	s.Post(r)
	return s.seen(r, c), nil
}

// nonceLife is how long an enforced nonce keeps a message from being made twice.
const nonceLife = 5 * time.Minute

// sameNonce finds the message that the author has made already with an enforced
// nonce.
func (s *Server) sameNonce(ch *shape.Channel, author shape.User, b MessageBody) *shape.Record {
	if !b.EnforceNonce || b.Nonce == nil {
		return nil
	}
	for _, id := range s.MessagesOf[ch.ID] {
		r := s.Messages[id]
		if r.Author.ID == author.ID && reflect.DeepEqual(r.Nonce, b.Nonce) && s.Now().Sub(r.Timestamp) < nonceLife {
			return r
		}
	}
	return nil
}

// NewMessage makes a record that is not in the channel yet.
func (s *Server) NewMessage(ch *shape.Channel, author shape.User) *shape.Record {
	return &shape.Record{GuildID: ch.GuildID, Message: shape.Message{
		ID: s.NewID(), ChannelID: ch.ID, Author: author, Timestamp: s.Now().UTC(),
		Mentions: []shape.User{}, MentionRoles: []string{},
		Attachments: []shape.Attachment{}, Embeds: []shape.Embed{}, Components: []shape.Component{},
	}}
}

// Refer makes the message a reply.
func (s *Server) Refer(r *shape.Record, ref shape.Reference) error {
	to := s.Messages[ref.MessageID]
	if to == nil || to.Deleted || to.ChannelID != r.ChannelID || to.ViewerID != "" {
		if ref.FailIfNotExists != nil && !*ref.FailIfNotExists {
			return nil
		}
		return shape.FormError("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
	}
	referenced := shape.CopyMessage(to.Message)
	referenced.Referenced = nil
	r.Type, r.Referenced = shape.ReplyMessage, &referenced
	r.Reference = &shape.Reference{MessageID: to.ID, ChannelID: to.ChannelID, GuildID: to.GuildID}
	return nil
}

// Post puts the message into its channel and tells everyone who may see it.
func (s *Server) Post(r *shape.Record) {
	r.Keep(s.Now())
	s.Messages[r.ID] = r
	s.MessagesOf[r.ChannelID] = append(s.MessagesOf[r.ChannelID], r.ID)
	if r.ViewerID == "" {
		id := r.ID
		s.Channels[r.ChannelID].LastMessageID = &id
		s.DispatchMessage("MESSAGE_CREATE", r)
	}
	s.Notify()
}

// Edited stores the change of a message and tells everyone who may see it.
func (s *Server) Edited(r *shape.Record) {
	now := s.Now().UTC()
	r.EditedTimestamp = &now
	r.Keep(now)
	if r.ViewerID == "" {
		s.DispatchMessage("MESSAGE_UPDATE", r)
	}
	s.Notify()
}

// Remove deletes the message.
func (s *Server) Remove(r *shape.Record) {
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

func (s *Server) editMessage(c *shape.Call) (any, error) {
	ch, err := s.channelFor(c, 0)
	if err != nil {
		return nil, err
	}
	r, err := s.messageFor(c, ch)
	if err != nil {
		return nil, err
	}
	if r.Author.ID != c.Bot.User.ID {
		return nil, shape.ErrNotYourMessage
	}
	b, err := readMessageBody(c.Body)
	if err != nil {
		return nil, err
	}
	if err := s.Fill(r, b, c.Files); err != nil {
		return nil, err
	}
	s.Edited(r)
	return s.seen(r, c), nil
}

func (s *Server) deleteMessage(c *shape.Call) (any, error) {
	ch, err := s.channelFor(c, 0)
	if err != nil {
		return nil, err
	}
	r, err := s.messageFor(c, ch)
	if err != nil {
		return nil, err
	}
	if r.Author.ID != c.Bot.User.ID && s.Permissions(ch, c.Bot.User.ID)&shape.ManageMessages == 0 {
		return nil, shape.ErrMissingPerms
	}
	s.Remove(r)
	return nil, nil
}

func (s *Server) getMessage(c *shape.Call) (any, error) {
	ch, err := s.channelFor(c, shape.ReadMessageHistory)
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
func (s *Server) seen(r *shape.Record, c *shape.Call) shape.Message {
	m := shape.CopyMessage(r.Message)
	m.Reactions = r.Counted(c.Bot.User.ID)
	return m.ReadableBy(c.Bot.User.ID, r.GuildID, c.Bot.Forbidden&shape.MessageContent == 0)
}

func (s *Server) listMessages(c *shape.Call) (any, error) {
	ch, err := s.channelFor(c, 0)
	if err != nil {
		return nil, err
	}
	limit := 50
	if text := c.URL.Query().Get("limit"); text != "" {
		limit, err = strconv.Atoi(text)
		if err != nil || limit < 1 || limit > 100 {
			return nil, shape.FormError("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 100.")
		}
	}
	found := []shape.Message{}
	if s.Permissions(ch, c.Bot.User.ID)&shape.ReadMessageHistory == 0 {
		return found, nil
	}
	var visible []*shape.Record
	for _, id := range s.MessagesOf[ch.ID] {
		if s.Messages[id].ViewerID == "" {
			visible = append(visible, s.Messages[id])
		}
	}
	for _, r := range window(visible, c.URL.Query(), limit) {
		found = append(found, s.seen(r, c))
	}
	slices.Reverse(found)
	return found, nil
}

// window cuts what before, after, around and limit ask for, oldest first.
func window(list []*shape.Record, query map[string][]string, limit int) []*shape.Record {
	bound := func(name string) (int64, bool) {
		if len(query[name]) == 0 {
			return 0, false
		}
		return shape.Number64(query[name][0]), true
	}
	if id, ok := bound("before"); ok {
		list = slices.DeleteFunc(list, func(r *shape.Record) bool { return shape.Number64(r.ID) >= id })
	} else if id, ok := bound("after"); ok {
		list = slices.DeleteFunc(list, func(r *shape.Record) bool { return shape.Number64(r.ID) <= id })
		return list[:min(limit, len(list))]
	} else if id, ok := bound("around"); ok {
		i := slices.IndexFunc(list, func(r *shape.Record) bool { return shape.Number64(r.ID) >= id })
		if i < 0 {
			i = len(list)
		}
		list = list[max(0, i-limit/2):]
		return list[:min(limit, len(list))]
	}
	return list[max(0, len(list)-limit):]
}

// download serves a file, as Discord's content network does.
func (s *Server) download(w http.ResponseWriter, r *http.Request) {
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

// attachment finds a file of a message, also of an earlier version, or of a
// command.
func (s *Server) attachment(id string) (shape.Attachment, bool) {
	if a, ok := s.Uploads[id]; ok {
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
	return shape.Attachment{}, false
}
