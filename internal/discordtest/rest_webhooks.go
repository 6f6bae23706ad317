package discordtest

import "slices"

// webhookFor finds the interaction whose token the request carries.
func (s *Server) webhookFor(c *call) (*interaction, error) {
	if s.accounts[c.PathValue("app")] == nil {
		return nil, errUnknownWebhook
	}
	for _, it := range s.interactions {
		if it.token != c.PathValue("token") || it.app.user.ID != c.PathValue("app") {
			continue
		}
		switch {
		case it.answer == 0 || it.forgotten:
			return nil, errUnknownWebhook
		case s.now().Sub(it.at) > interactionLifetime:
			return nil, errInvalidWebhook
		}
		return it, nil
	}
	return nil, errInvalidWebhook
}

// webhookMessage finds @original or a follow-up of the interaction.
func (s *Server) webhookMessage(c *call) (*interaction, *record, error) {
	it, err := s.webhookFor(c)
	if err != nil {
		return nil, nil, err
	}
	id := c.PathValue("message")
	if id == "@original" {
		id = it.original
	}
	r := s.messages[id]
	if r == nil || r.deleted || id != it.original && !slices.Contains(it.followups, id) {
		return nil, nil, errUnknownMessage
	}
	return it, r, nil
}

// followup makes a further message. Straight after a deferred answer it is the
// answer, and what the deferral said about ephemeral holds.
func (s *Server) followup(c *call) (any, error) {
	it, err := s.webhookFor(c)
	if err != nil {
		return nil, err
	}
	b, err := readMessageBody(c.body)
	if err != nil {
		return nil, err
	}
	if r := s.messages[it.original]; it.thinking && r != nil && !r.deleted {
		return s.answered(it, r, b, c.files)
	}
	r := s.newAnswer(it, b)
	r.Type = PlainMessage
	if to := s.messages[it.original]; to != nil && !to.deleted {
		r.Type, r.Reference = ReplyMessage, &Reference{MessageID: to.ID, ChannelID: to.ChannelID, GuildID: to.guildID}
	}
	if err := s.fill(r, b, c.files); err != nil {
		return nil, err
	}
	it.followups = append(it.followups, r.ID)
	s.post(r)
	return r.Message, nil
}

// answered changes a message of the interaction and ends the thinking.
func (s *Server) answered(it *interaction, r *record, b messageBody, files []upload) (any, error) {
	if err := s.fill(r, b, files); err != nil {
		return nil, err
	}
	if r.ID == it.original {
		it.thinking = false
	}
	r.Flags &^= FlagLoading
	s.edited(r)
	return r.Message, nil
}

func (s *Server) getResponse(c *call) (any, error) {
	_, r, err := s.webhookMessage(c)
	if err != nil {
		return nil, err
	}
	return r.Message, nil
}

func (s *Server) editResponse(c *call) (any, error) {
	it, r, err := s.webhookMessage(c)
	if err != nil {
		return nil, err
	}
	b, err := readMessageBody(c.body)
	if err != nil {
		return nil, err
	}
	return s.answered(it, r, b, c.files)
}

func (s *Server) deleteResponse(c *call) (any, error) {
	_, r, err := s.webhookMessage(c)
	if err != nil {
		return nil, err
	}
	s.remove(r)
	return nil, nil
}
