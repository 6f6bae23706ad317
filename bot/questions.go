package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"clank/bot/markup"
	"clank/bot/rest"
	"clank/consent"
	"clank/sessions"

	"github.com/bwmarrin/discordgo"
)

// Questions are what people are asked before it is done. [consent.Desk] is them.
type Questions interface {
	Follow(serves func(consent.Question) bool) *consent.Follower
	Find(id string) (consent.Question, bool)
	Answer(id string, a consent.Answer) error
}

// asking is what the bot knows of the questions that it shows.
type asking struct {
	mu   sync.Mutex
	over map[string]chan consent.Answer // by question: takes its outcome
	done sync.WaitGroup                 // the one who follows
}

// followQuestions shows the questions of Discord's tasks until ctx ends.
func (b *Bot) followQuestions(ctx context.Context) {
	if b.Questions == nil {
		return
	}
	f := b.Questions.Follow(ours)
	b.asking.over = map[string]chan consent.Answer{}
	b.asking.done.Go(func() {
		defer f.Close()
		for {
			ev, err := f.Next(ctx)
			if err != nil {
				return
			}
			if ours(ev.Question) {
				b.question(ctx, ev)
			}
		}
	})
}

func ours(q consent.Question) bool { return q.Door == string(sessions.FromDiscord) }

// question takes news of a question. It does not wait for Discord.
func (b *Bot) question(ctx context.Context, ev consent.Event) {
	id := ev.Question.ID
	b.asking.mu.Lock()
	defer b.asking.mu.Unlock()
	over, known := b.asking.over[id]
	switch {
	case ev.Over && known:
		over <- ev.Answer // it has room for one
		delete(b.asking.over, id)
	case !ev.Over && !known:
		over = make(chan consent.Answer, 1)
		b.asking.over[id] = over
		b.errand(ctx, func(ctx context.Context) { b.showQuestion(ctx, ev.Question, over) })
	}
}

// showQuestion writes a question into the channel of its task, or to the person
// alone if the task is private, and edits it once it is over.
func (b *Bot) showQuestion(ctx context.Context, q consent.Question, over <-chan consent.Answer) {
	where := &place{rest: b.rest, log: b.logger(), channel: q.Channel, user: q.User, private: q.Private, direct: q.Guild == ""}
	if err := b.write(ctx, where, view{content: askText(q), rows: askButtons(q)}); err != nil {
		b.logger().Warn("question not shown", "question", q.ID, "channel", q.Channel, "error", err)
		if q.Private { // nobody else can allow it: there is nothing to wait for
			_ = b.Questions.Answer(q.ID, consent.Answer{Reason: notPrivately}) // or it is over already
		}
		return
	}
	a := consent.Answer{Reason: "clank has ended"}
	select {
	case a = <-over:
	case <-ctx.Done():
		select {
		case a = <-over:
		default:
		}
	}
	if err := b.write(context.WithoutCancel(ctx), where, view{content: overText(q, a)}); err != nil {
		b.logger().Warn("outcome of a question not shown", "question", q.ID, "channel", q.Channel, "error", err)
	}
}

// notPrivately tells the one who asked, by way of their task, what keeps questions from them.
const notPrivately = "clank cannot write to the person who asked privately (allow direct messages from this server)"

func (b *Bot) write(ctx context.Context, where *place, v view) error {
	ctx, cancel := context.WithTimeout(ctx, errandTimeout)
	defer cancel()
	return where.show(ctx, v, false)
}

// askPrefix begins the custom id of a question's button; what it says and the id
// of the question follow.
const askPrefix = "clank:ask:"

const (
	sayYes     = "yes"
	saySession = "session"
	sayNo      = "no"
)

func askButtons(q consent.Question) []discordgo.MessageComponent {
	button := func(label string, style discordgo.ButtonStyle, say string) discordgo.MessageComponent {
		return discordgo.Button{Label: label, Style: style, CustomID: askPrefix + say + ":" + q.ID}
	}
	row := []discordgo.MessageComponent{button("Allow", discordgo.SuccessButton, sayYes)}
	if q.Class.Lasting() && q.Session != "" {
		row = append(row, button("Allow for this session", discordgo.SecondaryButton, saySession))
	}
	row = append(row, button("No", discordgo.DangerButton, sayNo))
	return []discordgo.MessageComponent{discordgo.ActionsRow{Components: row}}
}

// askText is the question. What the page says stands apart and cannot format
// anything.
func askText(q consent.Question) string {
	return fmt.Sprintf("%s\n-# For <@%s> to answer. Without an answer it is not done; the time is over <t:%d:R>.", matter(q), q.User, q.Until.Unix())
}

func matter(q consent.Question) string {
	text := "**" + markup.Plain(q.Text, 600) + "?**"
	if q.Detail != "" {
		who := "The page calls it"
		if q.Class == consent.HandOver {
			who = "The model's note"
		}
		text += "\n" + who + ": “" + markup.Plain(q.Detail, 300) + "”"
	}
	return text
}

// overText is the question once it is over.
func overText(q consent.Question, a consent.Answer) string {
	return matter(q) + "\n-# " + markup.Plain(markup.Sentence(a.String()), 300)
}

// onAnswer takes the press of a question's button.
func (b *Bot) onAnswer(base context.Context, i *discordgo.Interaction, data string, who person) {
	say, id, _ := strings.Cut(data, ":")
	kind, text := discordgo.InteractionResponseChannelMessageWithSource, ""
	q, waits := consent.Question{}, false
	if b.Questions != nil {
		q, waits = b.Questions.Find(id)
	}
	switch {
	case !waits:
		text = "That question is over."
	case !b.mayAnswer(i, q, who, say):
		text = mayNotText(q)
	default:
		err := b.Questions.Answer(id, consent.Answer{Allowed: say == sayYes || say == saySession, ForSession: say == saySession, By: "@" + who.name})
		switch {
		case err == nil: // the message says so at once
			kind = discordgo.InteractionResponseDeferredMessageUpdate
		case errors.Is(err, consent.ErrGone):
			text = "That question is over."
		default:
			text = markup.Plain(markup.Sentence(err.Error()), 300)
		}
	}
	b.logger().Info("question button", "question", id, "by", who.id, "say", say, "refused", text)
	b.errand(base, func(ctx context.Context) { b.answer(ctx, i, kind, rest.Message{Content: text, Private: true}) })
}

// mayAnswer reports whether a person may say that. Those who may stop the task may
// say no. A yes is for the one who asked for the task and for moderators, also
// where anyone may stop.
func (b *Bot) mayAnswer(i *discordgo.Interaction, q consent.Question, who person, say string) bool {
	if who.id == q.User {
		return true
	}
	if q.Private || q.Guild == "" || i.GuildID != q.Guild || i.ChannelID != q.Channel {
		return false
	}
	return who.bits&moderator != 0 || say == sayNo && b.anyone()
}

func mayNotText(q consent.Question) string {
	return fmt.Sprintf("Only <@%s>, or somebody who may manage messages here, can answer that.", q.User)
}
