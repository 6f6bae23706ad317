package discordtest

import (
	"fmt"
	"slices"
)

// A Post is what a person writes. Mentions come from the text, as User.Mention
// writes them.
type Post struct {
	Text  string
	Reply *Message // the message it answers
	Files []File
}

// A File that a person attaches.
type File struct {
	Name        string
	ContentType string
	Data        []byte
}

// SendMessage writes a message in the name of a user, person or bot. It fails
// where Discord would refuse it.
func (s *Server) SendMessage(in Channel, author User, text string, files ...File) (Message, error) {
	return s.Send(in, author, Post{Text: text, Files: files})
}

// Send is SendMessage with everything a post can have.
func (s *Server) Send(in Channel, author User, p Post) (Message, error) {
	s.rest.Mu.Lock()
	defer s.rest.Mu.Unlock()
	ch := s.rest.Channels[in.ID]
	if ch == nil {
		return Message{}, fmt.Errorf("send a message as %s: %w", author.Username, ErrUnknownChannel)
	}
	if s.rest.Permissions(ch, author.ID)&SendMessages == 0 {
		return Message{}, fmt.Errorf("send a message as %s: %w", author.Username, ErrMissingPerms)
	}
	r := s.rest.NewMessage(ch, author)
	if p.Reply != nil {
		if err := s.rest.SetReference(r, Reference{MessageID: p.Reply.ID}); err != nil {
			return Message{}, fmt.Errorf("send a reply as %s: %w", author.Username, err)
		}
	}
	uploads := make([]UploadedFile, 0, len(p.Files))
	for _, f := range p.Files {
		uploads = append(uploads, UploadedFile{Name: f.Name, ContentType: f.ContentType, Data: f.Data})
	}
	if err := s.rest.Fill(r, MessageBody{Content: &p.Text}, uploads); err != nil {
		return Message{}, fmt.Errorf("send a message as %s: %w", author.Username, err)
	}
	s.rest.Post(r)
	return CopyMessage(r.Message), nil
}

// EditMessage changes the text of a message in the name of its author.
func (s *Server) EditMessage(m Message, text string) (Message, error) {
	s.rest.Mu.Lock()
	defer s.rest.Mu.Unlock()
	r := s.rest.Messages[m.ID]
	if r == nil || r.Deleted {
		return Message{}, fmt.Errorf("edit a message: %w", ErrUnknownMessage)
	}
	if err := s.rest.Fill(r, MessageBody{Content: &text}, nil); err != nil {
		return Message{}, fmt.Errorf("edit a message: %w", err)
	}
	s.rest.RecordEdit(r)
	return CopyMessage(r.Message), nil
}

// DeleteMessage takes a message away, as its author or a moderator does.
func (s *Server) DeleteMessage(m Message) {
	s.rest.Mu.Lock()
	defer s.rest.Mu.Unlock()
	if r := s.rest.Messages[m.ID]; r != nil && !r.Deleted {
		s.rest.DeleteRecord(r)
	}
}

// Messages lists what everyone in the channel sees, oldest first.
func (s *Server) Messages(in Channel) []Message { return s.MessagesFor(in, User{}) }

// MessagesFor lists what one person sees: also the ephemeral messages that only
// this person does.
func (s *Server) MessagesFor(in Channel, viewer User) []Message {
	s.rest.Mu.Lock()
	defer s.rest.Mu.Unlock()
	var list []Message
	for _, id := range s.rest.MessagesOf[in.ID] {
		r := s.rest.Messages[id]
		if r.ViewerID == "" || r.ViewerID == viewer.ID {
			list = append(list, CopyMessage(r.Message))
		}
	}
	return list
}

// Message returns a message as it is now. It is false when there is none, or no
// longer.
func (s *Server) Message(id string) (Message, bool) {
	s.rest.Mu.Lock()
	defer s.rest.Mu.Unlock()
	r := s.rest.Messages[id]
	if r == nil || r.Deleted {
		return Message{}, false
	}
	return CopyMessage(r.Message), true
}

// History lists all that a message has been, oldest first; the first version is
// how it was sent. It also knows deleted messages.
func (s *Server) History(id string) []MessageVersion {
	s.rest.Mu.Lock()
	defer s.rest.Mu.Unlock()
	if r := s.rest.Messages[id]; r != nil {
		return slices.Clone(r.Versions)
	}
	return nil
}

// React puts an emoji below a message.
func (s *Server) React(m Message, user User, emoji string) {
	s.rest.Mu.Lock()
	defer s.rest.Mu.Unlock()
	if r := s.rest.Messages[m.ID]; r != nil && !r.Deleted {
		s.rest.React(s.rest.Channels[r.ChannelID], r, user, emoji)
	}
}

// Unreact takes it away.
func (s *Server) Unreact(m Message, user User, emoji string) {
	s.rest.Mu.Lock()
	defer s.rest.Mu.Unlock()
	if r := s.rest.Messages[m.ID]; r != nil && !r.Deleted {
		s.rest.Unreact(s.rest.Channels[r.ChannelID], r, user, emoji)
	}
}

// Reactions lists the emojis below a message, oldest first.
func (s *Server) Reactions(m Message) []Reaction {
	s.rest.Mu.Lock()
	defer s.rest.Mu.Unlock()
	if r := s.rest.Messages[m.ID]; r != nil {
		return slices.Clone(r.Reactions)
	}
	return nil
}

// StartTyping shows a user as typing.
func (s *Server) StartTyping(in Channel, user User) {
	s.rest.Mu.Lock()
	defer s.rest.Mu.Unlock()
	if ch := s.rest.Channels[in.ID]; ch != nil {
		s.rest.StartTyping(ch, user)
	}
}

// Typing lists each "… is typing" in the channel, oldest first.
func (s *Server) Typing(in Channel) []Typing {
	s.rest.Mu.Lock()
	defer s.rest.Mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.rest.Typing), func(t Typing) bool { return t.ChannelID != in.ID })
}
