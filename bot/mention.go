package bot

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/bot/discord"
	"clank/cancel"
	"clank/internal/assistant"
	"clank/internal/i18n"
	"clank/llm"
	"clank/sessions"

	"github.com/bwmarrin/discordgo"
)

const (
	historyLines = 15               // messages before the one to answer
	historyAge   = 30 * time.Minute // older messages are not part of the conversation
	typingEvery  = 8 * time.Second  // Discord shows it for ten
)

// onMessage stops work, or begins a reply, or does nothing.
func (b *Bot) onMessage(base context.Context, m *discordgo.Message) {
	who, ok := b.authorOf(m)
	if !ok {
		return
	}
	me := b.identity().user
	if b.Host.IsStop(m.Content) && b.stopByMessage(base, m, who) {
		return
	}
	// What comes with files is a task of its own.
	if len(m.Attachments) == 0 && b.noteByReply(base, m, who) || m.GuildID != "" && !mentions(m, me) {
		return
	}
	busy := func(ctx context.Context) {
		where := b.replyMessage(m, who)
		b.conclude(ctx, where, finalMessage{text: who.locale.T(busyText)})
	}
	b.startWork(base, func(ctx context.Context) { b.reply(ctx, m, who) }, busy)
}

// authorOf returns the person who wrote m, and false for programs and Discord itself.
func (b *Bot) authorOf(m *discordgo.Message) (who person, ok bool) {
	a := m.Author
	if a == nil || a.ID == "" || a.ID == b.identity().user || a.Bot || a.System || m.WebhookID != "" ||
		m.Type != discordgo.MessageTypeDefault && m.Type != discordgo.MessageTypeReply {
		return who, false
	}
	who = personFrom(a, "")
	if m.Member != nil {
		who = personFrom(a, m.Member.Nick)
		who.roles = m.Member.Roles
	}
	who.locale = b.locale(m.GuildID)
	return who, true
}

// mentions reports whether m mentions the user with id.
func mentions(m *discordgo.Message, id string) bool {
	if id == "" {
		return false
	}
	return strings.Contains(m.Content, "<@"+id+">") || strings.Contains(m.Content, "<@!"+id+">") ||
		slices.ContainsFunc(m.Mentions, func(u *discordgo.User) bool { return u != nil && u.ID == id })
}

// reply answers a message.
func (b *Bot) reply(ctx context.Context, m *discordgo.Message, who person) {
	work := cancel.Work{ID: askedBy(m.ID), Owner: who.id, Label: workLabel("reply", b.withoutMention(m.Content))}
	ctx, handle := b.Scopes.Begin(ctx, cancel.Scope{Guild: m.GuildID, Channel: m.ChannelID}, work)
	defer handle.End()
	defer b.typing(ctx, m.ChannelID)()
	where := b.replyMessage(m, who)
	from := b.completeOrigin(ctx, sessions.Origin{
		Kind: sessions.FromDiscord, Guild: m.GuildID, Channel: m.ChannelID, User: who.id, UserName: who.name,
		Private: m.GuildID == "" || where.private, Roles: who.roles, Locale: who.locale,
	})
	if why := b.Host.Disabled(ctx, from); why != "" {
		b.conclude(ctx, where, finalMessage{text: who.locale.Sentence(why)})
		return
	}
	b.Host.HandleRequest(ctx, from)
	files, notes, err := b.messageFiles(ctx, from.Locale, m)
	if err != nil {
		b.conclude(ctx, where, finalMessage{text: filesRefused(from.Locale, err, b.withoutMention(m.Content))})
		return
	}
	defer b.discardFiles(files)
	line := assistant.ChatLine{
		Speaker: who.name, SpeakerID: who.id, Text: b.withoutMention(m.Content), Images: b.pictures(files), Notes: notes,
	}
	lines := b.conversation(ctx, m)
	for _, quoted := range b.forwardedLines(m) {
		quoted.Subject = true
		lines = append(lines, quoted)
	}
	if line.Text == "" && len(m.MessageSnapshots) > 0 {
		line.Notes = append(line.Notes, "forwarded the message above, without a word of their own")
	}
	b.converse(ctx, where, work.ID, handle, assistant.Turn{
		Origin: from, Lines: append(lines, line), Typed: true, Files: files,
	}, false)
}

// converse answers a message. where shows the progress of the work with id and handle. The answer quotes its question
// if quote is set: nothing else in the channel shows it.
func (b *Bot) converse(ctx context.Context, where *workMessage, id string, handle *cancel.Handle, turn assistant.Turn,
	quote bool,
) {
	turn.CanAsk = true
	p := b.startProgress(ctx, where, id, handle)
	defer p.stop() // also after a panic
	answer, err := b.Assistant.Reply(ctx, turn, func(news assistant.Progress) {
		p.handleEvent(news.Call, news.Query, news.Event)
	})
	p.stop()
	defer b.forgetOpen(ctx, id)
	rows := b.answerRows(where.locale, p.lastRecord())
	if err != nil {
		b.conclude(ctx, where, finalMessage{text: b.failure(ctx, where.locale, err), page: p.page(), rows: rows})
		return
	}
	if answer.Asks {
		rows = append(questionRows(where.locale, turn.Origin.User, answer.Choices), rows...)
	}
	text := answer.Text
	if quote {
		text = "> " + discord.EscapeLine(turn.Lines[len(turn.Lines)-1].Text, 300) + "\n" + text
	}
	end := finalMessage{text: text, images: answer.Images, page: answer.View, rows: rows, thread: b.threadName(p)}
	b.conclude(ctx, where, b.withDownloads(where.locale, end, where, answer.Files))
}

// failure returns a text that says why there is no answer.
func (b *Bot) failure(ctx context.Context, loc i18n.Locale, err error) string {
	if c := cancel.CauseOf(ctx, err); c != nil {
		return sentence(loc, c.Error(), 500)
	}
	b.logger().Error("reply failed", "error", err)
	if e := new(llm.Error); errors.As(err, &e) {
		return loc.T("I could not think of an answer.") + " " + sentence(loc, e.Error(), 800)
	}
	return loc.T("That did not work.") + " " + sentence(loc, err.Error(), 800)
}

func (b *Bot) replyMessage(m *discordgo.Message, who person) *workMessage {
	return &workMessage{
		rest: b.rest, log: b.logger(), guild: m.GuildID, channel: m.ChannelID, user: who.id, direct: m.GuildID == "",
		replyTo: m.ID,
		locale:  who.locale, private: b.isPrivate(m.GuildID),
	}
}

// typing shows that the bot is busy, until the function it returns is called.
func (b *Bot) typing(ctx context.Context, channel string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.Tick(typingEvery)
		for {
			if err := b.rest.Typing(ctx, channel); err != nil && ctx.Err() == nil {
				b.logger().Info("typing not shown", "channel", channel, "error", err)
			}
			select {
			case <-ctx.Done():
				return
			case <-tick:
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// conversation returns the latest messages before m; none where the bot may not read them.
func (b *Bot) conversation(ctx context.Context, m *discordgo.Message) []assistant.ChatLine {
	ctx, cancel := context.WithTimeout(ctx, shortTimeout)
	defer cancel()
	before, err := b.rest.Messages(ctx, m.ChannelID, m.ID, historyLines)
	if err != nil {
		b.logger().Info("earlier messages not read", "channel", m.ChannelID, "error", err)
	}
	slices.Reverse(before)
	before = slices.DeleteFunc(before, func(e *discordgo.Message) bool {
		return e == nil || m.Timestamp.Sub(e.Timestamp) > historyAge
	})
	about := func(e *discordgo.Message) bool { return m.ReferencedMessage != nil && e.ID == m.ReferencedMessage.ID }
	if m.ReferencedMessage != nil && !slices.ContainsFunc(before, about) {
		before = slices.Insert(before, 0, m.ReferencedMessage)
	}
	var lines []assistant.ChatLine
	for _, e := range before {
		n := len(lines)
		lines = b.appendLine(lines, e)
		for i := range lines[n:] {
			lines[n+i].Subject = about(e) && !lines[n+i].FromAssistant
		}
	}
	return lines
}

// appendLine appends the text of e and of what it forwards, if it is by a person or the bot itself. Its pictures are
// only mentioned.
func (b *Bot) appendLine(lines []assistant.ChatLine, e *discordgo.Message) []assistant.ChatLine {
	if e.Author == nil || e.WebhookID != "" && e.Author.ID != b.identity().user {
		return lines
	}
	mine := e.Author.ID == b.identity().user
	if e.Author.Bot && !mine {
		return lines
	}
	lines = append(lines, b.forwardedLines(e)...)
	text := b.withoutMention(e.Content)
	if text == "" && len(e.Attachments) == 0 {
		return lines
	}
	if mine {
		text = secretLink().ReplaceAllString(text, "$1(only for those who watch)")
	}
	line := assistant.ChatLine{Speaker: personFrom(e.Author, "").name, FromAssistant: mine, Text: text}
	if !mine {
		line.SpeakerID, line.Notes = e.Author.ID, earlierFiles(e)
	}
	return append(lines, line)
}

// earlierFiles names the files of a message for the model.
func earlierFiles(m *discordgo.Message) (notes []string) {
	for _, a := range m.Attachments {
		if a != nil {
			notes = append(notes, "attached earlier: "+discord.EscapeLine(a.Filename, 80))
		}
	}
	return notes
}

// forwarded returns the messages that m forwards. Discord copies their content, but not their authors.
func forwarded(m *discordgo.Message) (list []*discordgo.Message) {
	for _, s := range m.MessageSnapshots {
		if s.Message != nil {
			list = append(list, s.Message)
		}
	}
	return list
}

// forwardedLines returns the lines of what m forwards, without a speaker: to forward words is not to say them.
func (b *Bot) forwardedLines(m *discordgo.Message) (lines []assistant.ChatLine) {
	for _, f := range forwarded(m) {
		line := assistant.ChatLine{
			Speaker: "somebody, forwarded by " + personFrom(m.Author, "").name,
			Text:    b.withoutMention(quotedText(f)), Notes: earlierFiles(f),
		}
		if line.Text != "" || line.Notes != nil {
			lines = append(lines, line)
		}
	}
	return lines
}

// secretLink matches our viewer links. What follows the # is a secret between the viewers and us: a model that knew it
// could be persuaded to give it to a page.
var secretLink = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(https?://[^\s<>#]*#)[A-Za-z0-9_-]{40,}`)
})

func (b *Bot) withoutMention(text string) string {
	me := b.identity().user
	if me == "" {
		return strings.TrimSpace(text)
	}
	return strings.TrimSpace(strings.NewReplacer("<@"+me+">", "", "<@!"+me+">", "").Replace(text))
}
