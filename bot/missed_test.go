package bot_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/bot"
	"clank/cancel"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/sessions"
)

// absence is a bot that has gone for a while, and the one that comes after.
type absence struct {
	*stage
	next *bot.Bot
	with discordtest.Message // has buttons
}

func newAbsence(t *testing.T) *absence {
	t.Helper()
	s := newStage(t)
	a := &absence{stage: s, next: s.newBot()}
	s.bot.SessionFile = filepath.Join(t.TempDir(), "sessions.json")
	a.next.SessionFile = s.bot.SessionFile
	s.open()
	a.with = s.finished(false)
	s.close()
	return a
}

// back opens the next bot.
func (a *absence) back() {
	a.t.Helper()
	check.Must(a.t, a.next.Open(a.ctx()))
	a.t.Cleanup(func() { check.Must(a.t, a.next.Close(context.Background())) })
}

// count returns how many messages of the bot in the room have a text.
func (a *absence) count(text string) (n int) {
	for _, m := range a.Messages(a.room) {
		if m.Author.ID == a.account.ID && strings.Contains(m.Content, text) {
			n++
		}
	}
	return n
}

func TestWhatIsSaidBetweenTwoRunsIsAnsweredByTheNext(t *testing.T) {
	a := newAbsence(t)
	turns := a.answering("Hello, Bob.")
	listed := a.command(a.ada, "sessions", nil)
	pressed := a.pressLabel(a.with, a.ada, "Continue")
	asked := a.browse(a.mod, discordtest.Args{"task": "chairs"})
	a.say(a.room, a.bob, a.account.Mention()+" hi")
	a.back()
	for _, it := range []discordtest.Interaction{listed, pressed} {
		a.answered(it)
	}
	a.turn(turns)
	a.message(a.room, "Hello, Bob.")
	k := a.stage.next()
	k.done("a chair")
	a.answer(asked, "a chair")
	check.Must(t, a.Wait(a.ctx(), "the end of the former session", func() bool { return len(a.Disconnects()) == 2 }))
	if n, m := a.count("a chair"), a.count("Hello, Bob."); n != 1 || m != 1 || a.count("being restarted") != 0 {
		t.Errorf("there are %d answers to a command and %d to a mention", n, m)
	}
	if got := a.Disconnects()[0].Code; got == 1000 || got == 1001 {
		t.Errorf("the first bot left with %d, which ends its session", got)
	}
	check.Fails(t, check.Err(os.Stat(a.bot.SessionFile)), os.ErrNotExist)
}

func TestWhatDiscordTakesNoAnswerToIsDoneLateOrAskedForAgain(t *testing.T) {
	a := newAbsence(t)
	a.next.AnswerTime = 1
	a.command(a.ada, "sessions", nil)
	a.pressLabel(a.with, a.bob, "Close")
	a.browse(a.mod, discordtest.Args{"task": "chairs"})
	a.Advance(4 * time.Second)
	a.back()
	a.stage.next().done("a chair")
	a.message(a.room, "a chair")
	for _, who := range []discordtest.User{a.ada, a.bob} {
		a.message(a.room, who.Mention()+": clank was being restarted when you used a command, button or form here")
	}
	check.Equal(t, "times people were asked to do it again", a.count("being restarted"), 2)
}

func TestAStopBetweenTwoRunsStopsWhatWouldGoOn(t *testing.T) {
	a := newAbsence(t)
	a.next.Messages = newOpenMessages(
		map[string][]byte{"w1": []byte(`{"channel":"` + a.room.ID + `","user":"` + a.ada.ID + `","paused":{
		"session":"s1","prompt":"go on","title":"lamps","origin":{"kind":"discord","guild":"` + a.guild.ID + `","channel":"` + a.room.ID + `","user":"` + a.ada.ID + `"}}}`)})
	it := a.command(a.ada, "stop", nil)
	a.back()
	a.answer(it, "Stopped.")
	a.message(a.room, `topped by \@ada`)
}

func TestATaskGoesOnAfterARestartWithWhatIsLeftOfItsMoney(t *testing.T) {
	for name, x := range map[string]struct {
		task  string
		acted bool
		want  string
	}{
		"after an act": {"lamps, password: hunter22", true, "go on"},
		"before one":   {"lamps", false, "lamps"}, // the session may not know yet what was asked
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			kept := newOpenMessages(map[string][]byte{})
			s.bot.Messages, s.tasks.spent = kept, 0.25
			s.open()
			it := s.browse(s.ada, discordtest.Args{"task": x.task, "budget": 1.0, "steps": 7})
			k := s.next()
			if x.acted {
				k.step("look", nil)
			} else {
				k.watch(sessions.Event{
					Record: sessions.TaskRecord{Task: k.Task, State: sessions.TaskRunning},
					Step:   &sessions.Step{N: 1, Kind: sessions.StepThink, Phase: sessions.PhaseBegun, Label: "think"},
				})
			}
			kept.wait(s, "where it is shown", func(all map[string][]byte) bool {
				return slices.ContainsFunc(slices.Collect(maps.Values(all)), func(data []byte) bool {
					return strings.HasPrefix(string(data), `{"guild":"`+s.guild.ID+`"`)
				})
			})
			s.close()
			s.answer(it, "clank is being restarted")
			for _, data := range kept.kept {
				if strings.Contains(string(data), "hunter22") {
					t.Errorf("a password is kept: %s", data)
				}
			}
			next := s.newBot()
			next.Messages = kept
			check.Must(t, next.Open(s.ctx()))
			defer func() { check.Must(t, next.Close(context.Background())) }()
			again := s.next()
			if again.Prompt != x.want || again.SessionID != "s1" || again.MaxSteps != 7 || again.MaxUSD != 0.75 {
				t.Errorf("the next one is %q in session %q with %d steps and %v USD, want %q, s1, 7 and 0.75", again.Prompt,
					again.SessionID, again.MaxSteps, again.MaxUSD, x.want)
			}
			again.done("brass")
			s.answer(it, "brass")
		})
	}
}

func TestABotStartsAnewIfDiscordHasForgottenItsSession(t *testing.T) {
	a := newAbsence(t)
	turns := a.answering("Hello, Bob.")
	a.say(a.room, a.bob, a.account.Mention()+" hi")
	_ = a.InvalidateSession(a.account, false) // nobody is connected who could be told
	a.back()
	a.say(a.room, a.bob, a.account.Mention()+" hi again")
	if got := a.turn(turns).Lines; got[len(got)-1].Text != "hi again" {
		t.Errorf("asked was %+v", got)
	}
	a.message(a.room, "Hello, Bob.")
}

func TestWhatArrivesWhileClankEndsIsBegunByTheNext(t *testing.T) {
	for name, x := range map[string]struct {
		task string // "lamps" if empty
		err  error
		told string // "" if it is kept
	}{
		"refused": {err: fmt.Errorf("run the task: %w", sessions.ErrShuttingDown)},
		"with a password": {
			task: "log in with the password: hunter22", err: sessions.ErrShuttingDown,
			told: "There was a password in that task",
		},
		"stopped before it began": {err: &cancel.Cause{Reason: cancel.ShuttingDown}},
		"wrong":                   {err: sessions.ErrNotOwner, told: "It belongs to somebody else."},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			kept := newOpenMessages(map[string][]byte{})
			s.bot.Messages = kept
			s.open()
			it := s.browse(s.ada, discordtest.Args{"task": cmp.Or(x.task, "lamps")})
			k := s.next()
			k.end <- ending{err: x.err}
			if x.told != "" {
				s.answer(it, x.told)
				kept.wait(s, "nothing", func(all map[string][]byte) bool { return len(all) == 0 })
				return
			}
			s.answer(it, "clank is being restarted")
			left := newOpenMessages(kept.wait(s, "the task", func(all map[string][]byte) bool {
				return slices.ContainsFunc(slices.Collect(maps.Values(all)), func(data []byte) bool {
					return strings.Contains(string(data), k.Prompt)
				})
			}))
			s.close()
			next := s.newBot()
			next.Messages = left
			check.Must(t, next.Open(s.ctx()))
			defer func() { check.Must(t, next.Close(context.Background())) }()
			again := s.next()
			if again.Prompt != k.Prompt || again.Origin.User != s.ada.ID || again.SessionID != k.SessionID {
				t.Errorf("the next one begins %q of %s in session %q, want %q of %s in %q",
					again.Prompt, again.Origin.User, again.SessionID, k.Prompt, s.ada.ID, k.SessionID)
			}
			again.done("brass")
			s.answer(it, "brass")
			left.wait(s, "nothing any more", func(all map[string][]byte) bool { return len(all) == 0 })
		})
	}
}
