package bot

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"clank/bot/markup"
	"clank/bot/menu"
	"clank/bot/rest"
	"clank/brain"
	"clank/cancel"
	"clank/sessions"

	"github.com/bwmarrin/discordgo"
)

// finishTimeout bounds the showing of an answer, after the work has ended.
const finishTimeout = 2 * time.Minute

const busyText = "I have too much to do just now. Please try again in a minute."

// onCommand sorts the subcommands of /clank.
func (b *Bot) onCommand(base context.Context, i *discordgo.Interaction, data discordgo.ApplicationCommandInteractionData, who person) {
	say := func(text string) func(context.Context) {
		return func(ctx context.Context) {
			m := rest.Message{Content: text, Private: true}
			b.answer(ctx, i, discordgo.InteractionResponseChannelMessageWithSource, m)
		}
	}
	var sub *discordgo.ApplicationCommandInteractionDataOption
	if data.Name == menu.Name && len(data.Options) > 0 {
		sub = data.Options[0]
	}
	if sub == nil {
		b.errand(base, say("I do not know that command. Try /clank browse."))
		return
	}
	switch sub.Name {
	case "browse":
		b.startWork(base, func(ctx context.Context) { b.browseCommand(ctx, i, readBrowse(sub.Options), who) }, say(busyText))
	case "stop":
		b.stopCommand(base, i, who)
	case "sessions":
		b.errand(base, func(ctx context.Context) { say(b.sessionList(ctx, origin(i, who)))(ctx) })
	case "budget":
		b.errand(base, func(ctx context.Context) { say(b.budgetText(ctx, origin(i, who), who))(ctx) })
	default:
		if !b.onWatchCommand(base, i, sub, who) && !b.onCallCommand(base, i, sub, who) {
			b.errand(base, say("I do not know that command. Try /clank browse."))
		}
	}
}

// browseOptions are what /clank browse was given.
type browseOptions struct {
	task, session, runtime, profile string
	steps                           int
	private                         bool
}

// readBrowse reads the options; those of another type than registered count as
// not given.
func readBrowse(options []*discordgo.ApplicationCommandInteractionDataOption) browseOptions {
	var o browseOptions
	for _, opt := range options {
		if opt == nil {
			continue
		}
		text, _ := opt.Value.(string)
		number, _ := opt.Value.(float64)
		yes, _ := opt.Value.(bool)
		switch opt.Name {
		case "task":
			o.task = strings.TrimSpace(text)
		case "session":
			o.session = strings.TrimSpace(text)
		case "runtime":
			o.runtime = text
		case "profile":
			o.profile = strings.TrimSpace(text)
		case "steps":
			o.steps = int(number)
		case "private":
			o.private = yes
		}
	}
	return o
}

func origin(i *discordgo.Interaction, who person) sessions.Origin {
	return sessions.Origin{
		Kind: sessions.FromDiscord, Guild: i.GuildID, Channel: i.ChannelID, User: who.id, UserName: who.name,
		Private: i.GuildID == "", Roles: who.roles,
	}
}

// placed completes o with what only the gateway has told: the channel that a thread is part of.
func (b *Bot) placed(o sessions.Origin) sessions.Origin {
	o.Parent = b.guilds.Parent(o.Guild, o.Channel)
	return o
}

// browseCommand runs /clank browse from the first answer to the last.
func (b *Bot) browseCommand(ctx context.Context, i *discordgo.Interaction, o browseOptions, who person) {
	from := b.placed(origin(i, who))
	from.Private = from.Private || o.private
	work := cancel.Work{ID: newID(), Owner: who.id, Label: label("browse", visible(o))}
	ctx, handle := b.Scopes.Begin(ctx, cancel.Scope{Guild: i.GuildID, Channel: i.ChannelID}, work)
	defer handle.End()

	where := b.placeOf(i, who, o.private)
	ack := rest.Message{Private: o.private}
	err := b.rest.Respond(ctx, i, discordgo.InteractionResponseDeferredChannelMessageWithSource, ack)
	if err != nil {
		b.logger().Warn("command not acknowledged; going on without its answer", "channel", i.ChannelID, "error", err)
		where.interaction = nil
	}
	if why := b.disabled(ctx, from); why != "" {
		b.conclude(ctx, where, conclusion{text: markup.Sentence(why)})
		return
	}
	prompt := o.task
	if wanted, rest := brain.Continues(prompt); wanted && o.session == "" {
		o.session, prompt = lastSession, rest
	}
	session, err := b.namedSession(ctx, from, o.session)
	if err != nil {
		b.conclude(ctx, where, conclusion{text: markup.Plain(markup.Sentence(err.Error()), 500)})
		return
	}
	p := b.watch(ctx, where, work.ID, handle)
	rec, err := b.Tasks.Run(ctx, sessions.Task{
		SessionID: session, Prompt: prompt, Origin: from, Runtime: o.runtime, Profile: o.profile, MaxSteps: o.steps,
	}, func(e sessions.Event) { p.event(1, o.task, e) })
	p.stop()
	text, footer := outcome(ctx, rec, err)
	b.conclude(ctx, where, conclusion{text: text, footer: footer, images: rec.Images, page: p.page()})
}

// placeOf is where the work of a command is shown.
func (b *Bot) placeOf(i *discordgo.Interaction, who person, private bool) *place {
	return &place{
		rest: b.rest, log: b.logger(), channel: i.ChannelID, user: who.id, private: private, direct: i.GuildID == "",
		interaction: i, expires: time.Now().Add(or(b.TokenLife, 14*time.Minute)),
	}
}

// visible is what others may read of what was asked for.
func visible(o browseOptions) string {
	if o.private {
		return "(private)"
	}
	return o.task
}

// lastSession is what the last session of a person in a channel is called.
const lastSession = "last"

// namedSession is the session that a person means.
func (b *Bot) namedSession(ctx context.Context, from sessions.Origin, name string) (string, error) {
	if !strings.EqualFold(name, lastSession) {
		return strings.Trim(name, "`"), nil
	}
	s, err := b.Tasks.LastSession(ctx, from)
	if errors.Is(err, sessions.ErrNotFound) {
		return "", errors.New("you have no session here to go on with; leave it out to start a new one")
	}
	if err != nil {
		return "", err
	}
	return s.ID, nil
}

// watch begins to show in a place the work that has id and handle.
func (b *Bot) watch(ctx context.Context, where *place, id string, handle *cancel.Handle) *progress {
	p := &progress{
		shown: &b.shown, place: where, work: id, interval: or(b.EditInterval, 1200*time.Millisecond), log: b.logger(),
		nowhere: func() { handle.Stop(&cancel.Cause{Reason: cancel.Gone}) },
	}
	p.start(ctx)
	return p
}

// conclude shows how work has ended, whatever has become of ctx.
func (b *Bot) conclude(ctx context.Context, where *place, c conclusion) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	if err := where.finish(ctx, compose(c)); err != nil {
		b.logger().Error("answer not shown", "channel", where.channel, "user", where.user, "error", err)
	}
}

// sessionList is the answer of /clank sessions.
func (b *Bot) sessionList(ctx context.Context, from sessions.Origin) string {
	ctx, cancel := context.WithTimeout(ctx, errandTimeout)
	defer cancel()
	list, err := b.Tasks.Sessions(ctx, sessions.SessionQuery{
		Of: &from, States: []sessions.SessionState{sessions.SessionIdle, sessions.SessionRunning, sessions.SessionParked}, Limit: 10,
	})
	if err != nil {
		b.logger().Error("sessions not listed", "error", err)
		return "Your sessions cannot be listed just now. Please try again."
	}
	if len(list) == 0 {
		return "You have no session here. /clank browse starts one."
	}
	lines := make([]string, len(list))
	for n, s := range list {
		page := strings.Trim(strings.TrimSpace(markup.Plain(s.Title, 60)+" · "+markup.Plain(s.URL, 80)), " ·")
		lines[n] = fmt.Sprintf("`%s` (%s, <t:%d:R>) %s", s.ID, s.State, s.LastUsed.Unix(), page)
	}
	for markup.Size(strings.Join(lines, "\n")) > markup.MaxMessage {
		lines = lines[:len(lines)-1]
	}
	return strings.Join(lines, "\n")
}

// label is what a piece of work is called where it is listed.
func label(what, text string) string {
	r := []rune(strings.Join(strings.Fields(text), " "))
	if len(r) > maxLabel {
		r = append(r[:maxLabel-1], '…')
	}
	return what + ": " + string(r)
}

func newID() string { return strings.ToLower(rand.Text()[:16]) }
