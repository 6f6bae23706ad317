package server

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"clank/bot"
	"clank/bot/discord"
	"clank/browsermgr/chrome"
	"clank/cancel"
	"clank/dashboard/api"
	"clank/internal/settings"
	"clank/sessions"
)

const (
	discordGreetingWait = 2 * time.Second  // for the connection before the start message is printed without it
	discordRetryDelay   = 30 * time.Second // between two attempts to connect to Discord
)

// discordSessionsFile stores the gateway sessions, so that the next run can receive events sent in between.
const discordSessionsFile = "discord-sessions.json"

// discordConnector connects to Discord in the background.
type discordConnector struct {
	states chan string   // each change of the connection's status
	done   chan struct{} // closed after the last change
}

// openDiscord starts connecting, if there is a token. It retries until ctx ends or Discord rejects the bot.
func (a *Server) openDiscord(ctx context.Context) (*discordConnector, error) {
	if _, err := settings.ReadSecret("DISCORD_TOKEN", a.getenv); err != nil {
		return nil, err
	}
	d := &discordConnector{states: make(chan string, 1), done: make(chan struct{})}
	go func() {
		defer close(d.done)
		last := ""
		report := func(how string) {
			a.Web.discord.Store(&how)
			if how == last {
				return
			}
			last = how
			select {
			case d.states <- how:
			case <-ctx.Done():
			}
		}
		for ctx.Err() == nil {
			token, _ := settings.ReadSecret("DISCORD_TOKEN", a.getenv) // it was read before, or comes from the vault
			how, again := a.ConnectBot(ctx, token)
			report(how)
			if b := a.Web.bot.Load(); b != nil && !again {
				if how, again = awaitRefusal(ctx, b); how != "" {
					report(how)
				}
			}
			later := time.After(discordRetryDelay)
			if !again {
				later = nil
			}
			select {
			case <-ctx.Done():
				return
			case <-a.Web.newToken:
			case <-later:
			}
		}
	}()
	return d, nil
}

// awaitRefusal waits until Discord rejects a connected bot, and returns the reason and whether to try again.
func awaitRefusal(ctx context.Context, b *bot.Bot) (how string, again bool) {
	select {
	case <-ctx.Done():
		return "", false
	case <-b.Done():
	}
	err := b.Err()
	if err == nil {
		return "", false
	}
	refused, _ := errors.AsType[*discord.GatewayRefusedError](err)
	again = refused != nil && refused.Code == discord.CloseShardingRequired
	return "not connected: " + err.Error(), again
}

// discordFacts provides the dashboard with information about Discord.
type discordFacts struct{ *Server }

// State returns the state of the connection.
func (a discordFacts) State() api.Discord {
	var v api.Discord
	if how := a.Web.discord.Load(); how != nil {
		v.Status = strings.ToUpper((*how)[:1]) + (*how)[1:] + "."
	}
	b := a.Web.bot.Load()
	if b == nil {
		return v
	}
	v.Limited = b.Limited()
	for _, s := range b.Connections() {
		shard := api.DiscordShard{Number: s.Shard, Connected: s.Connected, Since: s.Since}
		if s.Err != nil {
			shard.Problem = s.Err.Error()
		}
		v.Shards = append(v.Shards, shard)
	}
	for _, g := range b.Guilds() {
		v.Servers = append(v.Servers, api.DiscordServer{ID: g.ID, Name: g.Name})
		v.Shards[b.ShardOf(g.ID)].Servers++
	}
	return v
}

// ChannelName returns the name of a channel; empty if unknown.
func (a discordFacts) ChannelName(guild, channel string) string {
	if b := a.Web.bot.Load(); b != nil {
		return b.ChannelName(guild, channel)
	}
	return ""
}

// GuildParts returns the channels and roles of a server, sorted by name.
func (a discordFacts) GuildParts(guild string) (channels, roles []settings.Option) {
	b := a.Web.bot.Load()
	if b == nil {
		return nil, nil
	}
	options := func(list []discord.Named, mark string) (all []settings.Option) {
		for _, n := range list {
			all = append(all, settings.Option{Value: n.ID, Label: mark + n.Name})
		}
		return all
	}
	c, r := b.GuildParts(guild)
	return options(c, "#"), options(r, "@")
}

// limitedText describes what is missing without the privileged intent.
const limitedText = "; Discord hides messages that do not mention it: switch on Message Content Intent at " +
	"https://discord.com/developers/applications, Bot, then restart clank"

// firstState returns the status after a short wait.
func (d *discordConnector) firstState(ctx context.Context) string {
	select {
	case how := <-d.states:
		return how
	case <-time.After(discordGreetingWait):
		return "connecting …"
	case <-ctx.Done():
		return "not connected"
	}
}

// reportStates passes on status changes until ctx ends, and waits for the connector to finish.
func (d *discordConnector) reportStates(ctx context.Context, report func(how string)) {
	for {
		select {
		case how := <-d.states:
			report(how)
		case <-ctx.Done():
			<-d.done
			return
		}
	}
}

// storeGuilds records which servers the bot is on, and deletes the data of those that it left while clank was not
// running. It ignores servers of another bot account.
func (a *Server) storeGuilds(ctx context.Context, account string, now []string, hears func(guild string) bool) {
	before, err := a.Db.Guilds(ctx, account)
	if err == nil {
		err = a.Db.AddGuilds(ctx, account, now)
	}
	if err != nil {
		a.logger.Error("the servers that clank is on are not kept", "error", err)
		return
	}
	for _, guild := range before {
		if hears != nil && hears(guild) && !slices.Contains(now, guild) {
			a.forgetGuild(ctx, guild)
		}
	}
}

// forgetGuild stops everything that runs for a server that clank has left, and deletes its browser data, downloads,
// attached files, pictures and traces.
func (a *Server) forgetGuild(ctx context.Context, guild string) {
	a.scopes.StopGuild(guild, &cancel.Cause{Reason: cancel.Gone, Detail: "clank is not on the server any more"})
	if err := a.Settings.ForgetGuild(ctx, guild); err != nil {
		a.logger.Error("what was set for a server that was left is not deleted", "guild", guild, "error", err)
	}
	place := sessions.Origin{Kind: sessions.FromDiscord, Guild: guild}.Place(false)
	if err := a.Browsers.RemovePlace(ctx, place); err != nil {
		a.logger.Error("what the browsers of a server that was left hold is not deleted", "guild", guild, "error", err)
		return
	}
	for _, kind := range []string{downloadsFolder, inboundFolder, picturesFolder, tracesFolder} {
		folders, _ := filepath.Glob(filepath.Join(a.StateDir, kind, place.Profile("*"))) // the pattern is valid
		people, _ := filepath.Glob(filepath.Join(a.StateDir, kind, place.Of("*").Profile("*")))
		for _, folder := range append(folders, people...) {
			if err := os.RemoveAll(folder); err != nil {
				a.logger.Error("files of a server that was left are not deleted", "guild", guild, "error", err)
			}
		}
	}
	if err := a.Db.RemoveGuild(ctx, guild); err != nil {
		a.logger.Error("a server that was left is looked for again at the next start", "guild", guild, "error", err)
	}
	a.logger.Info("the browser state of a server that was left is deleted", "guild", guild)
}

// DiscordFiles receives files from Discord, and makes links to files that are too large to send there.
type DiscordFiles struct {
	*FileInbox
	*FileLinks
}

// botHost connects the bot to the rest of the program. It implements [bot.Host].
type botHost struct{ server *Server }

// IsStop implements [bot.Host].
func (h botHost) IsStop(message string) bool { return h.server.isStop(message) }

// AnyoneMayStop implements [bot.Host].
func (h botHost) AnyoneMayStop() bool {
	return h.server.Settings.Current().WhoMayStop == settings.StopAnyone
}

// Disabled implements [bot.Host].
func (h botHost) Disabled(_ context.Context, o sessions.Origin) string {
	return h.server.AccessRefusal(o)
}

// Served implements [bot.Host].
func (h botHost) Served() (guilds, channels []string) {
	r := h.server.Settings.Current().Access.Rules()
	return r.Guilds, r.Channels
}

// ThreadAfter implements [bot.Host].
func (h botHost) ThreadAfter() time.Duration {
	return h.server.Settings.Current().ThreadAfter
}

// HandleRequest implements [bot.Host].
func (h botHost) HandleRequest(ctx context.Context, o sessions.Origin) {
	h.server.CallService.Follow(ctx, o)
}

// HandleServers implements [bot.Host].
func (h botHost) HandleServers(ctx context.Context, account string, guilds []string, hears func(guild string) bool) {
	h.server.storeGuilds(ctx, account, guilds, hears)
}

// HandleLeave implements [bot.Host].
func (h botHost) HandleLeave(ctx context.Context, guild string) { h.server.forgetGuild(ctx, guild) }

// HandleDispatch implements [bot.Host].
func (h botHost) HandleDispatch(kind string, data json.RawMessage) {
	h.server.CallService.HandleDispatch(kind, data)
}

// ConnectBot connects to Discord. It returns the status and whether to try again.
func (a *Server) ConnectBot(ctx context.Context, token settings.SecretValue) (how string, again bool) {
	if !token.IsSet() {
		return "not connected (enter a bot token on the Setup page, or set DISCORD_TOKEN)", false
	}
	b := &bot.Bot{
		Token:     token.Reveal(),
		Base:      a.getenv("CLANK_DISCORD_API"),
		Tasks:     a.Sessions,
		Assistant: ChargedReplier{a.CallService.Assistant},
		Host:      botHost{a},
		Budgets:   DiscordBudgets{a.budget},
		Watches:   a.Web.Watches,
		Runtimes:  settings.Runtimes(),
		Choices:   DiscordChoices{a},
		Pages:     DiscordPages{a},
		Window:    chrome.HasDisplay() && a.Settings.Current().Access.Operators != "",
		Scopes:    &a.scopes,
		Questions: a.Approver.Approvals,
		Messages:  a.Db,
		Files:     DiscordFiles{a.Inbox, &a.CallService.fileLinks},
		Settings:  a.Settings,
		Logger:    a.logger,

		SessionFile: a.Home.Path(discordSessionsFile),
	}
	a.attachCalls(b)
	err := b.Open(ctx)
	if err == nil {
		a.Web.bot.Store(b)
		a.onClose(b.Close)
		a.onClose(a.CallService.Close) // before the bot closes: its session stays open, and with it the voice connections
		if err := b.CommandError(); err != nil {
			return "connected as " + b.UserName() + ", but without its commands: " + err.Error(), false
		}
		how = "connected as " + b.UserName()
		if b.Limited() {
			how += limitedText
		}
		return how, false
	}
	if closing := b.Close(ctx); closing != nil {
		a.logger.Debug("close a bot that never connected", "error", closing)
	}
	if _, refused := errors.AsType[*discord.GatewayRefusedError](err); refused {
		return "not connected: " + err.Error(), false
	}
	return "not connected, trying again: " + err.Error(), true
}

// DiscordPermissions returns the permissions that the bot needs on a server with these settings.
func DiscordPermissions(s settings.Settings) int64 {
	return bot.Permissions(s.Voice.Enabled, s.ThreadAfter > 0)
}

// DiscordApplication asks Discord for the application that the token in the environment belongs to.
func DiscordApplication(ctx context.Context, getenv func(string) string) (discord.Application, error) {
	token, err := settings.ReadSecret("DISCORD_TOKEN", getenv)
	if err != nil || !token.IsSet() {
		return discord.Application{}, err
	}
	rest := discord.REST{Token: token.Reveal(), Base: getenv("CLANK_DISCORD_API")}
	return rest.Application(ctx)
}
