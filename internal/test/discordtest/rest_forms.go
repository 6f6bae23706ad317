package discordtest

import "slices"

// respondByEdit changes the message whose component was used.
func (s *hub) respondByEdit(it *InteractionExchange, b responseBody, files []UploadedFile) error {
	r := s.Messages[it.Target]
	if r == nil || r.Deleted {
		return ErrUnknownMessage
	}
	var body MessageBody
	if err := DecodeBody(b.Data, &body); err != nil {
		return prefixDataPath(err)
	}
	if err := s.Fill(r, body, files); err != nil {
		return prefixDataPath(err)
	}
	it.OriginalID = r.ID
	s.RecordEdit(r)
	return nil
}

// respondByModal opens a modal.
func respondByModal(it *InteractionExchange, b responseBody) error {
	var m Modal
	if err := DecodeBody(b.Data, &m); err != nil {
		return prefixDataPath(err)
	}
	if err := m.check(); err != nil {
		return prefixDataPath(err)
	}
	it.Modal = &m
	return nil
}

// respondByChoices returns completions for a typed option.
func respondByChoices(it *InteractionExchange, b responseBody) error {
	var body struct {
		Choices []OptionChoice `json:"choices"`
	}
	if err := DecodeBody(b.Data, &body); err != nil {
		return prefixDataPath(err)
	}
	var f FormErrors
	checkChoices(&f, "data", CommandOption{Type: StringOption, Choices: body.Choices})
	if err := f.Err(); err != nil {
		return err
	}
	it.Choices = append([]OptionChoice{}, body.Choices...)
	return nil
}

// startThread creates a thread from a message. It has the message's id.
func (s *hub) startThread(c *RESTCall) (any, error) {
	ch, err := s.channelFor(c, CreateThreads)
	if err != nil {
		return nil, err
	}
	r, err := s.messageFor(c, ch)
	if err != nil {
		return nil, err
	}
	var b struct {
		Name    string `json:"name"`
		Archive int    `json:"auto_archive_duration"`
	}
	if err := DecodeBody(c.Body, &b); err != nil {
		return nil, err
	}
	var f FormErrors
	f.Length("name", b.Name, 1, 100)
	if !slices.Contains([]int{0, 60, 1440, 4320, 10080}, b.Archive) {
		f.Add("auto_archive_duration", "BASE_TYPE_CHOICES", "Value must be one of (60, 1440, 4320, 10080).")
	}
	switch err := f.Err(); {
	case err != nil:
		return nil, err
	case ch.Type != TextChannel:
		return nil, ErrWrongChannelType
	case s.Channels[r.ID] != nil:
		return nil, ErrThreadExists
	}
	thread := &Channel{ID: r.ID, Type: PublicThread, GuildID: ch.GuildID, ParentID: &ch.ID, Name: b.Name}
	s.AddChannel(thread)
	return createdResult{thread}, nil
}
