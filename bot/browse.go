package bot

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"strings"
	"time"

	"clank/bot/discord"
	"clank/cancel"
	"clank/internal/assistant"
	"clank/internal/untrusted"
	"clank/sessions"

	"github.com/bwmarrin/discordgo"
)

// finishTimeout bounds the showing of an answer, after the work has ended: Discord's bad minutes pass.
const finishTimeout = 10 * time.Minute

const (
	busyText           = "I have too much to do just now. Please try again in a minute."
	unknownCommandText = "I do not know that command. Try /clank browse."
)

// onCommand sorts the subcommands of /clank.
func (b *Bot) onCommand(base context.Context, i *discordgo.Interaction,
	data discordgo.ApplicationCommandInteractionData, who person,
) {
	say := func(text string) func(context.Context) {
		return func(ctx context.Context) {
			m := discord.OutgoingMessage{Content: text, Private: true}
			b.respond(ctx, i, discordgo.InteractionResponseChannelMessageWithSource, m)
		}
	}
	if data.CommandType == discordgo.MessageApplicationCommand && b.onMessageCommand(base, i, data, who) {
		return
	}
	var sub *discordgo.ApplicationCommandInteractionDataOption
	if data.Name == commandName && len(data.Options) > 0 {
		sub = data.Options[0]
	}
	if sub == nil {
		b.runShort(base, say(who.locale.T(unknownCommandText)))
		return
	}
	switch sub.Name {
	case "browse":
		o := readBrowse(sub.Options)
		o.files = attachedFiles(data, sub.Options)
		b.startWork(base, func(ctx context.Context) { b.browseCommand(ctx, i, o, who) }, say(who.locale.T(busyText)))
	case "stop":
		b.stopCommand(base, i, who)
	case "sessions":
		b.runShort(base, func(ctx context.Context) { b.sessionsCommand(ctx, i, who, "") })
	case "setup":
		b.runShort(base, func(ctx context.Context) { b.setupCommand(ctx, i, who) })
	case "budget":
		b.runShort(base, func(ctx context.Context) { say(b.budgetText(ctx, originOf(i, who), who))(ctx) })
	case "clip":
		b.startWork(base, func(ctx context.Context) { b.clipCommand(ctx, i, originOf(i, who), b.localeOf(i, who, false)) },
			say(who.locale.T(busyText)))
	default:
		if !b.onWatchCommand(base, i, sub, who) && !b.onCallCommand(base, i, sub, who) {
			b.runShort(base, say(who.locale.T(unknownCommandText)))
		}
	}
}

// browseOptions are what /clank browse was given.
type browseOptions struct {
	task, session, url, runtime, model, profile string

	steps           int
	budget          float64 // in US dollars
	private, headed bool
	untyped         bool // the text was not typed for this task
	files           []*discordgo.MessageAttachment
}

// readBrowse reads the options; those of an unexpected type are ignored.
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
		case "url":
			o.url = strings.TrimSpace(text)
		case "runtime":
			o.runtime = text
		case "model":
			o.model = strings.TrimSpace(text)
		case "profile":
			o.profile = strings.TrimSpace(text)
		case "steps":
			o.steps = int(number)
		case "budget":
			o.budget = number
		case "private":
			o.private = yes
		case "headed":
			o.headed = yes
		}
	}
	return o
}

func originOf(i *discordgo.Interaction, who person) sessions.Origin {
	return sessions.Origin{
		Kind: sessions.FromDiscord, Guild: i.GuildID, Channel: i.ChannelID, User: who.id, UserName: who.name,
		Private: i.GuildID == "", Roles: who.roles, Locale: who.locale,
	}
}

// browseCommand runs /clank browse from the first answer to the last.
func (b *Bot) browseCommand(ctx context.Context, i *discordgo.Interaction, o browseOptions, who person) {
	o.private = o.private || who.away || b.isPrivate(i.GuildID)
	from := b.completeOrigin(ctx, originOf(i, who))
	from.Private = from.Private || o.private
	from.Locale = b.localeOf(i, who, o.private)
	work := cancel.Work{ID: newID(), Owner: who.id, Label: workLabel("browse", publicPrompt(o))}
	ctx, handle := b.Scopes.Begin(ctx, cancel.Scope{Guild: i.GuildID, Channel: i.ChannelID}, work)
	defer handle.End()

	where := b.commandMessage(i, who, o.private)
	ack := discord.OutgoingMessage{Private: o.private}
	acking, acked := context.WithTimeout(context.WithoutCancel(ctx), shortTimeout) // even if it is stopped immediately
	err := b.rest.Respond(acking, i, discordgo.InteractionResponseDeferredChannelMessageWithSource, ack)
	acked()
	if err != nil {
		b.logger().Warn("command not acknowledged; going on without its answer", "channel", i.ChannelID, "error", err)
		where.interaction = nil
	}
	if why := b.Host.Disabled(ctx, from); why != "" {
		b.conclude(ctx, where, finalMessage{text: from.Locale.Sentence(why)})
		return
	}
	b.Host.HandleRequest(ctx, from)
	prompt := o.task
	if wanted, rest := assistant.AsksToContinue(prompt); wanted && o.session == "" {
		o.session, prompt = lastSession, rest
	}
	session, err := b.namedSession(ctx, from, o.session)
	if err == nil {
		prompt, err = beginAt(o.url, prompt)
	}
	if err != nil {
		b.conclude(ctx, where, finalMessage{text: sentence(from.Locale, err.Error(), 500)})
		return
	}
	files, err := b.receiveFiles(ctx, from.Locale, o.files)
	if err != nil {
		b.conclude(ctx, where, finalMessage{text: filesRefused(from.Locale, err, o.task)})
		return
	}
	defer b.discardFiles(files)
	p := b.startProgress(ctx, where, work.ID, handle)
	defer p.stop() // also after a panic
	rec, err := b.Tasks.Run(ctx, sessions.Task{
		SessionID: session, Prompt: prompt, Origin: from, Runtime: o.runtime, Model: o.model, Profile: o.profile,
		MaxSteps: o.steps, MaxUSD: o.budget, Headed: o.headed, Files: files, Typed: !o.untyped,
	}, func(e sessions.Event) { p.handleEvent(1, o.task, e) })
	if notTaken(ctx, rec, err) && b.Messages != nil && len(files) == 0 && !o.headed {
		p.stop()
		b.keepPaused(ctx, work.ID, where, &pausedTask{Title: o.task, Continuation: sessions.Continuation{
			Session: session, Prompt: prompt, Origin: from, Runtime: o.runtime, Model: o.model, Profile: o.profile,
			MaxSteps: o.steps, MaxUSD: o.budget,
		}})
		return
	}
	b.concludeBrowse(ctx, work.ID, p, from, o.task, rec, err)
}

// notTaken reports whether a task was not begun because the program ends: the next run can do it.
func notTaken(ctx context.Context, rec sessions.TaskRecord, err error) bool {
	if rec.State != "" || err == nil {
		return false
	}
	c := cancel.CauseOf(ctx, err)
	return errors.Is(err, sessions.ErrShuttingDown) || c != nil && c.Reason == cancel.ShuttingDown
}

// concludeBrowse shows how a browse has ended, or that it continues after a restart.
func (b *Bot) concludeBrowse(
	ctx context.Context, work string, p *progress, from sessions.Origin, title string, rec sessions.TaskRecord, err error,
) {
	p.stop()
	where := p.place
	if b.pauseTask(ctx, work, where, title, rec) {
		return
	}
	text, footer := outcomeText(ctx, from.Locale, rec, err)
	end := finalMessage{
		text: text, footer: footer, images: rec.Images, page: p.page(),
		rows: b.answerRows(from.Locale, rec),
	}
	if rec.State == sessions.TaskDone || rec.State == sessions.TaskLimited {
		end.thread = b.threadName(p)
	}
	b.conclude(ctx, where, b.withDownloads(from.Locale, end, where, rec.Downloads))
	b.forgetOpen(ctx, work)
}

// beginAt returns the task that begins with the page at address, if one is given.
func beginAt(address, task string) (string, error) {
	if address == "" {
		return task, nil
	}
	u, err := url.Parse(address)
	if err == nil && u.Scheme == "" && u.Host == "" {
		u, err = url.Parse("https://" + address)
	}
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.ContainsAny(address, " \n") {
		return "", errors.New("url needs the address of a web page, such as https://example.com")
	}
	return "open " + u.String() + "\n" + task, nil
}

// commandMessage returns where the work of a command is shown.
func (b *Bot) commandMessage(i *discordgo.Interaction, who person, private bool) *workMessage {
	return &workMessage{
		rest: b.rest, log: b.logger(), guild: i.GuildID, channel: i.ChannelID, user: who.id, private: private,
		direct:      i.GuildID == "" && !who.away,
		locale:      b.localeOf(i, who, private),
		interaction: i, expires: time.Now().Add(cmp.Or(b.TokenLife, 14*time.Minute)),
	}
}

// publicPrompt returns what others may read of the task.
func publicPrompt(o browseOptions) string {
	if o.private {
		return "(private)"
	}
	return o.task
}

// lastSession is what the last session of a person in a channel is called.
const lastSession = "last"

// namedSession returns the session that a person means.
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

// startProgress begins to show in a place the work that has id and handle.
func (b *Bot) startProgress(ctx context.Context, where *workMessage, id string, handle *cancel.Handle) *progress {
	p := &progress{
		shown: &b.activeProgress, place: where, guild: where.guild, channel: where.channel, work: id,
		interval: cmp.Or(b.EditInterval, 1200*time.Millisecond), log: b.logger(),
		live:         b.Links != nil,
		locale:       where.locale,
		onShown:      func() { b.keepOpen(ctx, id, where, nil) },
		onCannotShow: func() { handle.Stop(&cancel.Cause{Reason: cancel.Gone}) },
	}
	p.start(ctx)
	return p
}

// conclude shows how work has ended, whatever has become of ctx.
func (b *Bot) conclude(ctx context.Context, where *workMessage, c finalMessage) {
	ctx, cancel := context.WithTimeout(discord.Persist(context.WithoutCancel(ctx)), finishTimeout)
	defer cancel()
	parts := composeMessages(where.locale, c)
	if c.thread != "" && b.concludeInThread(ctx, where, c.thread, parts) {
		return
	}
	if err := where.finish(ctx, parts); err != nil {
		b.logger().Error("answer not shown", "channel", where.channel, "user", where.user, "error", err)
	}
}

// threadName returns the name of the thread for the answer to work that took long; empty if it did not.
func (b *Bot) threadName(p *progress) string {
	if after := b.Host.ThreadAfter(); after <= 0 || time.Since(p.began) < after {
		return ""
	}
	return untrusted.ShortenLine(p.prompt(), maxThreadName-1)
}

// maxThreadName is the maximum length of a thread's name, in characters.
const maxThreadName = 100

// concludeInThread posts an answer in a thread below the progress message, which then links to it. It reports false if
// there can be no thread: then the answer goes where the request was made.
func (b *Bot) concludeInThread(ctx context.Context, where *workMessage, name string, parts []messageContent) bool {
	at := cmp.Or(where.message, where.answer)
	below := b.guilds.Parent(where.guild, where.channel) // it is in a thread already
	if where.private || where.direct || where.guild == "" || at == "" || below != "" {
		return false
	}
	id, err := b.rest.StartThread(ctx, where.channel, at, name)
	if err == nil {
		// With direct, it goes nowhere else.
		thread := &workMessage{rest: where.rest, log: where.log, channel: id, locale: where.locale, direct: true}
		err = thread.finish(ctx, parts)
	}
	if err != nil {
		b.logger().Warn("an answer goes into no thread", "channel", where.channel, "error", err)
		return false
	}
	pointer := messageContent{content: where.locale.T("The answer is in <#%s>.", id)}
	if err := where.show(ctx, pointer, true); err != nil {
		b.logger().Warn("a message does not point to the thread with its answer", "thread", id, "error", err)
	}
	return true
}

// workLabel returns the label under which a piece of work is listed.
func workLabel(what, text string) string {
	r := []rune(strings.Join(strings.Fields(text), " "))
	if len(r) > maxLabel {
		r = append(r[:maxLabel-1], '…')
	}
	return what + ": " + string(r)
}

func newID() string { return strings.ToLower(rand.Text()[:16]) }
