package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"clank/bot/discord"
	"clank/cancel"
	"clank/internal/i18n"
	"clank/llm"
	"clank/sessions"

	"github.com/bwmarrin/discordgo"
)

// Files stores attachments, and serves files that are too large for Discord.
type Files interface {
	// Receive stores a file under a sanitized name. Its error is for people.
	Receive(ctx context.Context, name string, r io.Reader) (sessions.File, error)
	// Discard removes files that were received.
	Discard(files ...sessions.File) error
	// LinksWork reports whether people can be given links to files.
	LinksWork() bool
	// Link returns a link to a file, valid until a time; "" if there can be none.
	Link(f sessions.File) (address string, until time.Time)
}

const (
	maxAttachment     = 100 << 20 // bytes of a file that is taken
	attachmentTimeout = 2 * time.Minute
	maxPictures       = 4       // of a message that the brain looks at
	maxPictureBytes   = 8 << 20 // of each
	maxOptionFiles    = 4       // file options of /clank browse
)

// fileOptions returns the options for files, if they are taken.
func fileOptions(taken bool) (options []*discordgo.ApplicationCommandOption) {
	if !taken {
		return nil
	}
	for n := range maxOptionFiles {
		name, about := "file", "A file for the task, such as one to upload"
		if n > 0 {
			name, about = fmt.Sprintf("file%d", n+1), "One more file"
		}
		options = append(options, &discordgo.ApplicationCommandOption{
			Type: discordgo.ApplicationCommandOptionAttachment, Name: name, Description: about,
		})
	}
	return options
}

// attachedFiles returns the files among the options of a command.
func attachedFiles(
	data discordgo.ApplicationCommandInteractionData, options []*discordgo.ApplicationCommandInteractionDataOption,
) (list []*discordgo.MessageAttachment) {
	for _, o := range options {
		if o == nil || o.Type != discordgo.ApplicationCommandOptionAttachment || data.Resolved == nil {
			continue
		}
		id, _ := o.Value.(string)
		if a := data.Resolved.Attachments[id]; a != nil {
			list = append(list, a)
		}
	}
	return list
}

// messageFiles receives the files of a message, of messages that it forwards, and of the one that it replies to, unless
// that is the bot's own. notes name files of others that could not be received.
func (b *Bot) messageFiles(
	ctx context.Context, loc i18n.Locale, m *discordgo.Message,
) (list []sessions.File, notes []string, err error) {
	if list, err = b.receiveFiles(ctx, loc, m.Attachments); err != nil {
		return nil, nil, err
	}
	others := forwarded(m)
	if to := m.ReferencedMessage; to != nil && (to.Author == nil || to.Author.ID != b.identity().user) {
		others = append(append(others, to), forwarded(to)...)
	}
	var quoted []*discordgo.MessageAttachment
	for _, o := range others {
		quoted = append(quoted, o.Attachments...)
	}
	for _, a := range quoted {
		if a == nil || len(list) == sessions.MaxTaskFiles {
			continue
		}
		more, err := b.receiveFiles(ctx, "", []*discordgo.MessageAttachment{a})
		if err != nil {
			notes = append(notes, "of the quoted message: "+err.Error())
		}
		list = append(list, more...)
	}
	return list, notes, nil
}

// receiveFiles receives all of the files, or none. The error is for the person, in their language.
func (b *Bot) receiveFiles(ctx context.Context, loc i18n.Locale,
	attached []*discordgo.MessageAttachment,
) (list []sessions.File, err error) {
	attached = slices.DeleteFunc(slices.Clone(attached), func(a *discordgo.MessageAttachment) bool { return a == nil })
	switch {
	case len(attached) == 0:
		return nil, nil
	case b.Files == nil:
		return nil, errors.New(loc.T("Files cannot be taken here."))
	case len(attached) > sessions.MaxTaskFiles:
		return nil, errors.New(loc.T("%d files are attached; %d can be taken at once.", len(attached), sessions.MaxTaskFiles))
	}
	ctx, end := context.WithTimeoutCause(ctx, attachmentTimeout, errAttachmentLate)
	defer end()
	for _, a := range attached {
		f, err := b.receiveFile(ctx, loc, a)
		if err != nil {
			b.discardFiles(list)
			if c := cancel.CauseOf(ctx, nil); c != nil {
				return nil, c
			}
			if ctx.Err() != nil {
				err = errors.New(loc.T("Discord did not send it in time. Try again."))
			}
			return nil, errors.New(loc.T("The file %s could not be taken: %s", discord.EscapeLine(a.Filename, 80), err.Error()))
		}
		list = append(list, f)
	}
	return list, nil
}

var errAttachmentLate = errors.New("an attachment did not come in time")

// receiveFile downloads a file from Discord's own hosts.
func (b *Bot) receiveFile(ctx context.Context, loc i18n.Locale,
	a *discordgo.MessageAttachment,
) (f sessions.File, err error) {
	if a.Size > maxAttachment {
		return f, errors.New(loc.T("It has %s; a file may have %s.", sessions.SizeText(int64(a.Size)),
			sessions.SizeText(maxAttachment)))
	}
	u, err := url.Parse(a.URL)
	if err != nil || !b.discordFile(u) {
		return f, errors.New(loc.T("Its address is not Discord's."))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.URL, nil)
	if err != nil {
		return f, fmt.Errorf("fetch an attachment: %w", err)
	}
	client := b.httpClient()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(req)
	if err != nil {
		b.logger().Info("attachment not fetched", "error", err)
		return f, errors.New(loc.T("Discord cannot be reached. Try again."))
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusForbidden, http.StatusGone:
		return f, errors.New(loc.T("Discord does not have it any more. Attach it again."))
	default:
		return f, errors.New(loc.T("Discord answered with status %s. Try again.", strconv.Itoa(resp.StatusCode)))
	}
	if f, err = b.Files.Receive(ctx, a.Filename, io.LimitReader(resp.Body, int64(a.Size)+1)); err != nil {
		return f, err
	}
	if f.Size != int64(a.Size) {
		b.discardFiles([]sessions.File{f})
		return f, errors.New(loc.T("It did not come whole. Try again."))
	}
	return f, nil
}

// discordFile reports whether u is on Discord's hosts for attachments, or on the host that stands in for Discord.
func (b *Bot) discordFile(u *url.URL) bool {
	if base, err := url.Parse(b.Base); err == nil && b.Base != "" && u.Host == base.Host && u.Scheme == base.Scheme {
		return true
	}
	return u.Scheme == "https" && (u.Host == "cdn.discordapp.com" || u.Host == "media.discordapp.net")
}

func (b *Bot) discardFiles(list []sessions.File) {
	if len(list) == 0 {
		return
	}
	if err := b.Files.Discard(list...); err != nil {
		b.logger().Warn("attachments not removed", "error", err)
	}
}

// filesRefused returns a text that says why nothing was started, and repeats the request, so that it can be sent again.
func filesRefused(loc i18n.Locale, err error, task string) string {
	if c, stopped := errors.AsType[*cancel.Cause](err); stopped {
		return sentence(loc, c.Error(), 500)
	}
	return loc.Sentence(err.Error()) + " " + loc.T("Nothing was done. You asked:") + "\n> " +
		discord.EscapeLine(task, 1500)
}

// pictures returns the pictures among the files, for the assistant.
func (b *Bot) pictures(list []sessions.File) (images []llm.Image) {
	for _, f := range list {
		known := slices.Contains([]string{"image/png", "image/jpeg", "image/webp", "image/gif"}, f.Type)
		if !known || f.Size > maxPictureBytes || len(images) == maxPictures {
			continue
		}
		data, err := os.ReadFile(f.Path)
		if err != nil {
			b.logger().Warn("an attached picture is not looked at", "error", err)
			continue
		}
		images = append(images, llm.Image{MediaType: f.Type, Data: data})
	}
	return images
}

// maxGiven is how many files of pages are attached to an answer.
const maxGiven = 10

// giveFiles gives a person what pages offered to a task of theirs.
func (b *Bot) giveFiles(ctx context.Context, i *discordgo.Interaction, id string, who person) {
	b.respond(ctx, i, discordgo.InteractionResponseDeferredChannelMessageWithSource,
		discord.OutgoingMessage{Private: true})
	t, refusal := b.taskFor(ctx, i, id, who)
	if refusal != "" {
		b.editAnswer(ctx, i, true, refusal)
		return
	}
	where := b.commandMessage(i, who, true)
	b.conclude(ctx, where, b.withDownloads(who.locale, finalMessage{}, where, t.Downloads))
}

// elsewhere returns a text that says where a file is that was not posted. A link to it is only shown to the person who
// asked.
func (b *Bot) elsewhere(loc i18n.Locale, where *workMessage, f sessions.File) string {
	switch {
	case b.Files == nil || !b.Files.LinksWork():
	case !where.private && !where.direct:
		return loc.T("The button Files gives you a link to it.")
	default:
		if address, until := b.Files.Link(f); address != "" {
			return loc.T("Until %s you get it here: %s", timestamp(until, 't'), "<"+address+">")
		}
	}
	return loc.T("The person who runs clank finds it among the downloads.")
}

// withDownloads adds to the end of work what pages offered: the files that fit here, and the names of all.
func (b *Bot) withDownloads(loc i18n.Locale, c finalMessage, where *workMessage, list []sessions.File) finalMessage {
	guild := where.guild
	if where.direct {
		guild = ""
	}
	limit := b.guilds.UploadLimit(guild)
	var lines []string
	var batch []discord.File
	given, total := 0, int64(0)
	for _, f := range list {
		line := "📎 " + discord.EscapeLine(f.Name, 80) + " (" + sessions.SizeText(f.Size) + ")"
		var data []byte
		why := loc.T("It is larger than Discord takes here.")
		switch {
		case given == maxGiven:
			why = loc.T("No more than %d files come with an answer.", maxGiven)
		case f.Size <= limit:
			var err error
			if data, err = os.ReadFile(f.Path); err != nil {
				b.logger().Warn("a download cannot be given", "error", err)
				lines = append(lines, line+": "+loc.T("It is not there any more."))
				continue
			}
		}
		if data == nil {
			why += " " + b.elsewhere(loc, where, f)
			lines = append(lines, line+": "+why)
			continue
		}
		if given++; total+f.Size > limit {
			c.downloads, batch, total = append(c.downloads, batch), nil, 0
		}
		total += f.Size
		batch = append(batch, discord.File{Name: f.Name, MediaType: cmp.Or(f.Type, "application/octet-stream"), Data: data})
		lines = append(lines, line)
	}
	if len(batch) > 0 {
		c.downloads = append(c.downloads, batch)
	}
	if len(lines) > 0 {
		c.text = strings.TrimSpace(c.text + "\n\n" + strings.Join(lines, "\n"))
	}
	return c
}
