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

	maxReadRounds = 6 // where it may also search and read without a browser

	// With tools that do one small thing each, a reply takes more of them.
	maxToolRounds = 25
	maxUses       = 60 // calls of tools other than the browse

	maxQuery   = 2000 // characters of a browse query
	maxReason  = 500  // characters of why a browse ended
	maxImages  = 8    // pictures shown to the model at once
	maxShown   = 10   // pictures in an answer
	maxTokens  = 4096 // of each answer of the model
	maxHistory = 24_000
)

// TaskRunner runs browses. [sessions.Manager] is one.
type TaskRunner interface {
	// Run blocks until the task has reached its end and returns what became of
	// it. watch is called with each event, and must not block.
	Run(ctx context.Context, t sessions.Task, watch func(sessions.Event)) (sessions.TaskRecord, error)

	// LastSession is the session that the person of o used last in the channel
	// of o and can go on with, or [sessions.ErrNotFound].
	LastSession(ctx context.Context, o sessions.Origin) (sessions.Session, error)

	// Sessions returns those that q asks for, last used first.
	Sessions(ctx context.Context, q sessions.SessionQuery) ([]sessions.Session, error)

	// SendNote tells the task that runs or waits in a session something, and returns
	// its id; [sessions.ErrNotFound] if there is none.
	SendNote(ctx context.Context, session string, from sessions.Origin, text string) (taskID string, err error)
}

// Host is what an [Assistant] asks of the program. Its methods are safe for concurrent use.
type Host interface {
	// Model returns the model to ask now, or nil if none is configured: what people say is then given to the browser agent
	// as it is.
	Model(ctx context.Context) (llm.Model, error)

	// Tools returns what the model may use besides the browse, for the person at o.
	Tools(ctx context.Context, o sessions.Origin) []sessions.Tool

	// SingleCallTools returns further tools, each of which does a whole thing in one call, such as coming into a voice
	// channel: a reply takes no more rounds with them than without.
	SingleCallTools(ctx context.Context, o sessions.Origin) []sessions.Tool

	// Disabled says why the browser may not be used now, in words for people; empty if it may.
	Disabled() string

	// Instructions returns the operator's own, which are added to those of this package.
	Instructions() string
}

// Assistant answers. Set its fields before the first Reply; it is then safe for
// concurrent use.
type Assistant struct {
	Host  Host
	Tasks TaskRunner

	// Web is what needs no browser. Its zero value has nothing.
	Web WebTools

	Logger *slog.Logger

	// Now is the clock; nil is [time.Now].
	Now func() time.Time
}

// Turn is a conversation that waits for an answer. The last of Lines is the one
// to answer. Origin is who said it, and where.
type Turn struct {
	Origin sessions.Origin
	Lines  []ChatLine

	Typed bool // a person typed the last line; it was not spoken

	Files []sessions.File // came with the last line, for its browses; the caller discards them after Reply

	// CanAsk says that the person can be shown the choices of a question; see [Answer.Asks].
	CanAsk bool

	// Style is how the answer is to be put, told to the model beside what it always is told; empty is as one writes in a chat.
	Style string

	// OnText, which may be nil, is told what the model writes while it writes it, piece by piece, on the goroutine of Reply. It must
	// not block.
	OnText func(TextChunk)
}

// TextChunk is some of what the model writes.
type TextChunk struct {
	Text string // as it comes: Markdown, cut anywhere

	// Complete says that what was written so far goes before tools that are used now. It is no part of [Answer.Text]; what is written after
	// that is something new.
	Complete bool
}

// ChatLine is something somebody said.
type ChatLine struct {
	Speaker       string // display name; ignored if FromAssistant
	SpeakerID     string // whose words they are: those of others than the one who asks are quoted to the model
	FromAssistant bool   // said by the brain itself
	Text          string
	Images        []llm.Image
	Notes         []string // about what cannot be shown: "a.pdf is not a picture"
	Subject       bool     // the last line is about it: a browse without a model to talk with is told it, too
}

// Progress is news of a browse that a reply has begun. Call counts the browses
// of the reply from 1.
type Progress struct {
	Call  int
	Query string
	Event sessions.Event
}

// Answer holds what to say and to show. Text is empty only if there are Images.
// Sessions are the ids of the sessions that can be continued.
type Answer struct {
	Text      string
	Remainder string // the end of Text, of which [Turn.Writes] was not told; empty if nobody is told
	Truncated bool   // what it was told breaks off; Rest says why
	Images    []llm.Image
	View      *llm.Image // how the last page looked, if no picture was chosen and none is to be kept back; may be nil
	Sessions  []string
	Files     []sessions.File // that pages of the browses offered
	Asks      bool            // Text ends with a question, which must be answered to go on
	Choices   []string        // what the answer can be, if it is one of few
	Usage     llm.Usage       // of the brain's own model; browses count their own
}

// Reply answers the turn. It blocks until the answer is there. watch, which may
// be nil, is told what the browses do, by one goroutine at a time; it must not
// block. When ctx ends Reply returns its cause at once, after every browse it
// began has ended. Errors of the model are [*llm.Error] in a chain.
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

// lastSession returns the session to go on with. That it cannot be found out is logged, and
// no reason to leave somebody without an answer.
func (b *Assistant) lastSession(ctx context.Context, o sessions.Origin) (sessions.Session, bool) {
	s, err := b.Tasks.LastSession(ctx, o)
	if err != nil && !errors.Is(err, sessions.ErrNotFound) {
		b.logger().Warn("last session not found out", "channel", o.Channel, "error", err)
	}
	return s, err == nil
}
