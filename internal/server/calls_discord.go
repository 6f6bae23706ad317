package server

import (
	"context"
	"errors"
	"time"

	"clank/sessions"
	"clank/voice"
	"clank/voice/conversation"
	"clank/voice/share"
)

// callRefOf returns the reference of a guild's call in shares.
func callRefOf(guild, channel string) share.CallRef {
	return share.CallRef{ID: "discord:" + guild, Guild: guild, Channel: channel}
}

// discordCalls connects the registry of Discord calls to the rest of the program.
type discordCalls struct{ service *CallService }

// StartCall implements [conversation.RegistryHost].
func (d discordCalls) StartCall(ctx context.Context, c conversation.CallInfo) (conversation.CallRunner, error) {
	x := d.service
	b := x.bot.Load()
	if b == nil {
		return nil, errors.New("clank is not connected to Discord")
	}
	line, err := x.joiner.Join(ctx, c.Guild, c.Channel)
	if err != nil {
		return nil, err
	}
	place := conversation.Location{
		Kind: sessions.FromDiscord, Guild: c.Guild, Channel: c.Channel, TextChannel: c.TextChannel, SelfID: (*b).UserID(),
	}
	// The conversation outlives the request that started it.
	return x.newConversation(line, place, callChat{*b, line.Channel, func() bool { return x.isPrivate(c.Guild) }},
		callRefOf(c.Guild, c.Channel)), nil
}

// ChannelOf implements [conversation.RegistryHost].
func (d discordCalls) ChannelOf(guild, user string) (channel string, ok bool) {
	return d.service.joiner.ChannelOf(guild, user)
}

// CurrentChannel implements [conversation.RegistryHost].
func (d discordCalls) CurrentChannel(guild string) (channel string, ok bool) {
	line, ok := d.service.joiner.Line(guild)
	if !ok {
		return "", false
	}
	return line.Channel(), true
}

// CallPolicy implements [conversation.RegistryHost].
func (d discordCalls) CallPolicy() conversation.CallPolicy {
	v := d.service.Settings.Current().Voice
	allowed, blocked := v.Channels()
	return conversation.CallPolicy{
		Enabled: v.Enabled, AutoJoin: v.AutoJoin, AllowedChannels: allowed, BlockedChannels: blocked,
		Max: v.MaxCalls, PerDay: v.CallsPerDay.Guild, PerDayAndUser: v.CallsPerDay.User,
		MissingSetup: d.service.realtimeProblem(v),
	}
}

// callCountWindow is the period over which started calls are counted.
const callCountWindow = 24 * time.Hour

// CallChanged records the start of a call, and ends its shares when it is over.
func (d discordCalls) CallChanged(c conversation.CallInfo, open bool, _ error) {
	x := d.service
	switch {
	case !open:
		x.background.Go(func() { x.endShares(callRefOf(c.Guild, c.Channel)) })
	case x.CallLog != nil:
		x.background.Go(func() {
			ctx, done := context.WithTimeout(context.WithoutCancel(x.callsContext), noticeTimeout)
			defer done()
			begun := voice.PastCall{Guild: c.Guild, User: c.RequesterID, At: c.Since}
			if err := x.CallLog.RecordCall(ctx, begun, time.Now().Add(-callCountWindow)); err != nil {
				x.Logger.Warn("a call does not count for the day's limit after a restart", "error", err)
			}
		})
	}
}

// endShares ends the shares of a call that is over.
func (x *CallService) endShares(c share.CallRef) {
	if err := x.shares.EndCall(context.WithoutCancel(x.callsContext), c); err != nil {
		x.Logger.Warn("share not ended with its call", "call", c.ID, "error", err)
	}
}

// callChat is the text chat of the call's voice channel, to which people may move it.
type callChat struct {
	DiscordBot

	channel func() string
	private func() bool // replies are not shown to everyone
}

func (p callChat) Write(ctx context.Context, m conversation.Message) error {
	if len(m.Images) > 0 && p.private() {
		if m.Images = nil; m.Text == "" {
			return nil
		}
	}
	return p.Post(ctx, p.channel(), m.Text, m.Images)
}

// ShowLine implements [conversation.Chat]. It does nothing: Discord stores messages, and speech must not be stored.
func (callChat) ShowLine(conversation.TranscriptLine) {}

// Join implements bot.Calls.
func (x *CallService) Join(ctx context.Context, o sessions.Origin) (string, error) {
	c, err := x.registry.Join(ctx, o, "")
	if err != nil {
		return "", err
	}
	text := o.Locale.T("I am in <#%s>. Say “clank, …” to ask for something, and “stop” to stop it.",
		c.Channel)
	if missing := x.missingSetup(o.Locale); missing != "" {
		text += "\n" + missing
	}
	return text, nil
}

// Leave implements bot.Calls.
func (x *CallService) Leave(ctx context.Context, o sessions.Origin) (string, error) {
	if err := x.registry.Leave(ctx, o); err != nil {
		return "", err
	}
	return o.Locale.T("I have left the call."), nil
}

// Privacy implements bot.Calls.
func (x *CallService) Privacy(ctx context.Context, o sessions.Origin, choice string) (string, error) {
	if choice != "" {
		if err := x.privacy.Set(ctx, o.Guild, o.User, choice == "out"); err != nil {
			return "", err
		}
	}
	text := o.Locale.T("In calls on this server I listen to you, for stop words and for what is said to me. " +
		"`/clank privacy` lets you be left out.")
	if x.privacy.OptedOut(o.Guild, o.User) {
		text = o.Locale.T("You are left out: in calls on this server I do not listen to you, and understand nothing " +
			"of what you say. `/clank privacy` lets you be heard again.")
	}
	kept := "Nothing of it is kept."
	if x.keepsTranscripts(o.Guild) {
		kept = "What was understood is kept in words; sound is never kept."
	}
	text += " " + o.Locale.Text(kept)
	if line, ok := x.joiner.Line(o.Guild); ok && line.PrivacyCode() != "" {
		text += "\n" + o.Locale.T("The privacy code of the call, as I see it: `%s`. Discord shows the same one to "+
			"everybody in it.", line.PrivacyCode())
	}
	return text, nil
}

// Share implements bot.Calls.
func (x *CallService) Share(ctx context.Context, o sessions.Origin, session string) (string, error) {
	if session == "" || session == "last" {
		s, err := x.lastUsed(ctx, o)
		if err != nil {
			return "", err
		}
		session = s.ID
	}
	call, ok := x.findCall(o)
	if !ok {
		return "", errors.New("I am in no call on this server: " + //nolint:staticcheck // for people
			"bring me into yours with /clank join")
	}
	// others are refused below
	if s, err := x.Sessions.Session(ctx, session); err == nil && s.MayUse(o) && !x.mayControlShare(o, call) {
		return "", errors.New("pages are shown only to a call that you are in; join it first")
	}
	r, err := x.shares.Share(ctx, call, session, o)
	if err != nil {
		return "", err
	}
	text := o.Locale.Text(r.Message)
	if s, ok := x.shares.Current(call); ok && s.Location.Link != "" {
		text += "\n" + s.Location.Link
	}
	return text, nil
}

// Unshare implements bot.Calls.
func (x *CallService) Unshare(ctx context.Context, o sessions.Origin) (string, error) {
	call, ok := x.findCall(o)
	if !ok {
		return "", errors.New("nothing is shown: I am in no call on this server")
	}
	r, err := x.shares.Stop(ctx, call, o)
	if err != nil {
		return "", err
	}
	return o.Locale.Text(r.Message), nil
}

// mayControlShare reports whether the person at o is in the call or may control it from outside: a new share replaces
// the previous one and everyone sees it.
func (x *CallService) mayControlShare(o sessions.Origin, call share.CallRef) bool {
	if call == pageCallRef {
		return true
	}
	here, in := x.joiner.ChannelOf(o.Guild, o.User)
	return in && here == call.Channel || o.Moderates(call.Guild, call.Channel)
}

// findCall returns the call that a request at o refers to.
func (x *CallService) findCall(o sessions.Origin) (share.CallRef, bool) {
	if o.Kind != sessions.FromDiscord {
		return pageCallRef, x.callPage.Current() != nil
	}
	for _, c := range x.registry.ActiveCalls() {
		if c.Guild == o.Guild {
			return callRefOf(c.Guild, c.Channel), true
		}
	}
	return share.CallRef{}, false
}
