package bot_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clank/bot"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
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
	if _, err := os.Stat(a.bot.SessionFile); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the session could be resumed again: %v", err)
	}
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
	if n := a.count("being restarted"); n != 2 {
		t.Errorf("people were asked %d times to do it again", n)
	}
}

func TestAStopBetweenTwoRunsStopsWhatWouldGoOn(t *testing.T) {
	a := newAbsence(t)
	a.next.Messages = newOpenMessages(map[string][]byte{"w1": []byte(`{"channel":"` + a.room.ID + `","user":"` + a.ada.ID + `","paused":{
		"session":"s1","prompt":"go on","title":"lamps","origin":{"kind":"discord","guild":"` + a.guild.ID + `","channel":"` + a.room.ID + `","user":"` + a.ada.ID + `"}}}`)})
	it := a.command(a.ada, "stop", nil)
	a.back()
	a.answer(it, "Stopped.")
	a.message(a.room, `topped by \@ada`)
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
