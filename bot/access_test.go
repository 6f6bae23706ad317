package bot_test

import (
	"context"
	"testing"

	"clank/internal/test/discordtest"
	"clank/sessions"
)

// noEntry refuses everybody, and gives out who was refused.
func (s *stage) noEntry() <-chan sessions.Origin {
	asked := make(chan sessions.Origin, 10)
	s.bot.Disabled = func(_ context.Context, o sessions.Origin) string {
		asked <- o
		return "this server is not on the list"
	}
	return asked
}

func TestAMentionByWhomIsNotServedIsAnsweredWithTheReasonAlone(t *testing.T) {
	s := newStage(t)
	turns := s.answering("Hello.")
	asked := s.noEntry()
	s.open()
	s.say(s.room, s.mod, s.account.Mention()+" hi")
	s.message(s.room, "This server is not on the list.")
	o := <-asked
	if o.User != s.mod.ID || o.Guild != s.guild.ID || o.Channel != s.room.ID || len(o.Roles) != 1 {
		t.Errorf("judged by %+v, want who and where, with the one role", o)
	}
	select {
	case turn := <-turns:
		t.Errorf("the brain was asked all the same: %+v", turn)
	default:
	}
}

func TestAThreadIsJudgedByTheChannelItIsPartOf(t *testing.T) {
	s := newStage(t)
	asked := s.noEntry()
	s.open()
	thread := s.CreateThread(s.room, "lamps")
	s.say(thread, s.ada, s.account.Mention()+" hi")
	s.message(thread, "This server is not on the list.")
	if o := <-asked; o.Channel != thread.ID || o.Parent != s.room.ID {
		t.Errorf("judged by channel %s of %s, want %s of %s", o.Channel, o.Parent, thread.ID, s.room.ID)
	}
	it, err := s.SlashCommand(thread, s.mod, "clank browse", discordtest.Args{"task": "lamps"})
	if err != nil {
		t.Fatal(err)
	}
	s.answer(it, "This server is not on the list.")
	if o := <-asked; o.Parent != s.room.ID || len(o.Roles) != 1 {
		t.Errorf("a command is judged by %+v, want the thread's channel and the role", o)
	}
}

func TestAWishForAProfileReachesTheTask(t *testing.T) {
	s := openStage(t)
	it := s.browse(s.ada, discordtest.Args{"task": "lamps", "profile": " work "})
	k := s.next()
	if k.Profile != "work" {
		t.Errorf("profile = %q, want work", k.Profile)
	}
	k.done("ok")
	s.answer(it, "ok")
}

func TestWhatIsAskedInADirectMessageIsPrivate(t *testing.T) {
	s := newStage(t)
	turns := s.answering("Hello.")
	s.open()
	dm := s.OpenDM(s.ada, s.account)
	s.say(dm, s.ada, "my bank")
	if o := s.turn(turns).Origin; !o.Private {
		t.Errorf("origin %+v, want it private", o)
	}
}
