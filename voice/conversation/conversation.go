package conversation

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"clank/cancel"
	"clank/internal/i18n"
	"clank/sessions"
	"clank/voice"
)

// closeTimeout bounds leaving the call, and writing the last messages.
const closeTimeout = 10 * time.Second

// Location is the place of a call. The channel's text chat has the same id as the channel.
type Location struct {
	Kind        sessions.OriginKind
	Guild       string
	Channel     string
	TextChannel string // the text channel where the call was requested; may be empty
	SelfID      string // our own user id there; our own speech is ignored
}

// BargeIn selects who may interrupt us by speaking. Stop words and our name always interrupt, except with [NoBargeIn],
// with which only stop words do.
type BargeIn string

// The choices.
const (
	AnyoneBargesIn BargeIn = "anyone" // the default
	AskerBargesIn  BargeIn = "asker"  // the person who is being answered
	NoBargeIn      BargeIn = "none"
)

// Options are an operator's options. Zero values have the stated defaults.
type Options struct {
	// TranscribeAll transcribes everything, not only what is probably said to us: this finds our name without a spotter,
	// and costs accordingly.
	TranscribeAll bool

	Names        []string      // by which people call us, beside "clank"
	BargeIn      BargeIn       // anyone
	AloneTimeout time.Duration // without people, until we leave; 5 min
	MaxDuration  time.Duration // of the whole call; none

	RequireEncryption bool // leave a call that the servers which carry it can hear
}

// Conversation is one conversation. Set its fields, then call Run once.
type Conversation struct {
	Line      voice.Line
	Location  Location
	Assistant Replier
	Host      Host

	Detector SpeechDetector
	Chat     Chat

	// Player speaks; nil: answers are only written.
	Player Player

	// Transcriber puts speech into words; nil: only phrases of the Spotter are understood.
	Transcriber voice.Transcriber

	// Spotter detects stop words and our name, at [voice.RateSpeech]; nil: only whole utterances are understood. Its
	// phrases are a stop if [cancel.IsStop] says so, our name, or "clank privacy".
	Spotter voice.Spotter

	// Native hears and speaks by itself. It then replaces Transcriber, Assistant and the synthesis of Player; nil means
	// none.
	Native NativeModel

	Scopes *cancel.Scopes

	// Privacy stores who opted out. Nil: people mute themselves instead, as on a page of our own.
	Privacy *voice.PrivacyList

	// Recorder stores what was said; nil: nothing is stored.
	Recorder Recorder

	Locale      i18n.Locale // of messages in the chat
	VoiceLocale i18n.Locale // of sentences of our own that are spoken: what the voice speaks

	Options Options
	Logger  *slog.Logger
}

// Run holds the conversation until the call has ended, and leaves it if it ends before. It returns why: nil when the
// line was closed, [ErrCallEmpty], [ErrCallTooLong], [ErrCallUnencrypted], the error of the line, or the cause of ctx.
// Everything it has started has ended then.
func (t *Conversation) Run(ctx context.Context) error {
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(context.Canceled)
	c := newCall(t, leave)
	scribe := NewMessageWriter(context.WithoutCancel(ctx), t.Chat, c.log) // it writes the remaining messages after the end
	c.messages = scribe
	c.work.Go(func() {
		if err := c.Detector.Run(ctx, heard{c}); err != nil {
			c.log.Error("nobody in the call is heard", "error", err)
			c.post(func(context.Context) {
				c.reportOnce("ear", c.Locale.T("I cannot hear anybody in this call: %s", c.reason(err)))
			})
		}
	})
	if t.Player != nil {
		c.work.Go(func() {
			if err := t.Player.Run(ctx); err != nil {
				c.log.Error("nothing can be said in the call", "error", err)
			}
		})
	}
	if t.Native != nil {
		c.startNative(ctx)
	}
	err := c.loop(ctx)
	leave(callEnd(err))
	c.stopAllSpotting()
	c.work.Wait()
	for _, j := range c.jobs { // nobody handles their results any more
		j.handle.End()
	}
	last, done := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer done()
	scribe.Close(last)
	if e := t.Line.Close(last); e != nil {
		c.log.Warn("call not left in order", "channel", t.Location.Channel, "error", e)
	}
	return err
}

// heard passes what is detected on to the loop of the call. It implements [vad.Listener].
type heard struct{ call *call }

// Sound implements [vad.Listener].
func (h heard) Sound(s voice.Sound) {
	h.call.offer(func(ctx context.Context) { h.call.handleSound(ctx, s) })
}

// Ended implements [vad.Listener].
func (h heard) Ended(u voice.Utterance) {
	h.call.post(func(ctx context.Context) { h.call.handleUtterance(ctx, u) })
}

// Paused implements [vad.Listener].
func (h heard) Paused(u voice.Utterance) {
	h.call.post(func(ctx context.Context) { h.call.handlePause(ctx, u) })
}

// Speaking implements [vad.Listener].
func (h heard) Speaking(person string, voiced time.Duration, over bool) {
	h.call.post(func(context.Context) { h.call.handleSpeaking(person, voiced, over) })
}

// callEnd returns the cause for ending what still runs.
func callEnd(err error) error {
	if causeOf(err) != nil {
		return err
	}
	c := &cancel.Cause{Reason: cancel.Gone, Detail: "the call has ended"}
	if err != nil {
		c.Detail = err.Error()
	}
	return c
}

// causeOf returns the cause of cancellation in err's chain, or nil.
func causeOf(err error) *cancel.Cause {
	c, _ := errors.AsType[*cancel.Cause](err)
	return c
}
