package discordtest

import (
	"context"
	"fmt"
)

// Wait returns nil as soon as cond is true. It looks after every change on the
// server, so that nobody polls. Without luck it returns an error that names what
// was waited for, with the cause of the context.
func (s *Server) Wait(ctx context.Context, what string, cond func() bool) error {
	for {
		s.hub.Mu.Lock()
		changed := s.hub.Changed
		s.hub.Mu.Unlock()
		if cond() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, context.Cause(ctx))
		}
	}
}

// WaitMessage returns the first message in the channel, ephemeral ones included,
// that is or becomes what match asks for. Edits count.
func (s *Server) WaitMessage(ctx context.Context, in Channel, match func(Message) bool) (Message, error) {
	var found Message
	err := s.Wait(ctx, "a message in "+in.Name, func() bool {
		for _, m := range s.allMessages(in) {
			if match(m) {
				found = m
				return true
			}
		}
		return false
	})
	return found, err
}

// allMessages lists all messages of a channel, whoever sees them.
func (s *Server) allMessages(in Channel) []Message {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	var list []Message
	for _, id := range s.hub.MessagesOf[in.ID] {
		list = append(list, CopyMessage(s.hub.Messages[id].Message))
	}
	return list
}

// WaitEdit returns the message when it is what match asks for.
func (s *Server) WaitEdit(ctx context.Context, id string, match func(Message) bool) (Message, error) {
	var found Message
	err := s.Wait(ctx, "an edit of message "+id, func() bool {
		m, ok := s.Message(id)
		found = m
		return ok && match(m)
	})
	return found, err
}

// WaitInteraction returns the interaction when it stands as match asks for.
func (s *Server) WaitInteraction(ctx context.Context, it Interaction, match func(Interaction) bool) (Interaction, error) {
	var found Interaction
	err := s.Wait(ctx, "an answer to the interaction", func() bool {
		now, ok := s.Interaction(it.ID)
		found = now
		return ok && match(now)
	})
	return found, err
}

// WaitAnswer returns the interaction when the bot has answered with something to
// read: a message that is not just "thinking", an edit, a modal or completions.
func (s *Server) WaitAnswer(ctx context.Context, it Interaction) (Interaction, error) {
	return s.WaitInteraction(ctx, it, func(i Interaction) bool { return i.Answer != 0 && !i.Thinking })
}

// WaitConnected waits until a gateway session of the bot is connected and ready.
func (s *Server) WaitConnected(ctx context.Context, bot Bot) error {
	return s.Wait(ctx, bot.Username+" to connect", func() bool { return s.Connected(bot) })
}

// Connected tells whether a gateway session of the bot is connected and ready.
func (s *Server) Connected(bot Bot) bool {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	for c := range s.hub.Conns {
		if c.Session != nil && c.Closing == 0 && c.Bot == bot.ID && c.Session.Conn == c {
			return true
		}
	}
	return false
}

// WaitRequest waits for a call of the route, beyond those that skip says are
// already known, and returns it. It may not be answered yet.
func (s *Server) WaitRequest(ctx context.Context, route Route, skip int) (Request, error) {
	var found Request
	err := s.Wait(ctx, string(route), func() bool {
		list := s.RequestsTo(route)
		if len(list) <= skip {
			return false
		}
		found = list[skip]
		return true
	})
	return found, err
}

// WaitReceived waits until clients have sent more than skip gateway messages
// with that opcode, and returns the one after those.
func (s *Server) WaitReceived(ctx context.Context, op, skip int) (Frame, error) {
	var found Frame
	err := s.Wait(ctx, fmt.Sprintf("gateway message with op %d", op), func() bool {
		list := s.Received(op)
		if len(list) <= skip {
			return false
		}
		found = list[skip]
		return true
	})
	return found, err
}
