package discordtest_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"clank/internal/test/discordtest"

	"github.com/bwmarrin/discordgo"
)

// asked returns a town whose bot has just been asked to browse.
func asked(t *testing.T) (town, *discordgo.Session, discordtest.Interaction, *discordgo.Interaction) {
	t.Helper()
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	came := events[*discordgo.InteractionCreate](d)
	open(t, w, d)
	registerClank(t, d)
	it, err := w.SlashCommand(w.room, w.ada, "clank browse", discordtest.Args{"task": "tea", "steps": 3})
	if err != nil {
		t.Fatal(err)
	}
	return w, d, it, next(t, came).Interaction
}

func respond(d *discordgo.Session, i *discordgo.Interaction, kind discordgo.InteractionResponseType, data *discordgo.InteractionResponseData) error {
	return d.InteractionRespond(i, &discordgo.InteractionResponse{Type: kind, Data: data})
}

const (
	message  = discordgo.InteractionResponseChannelMessageWithSource
	deferred = discordgo.InteractionResponseDeferredChannelMessageWithSource
)

func TestInteractionTokensEnd(t *testing.T) {
	type exchange struct {
		town
		d  *discordgo.Session
		it discordtest.Interaction
		i  *discordgo.Interaction
	}
	text := "x"
	answer := func(e exchange) error {
		return respond(e.d, e.i, message, &discordgo.InteractionResponseData{Content: text})
	}
	follow := func(e exchange) error {
		_, err := e.d.FollowupMessageCreate(e.i, true, &discordgo.WebhookParams{Content: text})
		return err
	}
	edit := func(e exchange) error {
		_, err := e.d.InteractionResponseEdit(e.i, &discordgo.WebhookEdit{Content: &text})
		return err
	}
	after := func(wait time.Duration) func(*testing.T, exchange) {
		return func(_ *testing.T, e exchange) { e.Advance(wait) }
	}
	answered := func(t *testing.T, e exchange) {
		t.Helper()
		if err := answer(e); err != nil {
			t.Fatal(err)
		}
	}
	forgotten := func(_ *testing.T, e exchange) { e.ForgetInteraction(e.it.ID) }
	guessed := func(_ *testing.T, e exchange) { e.i.Token = "guess" }
	for name, c := range map[string]struct {
		before       func(*testing.T, exchange)
		do           func(exchange) error
		status, code int
	}{
		"answer after three seconds":   {after(3*time.Second + time.Millisecond), answer, 404, 10062},
		"second answer":                {answered, answer, 400, 40060},
		"answer to a forgotten one":    {forgotten, answer, 404, 10062},
		"follow-up to a forgotten one": {forgotten, follow, 404, 10015},
		"answer with a guessed token":  {guessed, answer, 404, 10062},
		"follow-up by a guessed token": {guessed, follow, 401, 50027},
		"follow-up of a stranger":      {func(_ *testing.T, e exchange) { e.i.AppID = "1" }, follow, 404, 10015},
		"edit before the answer":       {after(0), edit, 404, 10015},
		"edit within fifteen minutes":  {func(t *testing.T, e exchange) { t.Helper(); answered(t, e); e.Advance(14 * time.Minute) }, edit, 0, 0},
		"edit after fifteen minutes":   {func(t *testing.T, e exchange) { t.Helper(); answered(t, e); e.Advance(15*time.Minute + time.Second) }, edit, 401, 50027},
	} {
		t.Run(name, func(t *testing.T) {
			w, d, it, i := asked(t)
			e := exchange{w, d, it, i}
			c.before(t, e)
			if err := c.do(e); c.status != 0 {
				refusal(t, err, c.status, c.code)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestFirstFollowupAfterDeferringIsTheAnswer(t *testing.T) {
	w, d, it, i := asked(t)
	if err := respond(d, i, deferred, &discordgo.InteractionResponseData{Flags: discordgo.MessageFlagsEphemeral}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.FollowupMessageCreate(i, true, &discordgo.WebhookParams{Content: "done"}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.FollowupMessageCreate(i, true, &discordgo.WebhookParams{Content: "and more"}); err != nil {
		t.Fatal(err)
	}
	now, err := w.WaitAnswer(deadline(t), it)
	if err != nil {
		t.Fatal(err)
	}
	if now.Text() != "done" || !now.Ephemeral || len(now.Followups) != 1 || now.Followups[0].Content != "and more" {
		t.Errorf("got %+v, want the answer, then one more", now)
	}
	if public, private := len(w.Messages(w.room)), len(w.MessagesFor(w.room, w.ada)); public != 1 || private != 2 {
		t.Errorf("got %d messages for all and %d for ada, want 1 and 2", public, private)
	}
}

func TestEphemeralMessagesAreForOnePersonAlone(t *testing.T) {
	w, d, it, i := asked(t)
	heard := events[*discordgo.MessageCreate](d)
	if err := respond(d, i, message, &discordgo.InteractionResponseData{
		Content: "psst", Flags: discordgo.MessageFlagsEphemeral,
		Components: []discordgo.MessageComponent{discordgo.ActionsRow{Components: []discordgo.MessageComponent{
			discordgo.Button{Label: "ok", CustomID: "ok"},
		}}},
	}); err != nil {
		t.Fatal(err)
	}
	now, _ := w.Interaction(it.ID)
	if now.Original.ViewerID != w.ada.ID || len(w.MessagesFor(w.room, w.bob)) != 0 || len(w.MessagesFor(w.room, w.ada)) != 1 {
		t.Errorf("got %+v, want it for ada alone", now.Original)
	}
	_, err := d.ChannelMessageEdit(w.room.ID, now.Original.ID, "x")
	refusal(t, err, 404, 10008)
	if _, err := w.PressButton(*now.Original, w.bob, "ok"); !errors.Is(err, discordtest.ErrNoComponent) {
		t.Errorf("got %v, want bob to see no button", err)
	}
	if _, err := w.PressButton(*now.Original, w.ada, "ok"); err != nil {
		t.Error(err)
	}
	if _, err := w.SendMessage(w.room, w.bob, "hello all"); err != nil {
		t.Fatal(err)
	}
	if m := next(t, heard); m.Content != "hello all" {
		t.Errorf("got message %q, want only the public one", m.Content)
	}
}

func TestAnswersAreHeldAgainstTheLimits(t *testing.T) {
	w, d, it, i := asked(t)
	err := respond(d, i, message, &discordgo.InteractionResponseData{Content: strings.Repeat("x", 2001)})
	rest := refusal(t, err, 400, 50035)
	if !strings.Contains(string(rest.ResponseBody), `"data":{"content":{"_errors"`) {
		t.Errorf("got %s, want the complaint below data.content", rest.ResponseBody)
	}
	refusal(t, respond(d, i, message, nil), 400, 50006)
	refusal(t, respond(d, i, discordgo.InteractionResponseDeferredMessageUpdate, nil), 400, 50035)
	refusal(t, respond(d, i, 42, nil), 400, 50035)
	if err := respond(d, i, deferred, nil); err != nil { // refused answers do not count
		t.Fatal(err)
	}
	if now, _ := w.Interaction(it.ID); now.Answer != discordtest.AnswerDeferred {
		t.Errorf("got answer %d, want the deferred one", now.Answer)
	}
}

// stopButton posts a message with a button and a menu and opens the session.
func stopButton(t *testing.T) (town, *discordgo.Session, discordtest.Message, <-chan *discordgo.InteractionCreate) {
	t.Helper()
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	came := events[*discordgo.InteractionCreate](d)
	open(t, w, d)
	m, err := d.ChannelMessageSendComplex(w.room.ID, &discordgo.MessageSend{Content: "working", Components: []discordgo.MessageComponent{
		discordgo.ActionsRow{Components: []discordgo.MessageComponent{
			discordgo.Button{Label: "Stop", CustomID: "stop:1", Style: discordgo.DangerButton},
			discordgo.Button{Label: "Off", CustomID: "off", Disabled: true},
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	sent, _ := w.Message(m.ID)
	return w, d, sent, came
}

func TestDeferredUpdateEditsTheMessageLater(t *testing.T) {
	w, d, m, came := stopButton(t)
	if _, err := w.PressButton(m, w.ada, "stop:1"); err != nil {
		t.Fatal(err)
	}
	i := next(t, came).Interaction
	if err := respond(d, i, discordgo.InteractionResponseDeferredMessageUpdate, nil); err != nil {
		t.Fatal(err)
	}
	text := "stopped"
	if _, err := d.InteractionResponseEdit(i, &discordgo.WebhookEdit{Content: &text}); err != nil {
		t.Fatal(err)
	}
	if now, _ := w.Message(m.ID); now.Content != text {
		t.Errorf("got %q, want %q", now.Content, text)
	}
}
