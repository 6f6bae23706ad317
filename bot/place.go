package bot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"clank/bot/markup"
	"clank/bot/rest"
	"clank/sessions"

	"github.com/bwmarrin/discordgo"
)

// errNowhere is returned by place.show when nothing can be shown to the person
// any more: the answer to the command has expired and no other way is open.
var errNowhere = errors.New("no way is left to write to the person who asked")

// view is what a message shows now.
type view struct {
	content string
	picture *sessions.Image // how the page looks
	files   []rest.File     // of an answer
	rows    []discordgo.MessageComponent
}

// place is the one message that shows a piece of work, wherever it has to live:
// the answer to a command while Discord lets that be edited, then a message in
// the channel, or a direct message if it is private or the channel is closed to
// the bot. One goroutine at a time uses it.
type place struct {
	rest    *rest.Client
	log     *slog.Logger
	channel string
	user    string // who asked
	private bool
	replyTo string

	interaction *discordgo.Interaction // nil when it is not the way, or not any more
	expires     time.Time              // of the interaction

	message string          // id of the message in channel; empty = not written yet
	deleted bool            // somebody deleted the message
	bare    bool            // files are not allowed here
	direct  bool            // channel is the person's direct channel
	shown   *sessions.Image // the picture that the message has now
}

// show makes the message look like v. Unless final is set a message that
// somebody deleted stays deleted.
func (p *place) show(ctx context.Context, v view, final bool) error {
	if p.deleted && !final {
		return nil
	}
	if p.interaction != nil && !time.Now().Before(p.expires) {
		return p.leave(ctx, v)
	}
	err := p.change(ctx, v)
	switch {
	case rest.Is(err, rest.CodeUnknownInteraction, rest.CodeUnknownWebhook, rest.CodeInvalidToken):
		p.log.Info("discord has forgotten a command; going on without its answer", "channel", p.channel)
		p.interaction = nil
		return p.write(ctx, v)
	case rest.Is(err, rest.CodeUnknownMessage):
		p.deleted, p.message = true, ""
		if final {
			return p.add(ctx, v)
		}
		return nil
	}
	return err
}

// change edits the message, or writes it if it is not there yet.
func (p *place) change(ctx context.Context, v view) error {
	var edit func(rest.Message) error
	switch {
	case p.interaction != nil && p.deleted:
		return p.add(ctx, v)
	case p.interaction != nil:
		edit = func(m rest.Message) error { return p.rest.EditResponse(ctx, p.interaction, m) }
	case p.message != "":
		edit = func(m rest.Message) error { return p.rest.Edit(ctx, p.channel, p.message, m) }
	default:
		return p.write(ctx, v)
	}
	m := v.message()
	m.KeepFiles = v.picture != nil && v.picture == p.shown && len(v.files) == 0
	return p.put(v, m, edit)
}

// put sends m with send, and once more without files if it is they that are not
// wanted: the words must go out.
func (p *place) put(v view, m rest.Message, send func(rest.Message) error) error {
	if p.bare {
		m.Files = nil
	}
	err := send(m)
	if len(m.Files) > 0 && rest.Is(err, rest.CodeTooLarge, rest.CodeMissingPermission) {
		m.Files = nil
		if len(v.files) > 0 {
			m.Content = withNote(m.Content, "(The files could not be attached here.)")
		}
		if err = send(m); err == nil {
			p.bare = true
		}
	}
	if err == nil {
		p.shown = v.picture
	}
	return err
}

// leave moves on from an answer that is about to expire.
func (p *place) leave(ctx context.Context, v view) error {
	old := p.interaction
	p.interaction = nil
	err := p.write(ctx, v)
	hint := rest.Message{Content: "This goes on in a message below, as Discord lets me change this one for 15 minutes only."}
	switch {
	case errors.Is(err, errNowhere):
		hint.Content = "Discord lets me change this message for 15 minutes only, and I cannot write to you directly, " +
			"so this ends here. Please allow direct messages from this server and ask again."
	case err != nil:
		return err
	case p.direct:
		hint.Content = "This goes on in our direct messages, as Discord lets me change this one for 15 minutes only."
	}
	if e := p.rest.EditResponse(ctx, old, hint); e != nil {
		p.log.Info("the expiring answer could not point to the new message", "error", e)
	}
	return err
}

// write writes the message anew, in the channel or directly to the person.
func (p *place) write(ctx context.Context, v view) error {
	p.deleted = false
	if p.private && !p.direct {
		return p.writeDirectly(ctx, v)
	}
	err := p.send(ctx, v, p.replyTo)
	if err != nil && p.replyTo != "" && rest.Is(err, codeNoReply) {
		err = p.send(ctx, v, "")
	}
	if rest.Is(err, rest.CodeMissingAccess, rest.CodeMissingPermission, rest.CodeUnknownChannel) && !p.direct {
		p.log.Info("the bot may not write in a channel; going on directly", "channel", p.channel, "error", err)
		return p.writeDirectly(ctx, v)
	}
	return err
}

// codeNoReply is Discord's refusal of a reply where the bot may not read history.
const codeNoReply = 160002

func (p *place) writeDirectly(ctx context.Context, v view) error {
	id, err := p.rest.DirectChannel(ctx, p.user)
	if err == nil {
		p.channel, p.direct, p.bare = id, true, false
		err = p.send(ctx, v, "")
	}
	var refusal *rest.Error
	if errors.As(err, &refusal) && refusal.Status < 500 {
		return fmt.Errorf("%w: %w", errNowhere, err)
	}
	return err
}

// send writes v as a new message into p.channel.
func (p *place) send(ctx context.Context, v view, replyTo string) error {
	m := v.message()
	m.ReplyTo = replyTo
	return p.put(v, m, func(m rest.Message) (err error) {
		p.message, err = p.rest.Send(ctx, p.channel, m)
		return err
	})
}

// add writes a further message after the one of the place.
func (p *place) add(ctx context.Context, v view) error {
	if p.interaction == nil || !time.Now().Before(p.expires) {
		return p.write(ctx, v)
	}
	m := v.message()
	m.Private = p.private
	return p.put(v, m, func(m rest.Message) error { return p.rest.FollowUp(ctx, p.interaction, m) })
}

// finish shows an answer: its first part in the place, the rest below it.
func (p *place) finish(ctx context.Context, parts []view) error {
	for i, v := range parts {
		var err error
		if i == 0 {
			err = p.show(ctx, v, true)
		} else {
			p.replyTo = ""
			err = p.add(ctx, v)
		}
		if err != nil {
			return fmt.Errorf("show part %d of %d of an answer: %w", i+1, len(parts), err)
		}
	}
	return nil
}

func (v view) message() rest.Message {
	m := rest.Message{Content: v.content, Files: v.files, Rows: v.rows}
	if v.picture != nil {
		m.Files = append(slices.Clip(m.Files), pictureFile("page", *v.picture))
	}
	return m
}

// withNote puts a note below content if there is room for it.
func withNote(content, note string) string {
	if content == "" {
		return note
	}
	if joined := content + "\n" + note; markup.Size(joined) <= markup.MaxMessage {
		return joined
	}
	return content
}
