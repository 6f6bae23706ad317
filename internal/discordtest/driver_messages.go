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
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.channels[in.ID]
	if ch == nil {
		return Message{}, fmt.Errorf("send a message as %s: %w", author.Username, errUnknownChannel)
	}
	if s.permissions(ch, author.ID)&SendMessages == 0 {
		return Message{}, fmt.Errorf("send a message as %s: %w", author.Username, errMissingPerms)
	}
	r := s.newMessage(ch, author)
	if p.Reply != nil {
		if err := s.refer(r, Reference{MessageID: p.Reply.ID}); err != nil {
			return Message{}, fmt.Errorf("send a reply as %s: %w", author.Username, err)
		}
	}
	uploads := make([]upload, 0, len(p.Files))
	for _, f := range p.Files {
		uploads = append(uploads, upload{"", f.Name, f.ContentType, f.Data})
	}
	if err := s.fill(r, messageBody{Content: &p.Text}, uploads); err != nil {
		return Message{}, fmt.Errorf("send a message as %s: %w", author.Username, err)
	}
	s.post(r)
	return copyMessage(r.Message), nil
}

// EditMessage changes the text of a message in the name of its author.
func (s *Server) EditMessage(m Message, text string) (Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.messages[m.ID]
	if r == nil || r.deleted {
		return Message{}, fmt.Errorf("edit a message: %w", errUnknownMessage)
	}
	if err := s.fill(r, messageBody{Content: &text}, nil); err != nil {
		return Message{}, fmt.Errorf("edit a message: %w", err)
	}
	s.edited(r)
	return copyMessage(r.Message), nil
}

// DeleteMessage takes a message away, as its author or a moderator does.
func (s *Server) DeleteMessage(m Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.messages[m.ID]; r != nil && !r.deleted {
		s.remove(r)
	}
}

// Messages lists what everyone in the channel sees, oldest first.
func (s *Server) Messages(in Channel) []Message { return s.MessagesFor(in, User{}) }

// MessagesFor lists what one person sees: also the ephemeral messages that only
// this person does.
func (s *Server) MessagesFor(in Channel, viewer User) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Message
	for _, id := range s.messagesOf[in.ID] {
		r := s.messages[id]
		if r.ViewerID == "" || r.ViewerID == viewer.ID {
			list = append(list, copyMessage(r.Message))
		}
	}
	return list
}

// Message returns a message as it is now. It is false when there is none, or no
// longer.
func (s *Server) Message(id string) (Message, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.messages[id]
	if r == nil || r.deleted {
		return Message{}, false
	}
	return copyMessage(r.Message), true
}

// History lists all that a message has been, oldest first; the first version is
// how it was sent. It also knows deleted messages.
func (s *Server) History(id string) []Version {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.messages[id]; r != nil {
		return slices.Clone(r.versions)
	}
	return nil
}

// React puts an emoji below a message.
func (s *Server) React(m Message, user User, emoji string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.messages[m.ID]; r != nil && !r.deleted {
		s.react(s.channels[r.ChannelID], r, user, emoji)
	}
}

// Unreact takes it away.
func (s *Server) Unreact(m Message, user User, emoji string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.messages[m.ID]; r != nil && !r.deleted {
		s.unreact(s.channels[r.ChannelID], r, user, emoji)
	}
}

// Reactions lists the emojis below a message, oldest first.
func (s *Server) Reactions(m Message) []Reaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.messages[m.ID]; r != nil {
		return slices.Clone(r.reactions)
	}
	return nil
}

// StartTyping shows a user as typing.
func (s *Server) StartTyping(in Channel, user User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ch := s.channels[in.ID]; ch != nil {
		s.startTyping(ch, user)
	}
}

// Typing lists each "… is typing" in the channel, oldest first.
func (s *Server) Typing(in Channel) []Typing {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.typing), func(t Typing) bool { return t.ChannelID != in.ID })
}
