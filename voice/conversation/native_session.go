package conversation

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"clank/cancel"
	"clank/internal/untrusted"
	"clank/llm"
	"clank/sessions"
	"clank/voice"
	"clank/voice/realtime"
	"clank/voice/speech/playout"
)

// permissionFor is how long the result of a permission check is kept.
const permissionFor = 5 * time.Second

// nativeSession is the part of a call that a [NativeModel] serves. A nil one does nothing.
type nativeSession struct {
	call    *call
	end     context.CancelCauseFunc
	asker   *person // the person heard last
	preWake PreWakeBuffer
	heard   heardPeople

	playing atomic.Bool // an answer of the model is being played
}

// setPlaying stores whether an answer of the model is being played.
func (n *nativeSession) setPlaying(on bool) {
	if n != nil {
		n.playing.Store(on)
	}
}

// startNative begins the conversation. Run waits for its end.
func (c *call) startNative(ctx context.Context) {
	n := &nativeSession{call: c}
	ctx, n.end = context.WithCancelCause(ctx)
	c.native = n
	c.work.Go(func() {
		defer n.end(context.Canceled)
		err := c.Native.Run(ctx, n)
		if err == nil {
			err = context.Cause(ctx)
		}
		c.post(func(ctx context.Context) {
			if ctx.Err() == nil {
				n.handleEnd(err)
			}
		})
	})
}

// Speak implements [realtime.Listener].
func (n *nativeSession) Speak(to []string, s playout.SoundFunc) realtime.PlaybackPosition {
	p := &PendingPlayback{}
	n.call.post(func(ctx context.Context) { n.playAnswer(ctx, to, s, p) })
	return p
}

// StopPlayback implements [realtime.Listener].
func (n *nativeSession) StopPlayback(cause error) {
	if n.playing.Load() && n.call.Player != nil { // immediately, so that it is known how much was heard
		n.call.Player.Silence(cause)
	}
	n.call.post(func(context.Context) { n.stopAnswer(cause) })
}

// Heard implements [realtime.Listener].
func (n *nativeSession) Heard(by []string, text string) {
	n.call.post(func(ctx context.Context) { n.handleHeard(ctx, by, text) })
}

// Answered implements [realtime.Listener].
func (n *nativeSession) Answered(text string) {
	n.call.post(func(context.Context) { n.handleAnswerText(text) })
}

// Trouble implements [realtime.Listener].
func (n *nativeSession) Trouble(err *llm.Error) {
	c := n.call
	c.log.Warn("trouble with the native conversation", "error", err)
	c.post(func(context.Context) {
		c.reportOnce("native trouble", c.Locale.T("Something failed: %s", c.reason(err)))
	})
}

// Show implements [realtime.Listener].
func (n *nativeSession) Show(text string, images []llm.Image) {
	n.call.write(Message{Text: text, Images: images})
}

// Name implements [realtime.Listener].
func (n *nativeSession) Name(id string) string {
	name := strings.NewReplacer("[", "(", "]", ")").Replace(n.heard.name(id))
	return untrusted.CleanLine(name, maxSpokenName)
}

// Asker implements [realtime.Listener].
func (n *nativeSession) Asker(ctx context.Context, by []string) (sessions.Origin, error) {
	return n.heard.asker(ctx, by, n.call.Host)
}

// handleEnd tells people that the model no longer answers.
func (n *nativeSession) handleEnd(err error) {
	why := n.call.Locale.T("The conversation with the model has ended.")
	if err != nil {
		why = n.call.reason(err)
	}
	n.call.native = nil
	if n.call.reportSpent(nil, err) {
		why = n.call.Locale.T("The budget is spent.")
	} else {
		n.call.log.Error("native conversation ended", "error", err)
	}
	n.call.reportOnce("native", n.call.capabilities().ModelGoneText(why))
}

// hearSound passes speech that is for us to the model, with what was said just before our name.
func (n *nativeSession) hearSound(ctx context.Context, p *person, s voice.Sound) {
	now := time.Now()
	if !n.call.participants.onlyHuman(p) && !now.Before(p.openUntil) &&
		(p.namedAt.IsZero() || now.Sub(p.namedAt) > wakeWindow) {
		n.preWake.Add(s)
		return
	}
	if n.startHearing(ctx, p) {
		n.call.Native.Hear(s)
	}
}

// allowed reports whether p may make requests now. The reason is told once, until they may again.
func (n *nativeSession) allowed(ctx context.Context, p *person) bool {
	c, now := n.call, time.Now()
	if now.Sub(p.checkedAt) < permissionFor {
		return !p.refused
	}
	why := c.Host.DisabledReason(ctx, c.origin(p))
	told := p.refused
	p.checkedAt, p.refused = now, why != ""
	if p.refused && !told {
		c.write(Message{Text: escapeName(p.name()) + ": " + c.Locale.Sentence(why)})
		c.acknowledge(why)
	}
	return !p.refused
}

// startHearing lets the model hear p, who speaks to us, and what they said just before. It reports whether that is
// allowed.
func (n *nativeSession) startHearing(ctx context.Context, p *person) bool {
	if n == nil {
		return false
	}
	if !n.allowed(ctx, p) {
		n.preWake.Drain(p.ID)
		return false
	}
	n.asker = p
	n.heard.add(p.Person, n.call.origin(p))
	for _, s := range n.preWake.Drain(p.ID) {
		n.call.Native.Hear(s)
	}
	return true
}

func (n *nativeSession) forget(id string) { n.preWake.Drain(id) }

// playAnswer plays an answer to some people, in place of one that is being played.
func (n *nativeSession) playAnswer(ctx context.Context, to []string, s playout.SoundFunc, p *PendingPlayback) {
	c := n.call
	if c.Player == nil {
		c.reportOnce("speak", c.Locale.T(noSpeechText))
		return
	}
	n.stopAnswer(&cancel.Cause{Reason: cancel.Superseded})
	c.speech.queue = append([]*speechItem{{to: n.addressee(to), sound: s, playback: p}}, c.speech.queue...)
	c.speakNext(ctx)
}

// addressee returns the person who is answered: the one heard last, if they are among ids.
func (n *nativeSession) addressee(ids []string) *person {
	if n.asker != nil && slices.Contains(ids, n.asker.ID) {
		return n.asker
	}
	for _, id := range ids {
		if p := n.call.participants.people[id]; p != nil {
			return p
		}
	}
	return n.asker
}

// stopAnswer silences the answer that is being played.
func (n *nativeSession) stopAnswer(cause error) {
	s := &n.call.speech
	n.call.dropWhere(func(p *speechItem) bool { return p.sound != nil && p == s.current }, cause)
}

// handleInterrupted handles the interruption of the answer being played.
func (n *nativeSession) handleInterrupted(p *speechItem) {
	if n != nil && p.sound != nil {
		n.call.Native.Interrupt()
	}
}

func (n *nativeSession) handleAnswerEnd(p *speechItem) {
	if n != nil && p.to != nil && p.to.present && !p.to.optedOut {
		p.to.openUntil = time.Now().Add(followUpWindow)
	}
}

// stop ends what the model says and does for p, or for everyone. Whether anything was stopped is known only for its
// speech and its tools.
func (n *nativeSession) stop(p *person, all bool, cause error) {
	switch {
	case n == nil:
	case all:
		n.call.Native.Cancel(cause, "")
	default:
		n.call.Native.Cancel(cause, p.ID)
	}
}

// unknownSpeaker is the speaker of an utterance during which several people spoke.
var unknownSpeaker = voice.Person{ID: "somebody", Name: "Somebody"}

// speaker returns the speaker of an utterance, from the ids of the people who spoke. A single one is known by their id,
// even if they have left.
func (n *nativeSession) speaker(by []string) voice.Person {
	if len(by) != 1 || by[0] == "" {
		return unknownSpeaker
	}
	who := voice.Person{ID: by[0]}
	if p := n.call.participants.people[who.ID]; p != nil {
		who = p.Person
	}
	who.Name = cmp.Or(who.Name, n.heard.name(who.ID), unknownSpeaker.Name)
	return who
}

// handleHeard handles a transcribed utterance and its possible speakers. Stops and opt-outs are not left to the model.
// A stop counts for each person who may have said it, or for the one heard last if none is known. Opting out is only
// possible if the speaker is known.
func (n *nativeSession) handleHeard(ctx context.Context, by []string, text string) {
	var sure *person
	if len(by) == 1 {
		sure = n.call.participants.people[by[0]]
	}
	said := TranscriptLine{Speaker: n.speaker(by), Text: text, At: time.Now()}
	n.call.recordLine(said)
	n.call.showLine(said)
	named, rest := CutName(text, n.call.Options.Names)
	switch {
	case n.call.isStop(text), named && n.call.isStop(rest):
		stopped := false
		for _, id := range by {
			if p := n.call.participants.people[id]; p != nil {
				n.call.stop(p, named)
				stopped = true
			}
		}
		if !stopped && n.asker != nil {
			n.call.stop(n.asker, named)
		}
	case named && IsOptOutRequest(rest) && sure == nil:
		written, spoken := n.call.capabilities().UnclearOptOutTexts()
		n.call.acknowledge(spoken)
		n.call.reportOnce("whose privacy", written)
	case named && IsOptOutRequest(rest):
		n.call.optOut(ctx, sure)
	}
}

// handleAnswerText handles what the model has said.
func (n *nativeSession) handleAnswerText(text string) {
	if p := n.call.speech.current; p != nil && p.sound != nil {
		p.ownSpeech.Append(text)
	}
	said := TranscriptLine{Text: text, At: time.Now()}
	n.call.recordLine(said)
	n.call.showLine(said)
}
