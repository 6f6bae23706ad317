package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"image"
	"image/color"
	"image/png"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"clank/bot"
	"clank/cancel"
	"clank/internal/settings"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/test/llmtest"
	"clank/internal/watches"
	"clank/sessions"
)

// pictureDir is where make discord-pictures draws what the bot has written.
var pictureDir = flag.String("discord.pictures", "", "draw messages of the bot into this `folder`")

// maxPicture is how large a picture in the documentation may be.
const maxPicture = 40 << 10

// withPalette returns a PNG in the 256 colours that it has most of.
func withPalette(t *testing.T, data []byte) []byte {
	t.Helper()
	im, err := png.Decode(bytes.NewReader(data))
	check.Must(t, err)
	counts := map[color.RGBA]int{}
	rough := func(at image.Point) color.RGBA {
		r, g, b, _ := im.At(at.X, at.Y).RGBA()
		return color.RGBA{uint8(r >> 10 << 2), uint8(g >> 10 << 2), uint8(b >> 10 << 2), 255}
	}
	size := im.Bounds()
	for y := range size.Dy() {
		for x := range size.Dx() {
			counts[rough(image.Pt(x, y))]++
		}
	}
	most := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int { return cmp.Compare(counts[b], counts[a]) })
	var palette color.Palette
	for _, c := range most[:min(256, len(most))] {
		palette = append(palette, c)
	}
	out := image.NewPaletted(size, palette)
	for y := range size.Dy() {
		for x := range size.Dx() {
			out.Set(x, y, rough(image.Pt(x, y)))
		}
	}
	var b bytes.Buffer
	check.Must(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, out))
	return b.Bytes()
}

// draw draws a page of [discordtest.Server.Draw], if pictures are wanted.
func (r *smokeRoom) draw(t *testing.T, name, page string) {
	t.Helper()
	if *pictureDir == "" {
		return
	}
	site := browsertest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, page)
	})
	w := r.views.Open(620, 200, "dark")
	w.Navigate(site.URL)
	var height float64
	browsertest.Eventually(t, "the page with "+name, func() bool {
		loaded := `document.title && document.readyState == "complete" ? Math.ceil(document.body.getBoundingClientRect().height) : 0`
		height, _ = w.Eval(loaded).(float64)
		return height > 0
	})
	w.Call("Emulation.setDeviceMetricsOverride", map[string]any{
		"width": 620, "height": height, "deviceScaleFactor": 1,
		"mobile": false,
	})
	picture := withPalette(t, w.Screenshot())
	if len(picture) > maxPicture {
		t.Errorf("the picture %s has %d bytes, more than %d", name, len(picture), maxPicture)
	}
	check.Must(t, os.WriteFile(filepath.Join(*pictureDir, name+".png"), picture, 0o600))
}

// smokeRoom is a channel with a program that was built, and Ada, who tries in it what people can do in Discord.
type smokeRoom struct {
	*discordtest.Server
	bot    discordtest.Bot
	room   discordtest.Channel
	other  discordtest.Channel
	lounge discordtest.Channel // of voice
	ada    discordtest.User
	views  *browsertest.Views
	answer discordtest.Message // the last of the program, with its buttons

	environ []string // of the program
}

// waits returns what an interaction is answered with, once it says a text.
func (r *smokeRoom) waits(t *testing.T, it discordtest.Interaction, err error, text string) discordtest.Interaction {
	t.Helper()
	check.Must(t, err)
	got, err := r.WaitInteraction(testDeadline(t), it, func(i discordtest.Interaction) bool {
		return strings.Contains(i.Text(), text)
	})
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

// saying waits until the bot has written a text in the room, and returns the message.
func (r *smokeRoom) saying(t *testing.T, text string) discordtest.Message {
	t.Helper()
	m, err := r.WaitMessage(testDeadline(t), r.room, func(m discordtest.Message) bool {
		return m.Author.ID == r.bot.ID && strings.Contains(m.Content, text)
	})
	check.Must(t, err)
	return m
}

// sets changes a setting of the program.
func (r *smokeRoom) sets(t *testing.T, key, value string) {
	t.Helper()
	if code, _, told := runInProcess(t, r.environ, "config", "set", key, value); code != exitDone {
		t.Fatalf("config set: exit code %d: %s", code, told)
	}
}

// isAskedByAModel has a model ask Ada something while it works; she picks an answer from a menu.
func (r *smokeRoom) isAskedByAModel(t *testing.T) {
	t.Helper()
	model := llmtest.NewServer(t)
	model.Add(toolTurn("ask_person", map[string]any{
		"question": "Which of these lamps do you mean?",
		"choices":  []string{"Aurora Desk Lamp, 39 €", "Aurora Floor Lamp, 89 €"},
	}), llmtest.Say("The Aurora Floor Lamp is in stock."))
	r.sets(t, keyServer, model.BaseURL())
	r.sets(t, "interaction.access.models", scriptedModel)
	// She has asked for nearly ten tasks.
	r.sets(t, "agentStack.runtimeConfig.browser.localBrowserAgent.maxBrowseCallsPerHour", "30")
	args := discordtest.Args{"task": "is the Aurora lamp in stock?", "model": scriptedModel}
	it, err := r.SlashCommand(r.room, r.ada, "clank browse", args)
	check.Must(t, err)
	q := r.saying(t, "The model asks:")
	r.draw(t, "model-question", r.Draw(q))
	r.answer = q
	words, err := r.presses(t, "Answer in your own words")
	check.Must(t, err)
	form, err := r.WaitAnswer(testDeadline(t), words)
	check.Must(t, err)
	r.draw(t, "model-form", r.DrawForm(*form.Modal))
	menu := q.Components[0].Components[0]
	check.Must(t, check.Err(r.Choose(q, r.ada, menu.CustomID, menu.Options[1].Value)))
	r.waits(t, it, nil, "is in stock")
}

// quietHost asks nothing of the program.
type quietHost struct{ bot.Host }

func (quietHost) HandleServers(context.Context, string, []string, func(string) bool) {}
func (quietHost) HandleDispatch(string, json.RawMessage)                             {}

// drawNotice draws what the owner of a watch is told: the program would look at the page again after minutes only.
func (r *smokeRoom) drawNotice(t *testing.T) {
	t.Helper()
	if *pictureDir == "" {
		return
	}
	b := &bot.Bot{Token: r.bot.Token, Base: r.URL, Host: quietHost{}, Scopes: new(cancel.Scopes)}
	check.Must(t, b.Open(testDeadline(t)))
	defer func() { check.Must(t, b.Close(testDeadline(t))) }()
	w := watches.Watch{
		ID: "w7k2m9q", URL: "https://shop.example/aurora", What: "the number drops below 40 EUR", State: watches.StateActive,
	}
	w.Origin = sessions.Origin{Kind: sessions.FromDiscord, Channel: r.room.ID, User: r.ada.ID}
	n := watches.Notice{Kind: watches.NoticeMet, Text: "It is 39 € now; it was 49 €."}
	check.Must(t, b.NotifyWatch(testDeadline(t), w, n))
	r.draw(t, "watch", r.Draw(r.saying(t, "39 € now")))
}

// stopsInCall has Ada stop a task in a call, aloud.
func (r *smokeRoom) stopsInCall(t *testing.T) {
	t.Helper()
	check.Installed(t, "espeak-ng", "pocketsphinx_continuous")
	h := &callFixture{
		Server: r.Server, whole: t, t: t, bot: r.bot, ada: r.ada, room: r.room, lounge: r.lounge,
		call: r.lounge,
	}
	ada := h.joinVoice(r.lounge, r.ada)
	if got := h.runCommand(r.ada, "join", nil); !strings.Contains(got, "I am in <#"+r.lounge.ID+">") {
		t.Fatalf("/clank join says %q", got)
	}
	h.awaitMessage("listen")
	ada.awaitSpeech(t, r.bot.ID)
	ada.awaitKeys(t)
	ada.openMicrophone(t)
	it, err := r.SlashCommand(r.room, r.ada, "clank browse",
		discordtest.Args{"task": `open the demo shop, wait for "a text that never comes"`})
	r.waits(t, it, err, "never comes")
	h.stops(ada)
	r.waits(t, it, nil, "topped by")
	r.draw(t, "call", r.Draw(h.awaitMessage("Stopped, as ")))
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
			r.draw(t, "files", r.Draw(r.answer))
			if got := site.given(); !strings.HasPrefix(got, "cv.pdf ") {
				t.Errorf("the site has %q", got)
			}
		}},
		{"the button Files gives it once more", func(t *testing.T) {
			it, err := r.presses(t, "Files")
			check.Must(t, err)
			got, err := r.WaitInteraction(testDeadline(t), it, func(i discordtest.Interaction) bool {
				return len(i.Followups) == 1
			})
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
			r.draw(t, "form", r.DrawForm(*form.Modal))
			it, err = r.SubmitModal(form, map[string]string{"task": "read"})
			r.answer = *r.waits(t, it, err, "We have it.").Original
		}},
		{"/clank sessions lists it, and Close ends it", func(t *testing.T) {
			it, err := r.SlashCommand(r.room, r.ada, "clank sessions", nil)
			check.Must(t, err)
			list, err := r.WaitAnswer(testDeadline(t), it)
			check.Must(t, err)
			r.answer = *list.Original
			r.draw(t, "sessions", r.Draw(r.answer))
			it, err = r.presses(t, "Close")
			r.waits(t, it, err, "Closed.")
		}},
		{"options are completed", func(t *testing.T) {
			it, err := r.Complete(r.room, r.ada, "clank browse", "model", discordtest.Args{"task": "x", "model": "steps"})
			check.Must(t, err)
			got, err := r.WaitInteraction(testDeadline(t), it, func(i discordtest.Interaction) bool {
				return len(i.Choices) > 0
			})
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
			check.Must(t, err)
			got, err := r.WaitInteraction(testDeadline(t), it, func(i discordtest.Interaction) bool {
				return strings.Contains(i.Text(), "Step 2") && len(i.Original.Attachments) == 1
			})
			check.Must(t, err)
			r.draw(t, "running", r.Draw(*got.Original))
			r.React(*got.Original, r.ada, "⏹")
			r.waits(t, it, nil, "topped by")
		}},
		{"a menu offers the links of a message", func(t *testing.T) {
			m, err := r.SendMessage(r.room, r.ada, "this "+site.URL+"/ or that "+site.URL+"/receipt")
			check.Must(t, err)
			it, err := r.UseOnMessage(m, r.ada, "Browse this link")
			r.draw(t, "choice", r.Draw(*r.waits(t, it, err, "Which link?").Original))
		}},
		{"who asks is asked before a task that is done once more sends something", func(t *testing.T) {
			r.browses(t, discordtest.Args{"task": "upload cv.pdf into Attachment, read", "file": cv, "url": site.URL},
				"We have it.")
			check.Must(t, check.Err(r.presses(t, "Retry")))
			q, err := r.WaitMessage(testDeadline(t), r.room, func(m discordtest.Message) bool { return m.HasButton("Allow") })
			check.Must(t, err)
			r.draw(t, "question", r.Draw(q))
			r.answer = q
			check.Must(t, check.Err(r.presses(t, "No")))
			r.saying(t, "efused")
		}},
		{"a model asks who it works for, who picks the answer from a menu", r.isAskedByAModel},
		{"/clank setup chooses the channels of the server", func(t *testing.T) {
			it, err := r.SlashCommand(r.room, r.ada, "clank setup", nil)
			shown := r.waits(t, it, err, "Channels: all")
			it, err = r.Choose(*shown.Original, r.ada, "clank:setup:"+settings.ServerChannels, r.room.ID)
			shown = r.waits(t, it, err, "Channels: <#"+r.room.ID+">")
			r.draw(t, "setup", r.Draw(*shown.Original))
			it, err = r.SlashCommand(r.other, r.ada, "clank browse", discordtest.Args{"task": "read"})
			r.waits(t, it, err, "other channels")
		}},
		{"the answer to a long task is in a thread", func(t *testing.T) {
			r.sets(t, "interaction.tasks.threadAfterMs", "2s")
			task := "wait 2 seconds, read"
			it, err := r.SlashCommand(r.room, r.ada, "clank browse", discordtest.Args{"task": task, "url": site.URL})
			pointer := r.waits(t, it, err, "The answer is in <#")
			r.draw(t, "thread", r.Draw(*pointer.Original))
			thread := discordtest.Channel{ID: pointer.Original.ID}
			check.Must(t, check.Err(r.WaitMessage(testDeadline(t), thread, func(m discordtest.Message) bool {
				return strings.Contains(m.Content, "Attachment")
			})))
		}},
		{"/clank join brings it into a call, where it speaks, and a spoken stop stops a task", r.stopsInCall},
		{"files of a message to the bot reach its task", func(t *testing.T) {
			letter := cv
			letter.Name = "letter.pdf"
			task := r.bot.Mention() + " open " + site.URL + ", upload letter.pdf into Attachment"
			post := discordtest.Post{Text: task, Files: []discordtest.File{letter}}
			check.Must(t, check.Err(r.Send(r.room, r.ada, post)))
			check.Must(t, check.Err(r.WaitMessage(testDeadline(t), r.room, func(discordtest.Message) bool {
				return strings.HasPrefix(site.given(), "letter.pdf ")
			})))
		}},
	} {
		if !t.Run(step.name, step.try) {
			return // what follows begins where it ended
		}
	}
	r.drawNotice(t)
}
