package bot_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/llm"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
)

func TestBrowseShowsItsProgressAndThenTheAnswer(t *testing.T) {
	s := newStage(t)
	s.bot.Runtimes = []string{"local_browser_agent", "openai_computer_use"}
	s.open()
	it := s.browse(s.ada, discordtest.Args{
		"task": "find *lamps*", "session": "old", "runtime": "openai_computer_use",
		"steps": 7,
	})
	k := s.next()
	want := sessions.Task{
		SessionID: "old", Prompt: "find *lamps*", Runtime: "openai_computer_use", MaxSteps: 7, Typed: true,
		Origin: sessions.Origin{
			Kind: sessions.FromDiscord, Guild: s.guild.ID, Channel: s.room.ID, User: s.ada.ID,
			UserName: "ada", Roles: []string{}, Locale: "en-US",
		},
	}
	check.Diff(t, "k.Task", k.Task, want)
	k.queued(2)
	s.answer(it, "number 2 in line")
	k.step(`click "Sign in"`, nil)
	got := s.answer(it, `Step 1: click "Sign in"`)
	check.Contains(t, got.Text(), `**find \*lamps\***`, "Lamps")
	if b := got.Original.Buttons(); len(b) != 1 || b[0].Label != "Stop" {
		t.Errorf("buttons = %+v, want Stop", b)
	}
	first, second := picture(1), picture(2)
	k.step("look", &first)
	s.answer(it, "Step 2")
	k.step("look again", &second)
	got = s.answer(it, "Step 3")
	if a := got.Original.Attachments; len(a) != 1 || !cmp.Equal(a[0].Data, second.Data) {
		t.Errorf("attachments = %+v, want the second picture alone", a)
	}
	k.step("think", nil)
	got = s.answer(it, "Step 4")
	if a := got.Original.Attachments; len(a) != 1 || !cmp.Equal(a[0].Data, second.Data) {
		t.Errorf("the picture was lost: %+v", a)
	}
	edits := s.RequestsTo(discordtest.RouteEditResponse)
	check.Equal(t, "the same picture was sent again, as", edits[len(edits)-1].Header.Get("Content-Type"),
		"application/json")
	k.done("Three lamps.", picture(3), picture(4))
	got = s.answer(it, "Three lamps.\n-# 4 steps · session `s1` stays open")
	if len(got.Original.Attachments) != 2 || slices.Contains(labels(got.Original.Buttons()), "Stop") ||
		len(got.Followups) != 0 {
		t.Errorf("answer = %+v", got.Original)
	}
	check.Equal(t, "messages", len(s.Messages(s.room)), 1)
}

func TestProgressIsMadeOfTheLatestNewsOnly(t *testing.T) {
	s := openStage(t)
	it, k := s.lamps()
	hold := s.HoldNext(discordtest.RouteEditResponse)
	k.step("first", nil)
	<-hold.Arrived()
	for n := range 100 {
		k.step(fmt.Sprint("step ", n), nil)
	}
	hold.Release()
	s.answer(it, "step 99")
	k.done("ok")
	s.answer(it, "ok")
	check.Equal(t, "edits", len(s.RequestsTo(discordtest.RouteEditResponse)), 3)
}

func TestProgressWaitsBetweenEdits(t *testing.T) {
	s := newStage(t)
	s.bot.EditInterval = 150 * time.Millisecond
	s.open()
	it, k := s.lamps()
	for n := range 3 {
		k.step(fmt.Sprint("step ", n), nil)
		s.answer(it, fmt.Sprint("step ", n))
	}
	versions := s.History(s.answer(it, "").Original.ID)
	for i := 2; i < len(versions); i++ {
		if d := versions[i].EditedTimestamp.Sub(*versions[i-1].EditedTimestamp); d < 140*time.Millisecond {
			t.Errorf("edit %d came %s after the one before", i, d)
		}
	}
	k.done("ok")
	s.answer(it, "ok")
}

func TestARateLimitDelaysProgressAndTheAnswerIsTheNextThingShown(t *testing.T) {
	s := openStage(t)
	it, k := s.lamps()
	s.RateLimitNext(discordtest.RouteEditResponse, discordtest.ScopeUser, 300*time.Millisecond)
	k.step("first", nil)
	check.Must(t, check.Err(s.WaitRequest(s.ctx(), discordtest.RouteEditResponse, 0)))
	k.step("second", nil)
	k.done("the answer")
	s.answer(it, "the answer")
	requests := s.RequestsTo(discordtest.RouteEditResponse)
	if len(requests) != 2 || requests[1].At.Sub(requests[0].At) < 290*time.Millisecond {
		t.Errorf("edits = %d, want the refused one and, after its time, the answer", len(requests))
	}
}

func TestALostAnswerToTheCommandIsNoError(t *testing.T) {
	s := openStage(t)
	s.LoseNextAnswer(discordtest.RouteRespond)
	it := s.browse(s.ada, discordtest.Args{"task": "lamps"})
	s.next().done("the answer")
	s.answer(it, "the answer")
}

func TestLongAnswersAreSplitOrAttachedAndNeverCut(t *testing.T) {
	s := openStage(t)
	line := strings.Repeat("word ", 30) + "end.\n"
	it := s.browse(s.ada, discordtest.Args{"task": "some"})
	s.next().done(strings.Repeat(line, 30), picture(1))
	got, err := s.WaitInteraction(s.ctx(), it, func(i discordtest.Interaction) bool { return len(i.Followups) == 2 })
	check.Must(t, err)
	all := got.Text() + "\n" + got.Followups[0].Content + "\n" + got.Followups[1].Content
	if n := strings.Count(all, "end."); n != 30 || !strings.HasSuffix(got.Text(), "end.") {
		t.Errorf("%d of 30 lines arrived", n)
	}
	if len(got.Followups[1].Attachments) != 1 || len(got.Original.Attachments) != 0 {
		t.Error("the picture is not with the last part")
	}
	it = s.browse(s.ada, discordtest.Args{"task": "much"})
	whole := strings.Repeat(line, 300)
	s.next().done(whole)
	got = s.answer(it, "attached file")
	if a := got.Original.Attachments; len(a) != 1 || string(a[0].Data) != whole || a[0].Filename != "answer.md" {
		t.Errorf("attachments = %d", len(a))
	}
}

func TestNothingThatIsShownPings(t *testing.T) {
	s := openStage(t)
	it := s.browse(s.ada, discordtest.Args{"task": "@everyone"})
	k := s.next()
	k.step("read @everyone "+s.bob.Mention(), nil)
	s.answer(it, "Step 1")
	k.done("@everyone @here " + s.bob.Mention() + " <@&" + s.guild.ID + "> see https://example.com")
	got := s.answer(it, "see https")
	if got.Original.MentionEveryone || len(got.Original.Mentions) != 0 || len(got.Original.MentionRoles) != 0 {
		t.Errorf("pinged: %+v", got.Original)
	}
	edits := s.RequestsTo(discordtest.RouteEditResponse)
	check.Contains(t, string(edits[len(edits)-1].Body), `"flags":4`)
}

func TestFailuresAndLimitsAreToldWithTheWayOn(t *testing.T) {
	s := openStage(t)
	pictured := []llm.Image{picture(1), picture(2)}
	pictured[1].Caption = "The *second* lamp"
	for name, tc := range map[string]struct {
		end  ending
		want string
	}{
		"refused": {
			ending{err: fmt.Errorf("%w; ask again in an hour", sessions.ErrBudgetSpent)},
			"The hour's tasks are used up; ask again in an hour.",
		},
		"limited": {ending{rec: sessions.TaskRecord{
			State: sessions.TaskLimited, Answer: "two found",
			Reason: "step limit of 10",
		}}, "two found\n\n*Ended early:* Step limit of 10. The option “steps” of a browse " +
			"allows more."},
		"failed": {
			ending{rec: sessions.TaskRecord{State: sessions.TaskFailed, Reason: "the page did not load"}},
			"That did not work. The page did not load.",
		},
		"nothing": {
			ending{rec: sessions.TaskRecord{State: sessions.TaskDone, Closed: true}},
			"Done; there is nothing to report.",
		},
		"silence": {ending{}, "nobody knows why"},
		"pictures": {
			ending{rec: sessions.TaskRecord{State: sessions.TaskDone, Steps: 1, Closed: true, Images: pictured}},
			"1 step",
		},
	} {
		it := s.browse(s.ada, discordtest.Args{"task": name})
		s.next().end <- tc.end
		got := s.answer(it, tc.want)
		if a := got.Original.Attachments; name == "pictures" &&
			(len(a) != 2 || a[0].Description != "" || a[1].Description != pictured[1].Caption) {
			t.Errorf("the pictures are %+v", a)
		}
	}
}

func TestADisabledBrowserIsRefusedWithTheReason(t *testing.T) {
	s := newStage(t)
	s.host.disabled = func(sessions.Origin) string { return "browsing is switched off on this server" }
	s.open()
	s.answer(s.browse(s.ada, discordtest.Args{"task": "x"}), "Browsing is switched off on this server.")
}

func TestLastGoesOnWithThePersonsOwnSession(t *testing.T) {
	s := newStage(t)
	s.tasks.sessions = []sessions.Session{{
		ID: "abc", State: sessions.SessionIdle, Title: "Lamps", LastUsed: time.Now(),
		Origin: sessions.Origin{User: s.ada.ID, Channel: s.room.ID},
	}}
	s.open()
	it := s.browse(s.ada, discordtest.Args{"task": "go on", "session": "last"})
	k := s.next()
	check.Equal(t, "session", k.SessionID, "abc")
	k.done("ok")
	s.answer(it, "ok")
	s.answer(s.browse(s.bob, discordtest.Args{"task": "go on", "session": "last"}), "You have no session here")
	list := func(user discordtest.User) discordtest.Interaction {
		it := s.command(user, "sessions", nil)
		return it
	}
	if got := s.answered(list(s.ada)); !got.Ephemeral || !strings.Contains(got.Original.Components[0].Content, "**abc**") {
		t.Errorf("sessions are shown to everybody, or not at all: %+v", got.Original)
	}
	s.answer(list(s.bob), "You have no session here")
}

func TestAForgottenInteractionGoesOnInTheChannel(t *testing.T) {
	s := openStage(t)
	it, k := s.lamps()
	view := picture(1)
	k.step("first", &view)
	s.answer(it, "first")
	s.ForgetInteraction(it.ID)
	k.step("second", nil)
	got := s.message(s.room, "second")
	if len(got.Attachments) != 1 || len(got.Buttons()) != 1 {
		t.Errorf("the new message lacks picture or button: %+v", got)
	}
	k.done("the answer")
	check.Must(t, check.Err(s.WaitEdit(s.ctx(), got.ID, func(m discordtest.Message) bool {
		return strings.Contains(m.Content, "the answer")
	})))
}

func TestACommandThatCannotBeAcknowledgedIsDoneAllTheSame(t *testing.T) {
	s := openStage(t)
	hold := s.HoldNext(discordtest.RouteRespond)
	s.browse(s.ada, discordtest.Args{"task": "lamps"})
	<-hold.Arrived()
	s.Advance(4 * time.Second)
	hold.Release()
	s.next().done("the answer")
	s.message(s.room, "the answer")
}

func TestBeforeTheTokenExpiresWorkMovesToTheChannel(t *testing.T) {
	s := newStage(t)
	s.bot.TokenLife = 200 * time.Millisecond
	s.open()
	it, k := s.lamps()
	k.step("patience", nil)
	s.answer(it, "patience")
	got := s.answer(it, "goes on in a message below")
	if slices.Contains(labels(got.Original.Buttons()), "Stop") {
		t.Error("the old message still has a button")
	}
	m := s.message(s.room, "patience")
	s.Advance(16 * time.Minute)
	k.done(strings.Repeat("A long sentence about lamps. ", 100))
	check.Must(t, check.Err(s.WaitEdit(s.ctx(), m.ID, func(m discordtest.Message) bool {
		return strings.Contains(m.Content, "A long sentence")
	})))
	s.message(s.room, "stays open")
}

func TestAPrivateBrowseMovesToDirectMessages(t *testing.T) {
	s := newStage(t)
	s.bot.TokenLife = 200 * time.Millisecond
	s.open()
	it := s.browse(s.ada, discordtest.Args{"task": "lamps", "private": true})
	k := s.next()
	s.answer(it, "goes on in our direct messages")
	k.done("the answer")
	s.message(s.OpenDM(s.ada, s.account), "the answer")
	s.unseen(s.room, "the answer")
}

func TestAPrivateBrowseThatCannotBeToldEndsWithTheReason(t *testing.T) {
	s := newStage(t)
	s.bot.TokenLife = 200 * time.Millisecond
	s.CloseDMs(s.ada)
	s.open()
	it := s.browse(s.ada, discordtest.Args{"task": "lamps", "private": true})
	k := s.next()
	s.answer(it, "Please allow direct messages")
	select {
	case <-k.ctx.Done():
	case <-s.ctx().Done():
		t.Error("the work goes on though nobody can be told")
	}
}

func TestAChannelThatIsClosedToTheBotIsReplacedByADirectMessage(t *testing.T) {
	s := openStage(t)
	it, k := s.lamps()
	s.Overwrite(s.room, s.account.User, discordtest.Role{}, 0, discordtest.SendMessages)
	s.ForgetInteraction(it.ID)
	k.done("the answer")
	s.message(s.OpenDM(s.ada, s.account), "the answer")
}

func TestWordsGoOutWherePicturesMayNot(t *testing.T) {
	s := newStage(t)
	s.plainBrain()
	s.open()
	s.Overwrite(s.room, s.account.User, discordtest.Role{}, 0, discordtest.AttachFiles)
	s.say(s.room, s.ada, s.account.Mention()+" lamps")
	s.next().done("the answer", picture(1))
	if got := s.message(s.room, "the answer"); !strings.Contains(got.Content, "could not be attached") {
		t.Errorf("nothing is said of the picture: %q", got.Content)
	}
}

func TestADeletedProgressMessageStaysDeletedUntilTheAnswer(t *testing.T) {
	s := newStage(t)
	s.plainBrain()
	s.open()
	s.say(s.room, s.ada, s.account.Mention()+" lamps")
	k := s.next()
	k.step("first", nil)
	m := s.message(s.room, "first")
	s.DeleteMessage(m)
	k.step("second", nil)
	check.Must(t, check.Err(s.WaitRequest(s.ctx(), discordtest.RouteEditMessage, 0)))
	k.step("third", nil)
	for n := range 10 { // other talk, longer than the pause between edits
		s.say(s.room, s.bob, s.account.Mention()+" meanwhile")
		s.next().done(fmt.Sprint("talk ", n))
		s.message(s.room, fmt.Sprint("talk ", n))
	}
	k.done("the answer")
	answer := s.message(s.room, "the answer")
	check.Contains(t, s.History(answer.ID)[0].Content, "the answer")
}

func TestTooMuchAtOnceIsRefusedKindly(t *testing.T) {
	s := newStage(t)
	s.bot.MaxConcurrent = 1
	s.plainBrain()
	s.open()
	it, k := s.lamps()
	s.answer(s.browse(s.bob, discordtest.Args{"task": "chairs"}), "too much to do")
	s.say(s.room, s.bob, s.account.Mention()+" chairs")
	s.message(s.room, "too much to do")
	k.done("ok")
	s.answer(it, "ok")
}
