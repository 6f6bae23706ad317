package bot_test

import (
	"context"
	"errors"
	"testing"

	"clank/bot"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/sessions"
)

// activities are an Activity that opens, or does not.
type activities struct {
	enabled  bool
	refusal  error
	launched chan bot.LaunchRequest
}

func (a *activities) Enabled() bool { return a.enabled }

func (a *activities) Launch(_ context.Context, _ sessions.Origin, in bot.LaunchRequest) error {
	a.launched <- in
	return a.refusal
}

func TestSharingOpensTheActivity(t *testing.T) {
	s := newStage(t)
	a := &activities{enabled: true, launched: make(chan bot.LaunchRequest, 1)}
	s.bot.Calls, s.bot.Links, s.bot.Activities = phone{}, phone{}, a
	s.EnableActivity(s.account)
	s.open()
	if err := s.bot.CommandError(); err != nil || len(s.Commands(s.account)) != 4 {
		t.Fatalf("commands %+v, error %v, want the entry point beside ours", s.Commands(s.account), err)
	}
	for _, tc := range []struct {
		name    string
		refusal error
		want    string // in the answer; empty: the Activity
	}{
		{name: "opened"},
		{"refused", errors.New("this session is private"), "This session is private."},
	} {
		a.refusal = tc.refusal
		it := s.command(s.ada, "share", discordtest.Args{"session": "s7"})
		check.Equal(t, tc.name, <-a.launched, bot.LaunchRequest{Session: "s7", Share: true})
		got, err := s.WaitInteraction(s.ctx(), it, func(i discordtest.Interaction) bool { return i.Answer != 0 })
		check.Must(t, err)
		if opened := got.Answer == discordtest.AnswerLaunch && got.Instance != ""; opened != (tc.want == "") ||
			got.Text() != tc.want {
			t.Errorf("%s: got answer %d, %q", tc.name, got.Answer, got.Text())
		}
	}
}

func TestSharingAnswersWithoutTheActivityWhereDiscordDoesNotOpenIt(t *testing.T) {
	s := newStage(t)
	a := &activities{enabled: true, launched: make(chan bot.LaunchRequest, 1)}
	s.bot.Calls, s.bot.Links, s.bot.Activities = phone{}, phone{}, a
	s.open()
	s.answer(s.command(s.ada, "share", nil), "share  for ada")
	<-a.launched
}

func TestTheLiveButtonOpensTheActivity(t *testing.T) {
	s := newStage(t)
	a := &activities{enabled: true, launched: make(chan bot.LaunchRequest, 1)}
	s.bot.Calls, s.bot.Links, s.bot.Activities = phone{}, phone{}, a
	s.EnableActivity(s.account)
	s.open()
	it, k := s.browse(s.ada, discordtest.Args{"task": "lamps", "session": "s1"}), s.next()
	k.step("look", nil)
	shown, err := s.WaitInteraction(s.ctx(), it, func(i discordtest.Interaction) bool {
		return i.Original != nil && len(i.Original.Buttons()) == 2
	})
	check.Must(t, err)
	pressed, err := s.PressButton(*shown.Original, s.bob, shown.Original.Buttons()[1].CustomID)
	check.Must(t, err)
	check.Equal(t, "<-a.launched", <-a.launched, bot.LaunchRequest{Session: "s1"})
	check.Must(t, check.Err(s.WaitInteraction(s.ctx(), pressed, func(i discordtest.Interaction) bool {
		return i.Answer == discordtest.AnswerLaunch
	})))
	k.done("There.")
}
