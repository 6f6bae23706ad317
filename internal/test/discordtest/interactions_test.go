package discordtest_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"clank/internal/test/discordtest"

	"github.com/bwmarrin/discordgo"
)

// asked is a town whose bot has just been asked to browse.
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

func TestLateAnswerIsUnknown(t *testing.T) {
	w, d, it, i := asked(t)
	w.Advance(3*time.Second + time.Millisecond)
	refusal(t, respond(d, i, message, &discordgo.InteractionResponseData{Content: "x"}), 404, 10062)
	if now, _ := w.Interaction(it.ID); now.Answer != 0 || now.Original != nil {
		t.Errorf("got %+v, want no answer", now)
	}
}

func TestSecondAnswerIsRefused(t *testing.T) {
	_, d, _, i := asked(t)
	if err := respond(d, i, message, &discordgo.InteractionResponseData{Content: "x"}); err != nil {
		t.Fatal(err)
	}
	refusal(t, respond(d, i, message, &discordgo.InteractionResponseData{Content: "x"}), 400, 40060)
}

func TestForgottenInteractionIsUnknown(t *testing.T) {
	w, d, it, i := asked(t)
	w.ForgetInteraction(it.ID)
	refusal(t, respond(d, i, deferred, nil), 404, 10062)
	_, err := d.FollowupMessageCreate(i, true, &discordgo.WebhookParams{Content: "x"})
	refusal(t, err, 404, 10015)
}

func TestWrongInteractionTokensAreRefused(t *testing.T) {
	_, d, _, i := asked(t)
	guess := *i
	guess.Token = "guess"
	refusal(t, respond(d, &guess, deferred, nil), 404, 10062)
	_, err := d.FollowupMessageCreate(&guess, true, &discordgo.WebhookParams{Content: "x"})
	refusal(t, err, 401, 50027)
	guess = *i
	guess.AppID = "1"
	_, err = d.FollowupMessageCreate(&guess, true, &discordgo.WebhookParams{Content: "x"})
	refusal(t, err, 404, 10015)
}

func TestNothingButTheFirstAnswerWorksBeforeIt(t *testing.T) {
	_, d, _, i := asked(t)
	text := "x"
	_, err := d.InteractionResponseEdit(i, &discordgo.WebhookEdit{Content: &text})
	refusal(t, err, 404, 10015)
}

func TestTokenEndsAfterFifteenMinutes(t *testing.T) {
	w, d, _, i := asked(t)
	if err := respond(d, i, deferred, nil); err != nil {
		t.Fatal(err)
	}
	text := "still working"
	w.Advance(15 * time.Minute / 2)
	if _, err := d.InteractionResponseEdit(i, &discordgo.WebhookEdit{Content: &text}); err != nil {
		t.Fatal(err)
	}
	w.Advance(15*time.Minute/2 + time.Second)
	_, err := d.InteractionResponseEdit(i, &discordgo.WebhookEdit{Content: &text})
	refusal(t, err, 401, 50027)
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
	_, err := d.ChannelMessage(w.room.ID, now.Original.ID)
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

func TestOriginalAnswerIsReadEditedAndDeleted(t *testing.T) {
	w, d, it, i := asked(t)
	if err := respond(d, i, message, &discordgo.InteractionResponseData{Content: "one", Files: []*discordgo.File{
		{Name: "a.txt", Reader: strings.NewReader("file")},
	}}); err != nil {
		t.Fatal(err)
	}
	m, err := d.InteractionResponse(i)
	if err != nil || m.Content != "one" || len(m.Attachments) != 1 || m.Type != discordgo.MessageTypeChatInputCommand {
		t.Fatalf("got %+v, %v, want the answer with its file", m, err)
	}
	extra, err := d.FollowupMessageCreate(i, true, &discordgo.WebhookParams{Content: "extra"})
	if err != nil {
		t.Fatal(err)
	}
	text := "edited"
	if _, err := d.FollowupMessageEdit(i, extra.ID, &discordgo.WebhookEdit{Content: &text}); err != nil {
		t.Fatal(err)
	}
	if got, _ := w.Message(extra.ID); got.Content != text {
		t.Errorf("got follow-up %q, want %q", got.Content, text)
	}
	if err := d.FollowupMessageDelete(i, extra.ID); err != nil {
		t.Fatal(err)
	}
	if err := d.InteractionResponseDelete(i); err != nil {
		t.Fatal(err)
	}
	if now, _ := w.Interaction(it.ID); now.Original != nil || len(now.Followups) != 0 {
		t.Errorf("got %+v, want nothing left", now)
	}
	_, err = d.InteractionResponse(i)
	refusal(t, err, 404, 10008)
}

func TestAnswersAreHeldAgainstTheLimits(t *testing.T) {
	w, d, it, i := asked(t)
	err := respond(d, i, message, &discordgo.InteractionResponseData{Content: strings.Repeat("x", 2001)})
	rest := refusal(t, err, 400, 50035)
	if !strings.Contains(string(rest.ResponseBody), `"data":{"content":{"_errors"`) {
		t.Errorf("got %s, want the complaint below data.content", rest.ResponseBody)
	}
	refusal(t, respond(d, i, message, nil), 400, 50006)
	refusal(t, respond(d, i, discordgo.InteractionResponseUpdateMessage, &discordgo.InteractionResponseData{Content: "x"}), 400, 50035)
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
		discordgo.ActionsRow{Components: []discordgo.MessageComponent{
			discordgo.SelectMenu{CustomID: "pick", Options: []discordgo.SelectMenuOption{{Label: "a", Value: "a"}}},
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	sent, _ := w.Message(m.ID)
	return w, d, sent, came
}

func TestPressedButtonUpdatesItsMessage(t *testing.T) {
	w, d, m, came := stopButton(t)
	if got := len(m.Buttons()); got != 2 {
		t.Errorf("got %d buttons, want 2", got)
	}
	it, err := w.PressButton(m, w.bob, "stop:1")
	if err != nil {
		t.Fatal(err)
	}
	i := next(t, came).Interaction
	if i.MessageComponentData().CustomID != "stop:1" || i.Message.ID != m.ID || i.Member.User.ID != w.bob.ID {
		t.Fatalf("got %+v, want bob's press", i)
	}
	if err := respond(d, i, discordgo.InteractionResponseUpdateMessage, &discordgo.InteractionResponseData{Content: "stopped", Components: []discordgo.MessageComponent{}}); err != nil {
		t.Fatal(err)
	}
	now, err := w.WaitEdit(deadline(t), m.ID, func(m discordtest.Message) bool { return m.Content == "stopped" })
	if err != nil || len(now.Buttons()) != 0 {
		t.Errorf("got %+v, %v, want no buttons", now, err)
	}
	if done, _ := w.Interaction(it.ID); done.Original.ID != m.ID {
		t.Errorf("got original %s, want the message itself", done.Original.ID)
	}
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

func TestPeopleCannotUseWhatIsNotThere(t *testing.T) {
	w, _, m, came := stopButton(t)
	for _, id := range []string{"off", "nothing", ""} {
		if _, err := w.PressButton(m, w.ada, id); !errors.Is(err, discordtest.ErrNoComponent) {
			t.Errorf("press %q: got %v, want no such component", id, err)
		}
	}
	if _, err := w.Choose(m, w.ada, "pick", "b"); !errors.Is(err, discordtest.ErrBadArgument) {
		t.Errorf("got %v, want no such choice", err)
	}
	if _, err := w.Choose(m, w.ada, "pick", "a"); err != nil {
		t.Fatal(err)
	}
	if i := next(t, came); i.MessageComponentData().Values[0] != "a" {
		t.Errorf("got %+v, want a", i.Data)
	}
	w.DeleteMessage(m)
	if _, err := w.PressButton(m, w.ada, "stop:1"); !errors.Is(err, discordtest.ErrNoComponent) {
		t.Errorf("got %v, want no component on a deleted message", err)
	}
}

func TestModalIsShownFilledAndSubmitted(t *testing.T) {
	w, d, m, came := stopButton(t)
	it, err := w.PressButton(m, w.ada, "stop:1")
	if err != nil {
		t.Fatal(err)
	}
	i := next(t, came).Interaction
	input := func(label string) []discordgo.MessageComponent {
		return []discordgo.MessageComponent{discordgo.ActionsRow{Components: []discordgo.MessageComponent{
			discordgo.TextInput{CustomID: "why", Label: label, Style: discordgo.TextInputShort, Required: true},
		}}}
	}
	refusal(t, respond(d, i, discordgo.InteractionResponseModal, &discordgo.InteractionResponseData{
		CustomID: "reason", Title: "Why?", Components: input(strings.Repeat("x", 46)),
	}), 400, 50035)
	if err := respond(d, i, discordgo.InteractionResponseModal, &discordgo.InteractionResponseData{
		CustomID: "reason", Title: "Why?", Components: input("Reason"),
	}); err != nil {
		t.Fatal(err)
	}
	if it, err = w.WaitAnswer(deadline(t), it); err != nil || it.Modal.Title != "Why?" {
		t.Fatalf("got %+v, %v, want the modal", it.Modal, err)
	}
	if _, err := w.SubmitModal(it, nil); !errors.Is(err, discordtest.ErrBadArgument) {
		t.Errorf("got %v, want the input to be required", err)
	}
	if _, err := w.SubmitModal(it, map[string]string{"why": "too slow"}); err != nil {
		t.Fatal(err)
	}
	data := next(t, came).ModalSubmitData()
	value := data.Components[0].(*discordgo.ActionsRow).Components[0].(*discordgo.TextInput).Value
	if data.CustomID != "reason" || value != "too slow" {
		t.Errorf("got %+v, want the reason", data)
	}
}

func TestInteractionInDirectMessagesHasAUserAndNoMember(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	came := events[*discordgo.InteractionCreate](d)
	open(t, w, d)
	registerClank(t, d)
	if _, err := w.SlashCommand(w.OpenDM(w.ada, w.bot), w.ada, "clank browse", discordtest.Args{"task": "tea"}); err != nil {
		t.Fatal(err)
	}
	if i := next(t, came); i.Member != nil || i.User == nil || i.User.ID != w.ada.ID || i.GuildID != "" {
		t.Errorf("got %+v, want ada as a user", i.Interaction)
	}
}
