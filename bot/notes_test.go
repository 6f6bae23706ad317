package bot_test

import (
	"fmt"
	"testing"

	"clank/internal/test/discordtest"
	"clank/sessions"
)

// working lets ada ask for a browse, whose message it returns, and makes its
// task hear what its owner, or a moderator, says.
func (s *stage) working() (shown discordtest.Message, k *task, heard chan string) {
	s.t.Helper()
	s.plainBrain()
	s.open()
	s.say(s.room, s.ada, s.account.Mention()+" find a lamp")
	k = s.next()
	k.ID = "t1"
	k.step("click the first link", nil)
	heard = make(chan string, 10)
	s.tasks.mu.Lock()
	s.tasks.say = func(id string, from sessions.Origin, text string) (string, error) {
		switch {
		case id != "t1" && id != "s1":
			return "", fmt.Errorf("no task %s: %w", id, sessions.ErrNotFound)
		case from.User != s.ada.ID && !from.Moderator:
			return "", fmt.Errorf("task t1 belongs to ada: %w", sessions.ErrNotOwner)
		}
		heard <- from.UserName + ": " + text
		return "t1", nil
	}
	s.tasks.mu.Unlock()
	return s.message(s.room, "click the first link"), k, heard
}

func (s *stage) heard(heard <-chan string, want string) {
	s.t.Helper()
	select {
	case got := <-heard:
		if got != want {
			s.t.Errorf("the task heard %q, want %q", got, want)
		}
	case <-s.ctx().Done():
		s.t.Fatalf("the task did not hear %q", want)
	}
}

func (s *stage) replyTo(m discordtest.Message, who discordtest.User, text string) {
	s.t.Helper()
	if _, err := s.Send(s.room, who, discordtest.Post{Text: text, Reply: &m}); err != nil {
		s.t.Fatal(err)
	}
}

func TestAReplyToARunningTaskIsHeardByIt(t *testing.T) {
	s := newStage(t)
	shown, k, heard := s.working()
	s.replyTo(shown, s.ada, "the second one instead")
	s.heard(heard, "ada: the second one instead")
	s.message(s.room, "Passed on. It is heard before the next step.")
	k.done("39 €")
	s.message(s.room, "39 €")
	if n := len(s.tasks.begun); n != 0 {
		t.Errorf("%d more tasks began", n)
	}
}

func TestOnlyTheOwnerAndModeratorsAreHeard(t *testing.T) {
	s := newStage(t)
	shown, k, heard := s.working()
	s.replyTo(shown, s.bob, "the third one")
	s.message(s.room, "Task t1 belongs to ada")
	s.replyTo(shown, s.mod, "leave that alone")
	s.heard(heard, "mod: leave that alone")
	k.done("39 €")
	s.message(s.room, "39 €")
}

func TestAMentionWithoutABrainIsHeardByTheRunningTask(t *testing.T) {
	s := newStage(t)
	_, k, heard := s.working()
	s.tasks.mu.Lock()
	s.tasks.sessions = []sessions.Session{{
		ID: "s1", State: sessions.SessionRunning, Origin: sessions.Origin{User: s.ada.ID, Channel: s.room.ID},
	}}
	s.tasks.mu.Unlock()
	s.say(s.room, s.ada, s.account.Mention()+" the red one")
	s.heard(heard, "ada: the red one")
	s.message(s.room, "Passed on to the running task.")
	k.done("39 €")
	s.message(s.room, "39 €")
}

func TestAStopWordInAReplyStillStops(t *testing.T) {
	s := newStage(t)
	shown, _, heard := s.working()
	s.replyTo(shown, s.ada, "stop")
	s.message(s.room, "Stopped.")
	if len(heard) != 0 {
		t.Errorf("the task heard %q", <-heard)
	}
}

func TestAReplyToWhatHasEndedIsTalk(t *testing.T) {
	s := newStage(t)
	shown, k, heard := s.working()
	k.done("39 €")
	s.message(s.room, "39 €")
	s.replyTo(shown, s.ada, s.account.Mention()+" and another?")
	k = s.next()
	if k.Prompt != "and another?" || len(heard) != 0 {
		t.Errorf("the next task is %q", k.Prompt)
	}
	k.done("yes")
	s.message(s.room, "yes")
}
