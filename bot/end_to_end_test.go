package bot_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/test/sessionstest"
	"clank/sessions"
)

// managed makes the bot use a real manager, whose tasks follow script.
func (s *stage) managed(script func(sessions.Session, sessions.Task) []sessionstest.ScriptStep) {
	s.t.Helper()
	m := &sessions.Manager{
		Store:          sessionstest.OpenStore(s.t),
		Backends:       map[string]sessions.Backend{"test": &sessionstest.Backend{Script: script}},
		DefaultRuntime: "test", Limits: func() sessions.Limits { return sessions.Limits{Running: 1} }, Scopes: s.scopes,
	}
	check.Must(s.t, m.Open(s.ctx()))
	s.t.Cleanup(func() {
		ctx, done := context.WithTimeout(context.Background(), 10*time.Second)
		defer done()
		check.Must(s.t, m.Close(ctx))
	})
	s.bot.Tasks = m
}

func TestARealManagerQueuesStopsAndGoesOn(t *testing.T) {
	s := newStage(t)
	hold := make(chan struct{})
	s.managed(func(_ sessions.Session, task sessions.Task) []sessionstest.ScriptStep {
		if strings.HasPrefix(task.Prompt, "wait") {
			return []sessionstest.ScriptStep{
				sessionstest.Act("look"), sessionstest.Wait("wait", hold),
				sessionstest.Answer("waited"),
			}
		}
		return []sessionstest.ScriptStep{sessionstest.Act("look"), sessionstest.Answer("did " + task.Prompt)}
	})
	s.open()
	first := s.browse(s.ada, discordtest.Args{"task": "wait for me"})
	s.answer(first, "Step 2")
	second := s.browse(s.bob, discordtest.Args{"task": "chairs"})
	s.answer(second, "number 1 in line")

	said := time.Now()
	s.say(s.room, s.ada, "stop")
	stopped := s.answer(first, `Stopped by \@ada.`)
	t.Logf("told %s after the word", time.Since(said).Round(time.Millisecond))
	check.Contains(t, stopped.Text(), "stays open")
	s.message(s.room, "Stopped.")
	s.answer(second, "did chairs")

	again := s.browse(s.ada, discordtest.Args{"task": "tables", "session": "last"})
	_, session, _ := strings.Cut(stopped.Text(), "session `")
	session, _, _ = strings.Cut(session, "`")
	s.answer(again, "session `"+session+"` stays open")
	theirs := s.browse(s.bob, discordtest.Args{"task": "tables", "session": session})
	got, err := s.WaitAnswer(s.ctx(), theirs)
	if err != nil || strings.Contains(got.Text(), "did tables") {
		t.Errorf("a stranger went on with the session: %q, %v", got.Text(), err)
	}
}

func TestPeopleSeeTheActsCountedAlone(t *testing.T) {
	s := newStage(t)
	seen := []string{
		"Thinking.", "Step 1: open shop.example", "Step 2: look", "The search box is at the top.",
		"Step 3: search",
	}
	var pauses []chan struct{}
	for range seen {
		pauses = append(pauses, make(chan struct{}))
	}
	think := func(text string, hold <-chan struct{}) sessionstest.ScriptStep {
		return sessionstest.ScriptStep{Step: sessions.Step{Kind: sessions.StepThink, Label: "think", Text: text}, Hold: hold}
	}
	s.managed(func(sessions.Session, sessions.Task) []sessionstest.ScriptStep {
		return []sessionstest.ScriptStep{
			think("", pauses[0]), sessionstest.Wait("open shop.example", pauses[1]),
			think("", nil), sessionstest.Act("look"),
			think("the search box is at the top", pauses[2]), think("", pauses[3]), sessionstest.Wait("search", pauses[4]),
			sessionstest.Answer("three lamps"),
		}
	})
	s.open()
	it := s.browse(s.ada, discordtest.Args{"task": "lamps"})
	for i, want := range seen {
		s.answer(it, want)
		close(pauses[i])
	}
	got := s.answer(it, "three lamps\n-# 3 steps")
	all := s.History(got.Original.ID)
	if len(all) < len(seen)+1 {
		t.Errorf("the message was shown in %d versions, want at least %d", len(all), len(seen)+1)
	}
	for _, v := range all {
		check.Lacks(t, v.Content, "Step 4")
	}
}

func TestProgressAndAnswerHaveNoPassword(t *testing.T) {
	s := newStage(t)
	hold := make(chan struct{})
	s.managed(func(_ sessions.Session, task sessions.Task) []sessionstest.ScriptStep {
		typed := sessionstest.Wait("type", hold)
		typed.Step.Secrets = []string{"hunter2!"}
		return []sessionstest.ScriptStep{typed, sessionstest.Answer("did " + task.Prompt)}
	})
	s.open()
	it := s.browse(s.ada, discordtest.Args{"task": "log in as ada / hunter2! and read"})
	s.answer(it, "Step 1")
	close(hold)
	got := s.answer(it, "did log in as ada / ••••")
	check.Contains(t, got.Text(), "clank vault add")
	for _, v := range s.History(got.Original.ID) {
		check.Lacks(t, v.Content, "hunter2")
	}
}

func TestOnlyThoseWhoWaitAreToldTheirPlace(t *testing.T) {
	s := openStage(t)
	it, k := s.lamps()
	k.queued(0)
	s.answer(it, "Starting.")
	k.queued(3)
	s.answer(it, "Waiting for a free browser, number 3 in line.")
	k.queued(0)
	got := s.answer(it, "Starting.")
	k.done("ok")
	s.answer(it, "ok")
	waited := 0
	for _, v := range s.History(got.Original.ID) {
		if !strings.Contains(v.Content, "Waiting") {
			continue
		}
		if waited++; !strings.Contains(v.Content, "number 3 in line") {
			t.Errorf("it says %q", v.Content)
		}
	}
	check.Equal(t, "waited", waited, 1)
}
