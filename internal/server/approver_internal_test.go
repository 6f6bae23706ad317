package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/browseagent/browsertool"
	"clank/browsermgr"
	"clank/browsermgr/page/files"
	"clank/internal/settings"
	"clank/internal/test/check"
	"clank/internal/vault"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/approval"
)

// vaultRights are the rights by settings and a vault.
type vaultRights struct {
	set   settings.Settings
	vault *vault.Vault
}

func (vaultRights) AccessRefusal(sessions.Origin) string { return "" }

func (r vaultRights) Rights(ctx context.Context, o sessions.Origin) ([]string, error) {
	return rightsOf(ctx, r.set, r.vault, o)
}

// runningTasks lists the same tasks always.
type runningTasks []sessions.TaskRecord

func (r runningTasks) Tasks(context.Context, sessions.TaskQuery) ([]sessions.TaskRecord, error) {
	return slices.Clone(r), nil
}

// tabOf says whose all tabs are.
type tabOf struct{ owner, model string }

func (o tabOf) TabOwner(string) (owner, profile string) { return o.owner, "work" }
func (o tabOf) TabModel(string) string                  { return o.model }

// newTestApprover returns an Approver whose settings the test may change.
func newTestApprover(t *testing.T) (*Approver, *settings.Settings, *approval.Follower) {
	t.Helper()
	set := settings.Defaults()
	k := &Approver{Settings: fixedSettings{&set}}
	k.Approvals = &approval.Queue{Rule: func(c approval.Class) approval.Rule {
		return approval.Rule(set.Approval.Rule(string(c)))
	}}
	f := k.Approvals.Follow(func(approval.Question) bool { return true })
	t.Cleanup(f.Close)
	return k, &set, f
}

// approveAll asks, answers the question that comes, if one does, and returns its class.
func approveAll(t *testing.T, k *Approver, f *approval.Follower, task sessions.Task, q sessions.Question,
	a approval.Answer,
) (asked, decision string, err error) {
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
		{
			name: "what the task allows is left out", classes: "buy submit", origin: terminal, allow: []string{"buy"},
			asked: "submit",
		},
		{name: "all allowed", classes: "buy submit", origin: terminal, allow: []string{"buy", "submit"}},
		{name: "a rule that allows", classes: "buy", origin: room, change: func(s *settings.Settings) {
			s.Approval.Buy = "allow"
		}},
		{
			name: "a rule that refuses", classes: "buy", origin: room, allow: []string{"buy"},
			change: func(s *settings.Settings) { s.Approval.Buy = "refuse" }, refused: true,
		},
		{name: "a refusal of the lesser", classes: "buy submit", origin: room, change: func(s *settings.Settings) {
			s.Approval.Buy, s.Approval.Submit = "allow", "refuse"
		}, refused: true},
		{
			name: "a refusal beside a question", classes: "buy submit", origin: room,
			change: func(s *settings.Settings) { s.Approval.Submit = "refuse" }, refused: true,
		},
		{name: "leaving the task to another", classes: "handover", origin: room, asked: "handover"},
		{
			name: "leaving the task to another, by somebody with leave for it", classes: "handover", origin: terminal,
			allow: []string{"handover"},
		},
		{name: "what nobody knows", classes: "novel", origin: room, asked: "novel"},
		{name: "own words at a terminal", classes: "buy delete submit", origin: terminal, literal: true, typed: true},
		{name: "own words among others", classes: "submit send", origin: room, literal: true, typed: true},
		{
			name: "own words that cost, among others", classes: "submit buy", origin: room, literal: true, typed: true,
			asked: "buy",
		},
		{name: "a model's words that another follows", classes: "buy", origin: terminal, literal: true, asked: "buy"},
		{
			name: "a model's words that another follows, among others", classes: "send", origin: room, literal: true,
			asked: "send",
		},
		{name: "a model's own choice for what a person typed", classes: "buy", origin: terminal, typed: true, asked: "buy"},
		{name: "logging in, in own words at a terminal", classes: "login", origin: terminal, literal: true, typed: true},
		{name: "logging in, in own words on the page", classes: "login", origin: page, literal: true, typed: true},
		{
			name: "logging in, in own words in a direct message", classes: "login", origin: direct, literal: true, typed: true,
			asked: "login",
		},
		{
			name: "logging in, in own words among others", classes: "login", origin: room, literal: true, typed: true,
			asked: "login",
		},
		{name: "logging in, in a model's words", classes: "login", origin: terminal, literal: true, asked: "login"},
		{
			name: "logging in where the settings refuse it", classes: "login", origin: terminal, literal: true, typed: true,
			change: func(s *settings.Settings) { s.Approval.Login = "refuse" }, refused: true,
		},
		{name: "buying in own words in a direct message", classes: "buy", origin: direct, literal: true, typed: true},
		{name: "leaving without a list", classes: "leave", origin: room, change: func(s *settings.Settings) {
			s.Approval.Leave = "ask"
		}},
		{name: "leaving the list", classes: "leave", origin: room, change: func(s *settings.Settings) {
			s.Approval.Leave, s.Approval.Sites = "ask", "here.test"
		}, asked: "leave"},
		{name: "leaving for a listed site", classes: "leave", origin: room, change: func(s *settings.Settings) {
			s.Approval.Leave, s.Approval.Sites = "ask", "to.test"
		}},
	} {
		k, set, f := newTestApprover(t)
		if tt.change != nil {
			tt.change(set)
		}
		q := sessions.Question{
			Classes: strings.Fields(tt.classes), Text: "x", Origin: "https://here.test",
			TargetHost: "to.test", Literal: tt.literal,
		}
		asked, decision, err := approveAll(t, k, f, sessions.Task{
			ID: "t1", Origin: tt.origin, Allow: tt.allow,
			Typed: tt.typed,
		}, q, yes)
		if asked != tt.asked && !strings.HasPrefix(asked, tt.asked+"submit") || tt.asked == "" && asked != "" {
			t.Errorf("%s: asked about %q, want %q", tt.name, asked, tt.asked)
		}
		if (err != nil) != tt.refused || (decision != "") != (tt.asked != "") {
			t.Errorf("%s: decision %q, %v", tt.name, decision, err)
		}
	}
}

// adviser is a model implemented by a function.
type adviser func(ctx context.Context, r llm.Request) (llm.Reply, error)

// Find implements modelSource: only the name in the settings leads to the adviser.
func (a adviser) Find(_ context.Context, name string) (llm.Model, error) {
	if name != a.Name() {
		return nil, fmt.Errorf("no model %q", name)
	}
	return a, nil
}

func (adviser) Name() string   { return "test:adviser" }
func (adviser) Caps() llm.Caps { return llm.Caps{} }
func (a adviser) Generate(ctx context.Context, r llm.Request, _ func(llm.Delta)) (llm.Reply, error) {
	return a(ctx, r)
}

func TestAModelsAdviceSparesOnlyUnclearQuestions(t *testing.T) {
	t.Parallel()
	const detail = "პროდუქტის ნახვა"
	spent, late := errors.New("the budget is spent"), context.DeadlineExceeded
	for _, tt := range []struct {
		name, classes, rule, says string
		fails                     error
		asked                     string
		calls                     int
		hint                      bool
	}{
		{name: "harmless", classes: "unclear", rule: "advise", says: "harmless", calls: 1},
		{name: "harmless, in another form", classes: "unclear", rule: "advise", says: "**Harmless.**\n", calls: 1},
		{name: "harmful", classes: "unclear", rule: "advise", says: "delete", asked: "unclear", calls: 1, hint: true},
		{name: "unsure", classes: "unclear", rule: "advise", says: "unsure", asked: "unclear", calls: 1},
		{name: "many words", classes: "unclear", rule: "advise", says: "harmless, it says", asked: "unclear", calls: 1},
		{name: "garbage", classes: "unclear", rule: "advise", says: "\x00{}", asked: "unclear", calls: 1},
		{name: "nothing", classes: "unclear", rule: "advise", asked: "unclear", calls: 1},
		{name: "error", classes: "unclear", rule: "advise", says: "harmless", fails: spent, asked: "unclear", calls: 1},
		{name: "late", classes: "unclear", rule: "advise", says: "harmless", fails: late, asked: "unclear", calls: 1},
		{name: "the rule asks", classes: "unclear", rule: "ask", says: "harmless", asked: "unclear"},
		{name: "the rule allows", classes: "unclear", rule: "allow", says: "delete"},
		{name: "known for buying", classes: "buy", rule: "advise", says: "harmless", asked: "buy"},
		{name: "known for deleting, too", classes: "unclear delete", rule: "advise", says: "harmless", asked: "delete"},
		{name: "to another site", classes: "unclear leave", rule: "advise", says: "harmless", asked: "unclear"},
		{name: "without a name", classes: "unclear", rule: "advise", says: "harmless", asked: "unclear"},
	} {
		k, set, f := newTestApprover(t)
		set.Approval.Unclear, set.Approval.UnclearModel = tt.rule, "test:adviser"
		set.Approval.Leave, set.Approval.Sites = "ask", "here.test"
		calls := 0
		k.Models = adviser(func(ctx context.Context, r llm.Request) (llm.Reply, error) {
			calls++
			check.Contains(t, fmt.Sprint(r.Messages), detail, "UNTRUSTED")
			if llm.AccountOf(ctx).Purpose != "consent" {
				t.Errorf("%s: the adviser is asked for %+v", tt.name, llm.AccountOf(ctx))
			}
			said := llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: tt.says}}}
			return llm.Reply{Message: said, Stop: llm.StopEnd}, tt.fails
		})
		q := sessions.Question{Classes: strings.Fields(tt.classes), Detail: detail, Origin: "https://here.test"}
		q.TargetHost = "to.test"
		if tt.name == "without a name" {
			q.Detail = ""
		}
		read := k.Approvals.Follow(func(approval.Question) bool { return false })
		asked, _, err := approveAll(t, k, f, sessions.Task{ID: "t1"}, q, approval.Answer{Allowed: true, By: "@ada"})
		text := ""
		if asked != "" {
			ev, err := read.Next(t.Context())
			check.Must(t, err)
			text = ev.Question.Text
		}
		read.Close()
		hinted := strings.Contains(text, "takes it for: delete")
		if asked != tt.asked || err != nil || calls != tt.calls || hinted != tt.hint {
			t.Errorf("%s: asked %q (%s), the model %d times, %v", tt.name, asked, text, calls, err)
		}
	}
}

func TestAGrantForASessionCoversItsClassAlone(t *testing.T) {
	t.Parallel()
	k, _, f := newTestApprover(t)
	task := sessions.Task{ID: "t1", Origin: sessions.Origin{Kind: sessions.FromDiscord, Guild: "g"}}
	send := sessions.Question{Classes: []string{"send"}, Text: "x", Origin: "https://here.test"}
	for _, want := range []string{"send", ""} {
		if asked, _, err := approveAll(t, k, f, task, send,
			approval.Answer{Allowed: true, ForSession: true, By: "@ada"}); err != nil || asked != want {
			t.Errorf("asked about %q, want %q, %v", asked, want, err)
		}
	}
	send.Classes = []string{"send", "submit"}
	asked, _, err := approveAll(t, k, f, task, send, approval.Answer{By: "@ada"})
	check.Equal(t, "asked about", asked, "submit")
	check.Fails(t, err, nil, "@ada said no")
}

func TestANewHostOfAPrivateTaskIsNotShownToOthers(t *testing.T) {
	k, _, f := newTestApprover(t)
	private := sessions.TaskRecord{Task: sessions.Task{
		ID: "t1", SessionID: "s1", Profile: "clank",
		Origin: sessions.Origin{Kind: sessions.FromDiscord, Channel: "c", User: "u", Private: true},
	}}
	other := sessions.TaskRecord{Task: sessions.Task{
		ID: "t2", SessionID: "s2", Profile: "clank",
		Origin: TerminalOrigin(),
	}}
	for _, tt := range []struct {
		work []sessions.TaskRecord
		user string
	}{
		{[]sessions.TaskRecord{private}, "u"},
		{[]sessions.TaskRecord{private, other}, ""},
		{[]sessions.TaskRecord{other, private}, ""},
	} {
		k.Tasks = runningTasks(tt.work)
		got := make(chan error, 1)
		go func() {
			_, err := k.ApproveHost(t.Context(), "clank", "new.test", "a page wants it")
			got <- err
		}()
		ev, err := f.Next(t.Context())
		check.Must(t, err)
		if q := ev.Question; !q.Private || q.User != tt.user {
			t.Errorf("question %+v, want a private one to %q", q, tt.user)
		}
		check.Must(t, k.Approvals.Answer(ev.Question.ID, approval.Answer{By: "@ada"}))
		check.Fails(t, <-got, nil, "@ada said no")
		check.Must(t, check.Err(f.Next(t.Context())))
	}
}

func TestANewHostIsAskedOfTheTaskAtWork(t *testing.T) {
	t.Parallel()
	k, _, f := newTestApprover(t)
	here := sessions.TaskRecord{Task: sessions.Task{
		ID: "t1", SessionID: "s1", Profile: "clank",
		Origin: sessions.Origin{Kind: sessions.FromDiscord, Channel: "c", User: "u"},
	}}
	elsewhere := here
	elsewhere.Profile, elsewhere.Origin.User = "work", "other"
	work := []sessions.TaskRecord{elsewhere, here}
	for _, want := range []string{"discord", ""} {
		k.Tasks = runningTasks(work)
		got := make(chan error, 1)
		go func() {
			lasting, err := k.ApproveHost(t.Context(), "clank", "new.test", "a page wants it")
			if !lasting {
				err = errors.Join(err, errors.New("it is not for the session"))
			}
			got <- err
		}()
		ev, err := f.Next(t.Context())
		check.Must(t, err)
		if q := ev.Question; q.Source != want || q.Text != `Reach "new.test" for the first time` ||
			q.Detail != "a page wants it" || q.Class != approval.ClassHost {
			t.Errorf("question %+v", q)
		}
		check.Must(t, k.Approvals.Answer(ev.Question.ID, approval.Answer{Allowed: true, ForSession: true}))
		check.Must(t, <-got)
		check.Must(t, check.Err(f.Next(t.Context())))
		work = append(work, here) // of two tasks nobody knows which it is
	}
}

func TestAnUnknownActionClassIsAskedAbout(t *testing.T) {
	t.Parallel()
	got := orderClasses([]string{"host", "of tomorrow", "buy"})
	if want := []approval.Class{"of tomorrow", approval.ClassBuy, approval.ClassHost}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTheRightPersonIsAskedBeforeAProgramIsKept(t *testing.T) {
	t.Parallel()
	program := files.Download{Executable: true, Target: "T", URL: "https://get.test/x.exe", SuggestedFilename: "x.exe"}
	room := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "u"}
	for _, tt := range []struct {
		name    string
		d       files.Download
		owner   string
		model   string // who is asked about the model that works the tab
		tasks   []sessions.TaskRecord
		clicked bool // an action that downloads a program was allowed before
		denied  bool // without a question
		asked   string
	}{
		{name: "no program", d: files.Download{Target: "T"}, owner: "s1"},
		{name: "nobody's tab", d: program},
		{name: "a model's tab, of a room", d: program, model: "room", asked: "executable g c here work get.test x.exe"},
		{name: "a model's tab, and nobody to ask", d: program, model: "nobody", denied: true},
		{name: "a model's tab, no program", d: files.Download{Target: "T"}, model: "nobody"},
		{name: "a model's click was allowed", d: program, model: "room", clicked: true},
		{
			name: "a task in a room", d: program, owner: "s1",
			tasks: []sessions.TaskRecord{{Task: sessions.Task{SessionID: "s1", Origin: room}}},
			asked: "executable g c s1 work get.test x.exe",
		},
		{
			name: "other tasks", d: program, owner: "s1",
			tasks: []sessions.TaskRecord{{Task: sessions.Task{SessionID: "s2", Origin: room}}},
			asked: "executable   s1 work get.test x.exe",
		},
		{
			name: "the task may", d: program, owner: "s1",
			tasks: []sessions.TaskRecord{{Task: sessions.Task{SessionID: "s1", Origin: room, Allow: []string{"executable"}}}},
		},
		{name: "the click was allowed", d: program, owner: "s1", clicked: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k, set, f := newTestApprover(t)
			k.Tasks = runningTasks(tt.tasks)
			p := &DownloadApprover{Approver: k, Tabs: tabOf{tt.owner, tt.model}}
			k.Callers.byID = map[string]ToolCaller{"room": {Origin: room, Session: "here"}}
			if tt.clicked {
				set.Approval.Executable = "allow"
				q := sessions.Question{Classes: []string{"executable"}}
				check.Must(t, check.Err(p.Ask(t.Context(), sessions.Session{ID: "s1"}, sessions.Task{}, q)))
				check.Must(t, ToolApprover{k, p}.Ask(t.Context(), tt.model, "work", q))
				set.Approval.Executable = "ask"
			}
			ctx, cancel := context.WithCancel(t.Context())
			var err error
			go func() {
				defer cancel()
				err = p.ApproveDownload(t.Context(), tt.d)
			}()
			asked := ""
			for {
				ev, over := f.Next(ctx)
				if over != nil {
					break
				}
				if q := ev.Question; !ev.Resolved {
					asked = strings.Join([]string{string(q.Class), q.Guild, q.Channel, q.Session, q.Profile, q.Origin, q.Detail}, " ")
					check.Must(t, k.Approvals.Answer(q.ID, approval.Answer{By: "@ada"}))
				}
			}
			check.Equal(t, "asked", asked, tt.asked)
			if _, denied := errors.AsType[*approval.DeniedError](err); denied != (tt.asked != "" || tt.denied) || err != nil &&
				!denied {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestOneClickIsOneProgram(t *testing.T) {
	t.Parallel()
	p := &DownloadApprover{approvedClicks: map[string]time.Time{
		"s1": time.Now(),
		"s2": time.Now().Add(-clickApprovalLifetime),
	}}
	if !p.takeApprovedClick("s1") || p.takeApprovedClick("s1") || p.takeApprovedClick("s2") || p.takeApprovedClick("s3") {
		t.Error("a click counts for more than its download")
	}
	p.approvedClicks["expired"] = time.Now().Add(-clickApprovalLifetime)
	p.recordApprovedClick("s4")
	if len(p.approvedClicks) != 1 || !p.takeApprovedClick("s4") {
		t.Errorf("got %v, want the last click alone", p.approvedClicks)
	}
}

// callerIDIn returns the caller id in a context.
func callerIDIn(t *testing.T, k *Approver) string {
	t.Helper()
	k.Callers.mu.Lock()
	defer k.Callers.mu.Unlock()
	for id := range k.Callers.byID {
		return id
	}
	t.Fatal("nobody speaks")
	return ""
}

func TestAnUnknownSpeakerAsksNobody(t *testing.T) {
	k, set, f := newTestApprover(t) // somebody could be asked
	buy := sessions.Question{Classes: []string{"submit", "buy"}, Text: "Buy"}
	err := ToolApprover{Approver: k}.Ask(t.Context(), "guessed", "work", buy)
	if denied := new(approval.DeniedError); !errors.As(err, &denied) ||
		!strings.Contains(err.Error(), "set interaction.consent.buy to allow") {
		t.Errorf("it asked: %v", err)
	}
	set.Approval.Buy, set.Approval.Submit = settings.AskAllow, settings.AskAllow
	check.Must(t, (ToolApprover{Approver: k}).Ask(t.Context(), "guessed", "work", buy)) // allowed by the settings
	set.Approval.Submit = settings.AskRefuse
	check.Fails(t, (ToolApprover{Approver: k}).Ask(t.Context(), "guessed", "work", buy), nil, "the settings refuse it")
	if qs := k.Approvals.Pending(); len(qs) != 0 {
		t.Errorf("asked %+v", qs)
	}
	_ = f
}

func TestTheOneWhoSpeaksIsAsked(t *testing.T) {
	k, _, f := newTestApprover(t)
	origin := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "u", Private: true}
	_, leave := k.Callers.Register(t.Context(), ToolCaller{Origin: origin, Session: "talk"})
	id := callerIDIn(t, k)
	got := make(chan error, 1)
	send := sessions.Question{Classes: []string{"send"}, Text: "Send", Origin: "https://here.test"}
	go func() { got <- ToolApprover{Approver: k}.Ask(t.Context(), id, "work", send) }()
	ev, err := f.Next(t.Context())
	check.Must(t, err)
	q := ev.Question
	if q.Source != "discord" || q.Channel != "c" || q.User != "u" || !q.Private || q.Session != "talk" ||
		q.Profile != "work" {
		t.Errorf("question %+v", q)
	}
	check.Must(t, k.Approvals.Answer(q.ID, approval.Answer{Allowed: true, ForSession: true, By: "@ada"}))
	check.Must(t, <-got)
	check.Must(t, (ToolApprover{Approver: k}).Ask(t.Context(), id, "work", send)) // for the session
	leave()
	check.Fails(t, (ToolApprover{Approver: k}).Ask(t.Context(), id, "work", send), nil, "nobody is there to be asked")
}

func TestModelsAndTheWindowAreForOperatorsUnlessTheyAreListed(t *testing.T) {
	t.Parallel()
	const ada, eve, staff = "100000000000000001", "100000000000000002", "200000000000000001"
	s := settings.Defaults()
	s.AgentModel, s.Access.Models, s.Access.Operators = "openai:one", "gemini:two compatible:three", ada+" "+staff
	from := func(user string, roles ...string) sessions.Origin {
		return sessions.Origin{Kind: sessions.FromDiscord, User: user, Roles: roles}
	}
	for name, c := range map[string]struct {
		task sessions.Task
		no   string
	}{
		"no wish":                 {sessions.Task{Origin: from(eve)}, ""},
		"the model that is set":   {sessions.Task{Origin: from(eve), Model: "openai:one"}, ""},
		"the model without a key": {sessions.Task{Origin: from(eve), Model: "plain:steps"}, ""},
		"a listed model":          {sessions.Task{Origin: from(eve), Model: "compatible:three"}, ""},
		"another model": {
			sessions.Task{Origin: from(eve), Model: "openai:dear"},
			"there are: openai:one, compatible:three, gemini:two, plain:steps",
		},
		"another model, by operator": {sessions.Task{Origin: from(ada), Model: "openai:dear"}, ""},
		"window":                     {sessions.Task{Origin: from(eve), Headed: true}, "only an operator"},
		"window, by role":            {sessions.Task{Origin: from(eve, staff), Headed: true}, ""},
		"at the terminal": {
			sessions.Task{Model: "openai:dear", Headed: true, Origin: sessions.Origin{Kind: sessions.FromTerminal}}, "",
		},
	} {
		check.Outcome(t, name, checkOperatorOptions(s, c.task), c.no)
	}
}

func TestProfilesAreGivenToPeopleAndTheOperatorHasAll(t *testing.T) {
	t.Parallel()
	const ada, eve = "100000000000000001", "100000000000000002"
	s := settings.Defaults()
	s.Access.Profiles = "work: " + ada + "\nclank: " + ada
	guild := func(user string) sessions.Origin {
		return sessions.Origin{Kind: sessions.FromDiscord, Guild: "300000000000000001", Channel: "c", User: user}
	}
	operator := sessions.Origin{Kind: sessions.FromTerminal}
	for name, c := range map[string]struct {
		who        sessions.Origin
		want, gets string // gets empty: refused
	}{
		"operator":              {operator, "", "clank"},
		"operator, with a wish": {operator, "work", "work"},
		"somebody with a grant": {guild(ada), "", "work"},
		"somebody without":      {guild(eve), "", ""},
		"with another's name":   {guild(eve), "work", ""},
	} {
		got, err := resolveProfile(s, c.who, c.who.Place(false), c.want)
		if got != c.gets || (err == nil) != (c.gets != "") {
			t.Errorf("%s: got %q, %v; want %q", name, got, err, c.gets)
		}
	}
	k := ToolApprover{Approver: &Approver{Settings: fixedSettings{&s}}}
	s.AssistantBrowser = true
	tools := &BrowserTools{Settings: fixedSettings{&s}, Callers: new(ToolCallers)}
	if tools.AssistantTools(t.Context(), guild(eve)) != nil {
		t.Error("the assistant is offered the browser for somebody to whom no profile belongs")
	}
	s.Access.Profiles = "work: " + ada
	private := guild(eve)
	private.Private = true
	for name, c := range map[string]struct {
		who        sessions.Origin
		want, gets string // gets empty: refused
	}{
		"with a grant":           {guild(ada), "", "work"},
		"without":                {guild(eve), "", "clank@server-300000000000000001"},
		"without, by name":       {guild(eve), "clank", "clank@server-300000000000000001"},
		"privately":              {private, "", "clank@person-" + eve},
		"another's":              {guild(eve), "work", ""},
		"the operator's own":     {guild(eve), "user", ""},
		"another server's":       {guild(eve), "clank@server-1", ""},
		"the operator":           {operator, "work", "work"},
		"the operator, unnamed":  {operator, "", ""},
		"a program, any of them": {sessions.Origin{}, "clank@server-1", "clank@server-1"},
	} {
		_, leave := k.Callers.Register(t.Context(), ToolCaller{Origin: c.who})
		got, err := k.Profile(callerIDIn(t, k.Approver), c.want)
		leave()
		if got != c.gets || (err == nil) != (c.gets != "" || c.who.Kind != sessions.FromDiscord) {
			t.Errorf("a model's request for %s: got %q, %v; want %q", name, got, err, c.gets)
		}
	}
	const api = "http://127.0.0.1:1" // nobody is to be called
	tools.ControlAPI = &browsertool.APIClient{URL: api}
	tools.HostTarget, tools.sessions = &browsertool.Target{API: tools.ControlAPI}, map[string]*toolConversation{}
	s.BrowserTool.AllowHost = true
	offered := tools.AssistantTools(t.Context(), guild(eve))
	for input, want := range map[string]string{
		`{"action":"tabs","profile":"work"}`: "is not yours to use",
		`{"action":"stop"}`:                  "for the operator",
		`{"action":"snapshot"}`:              "no tab of this conversation",
	} {
		if _, _, err := offered[0].Call(t.Context(), guild(eve), json.RawMessage(input)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", input, err, want)
		}
	}
	s.BrowserTool.AllowHost = false
	if _, _, err := offered[0].Call(t.Context(), guild(eve),
		json.RawMessage(`{"action":"open","url":"https://x.test/"}`)); err == nil || strings.Contains(err.Error(), api) {
		t.Errorf("a setting changed between two calls does not hold: %v", err)
	}
}

func TestEntriesServeTheOperatorAndThoseTheyName(t *testing.T) {
	t.Parallel()
	e := vault.Entry{Users: []string{"42"}, Roles: []string{"r1"}}
	for _, c := range []struct {
		origin sessions.Origin
		want   bool
	}{
		{sessions.Origin{Kind: sessions.FromTerminal}, true},
		{sessions.Origin{Kind: sessions.FromDashboard}, true},
		{sessions.Origin{Kind: sessions.FromDiscord, User: "42"}, true},
		{sessions.Origin{Kind: sessions.FromDiscord, User: "43", Roles: []string{"r1"}}, true},
		{sessions.Origin{Kind: sessions.FromDiscord, User: "43"}, false},
		{sessions.Origin{Kind: sessions.FromDiscord}, false},
		{sessions.Origin{User: "", Roles: nil}, false},
	} {
		check.Equal(t, fmt.Sprint(c.origin), mayUseLogin(e, c.origin), c.want)
	}
}

func TestPeopleStandInForEachOtherWithEqualRightsAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v, err := vault.Open(t.Context(), vault.Options{Path: dir + "/v", KeyFile: dir + "/k"})
	check.Must(t, err)
	const few = "10000000000000000"
	const ada, bob, cy, dan, eve = few + "1", few + "2", few + "3", few + "4", few + "5"
	entry := vault.NewEntry{Name: "shop", Origins: []string{"https://shop.example"}, Password: "hunter2!"}
	entry.Users = []string{cy}
	check.Must(t, v.Put(t.Context(), entry))
	s := settings.Defaults()
	s.Access.Profiles = "work: " + dan
	s.Access.People = strings.Join([]string{ada, bob, cy, dan}, " ")
	h := callHost{service: &CallService{Access: vaultRights{s, v}}}
	at := func(user string) sessions.Origin {
		return sessions.Origin{Kind: sessions.FromDiscord, Guild: "1", User: user}
	}
	for _, c := range []struct {
		who  string
		want bool
	}{{bob, true}, {cy, false}, {dan, false}, {eve, false}} { // no login, one of the vault's, a profile, no access
		a, b := at(ada), at(c.who)
		if h.SameRights(t.Context(), a, b) != c.want || h.SameRights(t.Context(), b, a) != c.want {
			t.Errorf("whether %s may stand in for Ada: want %v", c.who, c.want)
		}
		if (callHost{service: &CallService{}}).SameRights(t.Context(), a, b) {
			t.Errorf("%s may stand in for Ada though nothing is known of rights", c.who)
		}
	}
}

func TestNobodyElseGetsALoginByItsName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v, err := vault.Open(t.Context(), vault.Options{Path: dir + "/v", KeyFile: dir + "/k"})
	check.Must(t, err)
	check.Must(t, v.Put(t.Context(), vault.NewEntry{
		Name: "shop", Origins: []string{"https://shop.example"},
		Password: "hunter2!", TOTP: "JBSWY3DPEHPK3PXP", Users: []string{"42"},
	}))
	k := VaultLogins{Vault: v, Windows: &browsermgr.Manager{}}
	stranger := sessions.Task{Origin: sessions.Origin{Kind: sessions.FromDiscord, User: "43"}}
	if list, err := k.List(t.Context(), stranger); err != nil || len(list) != 0 {
		t.Errorf("a stranger is offered %v, %v", list, err)
	}
	check.Fails(t, check.Err(k.Fill(t.Context(), sessions.Session{ID: "s"}, stranger, "shop", "", false)),
		vault.ErrNotFound)
	check.Fails(t, check.Err(k.FillCode(t.Context(), sessions.Session{ID: "s"}, stranger, "shop", "https://shop.example")),
		vault.ErrNotFound)
	if _, _, err := k.Where(t.Context(), sessions.Session{ID: "s"}, stranger, "shop", true); !errors.Is(err,
		vault.ErrNotFound) {
		t.Errorf("a stranger comes to know where: %v", err)
	}
	friend := sessions.Task{Origin: sessions.Origin{Kind: sessions.FromDiscord, User: "42"}}
	if list, err := k.List(t.Context(), friend); err != nil || len(list) != 1 || !list[0].Code {
		t.Errorf("a friend is offered %v, %v", list, err)
	}
	check.Fails(t, check.Err(k.Fill(t.Context(), sessions.Session{ID: "s"}, friend, "shop", "https://shop.example",
		false)), nil, "no page is open")
}
