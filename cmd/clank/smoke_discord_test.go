package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"clank/internal/test/check"
	"clank/internal/test/discordtest"
)

// smokeRoom is a channel with a program that was built, and Ada, who tries in it what people can do in Discord.
type smokeRoom struct {
	*discordtest.Server
	bot    discordtest.Bot
	room   discordtest.Channel
	ada    discordtest.User
	answer discordtest.Message // the last of the program, with its buttons
}

// waits returns what an interaction is answered with, once it says a text.
func (r *smokeRoom) waits(t *testing.T, it discordtest.Interaction, err error, text string) discordtest.Interaction {
	t.Helper()
	check.Must(t, err)
	got, err := r.WaitInteraction(testDeadline(t), it, func(i discordtest.Interaction) bool { return strings.Contains(i.Text(), text) })
	check.Must(t, err)
	return got
}

// browses has a task done whose answer says a text.
func (r *smokeRoom) browses(t *testing.T, args discordtest.Args, text string) {
	t.Helper()
	it, err := r.SlashCommand(r.room, r.ada, "clank browse", args)
	r.answer = *r.waits(t, it, err, text).Original
}

// presses presses the button below the last answer that has a label.
func (r *smokeRoom) presses(t *testing.T, label string) (discordtest.Interaction, error) {
	t.Helper()
	list := r.answer.Buttons()
	at := slices.IndexFunc(list, func(c discordtest.Component) bool { return c.Label == label })
	if at < 0 {
		t.Fatalf("there is no button %q below %q", label, r.answer.Content)
	}
	return r.PressButton(r.answer, r.ada, list[at].CustomID)
}

// smokeInDiscord tries what people can do in Discord, each in a line of its own.
func smokeInDiscord(t *testing.T, r *smokeRoom) {
	t.Helper()
	site := newOfficeSite(t)
	cv := discordtest.File{Name: "cv.pdf", ContentType: "application/pdf", Data: []byte("%PDF-1.7 of Ada")}
	//nolint:thelper // each is a test
	for _, step := range []struct {
		name string
		try  func(t *testing.T)
	}{
		{"a file goes from Discord into a form, and one of a page comes with the answer", func(t *testing.T) {
			task := "upload cv.pdf into Attachment, click Receipt"
			r.browses(t, discordtest.Args{"task": task, "file": cv, "url": site.URL}, "receipt.pdf (8.39 MB)")
			if got := site.given(); !strings.HasPrefix(got, "cv.pdf ") {
				t.Errorf("the site has %q", got)
			}
		}},
		{"the button Files gives it once more", func(t *testing.T) {
			it, err := r.presses(t, "Files")
			check.Must(t, err)
			got, err := r.WaitInteraction(testDeadline(t), it, func(i discordtest.Interaction) bool { return len(i.Followups) == 1 })
			check.Must(t, err)
			if a := got.Followups[0].Attachments; len(a) != 1 || !bytes.Equal(a[0].Data, site.offer) {
				t.Errorf("got %d files, want the receipt", len(a))
			}
		}},
		{"the button Screenshot shows the page", func(t *testing.T) {
			it, err := r.presses(t, "Screenshot")
			check.Must(t, err)
			got, err := r.WaitInteraction(testDeadline(t), it, func(i discordtest.Interaction) bool {
				return i.Original != nil && len(i.Original.Attachments) == 1
			})
			check.Must(t, err)
			onePicture(t, *got.Original)
		}},
		{"the button Save as script gives the steps", func(t *testing.T) {
			it, err := r.presses(t, "Save as script")
			check.Must(t, err)
			form, err := r.WaitAnswer(testDeadline(t), it)
			check.Must(t, err)
			it, err = r.SubmitModal(form, map[string]string{"name": "apply"})
			r.waits(t, it, err, "This is the script.")
		}},
		{"the button Continue goes on in the session", func(t *testing.T) {
			it, err := r.presses(t, "Continue")
			check.Must(t, err)
			form, err := r.WaitAnswer(testDeadline(t), it)
			check.Must(t, err)
			it, err = r.SubmitModal(form, map[string]string{"task": "read"})
			r.answer = *r.waits(t, it, err, "We have it.").Original
		}},
		{"/clank sessions lists it, and Close ends it", func(t *testing.T) {
			it, err := r.SlashCommand(r.room, r.ada, "clank sessions", nil)
			check.Must(t, err)
			list, err := r.WaitAnswer(testDeadline(t), it)
			check.Must(t, err)
			r.answer = *list.Original
			it, err = r.presses(t, "Close")
			r.waits(t, it, err, "Closed.")
		}},
		{"options are completed", func(t *testing.T) {
			it, err := r.Complete(r.room, r.ada, "clank browse", "model", discordtest.Args{"task": "x", "model": "steps"})
			check.Must(t, err)
			got, err := r.WaitInteraction(testDeadline(t), it, func(i discordtest.Interaction) bool { return len(i.Choices) > 0 })
			check.Must(t, err)
			if got.Choices[0].Value != "plain:steps" {
				t.Errorf("got %+v", got.Choices)
			}
		}},
		{"the link of a message is browsed from its menu", func(t *testing.T) {
			m, err := r.SendMessage(r.room, r.ada, "look at "+site.URL+"/")
			check.Must(t, err)
			it, err := r.UseOnMessage(m, r.ada, "Browse this link")
			r.waits(t, it, err, "Attachment")
		}},
		{"a stop sign below its message stops a task", func(t *testing.T) {
			args := discordtest.Args{"task": `wait for "a text that never comes"`, "url": site.URL}
			it, err := r.SlashCommand(r.room, r.ada, "clank browse", args)
			got := r.waits(t, it, err, "never comes")
			r.React(*got.Original, r.ada, "⏹")
			r.waits(t, it, nil, "topped by")
		}},
		{"files of a message to the bot reach its task", func(t *testing.T) {
			post := discordtest.Post{Text: r.bot.Mention() + " open " + site.URL + ", upload cv.pdf into Attachment", Files: []discordtest.File{cv}}
			check.Must(t, check.Err(r.Send(r.room, r.ada, post)))
			check.Must(t, check.Err(r.WaitMessage(testDeadline(t), r.room, func(discordtest.Message) bool {
				return strings.HasPrefix(site.given(), "cv.pdf ")
			})))
		}},
	} {
		if !t.Run(step.name, step.try) {
			return // what follows begins where it ended
		}
	}
}
