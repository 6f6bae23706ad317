package dashboard

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"clank/cancel"
	"clank/dashboard/api"
	"clank/internal/assistant"
	"clank/llm"
	"clank/sessions"
)

// Assistant holds conversations with people; see [assistant.Assistant].
type Assistant interface {
	Reply(ctx context.Context, t assistant.Turn, watch func(assistant.Progress)) (assistant.Answer, error)
}

// maxMessage is the maximum length of a message in characters, the same as in the message box.
const maxMessage = 8000

// noAssistant returns why v cannot talk with the assistant; empty if v can.
func (s *Server) noAssistant(v visitor) string {
	switch {
	case s.Assistant != nil && s.Settings.Current().AssistantModel != "":
		return ""
	case v.role < RoleOperator:
		return "The operator of this clank has not chosen an assistant model."
	}
	return "No assistant model is chosen."
}

// talk answers a message to the assistant until the client disconnects. It streams "text" as the model writes it and
// "task" for each task it starts (the page's own stream has their progress), and ends with "answer" or "error".
func (s *Server) talk(w http.ResponseWriter, r *http.Request) error {
	var in api.TalkRequest
	if err := readJSON(r, &in); err != nil {
		return err
	}
	v := visitorOf(r)
	if why := s.noAssistant(v); why != "" {
		return refuse(http.StatusConflict, "%s", why)
	}
	origin, err := s.askingOrigin(r.Context(), v, api.TaskRequest{Place: in.Place, Private: in.Private})
	switch said := strings.TrimSpace(in.Text); {
	case err != nil:
		return err
	case said == "" || utf8.RuneCountInString(said) > maxMessage:
		return refuse(http.StatusBadRequest, "say something, in at most %d characters", maxMessage)
	case s.Host.IsStop(said):
		return writeJSON(w, http.StatusOK, s.stopAll(v, origin))
	}
	turn := assistant.Turn{Origin: origin, Typed: true, CanAsk: true}
	for _, l := range append(in.Lines, api.TalkLine{Text: in.Text}) {
		turn.Lines = append(turn.Lines, assistant.ChatLine{
			Speaker: origin.RequesterName(), SpeakerID: origin.User, FromAssistant: l.FromAssistant, Text: l.Text,
		})
	}
	work := cancel.Work{ID: "talk-" + sessions.RandomID(6), Owner: origin.User, Label: "answer in the chat"}
	ctx, handle := s.Scopes.Begin(context.WithoutCancel(r.Context()),
		cancel.Scope{Guild: origin.Guild, Channel: origin.Channel}, work)
	defer handle.End()
	if st, ok := openStream(w); ok {
		s.reply(ctx, r, handle, st, turn)
	}
	return nil
}

// reply runs the assistant and streams its answer. It stops when the client disconnects or loses its rights.
func (s *Server) reply(ctx context.Context, r *http.Request, handle *cancel.Handle, st *eventStream,
	turn assistant.Turn,
) {
	news := talkUpdates{pending: make(chan struct{}, 1), announced: map[string]bool{}}
	turn.OnText = func(t assistant.TextChunk) { news.add("text", api.TalkText{Text: t.Text, Complete: t.Complete}) }
	done := make(chan struct{})
	go func() {
		defer close(done)
		answer, err := s.Assistant.Reply(ctx, turn, news.addTask)
		if err != nil {
			news.add("error", api.ErrorResponse{Error: s.talkFailure(ctx, err)})
			return
		}
		news.add("answer", api.TalkAnswer{Text: answer.Text, Choices: answer.Choices})
	}()
	beat := time.Tick(s.Recheck)
	gone := r.Context().Done()
	for {
		ended := false
		select {
		case <-done:
			ended = true
		case <-news.pending:
		case <-gone:
			gone = nil
			handle.Stop(cmp.Or(cancel.CauseOf(r.Context(), nil), &cancel.Cause{Reason: cancel.Gone}))
		case <-beat:
			if s.identify(r).roleAt(turn.Origin) < RoleMember {
				handle.Stop(&cancel.Cause{Reason: cancel.Gone})
			}
			st.keepAlive()
		}
		for _, n := range news.take() {
			if !st.sendJSON("", n.event, n.data) {
				handle.Stop(&cancel.Cause{Reason: cancel.Gone})
			}
		}
		if ended {
			return
		}
	}
}

// talkFailure returns the reason, for people, why there is no answer.
func (s *Server) talkFailure(ctx context.Context, err error) string {
	if c := cancel.CauseOf(ctx, err); c != nil {
		return c.Error()
	}
	if e, ok := errors.AsType[*llm.Error](err); ok {
		return e.Error()
	}
	s.Logger.Error("the assistant did not answer", "error", err)
	return "clank could not answer; its log says why"
}

// talkUpdates holds what is still to be sent to the client. Adding to it does not block.
type talkUpdates struct {
	pending chan struct{} // holds one value while there is something to send

	mu        sync.Mutex
	list      []talkEvent
	announced map[string]bool // tasks already announced
}

type talkEvent struct {
	event string
	data  any
}

func (n *talkUpdates) add(event string, data any) {
	n.mu.Lock()
	n.list = append(n.list, talkEvent{event, data})
	n.mu.Unlock()
	select {
	case n.pending <- struct{}{}:
	default:
	}
}

// addTask announces each task once, if the client may read it.
func (n *talkUpdates) addTask(p assistant.Progress) {
	n.mu.Lock()
	known := n.announced[p.Event.Record.ID]
	n.announced[p.Event.Record.ID] = true
	n.mu.Unlock()
	if !known {
		n.add("task", shownRecord(p.Event.Record, true))
	}
}

func (n *talkUpdates) take() []talkEvent {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := n.list
	n.list = nil
	return list
}
