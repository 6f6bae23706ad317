package rest

import (
	"slices"

	"clank/internal/discordtest/shape"
)

// webhookFor finds the interaction whose token the request carries.
func (s *Server) webhookFor(c *shape.Call) (*shape.Exchange, error) {
	if s.Accounts[c.PathValue("app")] == nil {
		return nil, shape.ErrUnknownWebhook
	}
	for _, it := range s.Interactions {
		if it.Token != c.PathValue("token") || it.App.User.ID != c.PathValue("app") {
			continue
		}
		switch {
		case it.Answer == 0 || it.Forgotten:
			return nil, shape.ErrUnknownWebhook
		case s.Now().Sub(it.At) > interactionLifetime:
			return nil, shape.ErrInvalidWebhook
		}
		return it, nil
	}
	return nil, shape.ErrInvalidWebhook
}

// webhookMessage finds @original or a follow-up of the interaction.
func (s *Server) webhookMessage(c *shape.Call) (*shape.Exchange, *shape.Record, error) {
	it, err := s.webhookFor(c)
	if err != nil {
		return nil, nil, err
	}
	id := c.PathValue("message")
	if id == "@original" {
		id = it.Original
	}
	r := s.Messages[id]
	if r == nil || r.Deleted || id != it.Original && !slices.Contains(it.Followups, id) {
		return nil, nil, shape.ErrUnknownMessage
	}
	return it, r, nil
}

// followup makes a further message. Straight after a deferred answer it is the
// answer, and what the deferral said about ephemeral holds.
func (s *Server) followup(c *shape.Call) (any, error) {
	it, err := s.webhookFor(c)
	if err != nil {
		return nil, err
	}
	b, err := readMessageBody(c.Body)
	if err != nil {
		return nil, err
	}
	if r := s.Messages[it.Original]; it.Thinking && r != nil && !r.Deleted {
		return s.answered(it, r, b, c.Files)
	}
	r := s.newAnswer(it, b)
	r.Type = shape.PlainMessage
	if to := s.Messages[it.Original]; to != nil && !to.Deleted {
		r.Type, r.Reference = shape.ReplyMessage, &shape.Reference{MessageID: to.ID, ChannelID: to.ChannelID, GuildID: to.GuildID}
	}
	if err := s.Fill(r, b, c.Files); err != nil {
		return nil, err
	}
	it.Followups = append(it.Followups, r.ID)
	s.Post(r)
	return r.Message, nil
}

// answered changes a message of the interaction and ends the thinking.
func (s *Server) answered(it *shape.Exchange, r *shape.Record, b MessageBody, files []shape.Upload) (any, error) {
	if err := s.Fill(r, b, files); err != nil {
		return nil, err
	}
	if r.ID == it.Original {
		it.Thinking = false
	}
	r.Flags &^= shape.FlagLoading
	s.Edited(r)
	return r.Message, nil
}

func (s *Server) getResponse(c *shape.Call) (any, error) {
	_, r, err := s.webhookMessage(c)
	if err != nil {
		return nil, err
	}
	return r.Message, nil
}

func (s *Server) editResponse(c *shape.Call) (any, error) {
	it, r, err := s.webhookMessage(c)
	if err != nil {
		return nil, err
	}
	b, err := readMessageBody(c.Body)
	if err != nil {
		return nil, err
	}
	return s.answered(it, r, b, c.Files)
}

func (s *Server) deleteResponse(c *shape.Call) (any, error) {
	_, r, err := s.webhookMessage(c)
	if err != nil {
		return nil, err
	}
	s.Remove(r)
	return nil, nil
}
