package bot_test

import (
	"context"
	"errors"
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

// pages is what the pages of sessions look like; Ada is an operator.
type pages struct {
	operator string
	noClip   error
}

func (p pages) Clip(_ context.Context, o sessions.Origin, _ int64) ([]byte, error) {
	return []byte(o.User + "'s film"), p.noClip
}

func (pages) Screenshot(_ context.Context, session string) (llm.Image, error) {
	if session != "s1" {
		return llm.Image{}, errors.New("the page of this session is closed just now; continue it to open the page again")
	}
	return picture(1), nil
}

func (p pages) Script(_ context.Context, o sessions.Origin, task, name string) (string, bool, error) {
	if name == "taken" {
		return "", false, errors.New("save script taken: there is one already")
	}
	return "open " + task, o.User == p.operator, nil
}

// answeredStage is a stage on which a task of Ada's has been answered.
func answeredStage(t *testing.T, private bool) (*stage, discordtest.Message) {
	t.Helper()
	s := newStage(t)
	s.bot.Links, s.bot.Pages = phone{}, pages{operator: s.ada.ID}
	s.open()
	return s, s.finished(private)
}

// finished has a task of Ada's done, and returns the message with its answer.
func (s *stage) finished(private bool) discordtest.Message {
	s.t.Helper()
	it := s.browse(s.ada, discordtest.Args{"task": "lamps", "private": private})
	k := s.next()
	rec := sessions.TaskRecord{Task: k.Task, State: sessions.TaskDone, Answer: "the answer", Steps: 2}
	rec.ID, rec.SessionID = "task1", "s1"
	s.tasks.mu.Lock()
	s.tasks.records = []sessions.TaskRecord{rec}
	s.tasks.sessions = []sessions.Session{{
		ID: "s1", Origin: k.Origin, State: sessions.SessionIdle,
		LastUsed: time.Unix(1, 0),
	}}
	s.tasks.mu.Unlock()
	k.end <- ending{rec: rec}
	return *s.answer(it, "the answer").Original
}

func labels(list []discordtest.Component) (names []string) {
	for _, c := range list {
		names = append(names, c.Label)
	}
	return names
}

// pressLabel presses the button with a label, and returns what the bot answers.
func (s *stage) pressLabel(m discordtest.Message, who discordtest.User, label string) discordtest.Interaction {
	s.t.Helper()
	at := slices.IndexFunc(m.Buttons(), func(c discordtest.Component) bool { return c.Label == label })
	if at < 0 {
		s.t.Fatalf("there is no button %q among %v", label, labels(m.Buttons()))
	}
	it, err := s.PressButton(m, who, m.Buttons()[at].CustomID)
	check.Must(s.t, err)
	return it
}

// answered waits until an interaction is answered with something to read.
func (s *stage) answered(it discordtest.Interaction) discordtest.Interaction {
	s.t.Helper()
	got, err := s.WaitAnswer(s.ctx(), it)
	check.Must(s.t, err)
	return got
}

func TestAnAnswerHasButtonsForWhatCanBeDoneNext(t *testing.T) {
	s, m := answeredStage(t, false)
	want := []string{"Continue", "Retry", "Live", "Screenshot", "Close", "Save as script"}
	check.Diff(t, "labels(m.Buttons())", labels(m.Buttons()), want)
	for _, c := range m.Buttons() {
		if len(c.CustomID) > 60 {
			t.Errorf("%s has the id %s", c.Label, c.CustomID)
		}
	}
	it := s.browse(s.ada, discordtest.Args{"task": "lamps"})
	k := s.next()
	rec := sessions.TaskRecord{Task: k.Task, State: sessions.TaskFailed, Answer: "no lamps", Closed: true}
	rec.ID, rec.SessionID = "task2", "s2"
	k.end <- ending{rec: rec}
	if got := labels(s.answer(it, "no lamps").Original.Buttons()); !cmp.Equal(got, []string{"Retry"}) {
		t.Errorf("a session that was closed with a task that failed has the buttons %v", got)
	}
}

func TestContinueAsksWhatToDoAndGoesOn(t *testing.T) {
	s, _ := answeredStage(t, false)
	for name, private := range map[string]bool{"in public": false, "in private": true} {
		m := s.finished(private)
		form := s.answered(s.pressLabel(m, s.ada, "Continue"))
		if form.Modal == nil {
			t.Fatalf("%s: no form: %s", name, form.Text())
		}
		it, err := s.SubmitModal(form, map[string]string{"task": "now the second one"})
		check.Must(t, err)
		k := s.next()
		if k.SessionID != "s1" || k.Prompt != "now the second one" || !k.Typed || k.Origin.Private != private ||
			k.Origin.User != s.ada.ID {
			t.Errorf("%s: got %+v", name, k.Task)
		}
		k.done("the second")
		check.Equal(t, name+": ephemeral", s.answer(it, "the second").Ephemeral, private)
	}
}

func TestRetryDoesItOnceMoreAndIsNotTyped(t *testing.T) {
	s, m := answeredStage(t, false)
	s.tasks.mu.Lock()
	s.tasks.records[0].MaxUSD = 0.25
	s.tasks.mu.Unlock()
	s.pressLabel(m, s.ada, "Retry")
	k := s.next()
	if k.SessionID != "s1" || k.Prompt != "lamps" || k.MaxUSD != 0.25 || k.Typed {
		t.Errorf("got %+v", k.Task)
	}
	k.done("again")
	s.tasks.mu.Lock()
	s.tasks.sessions[0].State = sessions.SessionClosed
	s.tasks.mu.Unlock()
	s.pressLabel(m, s.ada, "Retry")
	k = s.next()
	if k.SessionID != "" {
		t.Errorf("a session that is closed is gone on with: %+v", k.Task)
	}
	k.done("again")
	s.tasks.mu.Lock()
	s.tasks.records[0].Prompt = "log in with " + sessions.SecretMask
	s.tasks.mu.Unlock()
	if got := s.answered(s.pressLabel(m, s.ada, "Retry")); !got.Ephemeral ||
		!strings.Contains(got.Text(), "There was a password in that task") {
		t.Errorf("got %q", got.Text())
	}
}

func TestButtonsAreForThoseWhoMayDoIt(t *testing.T) {
	s, m := answeredStage(t, false)
	for _, c := range []struct {
		who         discordtest.User
		label, want string
	}{
		{s.bob, "Continue", "Only <@" + s.ada.ID + "> can do that with this session."},
		{s.bob, "Retry", "Only <@" + s.ada.ID + "> can do that with this task."},
		{s.bob, "Screenshot", "Only <@" + s.ada.ID + "> can do that with this session."},
		{s.bob, "Save as script", "Only <@" + s.ada.ID + "> can do that with this task."},
		{s.bob, "Close", "Only <@" + s.ada.ID + "> can do that with this session."},
		{s.mod, "Continue", "Only <@" + s.ada.ID + "> can do that with this session."},
		{s.mod, "Screenshot", ""},
		{s.mod, "Close", "Closed."},
		{s.ada, "Continue", "That session is closed. /clank browse starts a new one."},
		{s.ada, "Close", "That session is closed. /clank browse starts a new one."},
	} {
		got := s.answered(s.pressLabel(m, c.who, c.label))
		if !got.Ephemeral || !strings.Contains(got.Text(), c.want) || got.Modal != nil {
			t.Errorf("%s by %s: got %q, want %q", c.label, c.who.Username, got.Text(), c.want)
		}
	}
	s.tasks.mu.Lock()
	s.tasks.sessions, s.tasks.records = nil, nil
	closed := s.tasks.closed
	s.tasks.mu.Unlock()
	if len(closed) != 1 || closed[0].ID != s.mod.ID || !closed[0].Moderator {
		t.Errorf("closed by %+v", closed)
	}
	for label, want := range map[string]string{
		"Continue": "That session is not kept any more.",
		"Retry":    "That task is not kept any more.",
	} {
		if got := s.answered(s.pressLabel(m, s.ada, label)); !strings.Contains(got.Text(), want) {
			t.Errorf("%s, long after: got %q, want %q", label, got.Text(), want)
		}
	}
}

func TestAPrivateSessionIsNotForModerators(t *testing.T) {
	s, m := answeredStage(t, false)
	s.tasks.mu.Lock()
	s.tasks.sessions[0].Origin.Private = true
	s.tasks.mu.Unlock()
	for _, label := range []string{"Screenshot", "Close"} {
		if got := s.answered(s.pressLabel(m, s.mod, label)); !strings.Contains(got.Text(), "Only <@") {
			t.Errorf("%s: got %q", label, got.Text())
		}
	}
}

func TestTheScreenshotAndTheScriptAreForThePersonAlone(t *testing.T) {
	s, m := answeredStage(t, false)
	got := s.answered(s.pressLabel(m, s.ada, "Screenshot"))
	if !got.Ephemeral || len(got.Original.Attachments) != 1 || got.Original.Attachments[0].Filename != "page.png" {
		t.Errorf("got %+v", got.Original)
	}
	form := s.answered(s.pressLabel(m, s.ada, "Save as script"))
	for name, want := range map[string]string{
		"Find Lamps": "Saved. With the model plain:steps, the task `run find-lamps`",
		"taken":      "there is one already",
	} {
		it, err := s.SubmitModal(form, map[string]string{"name": name})
		check.Must(t, err)
		if got := s.answered(it); !got.Ephemeral || !strings.Contains(got.Text(), want) {
			t.Errorf("%s: got %q, want %q", name, got.Text(), want)
		}
	}
}

func TestFormsOfNobodyAndGarbageAreLeftAlone(t *testing.T) {
	s, m := answeredStage(t, false)
	for _, id := range []string{"", "clank:", "clank:nothing:1", "other:continue:s1"} {
		check.Must(t, s.Dispatch(s.account, "INTERACTION_CREATE", fmt.Sprintf(
			`{"id":"9%d","application_id":%q,"type":5,"token":"t","channel_id":%q,"guild_id":%q,"member":{"user":{"id":%q,"username":"ada"}},`+
				`"data":{"custom_id":%q,"components":[{"type":1,"components":[]},{"type":1}]}}`,
			len(id), s.account.ID, s.room.ID, s.guild.ID, s.ada.ID, id)))
	}
	if got := s.answered(s.pressLabel(m, s.ada, "Screenshot")); got.Original == nil {
		t.Error("the bot does not go on")
	}
}

func TestSessionsAreListedWithTheirButtons(t *testing.T) {
	s := newStage(t)
	s.bot.Links, s.bot.Pages = phone{}, pages{}
	s.open()
	own := func(n int) {
		s.tasks.mu.Lock()
		defer s.tasks.mu.Unlock()
		s.tasks.sessions = nil
		for i := range n {
			s.tasks.sessions = append(s.tasks.sessions, sessions.Session{
				ID: fmt.Sprint("s", i), Title: strings.Repeat("Lamps * ", 30), State: sessions.SessionIdle,
				LastUsed: time.Unix(1, 0),
				Origin: sessions.Origin{
					Kind: sessions.FromDiscord, Guild: s.guild.ID, Channel: s.room.ID, User: s.ada.ID,
					Private: i == 0,
				},
			})
		}
	}
	for n, want := range map[int]int{1: 4, 5: 20, 6: 0, 30: 0} {
		own(n)
		got := s.answered(s.command(s.ada, "sessions", nil))
		if !got.Ephemeral || len(got.Original.Buttons()) != want || got.Original.Flags&discordtest.FlagComponentsV2 == 0 {
			t.Errorf("%d sessions: %d buttons, want %d: %+v", n, len(got.Original.Buttons()), want, got.Original)
		}
	}
	own(30)
	got := s.answered(s.command(s.ada, "sessions", nil))
	it, err := s.Choose(*got.Original, s.ada, "clank:sessions:", "s7")
	check.Must(t, err)
	it = s.answered(it)
	if it.Original == nil || it.Original.ID != got.Original.ID ||
		!cmp.Equal(labels(it.Original.Buttons()), []string{"Continue", "Live", "Screenshot", "Close"}) {
		t.Fatalf("after the choice: %+v", it)
	}
	if form := s.answered(s.pressLabel(*it.Original, s.ada, "Continue")); form.Modal == nil ||
		form.Modal.CustomID != "clank:continue:s7" {
		t.Errorf("got %+v", form)
	}
	s.answered(s.pressLabel(*it.Original, s.ada, "Close"))
	own(0)
	it, err = s.Choose(*it.Original, s.ada, "clank:sessions:", "s8")
	check.Must(t, err)
	if it = s.answered(it); len(it.Original.Buttons()) != 0 {
		t.Errorf("a session that is gone has buttons: %+v", it.Original)
	}
	if got := s.answered(s.command(s.ada, "sessions", nil)); got.Text() != "You have no session here. /clank browse "+
		"starts one." {
		t.Errorf("got %q", got.Text())
	}
}
