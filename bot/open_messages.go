package bot

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"clank/bot/discord"
	"clank/cancel"
	"clank/internal/i18n"
	"clank/sessions"

	"github.com/bwmarrin/discordgo"
)

// MessageStore stores what is needed to correct the messages of work that ended because the program was killed.
type MessageStore interface {
	// SaveOpenMessage stores the data of a piece of work, and replaces earlier data.
	SaveOpenMessage(ctx context.Context, work string, data []byte) error
	// DeleteOpenMessage forgets it.
	DeleteOpenMessage(ctx context.Context, work string) error
	// OpenMessages returns all that is kept, by work.
	OpenMessages(ctx context.Context) (map[string][]byte, error)
}

// openMessage is the stored form of a message that shows running work.
type openMessage struct {
	Guild   string    `json:"guild,omitempty"`
	Channel string    `json:"channel"`
	Message string    `json:"message,omitempty"` // in the channel
	App     string    `json:"app,omitempty"`     // with Token: the answer to a command
	Token   string    `json:"token,omitempty"`
	Expires time.Time `json:"expires,omitzero"` // of Token
	User    string    `json:"user"`
	Private bool      `json:"private,omitempty"`
	// Locale is the language of its texts.
	Locale i18n.Locale `json:"locale,omitempty"`
	// Paused is the task that continues after the restart; nil if none does.
	Paused *pausedTask `json:"paused,omitempty"`
}

// pausedTask is a task that an orderly end of the program has interrupted.
type pausedTask struct {
	sessions.Continuation

	Title string `json:"title"`
}

// storeTimeout bounds one use of the store.
const storeTimeout = 5 * time.Second

// keepOpen remembers where the work is shown.
func (b *Bot) keepOpen(ctx context.Context, work string, p *workMessage, paused *pausedTask) {
	if b.Messages == nil {
		return
	}
	kept := openMessage{
		Guild: p.guild, Channel: p.channel, Message: p.message, User: p.user, Private: p.private, Locale: p.locale,
		Paused: paused,
	}
	if i := p.interaction; i != nil {
		kept.App, kept.Token, kept.Expires = i.AppID, i.Token, p.expires
	}
	data, err := json.Marshal(kept)
	if err == nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
		defer cancel()
		err = b.Messages.SaveOpenMessage(ctx, work, data)
	}
	if err != nil {
		b.logger().Warn("where work is shown is not kept", "work", work, "error", err)
	}
}

// forgetOpen is called when the end of the work was shown.
func (b *Bot) forgetOpen(ctx context.Context, work string) {
	if b.Messages == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	if err := b.Messages.DeleteOpenMessage(ctx, work); err != nil {
		b.logger().Warn("where work was shown is not forgotten", "work", work, "error", err)
	}
}

// restartedText is the message of work that was interrupted.
const restartedText = "clank was restarted while it worked on this, so there is no answer. Please ask again; " +
	"`/clank sessions` lists what you can go on with."

// correctOldMessages corrects the messages of work that an earlier process did not finish.
func (b *Bot) correctOldMessages(base context.Context) {
	if b.Messages == nil {
		close(b.workResumed)
		return
	}
	ctx, end := context.WithTimeout(discord.Persist(base), finishTimeout)
	defer end()
	old, err := b.Messages.OpenMessages(ctx)
	if err != nil {
		b.logger().Warn("messages of the last run are not corrected", "error", err)
	}
	dead := make(map[string]*workMessage)
	for work, data := range old {
		if where := b.resumeOld(base, work, data); where != nil {
			dead[work] = where
		}
	}
	close(b.workResumed)
	for work, where := range dead {
		if err := where.show(ctx, messageContent{content: where.locale.T(restartedText)}, true); err != nil {
			b.logger().Warn("a message of the last run is not corrected", "work", work, "error", err)
		}
		if ctx.Err() != nil { // tried again by the next run
			return
		}
		b.forgetOpen(ctx, work)
	}
}

// resumeOld resumes a piece of work of an earlier process. If it cannot, it returns the message that so far says it
// will be resumed.
func (b *Bot) resumeOld(base context.Context, work string, data []byte) (dead *workMessage) {
	var m openMessage
	if err := json.Unmarshal(data, &m); err != nil {
		b.logger().Warn("a message of the last run is not corrected", "work", work, "error", err)
		b.forgetOpen(base, work)
		return nil
	}
	where := &workMessage{
		rest: b.rest, log: b.logger(), guild: m.Guild, channel: m.Channel, message: m.Message, user: m.User,
		private: m.Private, expires: m.Expires,
		locale: m.Locale,
	}
	if m.Token != "" && time.Now().Before(m.Expires) {
		where.interaction = &discordgo.Interaction{AppID: m.App, Token: m.Token}
	}
	if m.Paused == nil {
		return where
	}
	from, title := m.Paused.Origin, m.Paused.Title
	if from.Private {
		title = publicPrompt(browseOptions{private: true})
	}
	ctx, handle := b.Scopes.Begin(base, cancel.Scope{Guild: from.Guild, Channel: from.Channel},
		cancel.Work{ID: work, Owner: from.User, Label: workLabel("browse", title)})
	if b.jobs.Start(false, func() {
		defer handle.End()
		b.recoverPanic(ctx, func(ctx context.Context) { b.resumeTask(ctx, work, where, *m.Paused, handle) })
	}) {
		return nil
	}
	handle.End()
	return where
}

// pausedText is the message of a task that waits for the program to start again.
const pausedText = "clank is being restarted. It goes on with this by itself afterwards."

// passwordNotKeptText refuses a task that would need a password that is not kept.
const passwordNotKeptText = "There was a password in that task, which is not kept. Please ask again with " +
	"/clank browse."

// pauseTask stores a task to be resumed after a restart, and shows that in its message. It reports false if the task
// has ended otherwise, or there is no store.
func (b *Bot) pauseTask(ctx context.Context, work string, where *workMessage, title string,
	rec sessions.TaskRecord,
) bool {
	c := cancel.CauseOf(ctx, nil)
	if b.Messages == nil || rec.State != sessions.TaskInterrupted || c == nil || c.Reason != cancel.ShuttingDown {
		return false
	}
	b.keepPaused(ctx, work, where, &pausedTask{rec.Continue(), title})
	return true
}

// keepPaused stores a task to be resumed, or started, after a restart, and shows that in its message. Passwords are not
// stored, so a task that cannot begin without one is given up.
func (b *Bot) keepPaused(ctx context.Context, work string, where *workMessage, t *pausedTask) {
	t.Prompt, t.Title = sessions.MaskLikely(t.Prompt), sessions.MaskLikely(t.Title)
	if strings.Contains(t.Prompt, sessions.SecretMask) {
		b.conclude(ctx, where, finalMessage{text: where.locale.T(passwordNotKeptText)})
		b.forgetOpen(ctx, work)
		return
	}
	b.conclude(ctx, where, finalMessage{text: where.locale.T(pausedText)})
	b.keepOpen(ctx, work, where, t)
}

// resumeTask continues a task of the former run, as its person may now. handle is that of the work.
func (b *Bot) resumeTask(ctx context.Context, work string, where *workMessage, t pausedTask, handle *cancel.Handle) {
	from, err := b.RefreshOrigin(ctx, t.Origin)
	switch c := cancel.CauseOf(ctx, nil); {
	case c != nil && c.Reason == cancel.ShuttingDown: // it is kept for the next run
		return
	case c != nil:
		b.conclude(ctx, where, finalMessage{text: b.failure(ctx, where.locale, c)})
		b.forgetOpen(ctx, work)
		return
	case err != nil:
		b.logger().Warn("a task of the last run does not go on", "session", t.Session, "error", err)
		b.conclude(ctx, where, finalMessage{text: where.locale.T(restartedText)})
		b.forgetOpen(ctx, work)
		return
	}
	from = b.completeOrigin(ctx, from)
	from.Private, from.Locale, where.guild = t.Origin.Private, where.locale, from.Guild
	if why := b.Host.Disabled(ctx, from); why != "" {
		b.conclude(ctx, where, finalMessage{text: from.Locale.Sentence(why)})
		b.forgetOpen(ctx, work)
		return
	}
	p := b.startProgress(ctx, where, work, handle)
	defer p.stop() // also after a panic
	rec, err := b.Tasks.Run(ctx, t.Task(from), func(e sessions.Event) { p.handleEvent(1, t.Title, e) })
	if notTaken(ctx, rec, err) { // it is kept for the next run
		p.stop()
		b.keepPaused(ctx, work, where, &t)
		return
	}
	b.concludeBrowse(ctx, work, p, from, t.Title, rec, err)
}
