package bot_test

import (
	"strings"
	"testing"

	"clank/internal/test/discordtest"
)

// Discord forgets an interaction that is not answered within three seconds, and one whose token has expired.
func TestAForgottenInteractionIsAnsweredByAMessage(t *testing.T) {
	const respond, edit = discordtest.RouteRespond, discordtest.RouteEditResponse
	command := func(name string) func(*stage, discordtest.Message) discordtest.Interaction {
		return func(s *stage, _ discordtest.Message) discordtest.Interaction { return s.command(s.ada, name, nil) }
	}
	button := func(label string) func(*stage, discordtest.Message) discordtest.Interaction {
		return func(s *stage, m discordtest.Message) discordtest.Interaction { return s.pressLabel(m, s.ada, label) }
	}
	for name, x := range map[string]struct {
		use    func(*stage, discordtest.Message) discordtest.Interaction
		at     discordtest.Route
		direct bool // what others could not have read goes to the person alone
		text   string
		file   string
	}{
		"a deferred answer": {
			use: command("watches"), at: respond, direct: true,
			text: "Nothing is watched for you.",
		},
		"a deferred answer, later": {
			use: command("watches"), at: edit, direct: true,
			text: "Nothing is watched for you.",
		},
		"a deferred answer to a button":       {use: button("Close"), at: respond, direct: true, text: "Closed."},
		"a deferred answer with a picture":    {use: button("Screenshot"), at: edit, direct: true, file: "page.png"},
		"a deferred answer that all can read": {use: command("clip"), at: respond, file: "clip.webm"},
		"a list": {
			use: command("sessions"), at: respond, direct: true,
			text: "Please try again",
		},
		"a form": {use: button("Continue"), at: respond, direct: true, text: "Please try again"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.bot.Watches, s.bot.Pages = &watched{}, pages{}
			s.open()
			m := s.finished(false)
			hold := s.HoldNext(x.at)
			it := x.use(s, m)
			select {
			case <-hold.Arrived():
			case <-s.ctx().Done():
				t.Fatal("it is not answered at all")
			}
			s.ForgetInteraction(it.ID)
			hold.Release()
			in := s.room
			if x.direct {
				in = s.OpenDM(s.ada, s.account)
			}
			_, err := s.WaitMessage(s.ctx(), in, func(m discordtest.Message) bool {
				hasFile := x.file == "" || len(m.Attachments) == 1 && m.Attachments[0].Filename == x.file
				return m.Author.ID == s.account.ID && strings.Contains(m.Content, x.text) && hasFile
			})
			if err != nil {
				t.Errorf("no message says %q with %q: %v", x.text, x.file, err)
			}
		})
	}
}

func TestTheRestOfAnAnswerIsWrittenWhereDiscordForgetsItsCommandMeanwhile(t *testing.T) {
	s := openStage(t)
	hold := s.HoldNext(discordtest.RouteFollowup)
	it, k := s.lamps()
	k.done(strings.Repeat("brass lamps\n", 250) + "the end")
	select {
	case <-hold.Arrived():
	case <-s.ctx().Done():
		t.Fatal("the rest is not answered at all")
	}
	s.ForgetInteraction(it.ID)
	hold.Release()
	s.message(s.room, "the end")
}
