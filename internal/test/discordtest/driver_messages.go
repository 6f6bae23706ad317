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

// Send sends a message as SendMessage does, with everything a post can have.
func (s *Server) Send(in Channel, author User, p Post) (Message, error) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	ch := s.hub.Channels[in.ID]
	if ch == nil {
		return Message{}, fmt.Errorf("send a message as %s: %w", author.Username, ErrUnknownChannel)
	}
	if s.hub.Permissions(ch, author.ID)&SendMessages == 0 {
		return Message{}, fmt.Errorf("send a message as %s: %w", author.Username, ErrMissingPerms)
	}
	r := s.hub.NewMessage(ch, author)
	if p.Reply != nil {
		if err := s.hub.SetReference(r, Reference{MessageID: p.Reply.ID}); err != nil {
			return Message{}, fmt.Errorf("send a reply as %s: %w", author.Username, err)
		}
	}
	uploads := make([]UploadedFile, 0, len(p.Files))
	for _, f := range p.Files {
		uploads = append(uploads, UploadedFile{Name: f.Name, ContentType: f.ContentType, Data: f.Data})
	}
	if err := s.hub.Fill(r, MessageBody{Content: &p.Text}, uploads); err != nil {
		return Message{}, fmt.Errorf("send a message as %s: %w", author.Username, err)
	}
	s.hub.Post(r)
	return CopyMessage(r.Message), nil
}

// DeleteMessage takes a message away, as its author or a moderator does.
func (s *Server) DeleteMessage(m Message) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	if r := s.hub.Messages[m.ID]; r != nil && !r.Deleted {
		s.hub.DeleteRecord(r)
	}
}

// Messages lists what everyone in the channel sees, oldest first.
func (s *Server) Messages(in Channel) []Message { return s.MessagesFor(in, User{}) }

// MessagesFor lists what one person sees: also the ephemeral messages that only
// this person does.
func (s *Server) MessagesFor(in Channel, viewer User) []Message {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	var list []Message
	for _, id := range s.hub.MessagesOf[in.ID] {
		r := s.hub.Messages[id]
		if r.ViewerID == "" || r.ViewerID == viewer.ID {
			list = append(list, CopyMessage(r.Message))
		}
	}
	return list
}

// Message returns a message as it is now. It is false when there is none, or no
// longer.
func (s *Server) Message(id string) (Message, bool) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	r := s.hub.Messages[id]
	if r == nil || r.Deleted {
		return Message{}, false
	}
	return CopyMessage(r.Message), true
}

// History lists all that a message has been, oldest first; the first version is
// how it was sent. It also knows deleted messages.
func (s *Server) History(id string) []MessageVersion {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	if r := s.hub.Messages[id]; r != nil {
		return slices.Clone(r.Versions)
	}
	return nil
}

// Typing lists each "… is typing" in the channel, oldest first.
func (s *Server) Typing(in Channel) []Typing {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.hub.Typing), func(t Typing) bool { return t.ChannelID != in.ID })
}
