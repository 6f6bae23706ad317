package bot

import (
	"context"
	"errors"
	"strings"
	"sync"

	"clank/bot/discord"
	"clank/internal/i18n"
	"clank/sessions"
	"clank/sessions/agent"
	"clank/sessions/approval"

	"github.com/bwmarrin/discordgo"
)

// questionOutcomes is what the bot knows of the questions that it shows.
type questionOutcomes struct {
	mu       sync.Mutex
	outcomes map[string]chan approval.Answer // by question: receives its outcome
	done     sync.WaitGroup                  // of the goroutine that follows questions
}

// followQuestions shows the questions of Discord's tasks until ctx ends.
func (b *Bot) followQuestions(ctx context.Context) {
	if b.Questions == nil {
		return
	}
	f := b.Questions.Follow(isFromDiscord)
	b.questionOutcomes.outcomes = map[string]chan approval.Answer{}
	b.questionOutcomes.done.Go(func() {
		defer f.Close()
		for {
			ev, err := f.Next(ctx)
			if err != nil {
				return
			}
			if isFromDiscord(ev.Question) {
				b.handleQuestion(ctx, ev)
			}
		}
	})
}

func isFromDiscord(q approval.Question) bool { return q.Source == string(sessions.FromDiscord) }

// handleQuestion handles an event of a question. It does not wait for Discord.
func (b *Bot) handleQuestion(ctx context.Context, ev approval.Event) {
	id := ev.Question.ID
	b.questionOutcomes.mu.Lock()
	defer b.questionOutcomes.mu.Unlock()
	over, known := b.questionOutcomes.outcomes[id]
	switch {
	case ev.Resolved && known:
		over <- ev.Answer // it has room for one
		delete(b.questionOutcomes.outcomes, id)
	case !ev.Resolved && !known:
		over = make(chan approval.Answer, 1)
		b.questionOutcomes.outcomes[id] = over
		b.runShort(ctx, func(ctx context.Context) { b.showQuestion(ctx, ev.Question, over) })
	}
}

// showQuestion writes a question into the channel of its task, or to the person
// alone if the task is private, and edits it once it is over.
func (b *Bot) showQuestion(ctx context.Context, q approval.Question, over <-chan approval.Answer) {
	where := &workMessage{rest: b.rest, log: b.logger(), channel: q.Channel, user: q.User, private: q.Private}
	loc := b.locale(q.Guild)
	asked := messageContent{content: questionText(loc, q, b.Links != nil), rows: questionButtons(loc, q, b.Links != nil)}
	if err := b.writeMessage(ctx, where, asked); err != nil {
		b.logger().Warn("question not shown", "question", q.ID, "channel", q.Channel, "error", err)
		if q.Private { // nobody else can allow it
			_ = b.Questions.Answer(q.ID, approval.Answer{Reason: cannotAskPrivately}) // or it is over already
		}
		return
	}
	a := approval.Answer{Reason: "clank has ended"}
	select {
	case a = <-over:
	case <-ctx.Done():
		select {
		case a = <-over:
		default:
		}
	}
	if err := b.writeMessage(context.WithoutCancel(ctx), where,
		messageContent{content: resolvedText(loc, q, a)}); err != nil {
		b.logger().Warn("outcome of a question not shown", "question", q.ID, "channel", q.Channel, "error", err)
	}
}

// cannotAskPrivately tells the person who asked, in the result of their task, why they get no questions.
const cannotAskPrivately = "clank cannot write to the person who asked privately (allow direct messages from " +
	"this server)"

func (b *Bot) writeMessage(ctx context.Context, where *workMessage, v messageContent) error {
	ctx, cancel := context.WithTimeout(ctx, shortTimeout)
	defer cancel()
	return where.show(ctx, v, false)
}

// questionPrefix begins the custom id of a question's button; the answer and the question's id follow.
const questionPrefix = "clank:ask:"

const (
	answerAllow        = "yes"
	answerAllowSession = "session"
	answerRefuse       = "no"
	answerChoice       = "choice" // a menu of what a model can be answered
	answerWords        = "words"  // a form for that
)

// questionButtons returns the buttons of a question. links means that a person who takes over gets a link to the page.
func questionButtons(loc i18n.Locale, q approval.Question, links bool) []discordgo.MessageComponent {
	button := func(label string, style discordgo.ButtonStyle, say string) discordgo.MessageComponent {
		return discordgo.Button{Label: label, Style: style, CustomID: questionPrefix + say + ":" + q.ID}
	}
	if q.Class == approval.ClassAnswer {
		var rows []discordgo.MessageComponent
		if menu := choiceMenu(loc, questionPrefix+answerChoice+":"+q.ID, q.Choices); len(menu.Options) > 0 {
			rows = append(rows, discordgo.ActionsRow{Components: []discordgo.MessageComponent{menu}})
		}
		row := []discordgo.MessageComponent{
			button(loc.T("Answer in your own words"), discordgo.PrimaryButton, answerWords),
			button(loc.T("No answer"), discordgo.SecondaryButton, answerRefuse),
		}
		return append(rows, discordgo.ActionsRow{Components: row})
	}
	if q.Class == approval.ClassTakeOver {
		label := loc.T("I will")
		if links {
			label = loc.T("Take over")
		}
		row := []discordgo.MessageComponent{
			button(label, discordgo.SuccessButton, answerAllow),
			button(loc.T("No"), discordgo.DangerButton, answerRefuse),
		}
		return []discordgo.MessageComponent{discordgo.ActionsRow{Components: row}}
	}
	row := []discordgo.MessageComponent{button(loc.T("Allow"), discordgo.SuccessButton, answerAllow)}
	if q.Class.AllowedForSession() && q.Session != "" {
		row = append(row, button(loc.T("Allow for this session"), discordgo.SecondaryButton, answerAllowSession))
	}
	row = append(row, button(loc.T("No"), discordgo.DangerButton, answerRefuse))
	return []discordgo.MessageComponent{discordgo.ActionsRow{Components: row}}
}

// questionText returns the question. Text of the page is separate and cannot format anything.
func questionText(loc i18n.Locale, q approval.Question, links bool) string {
	if q.Class == approval.ClassAnswer {
		return questionSubject(loc, q) + "\n-# " + loc.T("For <@%s> to answer, without passwords. The time is over %s.",
			q.User, timestamp(q.Until, 'R'))
	}
	if q.Class == approval.ClassTakeOver && !links {
		return questionSubject(loc, q) + "\n-# " + loc.T("For somebody at the dashboard to do. The time is over %s.",
			timestamp(q.Until, 'R'))
	}
	return questionSubject(loc, q) + "\n-# " + loc.T("For <@%s> to answer. Without an answer it is not done; the time "+
		"is over %s.",
		q.User, timestamp(q.Until, 'R'))
}

func questionSubject(loc i18n.Locale, q approval.Question) string {
	if q.Class == approval.ClassAnswer {
		return "**" + loc.T("The model asks:") + "** " + escapeWithin(q.Detail, maxQuestionShown)
	}
	text := "**" + escapeWithin(loc.Text(q.Text), 700) + "?**"
	if q.Detail != "" {
		detail := escapeWithin(q.Detail, 400)
		if q.Class == approval.ClassHandOver || q.Class == approval.ClassTakeOver {
			text += "\n" + loc.T("The model's note: “%s”", detail)
		} else {
			text += "\n" + loc.T("The page calls it: “%s”", detail)
		}
	}
	return text
}

// maxQuestionShown is the maximum length of a model's question with its escapes, which leaves room for what follows it.
const maxQuestionShown = agent.MaxQuestion

// escapeWithin returns s as [discord.EscapeLine] does, cut so that it has at most that many characters.
func escapeWithin(s string, most int) string {
	for n := most; ; n = n * 3 / 4 {
		if line := discord.EscapeLine(s, n); discord.MessageLength(line) <= most {
			return line
		}
	}
}

// resolvedText returns the question once it is over.
func resolvedText(loc i18n.Locale, q approval.Question, a approval.Answer) string {
	text := questionSubject(loc, q)
	if a.Text != "" {
		text += "\n> " + escapeWithin(a.Text, 400)
	}
	return text + "\n-# " + sentence(loc, a.String(), 300)
}

// onAnswer handles a question's button, menu or form; words are what was picked or written.
func (b *Bot) onAnswer(base context.Context, i *discordgo.Interaction, data, words string, who person) {
	say, id, _ := strings.Cut(data, ":")
	b.runShort(base, func(ctx context.Context) {
		if say == answerWords && i.Type == discordgo.InteractionMessageComponent {
			b.openForm(ctx, i, wordsForm(who.locale, questionPrefix+data))
			return
		}
		kind, text := discordgo.InteractionResponseDeferredMessageUpdate, b.answerQuestion(ctx, i, id, say, words, who)
		if text != "" {
			kind = discordgo.InteractionResponseChannelMessageWithSource
		}
		b.logger().Info("question button", "question", id, "by", who.id, "say", say, "refused", text)
		b.respond(ctx, i, kind, discord.OutgoingMessage{Content: text, Private: true})
	})
}

// answerQuestion answers a question, and returns a text for that person alone: why that was not possible, the link to
// take over, or nothing, because the question's message shows the answer immediately.
func (b *Bot) answerQuestion(ctx context.Context, i *discordgo.Interaction, id, say, words string, who person) string {
	q, waits := approval.Question{}, false
	if b.Questions != nil {
		q, waits = b.Questions.Find(id)
	}
	switch {
	case !waits:
		return who.locale.T("That question is over.")
	case !b.mayAnswer(i, q, who, say) && q.Class == approval.ClassAnswer:
		return who.locale.T("Only <@%s> can answer that.", q.User)
	case !b.mayAnswer(i, q, who, say):
		return who.locale.T("Only <@%s>, or somebody who may manage messages here, can answer that.", q.User)
	}
	if say != answerRefuse {
		if why := b.shutOut(ctx, i, q, who); why != "" {
			return who.locale.Sentence(why)
		}
	}
	text := ""
	if q.Class == approval.ClassTakeOver && say == answerAllow && b.Links != nil {
		var err error
		if text, err = b.Links.Link(ctx, askerOrigin(q, who), LinkRequest{Session: q.Session, Control: true}); err != nil {
			return sentence(who.locale, err.Error(), 300)
		}
	}
	err := b.Questions.Answer(id, approval.Answer{
		Allowed: say != answerRefuse, ForSession: say == answerAllowSession, Text: words, By: "@" + who.name,
		ByID: who.id,
	})
	switch {
	case err == nil:
		return text
	case errors.Is(err, approval.ErrNotPending):
		return who.locale.T("That question is over.")
	}
	return sentence(who.locale, err.Error(), 300)
}

// shutOut returns why a person may no longer make requests where q was asked, and so may not allow anything there.
func (b *Bot) shutOut(ctx context.Context, i *discordgo.Interaction, q approval.Question, who person) string {
	o := askerOrigin(q, who)
	if i.GuildID == q.Guild {
		return b.Host.Disabled(ctx, b.completeOrigin(ctx, o))
	}
	now, err := b.RefreshOrigin(ctx, o) // a private question of a server is answered in a direct message
	if err != nil {
		return err.Error()
	}
	return b.Host.Disabled(ctx, now)
}

// askerOrigin returns the origin of a person as if they had made a request where q was asked.
func askerOrigin(q approval.Question, who person) sessions.Origin {
	return sessions.Origin{
		Kind: sessions.FromDiscord, Guild: q.Guild, Channel: q.Channel, User: who.id, UserName: who.name, Private: q.Private,
		Roles:  who.roles,
		Locale: who.locale,
	}
}

// mayAnswer reports whether a person may give that answer. People who may stop the task may say no. Only the person who
// requested the task and moderators may say yes, even where anyone may stop.
func (b *Bot) mayAnswer(i *discordgo.Interaction, q approval.Question, who person, say string) bool {
	if who.id == q.User {
		return true
	}
	if q.Class == approval.ClassAnswer && say != answerRefuse {
		return false // only they may speak for themselves
	}
	if q.Private || q.Guild == "" || i.GuildID != q.Guild || i.ChannelID != q.Channel {
		return false
	}
	return who.bits&moderatorBits != 0 || say == answerRefuse && b.Host.AnyoneMayStop()
}
