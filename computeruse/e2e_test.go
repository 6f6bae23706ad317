package computeruse_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clank/browseagent"
	"clank/cancel"
	"clank/computeruse"
	"clank/internal/budget"
	"clank/internal/recording"
	"clank/internal/sqlite"
	"clank/internal/test/check"
	"clank/internal/test/llmtest"
	"clank/internal/test/sessionstest"
	"clank/internal/test/sqlitetest"
	"clank/llm"
	"clank/llm/openai"
	"clank/sessions"
)

// house is the whole way of a task: a Manager with its database, a runtime with its vendor's server, and a real
// browser.
type house struct {
	*sessions.Manager
	t       *testing.T
	vendor  vendor
	windows windows
	db      *sqlite.DB
	file    string
	agent   *computeruse.Agent
	width   float64
	height  float64
	asked   func() []llmtest.Request
	local   *browseagent.Agent // nil = there is none
	around  func(sessions.Backend) sessions.Backend
	mind    func(computeruse.Model) computeruse.Model
}

// newHouse opens one whose model plays these moves. It shuts at the end of the test.
func newHouse(t *testing.T, v vendor, consent sessions.Approver, moves ...move) *house {
	t.Helper()
	h := prepare(t, v, consent)
	h.plays(v.turns(h.width, h.height, moves...)...)
	h.open()
	return h
}

// prepare makes a house that is not open yet.
func prepare(t *testing.T, v vendor, consent sessions.Approver) *house {
	t.Helper()
	manager, _ := real.start(t)
	h := &house{t: t, vendor: v, windows: windows{manager}, file: filepath.Join(t.TempDir(), "clank.db")}
	h.width, h.height = real.width, real.height
	h.agent = &computeruse.Agent{Browser: h.windows, Approver: consent, Settings: h.settings}
	t.Cleanup(func() { h.shut() })
	return h
}

func (h *house) settings() computeruse.Settings {
	s := computeruse.Settings{StepTimeout: time.Minute}
	if h.local != nil {
		s.HandOver = []string{browseagent.Runtime}
	}
	return s
}

// plays has the model's server answer with these turns.
func (h *house) plays(script ...llmtest.Turn) {
	h.t.Helper()
	mind, asked := h.vendor.serve(h.t, script...)
	h.asked = asked
	if h.mind != nil {
		mind = h.mind(mind)
	}
	h.agent.Model = func(context.Context, string) (computeruse.Model, error) { return mind, nil }
}

func (h *house) open() {
	h.t.Helper()
	var err error
	if h.db, err = sqlite.Open(h.t.Context(), h.file); err != nil {
		h.t.Fatal(err)
	}
	backends := map[string]sessions.Backend{h.vendor.runtime: h.agent}
	if h.around != nil {
		backends[h.vendor.runtime] = h.around(h.agent)
	}
	if h.local != nil {
		backends[browseagent.Runtime] = h.local
	}
	h.Manager = &sessions.Manager{
		Store: h.db, Backends: backends, DefaultRuntime: h.vendor.runtime, Scopes: &cancel.Scopes{},
		Limits: func() sessions.Limits {
			return sessions.Limits{
				Running: 4, Sessions: 8, MaxSteps: 40, TaskTimeout: 5 * time.Minute, SessionIdle: time.Hour,
				Views: 20,
			}
		},
		Policy: &sessionstest.Policy{
			HandOver: func(context.Context, sessions.Session, sessions.Task, sessions.HandOverError) (string, error) {
				return "", nil
			},
		},
	}
	check.Must(h.t, h.Open(h.t.Context()))
}

// shut closes all but the browser. Shutting twice is no error.
func (h *house) shut() {
	h.t.Helper()
	if h.Manager == nil {
		return
	}
	if err := errors.Join(h.Close(context.WithoutCancel(h.t.Context())), h.db.Close()); err != nil {
		h.t.Error(err)
	}
	h.Manager = nil
}

// restarted simulates a restart of the program in the same house: nothing of the agent is left.
func (h *house) restarted() {
	h.t.Helper()
	h.shut()
	h.agent = &computeruse.Agent{
		Browser: h.windows, Approver: h.agent.Approver, Settings: h.settings,
		Model: h.agent.Model,
	}
}

var somebody = sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "ada", UserName: "@ada"}

// work works a task. each is called with every step as it begins and is done.
func (h *house) work(ctx context.Context, t sessions.Task,
	each func(sessions.TaskRecord, sessions.Step),
) (sessions.TaskRecord, []sessions.Step) {
	h.t.Helper()
	t.Origin = somebody
	if t.Prompt == "" {
		t.Prompt = "work the desk"
	}
	rec, err := h.Run(ctx, t, func(e sessions.Event) {
		if e.Step != nil && each != nil {
			each(e.Record, *e.Step)
		}
	})
	if err != nil && rec.ID == "" {
		h.t.Fatal(err)
	}
	steps, err := h.Steps(context.WithoutCancel(h.t.Context()), rec.ID)
	check.Must(h.t, err)
	return rec, steps
}

// The places on the page.
func opened(t *testing.T) move {
	t.Helper()
	_, url := real.start(t)
	return move{act: "navigate", text: `{"url":"` + url + `"}`}
}

var (
	onName   = move{act: "click", x: 60, y: 35}
	typeName = move{act: "type", text: "Ada"}
	onSecret = move{act: "click", x: 60, y: 85}
	stroke   = move{act: "drag", x: 330, y: 60, toX: 460, toY: 180}
	apply    = move{act: "click", x: 60, y: 135}
	shoot    = move{act: "shot"}
)

func says(text string) move { return move{text: text} }

func (m move) warning() move {
	m.warned = true
	return m
}

const allDone = "focus, stroke, apply Ada 0"

var otherHalf = flag.Bool("other", false, "by every vendor and at every act, which make test leaves out")

func TestEveryRuntimeWorksAFormAndACanvas(t *testing.T) {
	for i, v := range vendors() {
		if i == 1 || i > 0 && !*otherHalf {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			h := newHouse(t, v, nil, opened(t), onName, typeName, stroke, shoot, apply, says("it is applied"))
			rec, steps := h.work(t.Context(), sessions.Task{}, nil)
			if rec.State != sessions.TaskDone || rec.Answer != "it is applied" {
				t.Fatalf("the task is %s (%s) with %q", rec.State, rec.Reason, rec.Answer)
			}
			check.Equal(t, "the page has", h.windows.done(t, rec.SessionID), allDone)
			var labels []string
			for _, s := range steps {
				if s.Kind != sessions.StepAct {
					continue
				}
				labels = append(labels, s.Label)
				view, err := h.View(t.Context(), rec.ID, s.N)
				if err != nil || len(view.Data) == 0 {
					t.Errorf("%s has no picture for who watches: %v", s.Label, err)
				}
			}
			for _, want := range []string{`click "Your name" at `, `type "Ada" into "Your name"`, `click "Apply" at `} {
				if !strings.Contains(strings.Join(labels, "\n"), want) {
					t.Errorf("no step says %q: %q", want, labels)
				}
			}
			if len(rec.Images) != 1 || len(rec.Images[0].Data) == 0 {
				t.Errorf("the answer has %d pictures, want the one that was taken", len(rec.Images))
			}
		})
	}
}

// warned are people who decide about warnings alone.
type warned struct{ people }

func (w *warned) Ask(ctx context.Context, s sessions.Session, t sessions.Task, q sessions.Question) (string, error) {
	if q.Classes[0] != "safety" {
		return "", nil
	}
	return w.people.Ask(ctx, s, t, q)
}

// What a no and nobody's answer lead to is tested without a browser.
func TestWhatAVendorWarnsOfIsDoneOnlyWithAYes(t *testing.T) {
	for i, v := range vendors() {
		if !v.warns || i == 1 || i > 0 && !*otherHalf {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			w := &warned{people{decision: "allowed by @ada"}}
			h := newHouse(t, v, w, opened(t), apply.warning(), says("applied"), apply.warning())
			rec, _ := h.work(t.Context(), sessions.Task{}, nil)
			w.people = people{no: errors.New("@ada said no"), asked: w.asked}
			again, _ := h.work(t.Context(), sessions.Task{SessionID: rec.SessionID, Prompt: "again"}, nil)
			check.Equal(t, "the page has", h.windows.done(t, rec.SessionID), "apply  0")
			if len(w.asked) != 2 || !strings.Contains(w.asked[0].Detail, "Look at this first") {
				t.Errorf("people were asked %+v", w.asked)
			}
			check.Contains(t, again.Answer, "@ada said no")
		})
	}
}

func TestNothingIsDoneAfterAStop(t *testing.T) {
	v := vendors()[0] // what each vendor's client does at a stop is tested with it
	h := newHouse(t, v, nil)
	moves := []move{opened(t), onName, typeName, stroke, apply, says("applied")}
	for n := range moves[1:] { // the acts
		if !*otherHalf && n != 3 {
			continue
		}
		h.plays(v.turns(h.width, h.height, moves...)...)
		ctx, stop := context.WithCancelCause(t.Context())
		acts, before, after := 0, "", 0
		rec, _ := h.work(ctx, sessions.Task{}, func(rec sessions.TaskRecord, s sessions.Step) {
			switch {
			case ctx.Err() != nil && s.Phase == sessions.PhaseDone && s.Kind == sessions.StepAct:
				after++
			case s.Kind != sessions.StepAct || s.Phase != sessions.PhaseBegun:
			case acts == n:
				before = h.windows.done(t, rec.SessionID)
				stop(&cancel.Cause{Reason: cancel.Stopped, By: "@ada"})
			default:
				acts++
			}
		})
		stop(nil)
		if rec.State != sessions.TaskStopped || after > 0 {
			t.Errorf("%s, stopped at act %d: it is %s (%s), and %d acts were told as done after", v.name, n, rec.State,
				rec.Reason, after)
		}
		if got := h.windows.done(t, rec.SessionID); got != before {
			t.Errorf("%s, stopped at act %d: the page has %q, and had %q", v.name, n, got, before)
		}
	}
}

func TestWhatIsSaidToARunningTaskReachesItsModel(t *testing.T) {
	h := newHouse(t, vendors()[0], nil, opened(t), onName, says("done"))
	said := false
	h.work(t.Context(), sessions.Task{}, func(rec sessions.TaskRecord, s sessions.Step) {
		if s.Kind == sessions.StepAct && !said {
			said = true
			if _, err := h.SendNote(t.Context(), rec.ID, somebody, "write Eve instead"); err != nil {
				t.Error(err)
			}
		}
	})
	asked := h.asked()
	if body := string(asked[1].Body); !strings.Contains(body, "write Eve instead") ||
		strings.Contains(string(asked[0].Body), "write Eve") {
		t.Errorf("the second question does not tell it: %.2000s", body)
	}
}

func TestATaskGoesToTheLocalLoopAndBackOnTheSamePage(t *testing.T) {
	v := vendors()[0]
	h := prepare(t, v, nil)
	server := llmtest.NewServer(t,
		llmtest.Use("browser_open", opened(t).text),
		llmtest.Use("hand_over", `{"runtime":"`+v.runtime+`","brief":"the page is open; the canvas is left"}`),
		llmtest.Say("all is done"))
	model, err := openai.New(openai.Options{
		BaseURL: server.BaseURL(), Key: "sk-test-0123456789abcdef",
		Model: "local-test", API: openai.APIChat,
	})
	check.Must(t, err)
	h.local = &browseagent.Agent{
		Browser: h.windows, Model: func(context.Context, string) (llm.Model, error) { return model, nil },
		Settings: func() browseagent.Settings { return browseagent.Settings{HandOver: []string{v.runtime}} },
	}
	h.plays(v.turns(h.width, h.height, stroke, move{act: "hand_over", text: `{"runtime":"` + browseagent.Runtime +
		`","brief":"the canvas is done"}`})...)
	h.open()
	rec, _ := h.work(t.Context(), sessions.Task{Runtime: browseagent.Runtime}, nil)
	if rec.State != sessions.TaskDone || rec.Answer != "all is done" {
		t.Fatalf("the task is %s (%s) with %q", rec.State, rec.Reason, rec.Answer)
	}
	check.Equal(t, "the page has", h.windows.done(t, rec.SessionID), "stroke")
	check.Contains(t, string(h.asked()[0].Body), "the canvas is left")
}

func TestATaskThatIsSpentEndsWithWhatThereIs(t *testing.T) {
	v := vendors()[0] // budgets look at no vendor
	keeper := &budget.Enforcer{Ledger: sqlitetest.OpenLedger(t), Rules: func() budget.Rules {
		return budget.Rules{Limits: budget.Limits{budget.LevelTask: {Calls: 2}}}
	}}
	h := prepare(t, v, nil)
	h.around, h.mind = keeper.Backend, keeper.ComputerUseModel
	h.plays(v.turns(h.width, h.height, opened(t), onName, apply, says("done"))...)
	h.open()
	rec, steps := h.work(t.Context(), sessions.Task{}, nil)
	last := steps[len(steps)-1]
	if rec.State != sessions.TaskLimited || last.Kind != sessions.StepAnswer ||
		!strings.Contains(last.Limit, "2 of 2 calls") {
		t.Errorf("the task is %s (%s) and ends with %+v", rec.State, rec.Reason, last)
	}
	check.Equal(t, "the page has", h.windows.done(t, rec.SessionID), "focus")
	rec, _ = h.work(t.Context(), sessions.Task{SessionID: rec.SessionID, Prompt: "go on"}, nil) // with a budget of its own
	if got := h.windows.done(t, rec.SessionID); rec.Answer != "done" || got != "focus, apply  0" {
		t.Errorf("the next task is %s (%s) with %q, the page has %q", rec.State, rec.Reason, rec.Answer, got)
	}
}

func TestATaskGoesOnAfterARestartInItsMiddle(t *testing.T) {
	for i, v := range vendors()[:2] { // the vendor keeps the conversation, or we do
		if i > 0 && !*otherHalf {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			h := prepare(t, v, nil)
			turns := v.turns(h.width, h.height, opened(t), onName)
			reached, ended := make(chan struct{}), make(chan sessions.TaskRecord, 1)
			turns = append(turns, func(llmtest.Request) llmtest.Reply {
				close(reached)
				return llmtest.Reply{Fault: llmtest.Fault{Hang: llmtest.BeforeHeaders}}
			})
			h.plays(append(turns, v.turns(h.width, h.height, onName, typeName, apply, says("applied"))...)...)
			h.open()
			go func() {
				rec, _ := h.Run(t.Context(), sessions.Task{Prompt: "work the desk", Origin: somebody}, nil)
				ended <- rec
			}()
			<-reached
			h.shut()
			first := <-ended
			h.restarted()
			h.open()
			rec, _ := h.work(t.Context(), sessions.Task{SessionID: first.SessionID, Prompt: "go on"}, nil)
			if rec.State != sessions.TaskDone || rec.Answer != "applied" {
				t.Fatalf("the task is %s (%s) with %q", rec.State, rec.Reason, rec.Answer)
			}
			check.Equal(t, "the page has", h.windows.done(t, rec.SessionID), "focus, apply Ada 0")
			asked := h.asked()
			if last := string(asked[len(asked)-1].Body); v.name != "openai" &&
				(!strings.Contains(last, "work the desk") || !strings.Contains(last, "go on")) {
				t.Errorf("the conversation has lost what was asked first: %.1000s", last)
			}
		})
	}
}

func TestAPasswordIsNowhereAfterwards(t *testing.T) {
	const word = "hunter2-and-more"
	for i, v := range vendors() {
		if i != 1 && (i == 3 || !*otherHalf) {
			continue // a unit test has the memories of all vendors
		}
		t.Run(v.name, func(t *testing.T) {
			rec := &recording.Recorder{Dir: t.TempDir()}
			h := prepare(t, v, nil)
			h.mind = rec.ComputerUseModel
			h.around = func(b sessions.Backend) sessions.Backend { return rec.Backend(v.runtime, b) }
			typed := move{act: "type", text: word}
			h.plays(v.turns(h.width, h.height, opened(t), onName, typeName, onSecret, typed, apply, says("signed in with "+word),
				move{act: "type", text: "[password]"}, says("I do not know it any more"))...)
			h.open()
			first, steps := h.work(t.Context(), sessions.Task{}, nil)
			if got := h.windows.done(t, first.SessionID); first.State != sessions.TaskDone ||
				got != fmt.Sprintf("focus, apply Ada %d", len(word)) {
				t.Fatalf("the task is %s (%s), the page has %q", first.State, first.Reason, got)
			}
			if !strings.Contains(fmt.Sprint(steps), `type "••••" into "Password"`) ||
				!strings.Contains(fmt.Sprint(steps), `type "Ada" into "Your name"`) {
				t.Errorf("the steps are %v", steps)
			}
			h.restarted()
			for _, dir := range []string{filepath.Dir(h.file), rec.Dir} {
				check.Equal(t, "the password is in", holds(t, dir, word), "")
			}
			h.open()
			h.work(t.Context(), sessions.Task{SessionID: first.SessionID, Prompt: "sign in again"}, nil)
			asked := h.asked()
			if told := string(asked[7].Body); strings.Contains(told, word) || i > 0 && !strings.Contains(told, "[password]") {
				t.Errorf("what is gone on with: %.3000s", told)
			}
			check.Contains(t, string(asked[8].Body), "stands for a password that is not kept")
		})
	}
}

// holds returns the name of a file below dir that holds a text; "" if none does.
func holds(t *testing.T, dir, text string) (found string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		raw, err := os.ReadFile(name)
		if strings.Contains(string(raw), text) {
			found = name
		}
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("%d files below %s: %v", files, dir, err)
	}
	return found
}
