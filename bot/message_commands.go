package bot

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"clank/bot/discord"
	"clank/cancel"
	"clank/internal/assistant"
	"clank/sessions"

	"github.com/bwmarrin/discordgo"
)

// The commands in the menu of a message.
const (
	browseLinkName = "Browse this link"
	askAboutName   = "Ask clank about this message"
)

// messageCommands returns them. Whoever may not write in a channel is not offered what has the bot write there.
func messageCommands() []*discordgo.ApplicationCommand {
	writers := int64(discordgo.PermissionSendMessages)
	var list []*discordgo.ApplicationCommand
	for _, name := range []string{browseLinkName, askAboutName} {
		list = append(list, everywhere(&discordgo.ApplicationCommand{
			Type: discordgo.MessageApplicationCommand, Name: name, DefaultMemberPermissions: &writers,
		}))
	}
	return list
}

// onMessageCommand handles a message command, and reports false if it is none.
func (b *Bot) onMessageCommand(
	base context.Context, i *discordgo.Interaction, data discordgo.ApplicationCommandInteractionData, who person,
) bool {
	if data.Resolved == nil || data.Resolved.Messages[data.TargetID] == nil {
		return false
	}
	m := data.Resolved.Messages[data.TargetID]
	busy := func(ctx context.Context) { b.replyPrivately(ctx, i, who.locale.T(busyText)) }
	switch links := linksOf(m); {
	case data.Name == askAboutName:
		b.runShort(base, func(ctx context.Context) { b.openAskForm(ctx, i, m, who) })
	case data.Name != browseLinkName:
		return false
	case len(links) == 0:
		b.runShort(base, func(ctx context.Context) {
			b.replyPrivately(ctx, i, who.locale.T("There is no link in that message."))
		})
	case len(links) == 1:
		b.startWork(base, func(ctx context.Context) { b.browseLink(ctx, i, links[0], who) }, busy)
	default:
		b.runShort(base, func(ctx context.Context) { b.offerLinks(ctx, i, links, who) })
	}
	return true
}

const (
	maxLinks      = 25 // choices of a menu
	maxLinkLength = 500
)

var linkForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("https?://[^\\s<>\"`|\\\\^{}]+") })

// linksOf returns the addresses of web pages in a message, in what it forwards, and in the cards below it, each once.
func linksOf(m *discordgo.Message) (links []string) {
	add := func(text string) {
		for _, link := range linkForm().FindAllString(text, -1) {
			link = strings.TrimRight(link, ".,;:!?*_~'’”)]")
			if strings.Contains(link, "(") && strings.Count(link, "(") > strings.Count(link, ")") {
				link += ")" // of the address itself, as in Wikipedia's
			}
			if len(link) <= maxLinkLength && len(links) < maxLinks && !slices.Contains(links, link) {
				links = append(links, link)
			}
		}
	}
	for _, said := range append([]*discordgo.Message{m}, forwarded(m)...) {
		add(said.Content)
		for _, e := range said.Embeds {
			if e != nil {
				add(e.URL)
				add(e.Description)
			}
		}
	}
	return links
}

// offerLinks has a person choose one of several links. The message itself holds them, so that the menu works after a
// restart.
func (b *Bot) offerLinks(ctx context.Context, i *discordgo.Interaction, links []string, who person) {
	text := who.locale.T("Which link?")
	menu := discordgo.SelectMenu{CustomID: actionPrefix + actionLink + ":", Placeholder: who.locale.T("Choose a link")}
	for n, link := range links {
		line := fmt.Sprintf("\n%d. <%s>", n+1, link)
		if discord.MessageLength(text+line) > discord.MaxMessageLength {
			break
		}
		text += line
		c := newChoice(strconv.Itoa(n+1), link)
		menu.Options = append(menu.Options, discordgo.SelectMenuOption{Label: c.Name, Value: c.Value})
	}
	rows := []discordgo.MessageComponent{discordgo.ActionsRow{Components: []discordgo.MessageComponent{menu}}}
	m := discord.OutgoingMessage{Content: text, Rows: rows, Private: true}
	b.respond(ctx, i, discordgo.InteractionResponseChannelMessageWithSource, m)
}

// pickedLink returns the link that has a number in a message of offerLinks.
func pickedLink(m *discordgo.Message, number string) string {
	if m == nil {
		return ""
	}
	for line := range strings.Lines(m.Content) {
		if link, ok := strings.CutPrefix(strings.TrimSpace(line), number+". <"); ok && number != "" {
			return strings.TrimSuffix(link, ">")
		}
	}
	return ""
}

// browseLink reads the page of a link, which may have been written by someone else.
func (b *Bot) browseLink(ctx context.Context, i *discordgo.Interaction, link string, who person) {
	b.browseCommand(ctx, i, browseOptions{task: "read what the page says", url: link, untyped: true}, who)
}

// askedMessages are the messages for which a person has a form open. The zero value is ready.
type askedMessages struct {
	mu    sync.Mutex
	by    map[string]*discordgo.Message
	order []string
}

// maxAsked is how many are remembered.
const maxAsked = 200

func (a *askedMessages) put(m *discordgo.Message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.by == nil {
		a.by = make(map[string]*discordgo.Message)
	}
	if a.by[m.ID] == nil {
		a.order = append(a.order, m.ID)
	}
	a.by[m.ID] = m
	if len(a.order) > maxAsked {
		delete(a.by, a.order[0])
		a.order = a.order[1:]
	}
}

func (a *askedMessages) get(id string) *discordgo.Message {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.by[id]
}

// openAskForm asks what a person wants to know about m.
func (b *Bot) openAskForm(ctx context.Context, i *discordgo.Interaction, m *discordgo.Message, who person) {
	b.asked.put(m)
	b.openForm(ctx, i, discord.Form{
		ID: actionPrefix + actionAsk + ":" + m.ID, Title: who.locale.T("Ask about this message"),
		Fields: []discord.FormField{{
			ID: fieldTask, Label: who.locale.T("Your question"), Hint: who.locale.T("Is this true?"),
			Long: true, Max: maxTaskLength,
		}},
	})
}

// askAbout answers a question about a message.
func (b *Bot) askAbout(ctx context.Context, i *discordgo.Interaction, id, question string, who person) {
	m := b.asked.get(id)
	if m == nil {
		b.replyPrivately(ctx, i, who.locale.T("I have been restarted since. Please choose the message again."))
		return
	}
	b.converseOn(ctx, i, question, true, who, func(
		ctx context.Context, from sessions.Origin,
	) ([]assistant.ChatLine, []sessions.File, error) {
		files, notes, err := b.messageFiles(ctx, from.Locale, &discordgo.Message{ReferencedMessage: m})
		line := assistant.ChatLine{
			Speaker: "somebody", Text: quotedText(m), Images: b.pictures(files), Notes: notes, Subject: true,
		}
		if m.Author != nil {
			line.Speaker = personFrom(m.Author, "").name
		}
		return []assistant.ChatLine{line}, files, err
	})
}

// converseOn answers what a person said through an interaction. before returns the conversation until then, and its
// files.
func (b *Bot) converseOn(
	ctx context.Context, i *discordgo.Interaction, said string, typed bool, who person,
	before func(context.Context, sessions.Origin) ([]assistant.ChatLine, []sessions.File, error),
) {
	private := b.isPrivate(i.GuildID)
	label := workLabel("ask", publicPrompt(browseOptions{task: said, private: private || who.away}))
	work := cancel.Work{ID: newID(), Owner: who.id, Label: label}
	ctx, handle := b.Scopes.Begin(ctx, cancel.Scope{Guild: i.GuildID, Channel: i.ChannelID}, work)
	defer handle.End()
	where := b.commandMessage(i, who, private || who.away)
	b.respond(ctx, i, discordgo.InteractionResponseDeferredChannelMessageWithSource,
		discord.OutgoingMessage{Private: private})
	from := b.completeOrigin(ctx, originOf(i, who))
	from.Private = from.Private || private
	from.Locale = where.locale
	if why := b.Host.Disabled(ctx, from); why != "" {
		b.conclude(ctx, where, finalMessage{text: sentence(where.locale, why, 500)})
		return
	}
	b.Host.HandleRequest(ctx, from)
	lines, files, err := before(ctx, from)
	if err != nil {
		b.conclude(ctx, where, finalMessage{text: filesRefused(from.Locale, err, said)})
		return
	}
	defer b.discardFiles(files)
	line := assistant.ChatLine{Speaker: who.name, SpeakerID: who.id, Text: said}
	turn := assistant.Turn{Origin: from, Typed: typed, Files: files, Lines: append(lines, line)}
	b.converse(ctx, where, work.ID, handle, turn, true)
}

// quotedText returns the whole text of a message, without secrets of our links.
func quotedText(m *discordgo.Message) string {
	var parts []string
	for _, said := range append([]*discordgo.Message{m}, forwarded(m)...) {
		parts = append(parts, said.Content)
		for _, e := range said.Embeds {
			if e != nil {
				parts = append(parts, e.Title, e.Description, e.URL)
			}
		}
	}
	text := strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "\n")
	return secretLink().ReplaceAllString(text, "$1(only for those who watch)")
}
