package discordtest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
)

// respond returns the first answer to an interaction.
func (s *hub) respond(c *RESTCall) (any, error) {
	it := s.Interactions[c.PathValue("interaction")]
	switch {
	case it == nil, it.Token != c.PathValue("token"), it.Forgotten:
		return nil, ErrUnknownInteract
	case it.Answer != 0:
		return nil, ErrAlreadyAnswered
	case s.Now().Sub(it.At) > answerInTime:
		return nil, ErrUnknownInteract
	}
	var b responseBody
	if err := DecodeBody(c.Body, &b); err != nil {
		return nil, err
	}
	if err := s.respondWith(it, b, c.Files); err != nil {
		return nil, err
	}
	it.Answer, it.AnsweredAt = b.Type, s.Now()
	return nil, nil
}

// allowedAnswers says which answers fit which interactions.
var allowedAnswers = map[int][]int{
	CommandInteraction:   {AnswerMessage, AnswerDeferred},
	ComponentInteraction: {AnswerMessage, AnswerDeferred, AnswerDeferredEdit},
}

func (s *hub) respondWith(it *InteractionExchange, b responseBody, files []UploadedFile) error {
	if !slices.Contains(allowedAnswers[it.Kind], b.Type) {
		return FormError("type", "INTERACTION_APPLICATION_INVALID_CALLBACK_TYPE",
			fmt.Sprintf("Callback type %d does not fit an interaction of type %d.", b.Type, it.Kind))
	}
	if len(b.Data) == 0 {
		b.Data = []byte("{}")
	}
	if b.Type == AnswerDeferredEdit {
		it.Original = it.Target
		return nil
	}
	return s.respondByMessage(it, b, files)
}

func (s *hub) respondByMessage(it *InteractionExchange, b responseBody, files []UploadedFile) error {
	body, err := readMessageBody(b.Data)
	if err != nil {
		return prefixDataPath(err)
	}
	r := s.newAnswer(it, body)
	it.Ephemeral = r.ViewerID != ""
	if b.Type == AnswerDeferred {
		r.Flags |= FlagLoading
		it.Thinking = true
	} else if err := s.Fill(r, body, files); err != nil {
		return prefixDataPath(err)
	}
	it.Original = r.ID
	s.Post(r)
	return nil
}

// newAnswer makes a message of an interaction, which nobody else may see when it
// asks for that.
func (s *hub) newAnswer(it *InteractionExchange, body MessageBody) *MessageRecord {
	r := s.NewMessage(it.Channel, it.App.User)
	r.WebhookID, r.ApplicationID, r.TTS = it.App.User.ID, it.App.User.ID, body.TTS
	r.InteractionMetadata = &InteractionMetadata{ID: it.ID, Type: it.Kind, Name: it.Name, User: it.User}
	if it.Kind == CommandInteraction {
		r.Type = SlashCommandMessage
	}
	if body.Flags != nil {
		r.Flags = *body.Flags & (FlagEphemeral | FlagSuppressEmbeds)
	}
	if r.Flags&FlagEphemeral != 0 {
		r.ViewerID = it.User.ID
	}
	return r
}

// prefixDataPath moves the complaints of a form below the field data.
func prefixDataPath(err error) error {
	var refusal *APIError
	if !errors.As(err, &refusal) || refusal.Code != 50035 {
		return err
	}
	return &APIError{Status: http.StatusBadRequest, Code: 50035, Message: refusal.Message, Errors: map[string]any{"data": refusal.Errors}}
}
