package discordtest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
)

// respond is the first answer to an interaction.
func (s *Server) respond(c *call) (any, error) {
	it := s.interactions[c.PathValue("interaction")]
	switch {
	case it == nil, it.token != c.PathValue("token"), it.forgotten:
		return nil, errUnknownInteract
	case it.answer != 0:
		return nil, errAlreadyAnswered
	case s.now().Sub(it.at) > answerInTime:
		return nil, errUnknownInteract
	}
	var b responseBody
	if err := decode(c.body, &b); err != nil {
		return nil, err
	}
	if err := s.respondWith(it, b, c.files); err != nil {
		return nil, err
	}
	it.answer, it.answeredAt = b.Type, s.now()
	if c.URL.Query().Get("with_response") != "true" {
		return nil, nil
	}
	out := map[string]any{"interaction": map[string]any{"id": it.id, "type": it.kind}}
	if r := s.messages[it.original]; r != nil {
		out["resource"] = map[string]any{"type": it.answer, "message": r.Message}
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

func (s *Server) respondWith(it *interaction, b responseBody, files []upload) error {
	edits := b.Type == AnswerEdit || b.Type == AnswerDeferredEdit
	if !slices.Contains(answersTo[it.kind], b.Type) || edits && it.target == "" {
		return formError("type", "INTERACTION_APPLICATION_INVALID_CALLBACK_TYPE",
			fmt.Sprintf("Callback type %d does not fit an interaction of type %d.", b.Type, it.kind))
	}
	if len(b.Data) == 0 {
		b.Data = []byte("{}")
	}
	switch b.Type {
	case AnswerDeferredEdit:
		it.original = it.target
		return nil
	case AnswerEdit:
		return s.respondByEdit(it, b, files)
	case AnswerMessage, AnswerDeferred:
		return s.respondByMessage(it, b, files)
	default:
		return s.respondOtherwise(it, b)
	}
}

func (s *Server) respondByEdit(it *interaction, b responseBody, files []upload) error {
	r := s.messages[it.target]
	if r == nil || r.deleted {
		return errUnknownMessage
	}
	body, err := readMessageBody(b.Data)
	if err != nil {
		return underData(err)
	}
	if err := s.fill(r, body, files); err != nil {
		return underData(err)
	}
	it.original = it.target
	s.edited(r)
	return nil
}

func (s *Server) respondByMessage(it *interaction, b responseBody, files []upload) error {
	body, err := readMessageBody(b.Data)
	if err != nil {
		return underData(err)
	}
	r := s.newAnswer(it, body)
	it.ephemeral = r.ViewerID != ""
	if b.Type == AnswerDeferred {
		r.Flags |= FlagLoading
		it.thinking = true
	} else if err := s.fill(r, body, files); err != nil {
		return underData(err)
	}
	it.original = r.ID
	s.post(r)
	return nil
}

func (s *Server) respondOtherwise(it *interaction, b responseBody) error {
	var data responseData
	if err := decode(b.Data, &data); err != nil {
		return underData(err)
	}
	var f formErrors
	if b.Type == AnswerModal {
		checkModal(&f, data)
		it.modal = &Modal{data.CustomID, data.Title, data.Components}
	} else {
		f.count("data.choices", len(data.Choices), 0, 25)
		it.choices = data.Choices
	}
	return f.err()
}

// newAnswer makes a message of an interaction, which nobody else may see when it
// asks for that.
func (s *Server) newAnswer(it *interaction, body messageBody) *record {
	r := s.newMessage(it.channel, it.app.user)
	r.WebhookID, r.ApplicationID, r.TTS = it.app.user.ID, it.app.user.ID, body.TTS
	r.InteractionMetadata = &InteractionMetadata{ID: it.id, Type: it.kind, Name: it.name, User: it.user}
	if it.kind == CommandInteraction {
		r.Type = SlashCommandMessage
	}
	if body.Flags != nil {
		r.Flags = *body.Flags & (FlagEphemeral | FlagSuppressEmbeds | FlagSilent | FlagComponentsV2)
	}
	if r.Flags&FlagEphemeral != 0 {
		r.ViewerID = it.user.ID
	}
	return r
}

// underData moves the complaints of a form below the field data.
func underData(err error) error {
	var refusal *apiError
	if !errors.As(err, &refusal) || refusal.Code != 50035 {
		return err
	}
	return &apiError{Status: http.StatusBadRequest, Code: 50035, Message: refusal.Message, Errors: map[string]any{"data": refusal.Errors}}
}
