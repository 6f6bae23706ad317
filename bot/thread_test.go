package bot_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/sessions"
)

// threaded returns a stage where each task counts as long.
func threaded(t *testing.T) *stage {
	t.Helper()
	s := newStage(t)
	s.plainBrain()
	s.host.threadAfter = func() time.Duration { return time.Nanosecond }
	s.open()
	return s
}

// pointsTo waits until an answer points to a thread, and returns that.
func (s *stage) pointsTo(it discordtest.Interaction) discordtest.Channel {
	s.t.Helper()
	original := s.answer(it, "The answer is in <#").Original
	if want := "The answer is in <#" + original.ID + ">."; original.Content != want || len(original.Components) != 0 {
		s.t.Errorf("the channel says %q, want %q", original.Content, want)
	}
	return discordtest.Channel{ID: original.ID}
}

func TestTheAnswerToALongTaskGoesIntoAThread(t *testing.T) {
	s := threaded(t)
	it, k := s.lamps()
	k.step("look", nil)
	s.answer(it, "Step 1: look")
	k.done("the answer " + strings.Repeat("x", 2500))
	thread := s.pointsTo(it)
	s.message(thread, "the answer xx")
	if len(s.message(thread, "session `s1` stays open").Buttons()) == 0 {
		t.Error("the answer has no buttons")
	}

	_, k = s.asks(s.room, s.ada)
	k.step("gaze", nil)
	s.message(s.room, "Step 1: gaze")
	k.done("also")
	pointer, err := s.WaitMessage(s.ctx(), s.room, func(m discordtest.Message) bool {
		return m.Type == discordtest.ReplyMessage && strings.Contains(m.Content, "The answer is in")
	})
	check.Must(t, err)
	s.message(discordtest.Channel{ID: pointer.ID}, "also")
}

// TestAnAnswerIsNotLostWhereThereCanBeNoThread has Discord refuse it, in each way that a bot meets.
func TestAnAnswerIsNotLostWhereThereCanBeNoThread(t *testing.T) {
	refuse := func(route discordtest.Route, with *discordtest.APIError) func(*stage) {
		return func(s *stage) { s.RefuseNext(route, with) }
	}
	deny := func(what discordtest.Permissions) func(*stage) {
		return func(s *stage) { s.Overwrite(s.room, s.account.User, discordtest.Role{}, 0, what) }
	}
	full := discordtest.Refuse(http.StatusBadRequest, 30033, "Maximum number of thread participants has been "+
		"reached (1000)")
	for name, do := range map[string]func(*stage){
		"50001":                  refuse(discordtest.RouteStartThread, discordtest.ErrMissingAccess),
		"50013 to open it":       deny(discordtest.CreateThreads),
		"50013 to write into it": deny(discordtest.SendInThreads),
		"50024":                  refuse(discordtest.RouteStartThread, discordtest.ErrWrongChannelType),
		"30033":                  refuse(discordtest.RouteStartThread, full),
		"30033 to write into it": func(s *stage) {
			refuse(discordtest.RouteCreateMessage, full)(s)
			refuse(discordtest.RouteCreateMessage, full)(s) // what is refused is written anew once
		},
		"160004 of a thread that is gone": refuse(discordtest.RouteStartThread, discordtest.ErrThreadExists),
	} {
		t.Run(name, func(t *testing.T) {
			s := threaded(t)
			it, k := s.lamps()
			k.step("look", nil)
			s.answer(it, "Step 1: look")
			do(s)
			k.done("the answer")
			s.answer(it, "the answer")
		})
	}
	t.Run("160004 after an answer that is lost", func(t *testing.T) {
		s := threaded(t)
		it, k := s.lamps()
		k.step("look", nil)
		s.answer(it, "Step 1: look")
		s.LoseNextAnswer(discordtest.RouteStartThread)
		k.done("the answer")
		s.message(s.pointsTo(it), "the answer")
	})
}

func TestWhatIsShortPrivateOrStoppedGoesIntoNoThread(t *testing.T) {
	s := newStage(t)
	s.plainBrain()
	after := time.Hour
	s.host.threadAfter = func() time.Duration { return after }
	s.open()
	end := func(in discordtest.Channel, args discordtest.Args, e ending, want string) {
		t.Helper()
		it, err := s.SlashCommand(in, s.ada, "clank browse", args)
		check.Must(t, err)
		k := s.next()
		k.step("look", nil)
		s.answer(it, "Step 1: look")
		k.end <- e
		s.answer(it, want)
	}
	done := ending{rec: sessions.TaskRecord{State: sessions.TaskDone, Answer: "the answer"}}
	lamps := discordtest.Args{"task": "lamps"}
	end(s.room, lamps, done, "the answer") // short
	after = time.Nanosecond
	end(s.room, discordtest.Args{"task": "lamps", "private": true}, done, "the answer")
	end(s.OpenDM(s.ada, s.account), lamps, done, "the answer")
	end(s.CreateThread(s.room, "below"), lamps, done, "the answer")
	end(s.room, lamps, ending{rec: sessions.TaskRecord{State: sessions.TaskFailed, Reason: "no lamps"}}, "No lamps")
	check.Equal(t, "threads were opened", len(s.RequestsTo(discordtest.RouteStartThread)), 0)
}
