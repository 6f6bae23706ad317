package server

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"clank/internal/settings"
	"clank/sessions"
	"clank/sessions/approval"
)

// newTestApprover returns an Asker whose settings the test may change.
func newTestApprover(t *testing.T) (*Approver, *settings.Settings, *approval.Follower) {
	t.Helper()
	set := settings.Defaults()
	k := &Approver{Settings: func() settings.Settings { return set }}
	k.Approvals = &approval.Queue{Rule: func(c approval.Class) approval.Rule { return approval.Rule(set.Approval.Rule(string(c))) }}
	f := k.Approvals.Follow(func(approval.Question) bool { return true })
	t.Cleanup(f.Close)
	return k, &set, f
}

// approveAll asks, answers the question that comes, if one does, and returns its class.
func approveAll(t *testing.T, k *Approver, f *approval.Follower, task sessions.Task, q sessions.Question, a approval.Answer) (asked, decision string, err error) {
	t.Helper()
	ctx, done := context.WithCancel(t.Context())
	go func() {
		defer done()
		decision, err = k.Ask(t.Context(), sessions.Session{ID: "s1"}, task, q)
	}()
	for {
		ev, nextErr := f.Next(ctx)
		if nextErr != nil {
			return asked, decision, err
		}
		if !ev.Resolved {
			asked += string(ev.Question.Class)
			if err := k.Approvals.Answer(ev.Question.ID, a); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestWhichQuestionIsAsked(t *testing.T) {
	t.Parallel()
	yes := approval.Answer{Allowed: true, By: "@ada"}
	room := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "u"}
	terminal, page := sessions.Origin{Kind: sessions.FromTerminal}, sessions.Origin{Kind: sessions.FromDashboard}
	direct := sessions.Origin{Kind: sessions.FromDiscord, Channel: "c", User: "u", Private: true}
	for _, tt := range []struct {
		name    string
		classes string
		origin  sessions.Origin
		allow   []string
		literal bool
		typed   bool
		change  func(*settings.Settings)
		asked   string
		refused bool
	}{
		{name: "the weightiest first, and the others too", classes: "submit buy", origin: room, asked: "buy"},
		{name: "what the task allows is left out", classes: "buy submit", origin: terminal, allow: []string{"buy"}, asked: "submit"},
		{name: "all allowed", classes: "buy submit", origin: terminal, allow: []string{"buy", "submit"}},
		{name: "a rule that allows", classes: "buy", origin: room, change: func(s *settings.Settings) { s.Approval.Buy = "allow" }},
		{name: "a rule that refuses", classes: "buy", origin: room, allow: []string{"buy"}, change: func(s *settings.Settings) { s.Approval.Buy = "refuse" }, refused: true},
		{name: "a refusal of the lesser", classes: "buy submit", origin: room, change: func(s *settings.Settings) { s.Approval.Buy, s.Approval.Submit = "allow", "refuse" }, refused: true},
		{name: "a refusal beside a question", classes: "buy submit", origin: room, change: func(s *settings.Settings) { s.Approval.Submit = "refuse" }, refused: true},
		{name: "leaving the task to another", classes: "handover", origin: room, asked: "handover"},
		{name: "leaving the task to another, by somebody with leave for it", classes: "handover", origin: terminal, allow: []string{"handover"}},
		{name: "what nobody knows", classes: "novel", origin: room, asked: "novel"},
		{name: "own words at a terminal", classes: "buy delete submit", origin: terminal, literal: true, typed: true},
		{name: "own words among others", classes: "submit send", origin: room, literal: true, typed: true},
		{name: "own words that cost, among others", classes: "submit buy", origin: room, literal: true, typed: true, asked: "buy"},
		{name: "a model's words that another follows", classes: "buy", origin: terminal, literal: true, asked: "buy"},
		{name: "a model's words that another follows, among others", classes: "send", origin: room, literal: true, asked: "send"},
		{name: "a model's own choice for what a person typed", classes: "buy", origin: terminal, typed: true, asked: "buy"},
		{name: "logging in, in own words at a terminal", classes: "login", origin: terminal, literal: true, typed: true},
		{name: "logging in, in own words on the page", classes: "login", origin: page, literal: true, typed: true},
		{name: "logging in, in own words in a direct message", classes: "login", origin: direct, literal: true, typed: true, asked: "login"},
		{name: "logging in, in own words among others", classes: "login", origin: room, literal: true, typed: true, asked: "login"},
		{name: "logging in, in a model's words", classes: "login", origin: terminal, literal: true, asked: "login"},
		{name: "logging in where the settings refuse it", classes: "login", origin: terminal, literal: true, typed: true, change: func(s *settings.Settings) { s.Approval.Login = "refuse" }, refused: true},
		{name: "buying in own words in a direct message", classes: "buy", origin: direct, literal: true, typed: true},
		{name: "leaving without a list", classes: "leave", origin: room, change: func(s *settings.Settings) { s.Approval.Leave = "ask" }},
		{name: "leaving the list", classes: "leave", origin: room, change: func(s *settings.Settings) { s.Approval.Leave, s.Approval.Sites = "ask", "here.test" }, asked: "leave"},
		{name: "leaving for a listed site", classes: "leave", origin: room, change: func(s *settings.Settings) { s.Approval.Leave, s.Approval.Sites = "ask", "to.test" }},
	} {
		k, set, f := newTestApprover(t)
		if tt.change != nil {
			tt.change(set)
		}
		q := sessions.Question{Classes: strings.Fields(tt.classes), Text: "x", Origin: "https://here.test", TargetHost: "to.test", Literal: tt.literal}
		asked, decision, err := approveAll(t, k, f, sessions.Task{ID: "t1", Origin: tt.origin, Allow: tt.allow, Typed: tt.typed}, q, yes)
		if asked != tt.asked && !strings.HasPrefix(asked, tt.asked+"submit") || tt.asked == "" && asked != "" {
			t.Errorf("%s: asked about %q, want %q", tt.name, asked, tt.asked)
		}
		if (err != nil) != tt.refused || (decision != "") != (tt.asked != "") {
			t.Errorf("%s: decision %q, %v", tt.name, decision, err)
		}
	}
}

func TestAGrantForASessionCoversItsClassAlone(t *testing.T) {
	t.Parallel()
	k, _, f := newTestApprover(t)
	task := sessions.Task{ID: "t1", Origin: sessions.Origin{Kind: sessions.FromDiscord, Guild: "g"}}
	send := sessions.Question{Classes: []string{"send"}, Text: "x", Origin: "https://here.test"}
	for _, want := range []string{"send", ""} {
		if asked, _, err := approveAll(t, k, f, task, send, approval.Answer{Allowed: true, ForSession: true, By: "@ada"}); err != nil || asked != want {
			t.Errorf("asked about %q, want %q, %v", asked, want, err)
		}
	}
	send.Classes = []string{"send", "submit"}
	asked, _, err := approveAll(t, k, f, task, send, approval.Answer{By: "@ada"})
	if asked != "submit" || err == nil {
		t.Errorf("asked about %q, %v", asked, err)
	}
}

func TestANewHostOfAPrivateTaskIsNotShownToOthers(t *testing.T) {
	k, _, f := newTestApprover(t)
	private := sessions.TaskRecord{Task: sessions.Task{ID: "t1", SessionID: "s1", Origin: sessions.Origin{Kind: sessions.FromDiscord, Channel: "c", User: "u", Private: true}}}
	other := sessions.TaskRecord{Task: sessions.Task{ID: "t2", SessionID: "s2", Origin: TerminalOrigin()}}
	for _, tt := range []struct {
		work []sessions.TaskRecord
		user string
	}{{[]sessions.TaskRecord{private}, "u"}, {[]sessions.TaskRecord{private, other}, ""}, {[]sessions.TaskRecord{other, private}, ""}} {
		k.RunningTasks = func(context.Context) ([]sessions.TaskRecord, error) { return tt.work, nil }
		got := make(chan error, 1)
		go func() {
			_, err := k.ApproveHost(t.Context(), "clank", "new.test", "a page wants it")
			got <- err
		}()
		ev, err := f.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if q := ev.Question; !q.Private || q.User != tt.user {
			t.Errorf("question %+v, want a private one to %q", q, tt.user)
		}
		if err := k.Approvals.Answer(ev.Question.ID, approval.Answer{}); err != nil {
			t.Error(err)
		}
		if err := <-got; err == nil {
			t.Error("that was a yes")
		}
		if _, err := f.Next(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestANewHostIsAskedOfTheTaskAtWork(t *testing.T) {
	t.Parallel()
	k, _, f := newTestApprover(t)
	work := []sessions.TaskRecord{{Task: sessions.Task{ID: "t1", SessionID: "s1", Origin: sessions.Origin{Kind: sessions.FromDiscord, Channel: "c", User: "u"}}}}
	k.RunningTasks = func(context.Context) ([]sessions.TaskRecord, error) { return work, nil }
	for _, want := range []string{"discord", ""} {
		got := make(chan error, 1)
		go func() {
			lasting, err := k.ApproveHost(t.Context(), "clank", "new.test", "a page wants it")
			if !lasting {
				err = errors.Join(err, errors.New("it is not for the session"))
			}
			got <- err
		}()
		ev, err := f.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if q := ev.Question; q.Source != want || q.Text != `Reach "new.test" for the first time` || q.Detail != "a page wants it" || q.Class != approval.ClassHost {
			t.Errorf("question %+v", q)
		}
		if err := k.Approvals.Answer(ev.Question.ID, approval.Answer{Allowed: true, ForSession: true}); err != nil {
			t.Error(err)
		}
		if err := <-got; err != nil {
			t.Error(err)
		}
		if _, err := f.Next(t.Context()); err != nil {
			t.Error(err)
		}
		work = append(work, work[0]) // of two tasks nobody knows which it is
	}
}

func TestAClassThatIsNotKnownIsAskedAbout(t *testing.T) {
	t.Parallel()
	got := orderClasses([]string{"host", "of tomorrow", "buy"})
	if want := []approval.Class{"of tomorrow", approval.ClassBuy, approval.ClassHost}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
