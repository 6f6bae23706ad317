package server

import (
	"context"
	"errors"
	"net/http"

	"clank/bot"
	"clank/bot/discord"
	"clank/internal/activity"
	"clank/internal/settings"
	"clank/sessions"
)

// openActivity prepares the Activity, which is served only while it is enabled.
func (x *CallService) openActivity() error {
	x.signIn = &discord.SignIn{Base: x.DiscordBase, Application: x.discordApplication}
	x.activity = &activity.Server{
		Sessions: x.Sessions, Live: x.Live, Discord: activityDiscord{x}, Logger: x.Logger,
		CheckShare:    shareHost{x}.CheckShare,
		AnyoneMayStop: func() bool { return x.Settings.Current().WhoMayStop == settings.StopAnyone },
	}
	return x.activity.Open()
}

// discordApplication returns the OAuth2 credentials; both are empty if people cannot sign in.
func (x *CallService) discordApplication() (id, secret string) {
	b := x.bot.Load()
	v, err := settings.ReadSecret(settings.SecretDiscordClient, x.Getenv)
	if b == nil || err != nil || !v.IsSet() {
		return "", ""
	}
	return (*b).AppID(), v.Reveal()
}

// Enabled implements bot.Activities.
func (x *CallService) Enabled() bool {
	id, _ := x.discordApplication()
	return x.Live != nil && id != "" && x.Settings.Current().Share.Activity
}

// Launch implements bot.Activities.
func (x *CallService) Launch(ctx context.Context, o sessions.Origin, in bot.LaunchRequest) error {
	var s sessions.Session
	var err error
	if in.Session == "" || in.Session == "last" {
		s, err = x.lastUsed(ctx, o)
	} else if s, err = x.Sessions.Session(ctx, in.Session); errors.Is(err, sessions.ErrNotFound) {
		err = errors.New("there is no such browser session, or it was forgotten; browse first")
	}
	if err != nil {
		return err
	}
	return x.activity.Launch(o, s, in.Share)
}

// serveActivity returns a handler of the Activity below a path of the viewer's page, if there is one.
func (x *CallService) serveActivity() http.Handler {
	handler := x.activity.Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !x.Enabled() {
			http.NotFound(w, r)
			return
		}
		handler.ServeHTTP(w, r)
	})
}

// activityDiscord sends the Activity's requests to Discord.
type activityDiscord struct{ *CallService }

var (
	errNoDiscord   = errors.New("clank is not connected to Discord at this moment; try again in a minute")
	errNotOpen     = errors.New("this Activity is not open any more: start it again")
	errNoLocation  = errors.New("where this Activity is open is not known; try again in a minute")
	errNoMember    = errors.New("you are not a member of this server")
	errNoMemberNow = errors.New("whether you may be here is not known; try again in a minute")
)

// Begin implements [activity.Discord].
func (d activityDiscord) Begin() (app, state, challenge string) {
	app, _ = d.discordApplication()
	state, challenge = d.signIn.Begin()
	return app, state, challenge
}

// SignIn implements [activity.Discord].
func (d activityDiscord) SignIn(ctx context.Context, state, code string) (user, name, token string, err error) {
	who, err := d.signIn.Finish(ctx, state, code, "")
	return who.ID, who.Name, who.Token, err
}

// Instance implements [activity.Discord].
func (d activityDiscord) Instance(ctx context.Context, id string) (guild, channel string, users []string, err error) {
	b := d.bot.Load()
	if b == nil {
		return "", "", nil, errNoDiscord
	}
	in, err := (*b).ActivityInstance(ctx, id)
	refusal, refused := errors.AsType[*discord.APIError](err)
	switch {
	case refused && refusal.Status < http.StatusInternalServerError && refusal.Status != http.StatusTooManyRequests:
		return "", "", nil, errNotOpen
	case err != nil:
		d.Logger.Warn("where an Activity is open is not known", "error", err)
		return "", "", nil, errNoLocation
	}
	return in.Guild, in.Channel, in.Users, nil
}

// Origin implements [activity.Discord].
func (d activityDiscord) Origin(ctx context.Context, o sessions.Origin) (sessions.Origin, error) {
	b := d.bot.Load()
	if b == nil {
		return o, errNoDiscord
	}
	now, err := (*b).ViewerOrigin(ctx, o)
	switch {
	case errors.Is(err, bot.ErrLeftGuild):
		return o, errNoMember
	case errors.Is(err, bot.ErrNotInChannel):
		return o, err
	case err != nil:
		d.Logger.Warn("who somebody in an Activity is is not known", "user", o.User, "error", err)
		return o, errNoMemberNow
	}
	return now, d.Sessions.Policy.CheckAccess(now)
}
