package bot

import (
	"context"
	"fmt"
	"strings"

	"clank/bot/discord"
	"clank/cancel"
	"clank/internal/i18n"
	"clank/llm"
	"clank/sessions"

	"github.com/bwmarrin/discordgo"
)

const (
	maxFiles     = 10      // attachments of a message
	maxParts     = 4       // messages of one answer; a longer one becomes a file
	maxUpload    = 9 << 20 // bytes of a message's attachments; Discord allows 10 MiB
	fileExcerpt  = 1500    // characters of an answer that are shown when the whole is a file
	maxLabel     = 60      // characters of a piece of work's label
	markdownType = "text/markdown; charset=utf-8"
)

// finalMessage is what is shown at the end of work.
type finalMessage struct {
	text, footer string
	images       []llm.Image // the chosen pictures
	page         *llm.Image  // how the page looked last; shown where no image is
	rows         []discordgo.MessageComponent
	downloads    [][]discord.File // what pages offered, as messages of their own
	thread       string           // name of the thread that it goes into, if that can be; empty is none
}

// composeMessages returns the final messages: text in as many as necessary, or an excerpt with a file if that were too
// many; pictures are in the last one.
func composeMessages(loc i18n.Locale, c finalMessage) []messageContent {
	text, footer := discord.RevealLinks(c.text), c.footer
	files, left := pictureFiles(c.images)
	bare := len(files) == 0
	if left > 0 {
		text = strings.TrimSpace(text + "\n\n" + loc.T("(Pictures left out because they are too large: %d)", left))
	}
	if strings.TrimSpace(text) == "" && len(files) == 0 {
		text = loc.T("Done; there is nothing to report.")
	}
	parts := discord.SplitMessage(text, discord.MaxMessageLength)
	if len(parts) > maxParts {
		whole := discord.File{Name: "answer.md", MediaType: markdownType, Data: []byte(text)}
		head := discord.SplitMessage(text, fileExcerpt)[0]
		parts = []string{head + "\n\n*" + loc.T("The answer is long; all of it is in the attached file.") + "*"}
		files = append([]discord.File{whole}, files[:min(len(files), maxFiles-1)]...)
	}
	if len(parts) == 0 {
		parts = []string{""}
	}
	if last := &parts[len(parts)-1]; footer != "" {
		switch joined := strings.TrimPrefix(*last+"\n"+footer, "\n"); {
		case discord.MessageLength(joined) <= discord.MaxMessageLength:
			*last = joined
		default:
			parts = append(parts, footer)
		}
	}
	views := make([]messageContent, len(parts))
	for i, p := range parts {
		views[i].content = p
	}
	last := &views[len(views)-1]
	last.files, last.rows = files, c.rows
	if bare {
		last.picture = c.page
	}
	for _, batch := range c.downloads {
		views = append(views, messageContent{files: batch})
	}
	return views
}

// pictureFiles returns as many of images as fit a message; left counts the others.
func pictureFiles(images []llm.Image) (files []discord.File, left int) {
	total := 0
	for i, im := range images {
		if len(files) == maxFiles || total+len(im.Data) > maxUpload {
			left++
			continue
		}
		total += len(im.Data)
		files = append(files, pictureFile(fmt.Sprintf("clank-%d", i+1), im))
	}
	return files, left
}

func pictureFile(name string, im llm.Image) discord.File {
	ext := ".png"
	switch im.MediaType {
	case "image/jpeg":
		ext = ".jpg"
	case "image/webp":
		ext = ".webp"
	case "image/gif":
		ext = ".gif"
	}
	return discord.File{Name: name + ext, MediaType: im.MediaType, Data: im.Data, Description: im.Caption}
}

// outcomeText describes the outcome of a browse. ctx is the context of the work.
func outcomeText(ctx context.Context, loc i18n.Locale, rec sessions.TaskRecord, err error) (text, footer string) {
	if rec.State == "" {
		if c := cancel.CauseOf(ctx, err); c != nil {
			return sentence(loc, c.Error(), 500), ""
		}
		if err != nil {
			return sentence(loc, err.Error(), 1000), ""
		}
		return loc.T("That did not work, and nobody knows why."), ""
	}
	why := sentence(loc, failureReason(ctx, rec, err), 1000)
	switch rec.State {
	case sessions.TaskDone:
		text = rec.Answer
	case sessions.TaskLimited:
		text = strings.TrimSpace(rec.Answer + "\n\n*" + loc.T("Ended early:") + "* " + why)
		if rec.HitStepLimit() {
			text += " " + loc.T("The option “steps” of a browse allows more.")
		}
	case sessions.TaskStopped, sessions.TaskInterrupted:
		text = strings.TrimSpace(rec.Answer + "\n\n" + why)
	default:
		if text = rec.Answer; text == "" { // an answer contains its own explanations
			text = loc.T("That did not work.") + " " + why
		}
	}
	return text, footerText(loc, rec)
}

func failureReason(ctx context.Context, rec sessions.TaskRecord, err error) string {
	if rec.Reason != "" {
		return rec.Reason
	}
	if c := cancel.CauseOf(ctx, err); c != nil {
		return c.Error()
	}
	if err != nil {
		return err.Error()
	}
	return "it ended " + string(rec.State)
}

// footerText returns, in small print, the number of steps and how to continue.
func footerText(loc i18n.Locale, rec sessions.TaskRecord) string {
	var bits []string
	if rec.Steps > 0 {
		bits = append(bits, loc.T("%d steps", rec.Steps))
	}
	if rec.SessionID != "" && !rec.Closed {
		bits = append(bits, loc.T("session `%s` stays open", strings.ReplaceAll(rec.SessionID, "`", "")))
	}
	if len(bits) == 0 {
		return ""
	}
	return "-# " + strings.Join(bits, " · ")
}
