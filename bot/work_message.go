package bot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"clank/bot/discord"
	"clank/internal/i18n"
	"clank/llm"

	"github.com/bwmarrin/discordgo"
)

// errCannotShow is returned by workMessage.show when nothing can be shown to the person any more: the response to the
// command has expired and there is no other way.
var errCannotShow = errors.New("no way is left to write to the person who asked")

// messageContent is what a message shows now.
type messageContent struct {
	content string
	picture *llm.Image     // how the page looks
	files   []discord.File // of an answer
	rows    []discordgo.MessageComponent
}

// workMessage is the one message that shows a piece of work: the response to a command while Discord allows editing it,
// then a message in the channel, or a direct message if the work is private or the bot cannot write to the channel. It
// is not safe for concurrent use.
type workMessage struct {
	rest    *discord.REST
	log     *slog.Logger
	guild   string // of the channel in which it was asked
	channel string
	user    string // who requested it
	private bool
	locale  i18n.Locale // of its texts
	replyTo string

	interaction *discordgo.Interaction // nil if it is not, or no longer, used
	expires     time.Time              // of the interaction

	message        string     // id of the message in channel; empty = not written yet
	answer         string     // id of the answer to interaction, once it was changed
	deleted        bool       // someone deleted the message
	filesForbidden bool       // files are not allowed here
	direct         bool       // channel is the person's direct channel
	shown          *llm.Image // the picture that the message has now
}

// show updates the message to v. If someone deleted the message it stays deleted, unless final is set.
func (p *workMessage) show(ctx context.Context, v messageContent, final bool) error {
	if p.deleted && !final {
		return nil
	}
	if p.interaction != nil && !time.Now().Before(p.expires) {
		return p.moveToChannel(ctx, v)
	}
	err := p.change(ctx, v)
	switch {
	case isForgotten(err):
		p.log.Info("discord has forgotten a command; going on without its answer", "channel", p.channel)
		p.interaction = nil
		return p.write(ctx, v)
	case !p.direct && discord.IsCode(err, discord.CodeMissingAccess, discord.CodeUnknownChannel, discord.CodeUnknownGuild):
		p.log.Info("a channel is lost; going on directly", "channel", p.channel, "error", err)
		p.interaction, p.message = nil, ""
		return p.writeDirectly(ctx, v)
	case discord.IsCode(err, discord.CodeUnknownMessage):
		p.deleted, p.message = true, ""
		if final {
			return p.add(ctx, v)
		}
		return nil
	case final && isRefusal(err) && !discord.IsCode(err, discord.CodeInvalidForm): // which is about the content
		p.log.Info("a message cannot be edited; posting it again", "channel", p.channel, "error", err)
		return p.replace(ctx, v)
	}
	return err
}

// isRefusal reports whether err is an answer of Discord that another try would get again.
func isRefusal(err error) bool {
	refusal, ok := errors.AsType[*discord.APIError](err)
	return ok && refusal.Status < 500
}

// isForgotten reports whether err means that Discord no longer knows an interaction.
func isForgotten(err error) bool {
	return discord.IsCode(err, discord.CodeUnknownInteraction, discord.CodeUnknownWebhook, discord.CodeInvalidToken)
}

// replace posts the message again and deletes the old one, whose buttons would not work any more.
func (p *workMessage) replace(ctx context.Context, v messageContent) error {
	i, message, channel := p.interaction, p.message, p.channel
	p.interaction, p.message = nil, ""
	err := p.write(ctx, v)
	if err != nil {
		return err
	}
	if i != nil {
		err = p.rest.DeleteResponse(ctx, i)
	} else if message != "" {
		err = p.rest.Delete(ctx, channel, message)
	}
	if err != nil {
		p.log.Info("a message that was posted again could not be deleted", "channel", channel, "error", err)
	}
	return nil
}

// asFile returns only the text, as a file: for a message that Discord does not accept.
func (v messageContent) asFile(loc i18n.Locale) messageContent {
	return messageContent{
		content: loc.T("Discord did not accept this answer as a message, so it is in the attached file."),
		files:   []discord.File{{Name: "answer.md", MediaType: markdownType, Data: []byte(v.content)}},
	}
}

// change edits the message, or writes it if it is not there yet.
func (p *workMessage) change(ctx context.Context, v messageContent) error {
	var edit func(discord.OutgoingMessage) error
	switch {
	case p.interaction != nil && p.deleted:
		return p.add(ctx, v)
	case p.interaction != nil:
		edit = func(m discord.OutgoingMessage) (err error) {
			p.answer, err = p.rest.EditResponse(ctx, p.interaction, m)
			return err
		}
	case p.message != "":
		edit = func(m discord.OutgoingMessage) error { return p.rest.Edit(ctx, p.channel, p.message, m) }
	default:
		return p.write(ctx, v)
	}
	m := v.message()
	m.KeepFiles = v.picture != nil && v.picture == p.shown && len(v.files) == 0
	return p.sendWithFallback(v, m, edit)
}

// sendWithFallback sends m with send, and once more without files if it is they that are not
// wanted: the words must go out.
func (p *workMessage) sendWithFallback(v messageContent, m discord.OutgoingMessage,
	send func(discord.OutgoingMessage) error,
) error {
	if p.filesForbidden {
		m.Files = nil
	}
	err := send(m)
	if len(m.Files) > 0 && discord.IsCode(err, discord.CodeTooLarge, discord.CodeMissingPermission) {
		m.Files = nil
		if len(v.files) > 0 {
			m.Content = withNote(m.Content, p.locale.T("(The files could not be attached here.)"))
		}
		if err = send(m); err == nil {
			p.filesForbidden = true
		}
	}
	if err == nil {
		p.shown = v.picture
	}
	return err
}

// moveToChannel moves on from an answer that is about to expire.
func (p *workMessage) moveToChannel(ctx context.Context, v messageContent) error {
	old := p.interaction
	p.interaction = nil
	err := p.write(ctx, v)
	hint := p.locale.T("This goes on in a message below, as Discord lets me change this one for 15 minutes only.")
	switch {
	case errors.Is(err, errCannotShow):
		hint = p.locale.T("Discord lets me change this message for 15 minutes only, and I cannot write to you directly, " +
			"so this ends here. Please allow direct messages from this server and ask again.")
	case err != nil:
		return err
	case p.direct:
		hint = p.locale.T("This goes on in our direct messages, as Discord lets me change this one for 15 minutes only.")
	}
	if _, e := p.rest.EditResponse(ctx, old, discord.OutgoingMessage{Content: hint}); e != nil {
		p.log.Info("the expiring answer could not point to the new message", "error", e)
	}
	return err
}

// write posts the message again, in the channel or directly to the person.
func (p *workMessage) write(ctx context.Context, v messageContent) error {
	p.deleted = false
	if p.private && !p.direct {
		return p.writeDirectly(ctx, v)
	}
	err := p.send(ctx, v, p.replyTo)
	if err != nil && p.replyTo != "" && discord.IsCode(err, codeNoReply) {
		err = p.send(ctx, v, "")
	}
	if !p.direct && discord.IsCode(err, discord.CodeMissingAccess, discord.CodeMissingPermission,
		discord.CodeUnknownChannel, discord.CodeUnknownGuild) {
		p.log.Info("the bot may not write in a channel; going on directly", "channel", p.channel, "error", err)
		return p.writeDirectly(ctx, v)
	}
	return err
}

// codeNoReply is Discord's refusal of a reply where the bot may not read history.
const codeNoReply = 160002

func (p *workMessage) writeDirectly(ctx context.Context, v messageContent) error {
	id, err := p.rest.DirectChannel(ctx, p.user)
	if err == nil {
		p.channel, p.direct, p.filesForbidden, p.deleted = id, true, false, false
		err = p.send(ctx, v, "")
	}
	if isRefusal(err) {
		return fmt.Errorf("%w: %w", errCannotShow, err)
	}
	return err
}

// send writes v as a new message into p.channel.
func (p *workMessage) send(ctx context.Context, v messageContent, replyTo string) error {
	m := v.message()
	m.ReplyTo = replyTo
	return p.sendWithFallback(v, m, func(m discord.OutgoingMessage) (err error) {
		p.message, err = p.rest.Send(ctx, p.channel, m)
		return err
	})
}

// add writes a further message after the one of the place.
func (p *workMessage) add(ctx context.Context, v messageContent) error {
	if p.interaction == nil || !time.Now().Before(p.expires) {
		return p.write(ctx, v)
	}
	m := v.message()
	m.Private = p.private
	err := p.sendWithFallback(v, m, func(m discord.OutgoingMessage) error {
		return p.rest.FollowUp(ctx, p.interaction, m)
	})
	if isForgotten(err) || discord.IsCode(err, discord.CodeTooManyFollowUps) {
		p.interaction = nil
		return p.write(ctx, v)
	}
	return err
}

// finish shows an answer: its first part in this message, the others below it.
func (p *workMessage) finish(ctx context.Context, parts []messageContent) error {
	for i, v := range parts {
		show := func(v messageContent) error { return p.show(ctx, v, true) }
		if i > 0 {
			p.replyTo = ""
			show = func(v messageContent) error { return p.add(ctx, v) }
		}
		err := show(v)
		if discord.IsCode(err, discord.CodeInvalidForm) {
			err = show(v.asFile(p.locale))
		}
		if err != nil {
			return fmt.Errorf("show part %d of %d of an answer: %w", i+1, len(parts), err)
		}
	}
	return nil
}

func (v messageContent) message() discord.OutgoingMessage {
	m := discord.OutgoingMessage{Content: v.content, Files: v.files, Rows: v.rows}
	if v.picture != nil {
		m.Files = append(slices.Clip(m.Files), pictureFile("page", *v.picture))
	}
	return m
}

// withNote appends a note to content if there is room for it.
func withNote(content, note string) string {
	if content == "" {
		return note
	}
	if joined := content + "\n" + note; discord.MessageLength(joined) <= discord.MaxMessageLength {
		return joined
	}
	return content
}
