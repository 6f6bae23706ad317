package assistant

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"clank/llm"
	"clank/sessions"
)

// Limits of one reply.
const (
	maxRounds = 2 // follow-ups after tool results
	maxCalls  = 3 // browse calls

	maxReadRounds = 6 // with search and page reading

	// Tools that do one small thing each need more rounds.
	maxToolRounds = 25
	maxUses       = 60 // calls of tools other than browse

	maxQuery   = 2000 // characters of a browse query
	maxReason  = 500  // characters of the reason why a browse ended
	maxImages  = 8    // images shown to the model at once
	maxShown   = 10   // images in an answer
	maxTokens  = 4096 // of each answer of the model
	maxHistory = 24_000
)

// TaskRunner runs browses; see [sessions.Manager].
type TaskRunner interface {
	// Run runs a task and returns its final record. It calls watch with each event; watch must not block.
	Run(ctx context.Context, t sessions.Task, watch func(sessions.Event)) (sessions.TaskRecord, error)

	// LastSession returns the session that the person of o used last in the channel of o and can resume, or
	// [sessions.ErrNotFound].
	LastSession(ctx context.Context, o sessions.Origin) (sessions.Session, error)

	// Sessions returns the sessions that q selects, last used first.
	Sessions(ctx context.Context, q sessions.SessionQuery) ([]sessions.Session, error)

	// SendNote sends a note to the running or waiting task of a session and returns the task's id, or
	// [sessions.ErrNotFound] if there is none.
	SendNote(ctx context.Context, session string, from sessions.Origin, text string) (taskID string, err error)
}

// Host connects an [Assistant] to the rest of the program. Its methods are safe for concurrent use.
type Host interface {
	// Model returns the current model, or nil if none is configured; then messages are passed to the browser agent as
	// they are.
	Model(ctx context.Context) (llm.Model, error)

	// Tools returns the tools other than browse for the person at o.
	Tools(ctx context.Context, o sessions.Origin) []sessions.Tool

	// SingleCallTools returns additional tools that complete their work in one call, such as joining a voice channel,
	// and so do not increase the number of rounds.
	SingleCallTools(ctx context.Context, o sessions.Origin) []sessions.Tool

	// Disabled returns why the browser cannot be used now, in words for people; empty if it can.
	Disabled() string

	// Instructions returns the operator's instructions, which are added to those of this package.
	Instructions() string
}

// Assistant answers conversations. Set its fields before the first Reply; it is then safe for concurrent use.
type Assistant struct {
	Host  Host
	Tasks TaskRunner

	// Web are the tools that need no browser. The zero value has none.
	Web WebTools

	Logger *slog.Logger

	// Now is the clock; nil is [time.Now].
	Now func() time.Time
}

// Turn is a conversation to be answered. The last of Lines is the one to answer. Origin is its author and channel.
type Turn struct {
	Origin sessions.Origin
	Lines  []ChatLine

	Typed bool // a person typed the last line, rather than spoke it

	Files []sessions.File // attached to the last line, for its browses; the caller discards them after Reply

	// CanAsk means that the choices of a question can be shown to the person; see [Answer.Asks].
	CanAsk bool

	// Style is an additional instruction about the style of the answer; empty means the style of a chat.
	Style string

	// OnText, which may be nil, is called with pieces of the model's text while it is written, on the goroutine of
	// Reply. It must not block.
	OnText func(TextChunk)
}

// TextChunk is a piece of the model's text.
type TextChunk struct {
	Text string // as received: Markdown, cut anywhere

	// Complete means that the text so far is complete and tools are called now. It is not part of [Answer.Text];
	// later pieces start a new text.
	Complete bool
}

// ChatLine is a line of a conversation.
type ChatLine struct {
	Speaker       string // display name; ignored if FromAssistant
	SpeakerID     string // the author: lines of others than the requester are quoted to the model
	FromAssistant bool   // written by the assistant
	Text          string
	Images        []llm.Image
	Notes         []string // about what cannot be shown: "a.pdf is not a picture"
	Subject       bool     // the last line refers to this one: without a model, browse gets it as well
}

// Progress is an event of a browse that a reply has started. Call numbers the browses of the reply from 1.
type Progress struct {
	Call  int
	Query string
	Event sessions.Event
}

// Answer is the result of a reply. Text is empty only if there are Images. Sessions are the ids of the sessions that
// can be resumed.
type Answer struct {
	Text      string
	Remainder string // the end of Text that was not passed to [Turn.OnText]; empty without OnText
	Truncated bool   // the text passed to OnText is incomplete; Remainder says why
	Images    []llm.Image
	View      *llm.Image // the last screenshot, if the model chose no images and none must be withheld; may be nil
	Sessions  []string
	Files     []sessions.File // downloads of the browses
	Asks      bool            // Text ends with a question that must be answered to continue
	Choices   []string        // possible answers, if there are few
	Usage     llm.Usage       // of the assistant's own model; browses count their own
}

// Reply answers the turn. watch, which may be nil, is called with the events of browses, by one goroutine at a time;
// it must not block. When ctx ends, Reply returns its cause as soon as every browse it started has ended. Errors of
// the model contain an [*llm.Error].
func (b *Assistant) Reply(ctx context.Context, t Turn, watch func(Progress)) (Answer, error) {
	m, err := b.Host.Model(ctx)
	if err != nil {
		return Answer{}, err
	}
	r := &replyRun{assistant: b, turn: t, model: m}
	if watch != nil {
		r.watch = watch
	}
	answer := r.converse
	if m == nil {
		answer = r.answerWithoutModel
	}
	a, err := answer(ctx)
	switch {
	case t.OnText == nil:
		a.Remainder = ""
	case m == nil:
		a.Remainder = a.Text
	}
	return a, err
}

func (b *Assistant) now() time.Time {
	if b.Now == nil {
		return time.Now()
	}
	return b.Now()
}

func (b *Assistant) logger() *slog.Logger { return cmp.Or(b.Logger, slog.New(slog.DiscardHandler)) }

// lastSession returns the session to resume. An error of the lookup is logged and does not prevent an answer.
func (b *Assistant) lastSession(ctx context.Context, o sessions.Origin) (sessions.Session, bool) {
	s, err := b.Tasks.LastSession(ctx, o)
	if err != nil && !errors.Is(err, sessions.ErrNotFound) {
		b.logger().Warn("last session not found out", "channel", o.Channel, "error", err)
	}
	return s, err == nil
}
