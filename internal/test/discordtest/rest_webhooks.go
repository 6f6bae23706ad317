package discordtest

import "slices"

// webhookFor finds the interaction whose token the request carries.
func (s *hub) webhookFor(c *RESTCall) (*InteractionExchange, error) {
	if s.Accounts[c.PathValue("app")] == nil {
		return nil, ErrUnknownWebhook
	}
	for _, it := range s.Interactions {
		if it.Token != c.PathValue("token") || it.App.User.ID != c.PathValue("app") {
			continue
		}
		switch {
		case it.Answer == 0 || it.Forgotten:
			return nil, ErrUnknownWebhook
		case s.Now().Sub(it.At) > interactionLifetime:
			return nil, ErrInvalidWebhook
		}
		return it, nil
	}
	return nil, ErrInvalidWebhook
}

// webhookMessage finds @original or a follow-up of the interaction.
func (s *hub) webhookMessage(c *RESTCall) (*InteractionExchange, *MessageRecord, error) {
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
		return nil, nil, ErrUnknownMessage
	}
	return it, r, nil
}

// followup makes a further message. Straight after a deferred answer it is the
// answer, and what the deferral said about ephemeral holds.
func (s *hub) followup(c *RESTCall) (any, error) {
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
	r.Type = PlainMessage
	if to := s.Messages[it.Original]; to != nil && !to.Deleted {
		r.Type, r.Reference = ReplyMessage, &Reference{MessageID: to.ID, ChannelID: to.ChannelID, GuildID: to.GuildID}
	}
	if err := s.Fill(r, b, c.Files); err != nil {
		return nil, err
	}
	it.Followups = append(it.Followups, r.ID)
	s.Post(r)
	return r.Message, nil
}

// answered changes a message of the interaction and ends the thinking.
func (s *hub) answered(it *InteractionExchange, r *MessageRecord, b MessageBody, files []UploadedFile) (any, error) {
	if err := s.Fill(r, b, files); err != nil {
		return nil, err
	}
	if r.ID == it.Original {
		it.Thinking = false
	}
	r.Flags &^= FlagLoading
	s.RecordEdit(r)
	return r.Message, nil
}

func (s *hub) editResponse(c *RESTCall) (any, error) {
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
