package phone

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"clank/sessions"
	"clank/sharing"
	"clank/voice/talk"
	"clank/voice/talk/calls"
)

// callOn is the call of a guild, as shares know it.
func callOn(guild, channel string) sharing.Call {
	return sharing.Call{ID: "discord:" + guild, Guild: guild, Channel: channel}
}

// begin joins a voice channel and begins the conversation there.
func (x *Exchange) begin(ctx context.Context, c calls.Call) (calls.Session, error) {
	b := x.bot.Load()
	if b == nil {
		return nil, errors.New("clank is not connected to Discord")
	}
	line, err := x.joiner.Join(ctx, c.Guild, c.Channel)
	if err != nil {
		return nil, err
	}
	place := talk.Place{Kind: sessions.FromDiscord, Guild: c.Guild, Channel: c.Channel, Asked: c.Asked, Me: (*b).UserID()}
	// what the call tells later is not of the request that began it
	return x.conversation(line, place, postedTo{*b, line.Channel}, callOn(c.Guild, c.Channel)), nil
}

// day is how long it counts that a call was begun.
const day = 24 * time.Hour

// changed notes the beginning of a call, and ends what it has shown when it is over.
func (x *Exchange) changed(c calls.Call, open bool, why error) {
	if open && x.Diary != nil {
		x.work.Go(func() {
			ctx, done := context.WithTimeout(context.WithoutCancel(x.life), newsTimeout)
			defer done()
			if err := x.Diary.NoteCall(ctx, c.Since, time.Now().Add(-day)); err != nil {
				x.Logger.Warn("a call does not count for the day's limit after a restart", "error", err)
			}
		})
	}
	if open {
		return
	}
	x.Logger.Info("call ended", "guild", c.Guild, "channel", c.Channel, "reason", why)
	x.work.Go(func() {
		if err := x.shares.EndCall(context.WithoutCancel(x.life), callOn(c.Guild, c.Channel)); err != nil {
			x.Logger.Warn("share not ended with its call", "guild", c.Guild, "error", err)
		}
	})
}

// postedTo is the text chat of the voice channel in which a call is: people may move it.
type postedTo struct {
	Discord

	channel func() string
}

// Write implements [talk.Chat].
func (p postedTo) Write(ctx context.Context, m talk.Message) error {
	return p.Post(ctx, p.channel(), m.Text, m.Images)
}

// Join implements bot.Calls.
func (x *Exchange) Join(ctx context.Context, o sessions.Origin) (string, error) {
	c, err := x.calls.Join(ctx, o, "")
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("I am in <#%s>. Say “clank, …” to ask for something, and “stop” to stop it.", c.Channel)
	if missing := x.missing(); missing != "" {
		text += "\n" + missing
	}
	return text, nil
}

// Leave implements bot.Calls.
func (x *Exchange) Leave(ctx context.Context, o sessions.Origin) (string, error) {
	if err := x.calls.Leave(ctx, o); err != nil {
		return "", err
	}
	return "I have left the call.", nil
}

// Privacy implements bot.Calls.
func (x *Exchange) Privacy(ctx context.Context, o sessions.Origin, choice string) (string, error) {
	if choice != "" {
		if err := x.left.Set(ctx, o.Guild, o.User, choice == "out"); err != nil {
			return "", err
		}
	}
	var text strings.Builder
	if x.left.LeftOut(o.Guild, o.User) {
		text.WriteString("You are left out: in calls on this server I do not listen to you, and understand nothing of what you say. `/clank privacy` lets you be heard again.")
	} else {
		text.WriteString("In calls on this server I listen to you, for stop words and for what is said to me. `/clank privacy` lets you be left out.")
	}
	switch {
	case x.Settings().Voice.KeepTranscripts:
		text.WriteString(" What was understood is kept in words; sound is never kept.")
	default:
		text.WriteString(" Nothing of it is kept.")
	}
	if line, ok := x.joiner.Line(o.Guild); ok && line.PrivacyCode() != "" {
		fmt.Fprintf(&text, "\nThe privacy code of the call, as I see it: `%s`. Discord shows the same one to everybody in it.", line.PrivacyCode())
	}
	return text.String(), nil
}

// Share implements bot.Calls.
func (x *Exchange) Share(ctx context.Context, o sessions.Origin, session string) (string, error) {
	if session == "" || session == "last" {
		s, err := x.Sessions.LastSession(ctx, o)
		if err != nil {
			return "", errors.New("there is no browser session of yours here yet: ask for something first, or begin one with /clank browse")
		}
		session = s.ID
	}
	call, ok := x.callOf(o)
	if !ok {
		return "", errors.New("I am in no call on this server: bring me into yours with /clank join") //nolint:staticcheck // a person reads it
	}
	if s, err := x.Sessions.Session(ctx, session); err == nil && s.MayUse(o) && !x.within(o, call) { // others are refused anyway
		return "", errors.New("pages are shown only to a call that you are in; join it first")
	}
	r, err := x.shares.Share(ctx, call, session, o)
	if err != nil {
		return "", err
	}
	text := r.Message
	if s, ok := x.shares.Current(call); ok && s.Place.Link != "" {
		text += "\n" + s.Place.Link
	}
	return text, nil
}

// Unshare implements bot.Calls.
func (x *Exchange) Unshare(ctx context.Context, o sessions.Origin) (string, error) {
	call, ok := x.callOf(o)
	if !ok {
		return "", errors.New("nothing is shown: I am in no call on this server")
	}
	r, err := x.shares.Stop(ctx, call, o)
	if err != nil {
		return "", err
	}
	return r.Message, nil
}

// within reports whether somebody at o is in a call, or has a say about it from outside: what is shown there takes the place of what
// was shown before, and is seen by all.
func (x *Exchange) within(o sessions.Origin, call sharing.Call) bool {
	if call == pageCall || o.Moderator {
		return true
	}
	here, in := x.joiner.Where(o.Guild, o.User)
	return in && here == call.Channel
}

// callOf is the call that somebody at o means.
func (x *Exchange) callOf(o sessions.Origin) (sharing.Call, bool) {
	if o.Kind != sessions.FromDiscord {
		return pageCall, x.host.Current() != nil
	}
	for _, c := range x.calls.Open() {
		if c.Guild == o.Guild {
			return callOn(c.Guild, c.Channel), true
		}
	}
	return sharing.Call{}, false
}
