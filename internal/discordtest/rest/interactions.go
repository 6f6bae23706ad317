package rest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"clank/internal/discordtest/shape"
)

// respond is the first answer to an interaction.
func (s *Server) respond(c *shape.Call) (any, error) {
	it := s.Interactions[c.PathValue("interaction")]
	switch {
	case it == nil, it.Token != c.PathValue("token"), it.Forgotten:
		return nil, shape.ErrUnknownInteract
	case it.Answer != 0:
		return nil, shape.ErrAlreadyAnswered
	case s.Now().Sub(it.At) > answerInTime:
		return nil, shape.ErrUnknownInteract
	}
	var b responseBody
	if err := shape.Decode(c.Body, &b); err != nil {
		return nil, err
	}
	if err := s.respondWith(it, b, c.Files); err != nil {
		return nil, err
	}
	it.Answer, it.AnsweredAt = b.Type, s.Now()
	if c.URL.Query().Get("with_response") != "true" {
		return nil, nil
	}
	out := map[string]any{"interaction": map[string]any{"id": it.ID, "type": it.Kind}}
	if r := s.Messages[it.Original]; r != nil {
		out["resource"] = map[string]any{"type": it.Answer, "message": r.Message}
	}
	return out, nil
}

// answersTo says which answers fit which interactions.
var answersTo = map[int][]int{
	CommandInteraction:      {AnswerMessage, AnswerDeferred, AnswerModal},
	ComponentInteraction:    {AnswerMessage, AnswerDeferred, AnswerDeferredEdit, AnswerEdit, AnswerModal},
	AutocompleteInteraction: {AnswerChoices},
	ModalInteraction:        {AnswerMessage, AnswerDeferred, AnswerDeferredEdit, AnswerEdit},
}

func (s *Server) respondWith(it *shape.Exchange, b responseBody, files []shape.Upload) error {
	edits := b.Type == AnswerEdit || b.Type == AnswerDeferredEdit
	if !slices.Contains(answersTo[it.Kind], b.Type) || edits && it.Target == "" {
		return shape.FormError("type", "INTERACTION_APPLICATION_INVALID_CALLBACK_TYPE",
			fmt.Sprintf("Callback type %d does not fit an interaction of type %d.", b.Type, it.Kind))
	}
	if len(b.Data) == 0 {
		b.Data = []byte("{}")
	}
	switch b.Type {
	case AnswerDeferredEdit:
		it.Original = it.Target
		return nil
	case AnswerEdit:
		return s.respondByEdit(it, b, files)
	case AnswerMessage, AnswerDeferred:
		return s.respondByMessage(it, b, files)
	default:
		return s.respondOtherwise(it, b)
	}
}

func (s *Server) respondByEdit(it *shape.Exchange, b responseBody, files []shape.Upload) error {
	r := s.Messages[it.Target]
	if r == nil || r.Deleted {
		return shape.ErrUnknownMessage
	}
	body, err := readMessageBody(b.Data)
	if err != nil {
		return underData(err)
	}
	if err := s.Fill(r, body, files); err != nil {
		return underData(err)
	}
	it.Original = it.Target
	s.Edited(r)
	return nil
}

func (s *Server) respondByMessage(it *shape.Exchange, b responseBody, files []shape.Upload) error {
	body, err := readMessageBody(b.Data)
	if err != nil {
		return underData(err)
	}
	r := s.newAnswer(it, body)
	it.Ephemeral = r.ViewerID != ""
	if b.Type == AnswerDeferred {
		r.Flags |= shape.FlagLoading
		it.Thinking = true
	} else if err := s.Fill(r, body, files); err != nil {
		return underData(err)
	}
	it.Original = r.ID
	s.Post(r)
	return nil
}

func (s *Server) respondOtherwise(it *shape.Exchange, b responseBody) error {
	var data shape.ResponseData
	if err := shape.Decode(b.Data, &data); err != nil {
		return underData(err)
	}
	var f shape.FormErrors
	if b.Type == AnswerModal {
		shape.CheckModal(&f, data)
		it.Modal = &shape.Modal{CustomID: data.CustomID, Title: data.Title, Components: data.Components}
	} else {
		f.Count("data.choices", len(data.Choices), 0, 25)
		it.Choices = data.Choices
	}
	return f.Err()
}

// newAnswer makes a message of an interaction, which nobody else may see when it
// asks for that.
func (s *Server) newAnswer(it *shape.Exchange, body MessageBody) *shape.Record {
	r := s.NewMessage(it.Channel, it.App.User)
	r.WebhookID, r.ApplicationID, r.TTS = it.App.User.ID, it.App.User.ID, body.TTS
	r.InteractionMetadata = &shape.InteractionMetadata{ID: it.ID, Type: it.Kind, Name: it.Name, User: it.User}
	if it.Kind == CommandInteraction {
		r.Type = shape.SlashCommandMessage
	}
	if body.Flags != nil {
		r.Flags = *body.Flags & (shape.FlagEphemeral | shape.FlagSuppressEmbeds | shape.FlagSilent | shape.FlagComponentsV2)
	}
	if r.Flags&shape.FlagEphemeral != 0 {
		r.ViewerID = it.User.ID
	}
	return r
}

// underData moves the complaints of a form below the field data.
func underData(err error) error {
	var refusal *shape.APIError
	if !errors.As(err, &refusal) || refusal.Code != 50035 {
		return err
	}
	return &shape.APIError{Status: http.StatusBadRequest, Code: 50035, Message: refusal.Message, Errors: map[string]any{"data": refusal.Errors}}
}
