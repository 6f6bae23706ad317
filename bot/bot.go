package bot

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"clank/bot/discord"
	"clank/cancel"
	"clank/internal/assistant"
	"clank/sessions"
	"clank/sessions/approval"

	"github.com/bwmarrin/discordgo"
)

// TaskRunner runs browses. [sessions.Manager] is one.
type TaskRunner interface { //nolint:interfacebloat // what the manager does for a front end
	// Run blocks until the task has reached its end and returns what became of
	// it. watch is called with each event, and must not block.
	Run(ctx context.Context, t sessions.Task, watch func(sessions.Event)) (sessions.TaskRecord, error)

	// LastSession is the session that the person of o used last in the channel
	// of o and can go on with, or [sessions.ErrNotFound].
	LastSession(ctx context.Context, o sessions.Origin) (sessions.Session, error)

	// Sessions returns the sessions of a query, last used first.
	Sessions(ctx context.Context, q sessions.SessionQuery) ([]sessions.Session, error)

	// Session returns a session, and Task a task, or [sessions.ErrNotFound].
	Session(ctx context.Context, id string) (sessions.Session, error)
	Task(ctx context.Context, id string) (sessions.TaskRecord, error)

	// CloseSession ends a session, and what runs in it.
	CloseSession(ctx context.Context, id string, by cancel.Actor) error

	// SendNote passes a note to a running or waiting task; see [sessions.Manager.SendNote].
	SendNote(ctx context.Context, id string, from sessions.Origin, text string) (taskID string, err error)
}

// Replier answers people. [assistant.Assistant] is one.
type Replier interface {
	Reply(ctx context.Context, t assistant.Turn, watch func(assistant.Progress)) (assistant.Answer, error)
}

// Host connects the bot to the program. Its methods are safe for concurrent use; those without a context do not block.
type Host interface { //nolint:interfacebloat // one place for all of it
	// IsStop reports whether a message is a stop; see [cancel.IsStop].
	IsStop(message string) bool

	// AnyoneMayStop reports whether everybody in a channel may stop what runs there.
	AnyoneMayStop() bool

	// Disabled returns why a person may not make requests now, for people; empty if they may.
	Disabled(ctx context.Context, o sessions.Origin) string

	// Served returns the ids of the servers and channels that are listed as served. Who writes directly is looked up
	// there, for Disabled to judge ([sessions.Origin.Sees]).
	Served() (guilds, channels []string)

	// ThreadAfter returns the running time from which a task's answer goes into a thread; zero means never.
	ThreadAfter() time.Duration

	// HandleRequest is called with the origin of each permitted request. It does not block.
	HandleRequest(ctx context.Context, o sessions.Origin)

	// HandleServers is called with the servers that an account of the bot is on: one that it has joined, or, when a
	// connection begins, all that this connection serves. hears reports whether the connection would serve a server; it is
	// nil for a new one.
	HandleServers(ctx context.Context, account string, guilds []string, hears func(guild string) bool)

	// HandleLeave is called with the id of a server that the bot has left or was removed from.
	HandleLeave(ctx context.Context, guild string)

	// HandleDispatch is called with every dispatch of the gateway, in order, after the bot has handled it.
	HandleDispatch(kind string, data json.RawMessage)
}

// Bot is the front end. Set its fields, then Open, then Close.
type Bot struct {
	Token     string // as the developer portal shows it
	Tasks     TaskRunner
	Assistant Replier
	Scopes    *cancel.Scopes

	Host Host

	// Questions are asked in the channels of their tasks; nil asks nothing.
	Questions *approval.Queue

	// Files stores attachments; nil accepts none.
	Files Files

	// Messages keeps where work is shown, for the run after one that was killed; nil keeps nothing.
	Messages MessageStore

	// SessionFile is where Close saves the gateway sessions, from which the next process gets what it missed; empty saves
	// nothing.
	SessionFile string

	// Watches are the pages that people have watched; nil offers none.
	Watches Watches

	// Calls are what people can have done about voice calls; nil offers none.
	Calls Calls
	Links Links // to pages of sessions; nil if there are none

	// Activities show sessions in a window of Discord's own; nil offers none.
	Activities Activities

	// Settings are the settings of servers, which managers change with /clank setup. If it is nil there are none, and
	// everyone gets the server's preferred language.
	Settings ServerSettings

	// Budgets answer /clank budget; nil is no such command.
	Budgets BudgetReader

	// Runtimes are the choices of the command's runtime option, which needs at least two.
	Runtimes []string

	// Choices completes options while people type; nil offers no choice of a model.
	Choices Choices

	// Pages show and keep what tasks did; nil offers neither.
	Pages Pages

	// Window means that operators can be shown the browser's window.
	Window bool

	// Intents are additional gateway intents (voice states).
	Intents discordgo.Intent

	Base       string       // scheme and host in place of https://discord.com
	HTTPClient *http.Client // nil is the default client
	Logger     *slog.Logger

	// Limits of time and number. Zero means the stated default.
	OpenTimeout   time.Duration // to connect: 30 s
	EditInterval  time.Duration // between two edits of a message: 1.2 s
	TokenLife     time.Duration // how long the answer to a command is edited: 14 min of Discord's 15
	AnswerTime    time.Duration // up to which age an interaction gets a direct response: 2 s of the 3 that Discord waits
	MaxConcurrent int           // concurrent pieces of work: 64
	RetryWait     time.Duration // pause before a first new try: 0.5 s for requests, 1 s for the gateway

	rest             *discord.REST
	gateway          *discord.Shards
	guilds           discord.GuildCache
	members          memberCache
	jobs             JobPool
	questionOutcomes questionOutcomes
	asked            askedMessages
	activeProgress   progressByWork
	handled          recentIDs         // messages and interactions
	lastHeard        map[int]time.Time // when each shard last said something; for the gateway's goroutine
	onServers        map[string]bool   // servers reported to the host; belongs to the gateway's goroutine
	workResumed      chan struct{}     // closed when the work of the former run continues
	stop             context.CancelCauseFunc
	ended            sync.WaitGroup // waits for the end of the gateway

	mu           sync.Mutex
	botIdentity  identity
	commandError error // why the commands are not registered
}

// identity is the bot's user, from READY.
type identity struct {
	user, name, app string
}

// Open connects, registers the commands, and returns when the bot receives events. ctx limits only this call. Its error
// says what a person can do; a wrong token is an error like any other.
func (b *Bot) Open(ctx context.Context) error {
	if b.Token == "" {
		return errors.New("no Discord token: set DISCORD_TOKEN to the token that the developer portal shows for the bot")
	}
	client := b.httpClient()
	b.rest = &discord.REST{Token: b.Token, Base: b.Base, HTTPClient: client, Logger: b.logger(), RetryWait: b.RetryWait}
	base, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	b.stop = stop
	b.jobs.Open(cmp.Or(b.MaxConcurrent, 64))
	b.lastHeard, b.onServers, b.workResumed = make(map[int]time.Time), make(map[string]bool), make(chan struct{})
	b.gateway = &discord.Shards{
		Token:      b.Token,
		Intents:    int(b.intents()),
		Optional:   int(discordgo.IntentMessageContent),
		Ask:        b.askGateway,
		HTTPClient: client,
		Logger:     b.logger(),
		MinWait:    b.RetryWait,
		OnDispatch: func(shard int, kind string, data json.RawMessage) {
			b.dispatch(base, shard, kind, data)
			b.Host.HandleDispatch(kind, data)
		},
		Former:   b.loadSavedSessions(),
		OnMissed: func(kind string, data json.RawMessage) { b.dispatchMissed(base, kind, data) },
	}
	ctx, release := context.WithTimeout(ctx, cmp.Or(b.OpenTimeout, 30*time.Second))
	defer release()
	if err := b.gateway.Open(ctx); err != nil {
		stop(&cancel.Cause{Reason: cancel.ShuttingDown})
		return fmt.Errorf("connect to Discord: %w", b.explain(err))
	}
	b.ended.Go(func() {
		<-b.gateway.Done()
		if b.gateway.Err() != nil { // nobody can stop anything any more
			stop(&cancel.Cause{Reason: cancel.Gone, Detail: "Discord does not let clank in any more"})
		}
	})
	b.followQuestions(base)
	b.runShort(base, b.correctOldMessages)
	if err := b.registerCommands(ctx); err != nil {
		b.logger().Error("the commands are not registered", "error", err)
		b.mu.Lock()
		b.commandError = err
		b.mu.Unlock()
	}
	return nil
}

// CommandError returns why Discord does not have the bot's commands; nil if it does.
func (b *Bot) CommandError() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.commandError
}

// Close stops the bot's work, tells the people who wait for it, and disconnects. Later events are for the next process.
// It waits for that, at most until ctx ends. It may be called more than once, and after a failed Open.
func (b *Bot) Close(ctx context.Context) error {
	if b.stop == nil {
		return nil
	}
	if b.SessionFile != "" {
		b.gateway.Leave()
	}
	b.jobs.Close()
	b.stop(&cancel.Cause{Reason: cancel.ShuttingDown})
	b.questionOutcomes.done.Wait() // it waits for nothing itself
	waiting, closing := b.jobs.Wait(ctx), b.gateway.Close(ctx)
	if closing == nil {
		b.ended.Wait()
	}
	return errors.Join(waiting, closing, b.keepLeft())
}

// Done returns a channel that is closed when the connection has ended permanently: after Close, or when Discord refuses
// the bot. It must not be called before Open.
func (b *Bot) Done() <-chan struct{} { return b.gateway.Done() }

// Err returns, after Done, why Discord refused the bot; nil after Close.
func (b *Bot) Err() error {
	if err := b.gateway.Err(); err != nil {
		return fmt.Errorf("disconnected from Discord: %w", b.explain(err))
	}
	return nil
}

// Send sends an operation over the gateway; see [discord.Shards.Send]. It must
// not be called before Open.
func (b *Bot) Send(ctx context.Context, op int, d any) error { return b.gateway.Send(ctx, op, d) }

// Connections returns how the connections stand now, by shard. It must not be called before Open.
func (b *Bot) Connections() []discord.GatewayState { return b.gateway.States() }

// ShardOf returns the number of the connection that hears of a server.
func (b *Bot) ShardOf(guild string) int { return b.gateway.Of(guild) }

// Limited reports whether Discord hides messages that do not mention the bot.
func (b *Bot) Limited() bool {
	return slices.ContainsFunc(b.Connections(), func(s discord.GatewayState) bool { return s.Limited })
}

// Guilds returns the servers that the bot is on, by name.
func (b *Bot) Guilds() []discord.Named { return b.guilds.Guilds() }

// GuildParts returns the channels and roles of a server, by name.
func (b *Bot) GuildParts(guild string) (channels, roles []discord.Named) {
	return b.guilds.Parts(guild)
}

// ChannelName returns what a channel of a server is called; empty if it is not known.
func (b *Bot) ChannelName(guild, channel string) string { return b.guilds.ChannelName(guild, channel) }

// UserID returns the bot's own id; empty before Open.
func (b *Bot) UserID() string { return b.identity().user }

// UserName returns the bot's own name; empty before Open.
func (b *Bot) UserName() string { return b.identity().name }

func (b *Bot) identity() identity {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.botIdentity
}

func (b *Bot) intents() discordgo.Intent {
	return discordgo.IntentsGuilds | discordgo.IntentsGuildMessages | discordgo.IntentsDirectMessages |
		discordgo.IntentsGuildMessageReactions | discordgo.IntentsDirectMessageReactions |
		discordgo.IntentMessageContent | b.Intents
}

// askGateway asks where the gateway is. A wrong token shows here first.
func (b *Bot) askGateway(ctx context.Context) (discord.GatewayInfo, error) {
	info, err := b.rest.Gateway(ctx)
	var refusal *discord.APIError
	if errors.As(err, &refusal) && refusal.Status == http.StatusUnauthorized {
		return info, &discord.GatewayRefusedError{Code: discord.CloseInvalidToken, Reason: refusal.Message}
	}
	return info, err
}

// explain adds the way out to an error of the gateway.
func (b *Bot) explain(err error) error {
	var refused *discord.GatewayRefusedError
	if !errors.As(err, &refused) {
		return err
	}
	switch refused.Code {
	case discord.CloseInvalidToken:
		return fmt.Errorf("Discord does not accept the token; copy it again from "+ //nolint:staticcheck // Discord is a name
			"https://discord.com/developers/applications, Bot, Reset Token: %w", err)
	case discord.CloseShardingRequired, discord.CloseInvalidShard:
		return fmt.Errorf("the bot is on more servers than its connections may serve; clank asks Discord for their number "+
			"when it connects again: %w", err)
	case discord.CloseInvalidIntents:
		return fmt.Errorf("Discord does not know what this clank asks to hear of; "+ //nolint:staticcheck // a name
			"update clank: %w", err)
	}
	return err
}

// httpClient returns the client without its overall time limit, which would end
// sockets; each request has its own.
func (b *Bot) httpClient() *http.Client {
	c := http.Client{}
	if b.HTTPClient != nil {
		c = *b.HTTPClient
	}
	c.Timeout = 0
	return &c
}

func (b *Bot) logger() *slog.Logger { return cmp.Or(b.Logger, slog.New(slog.DiscardHandler)) }
