package browseagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/browseagent"
	"clank/internal/test/check"
	"clank/internal/test/sessionstest"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/agent"
)

// keys is a scripted [browseagent.Logins].
type keys struct {
	list []browseagent.Login
	done []string
	err  error
	lost error // error of Where
}

func (k *keys) List(context.Context, sessions.Task) ([]browseagent.Login, error) {
	return k.list, k.err
}

func (k *keys) Where(_ context.Context, s sessions.Session, t sessions.Task, name string,
	code bool,
) (origin, about string, err error) {
	k.done = append(k.done, fmt.Sprint("where ", s.ID, t.ID, name, code))
	return "https://shop.test", "Log in as ada", k.lost
}

func (k *keys) Fill(_ context.Context, s sessions.Session, t sessions.Task, name, at string,
	submit bool,
) ([]string, error) {
	k.done = append(k.done, fmt.Sprintf("fill %s%s%s[%s]%v", s.ID, t.ID, name, at, submit))
	return []string{"filled in"}, k.err
}

func (k *keys) FillCode(_ context.Context, s sessions.Session, t sessions.Task, name, at string) ([]string, error) {
	k.done = append(k.done, fmt.Sprintf("code %s%s%s[%s]", s.ID, t.ID, name, at))
	return nil, k.err
}

var loginCalls = []string{"open", `{"url":"http://shop.test/"}`}

func toolNames(t *testing.T, b *bench) string {
	t.Helper()
	var names []string
	for _, tool := range b.model.asked(t, 0).Tools {
		names = append(names, tool.Name)
	}
	return strings.Join(names, " ")
}

func TestLoginsAreOfferedOnlyIfThereAreSome(t *testing.T) {
	shopLogin := browseagent.Login{Name: "shop", Origins: []string{"https://shop.test"}, Username: "ada"}
	withCode := shopLogin
	withCode.Code = true
	for _, tt := range []struct {
		list        []browseagent.Login
		login, code bool
	}{{nil, false, false}, {[]browseagent.Login{shopLogin}, true, false}, {[]browseagent.Login{withCode}, true, true}} {
		b := newBench(say("ok"))
		b.agent.Logins = &keys{list: tt.list}
		b.answer(t)
		names := toolNames(t, b)
		if strings.Contains(names, "fill_login") != tt.login || strings.Contains(names, "fill_totp") != tt.code {
			t.Errorf("%+v: offered %s", tt.list, names)
		}
		system := b.model.asked(t, 0).System
		if strings.Contains(system, `shop: for https://shop.test, user name "ada"`) != tt.login {
			t.Errorf("%+v: the model is told %s", tt.list, system)
		}
	}
}

func TestALoginIsFilledInByItsName(t *testing.T) {
	b := newBench(call(loginCalls...), named("fill_login", `{"entry":"shop"}`), named("fill_login", `{"entry":"bank"}`),
		named("fill_totp", `{"entry":"bank"}`), say("ok"))
	k := &keys{list: []browseagent.Login{{Name: "shop", Origins: []string{"https://shop.test"}, Code: true}}}
	b.agent.Logins = k
	b.agent.Approver = &asker{answer: allowed}
	_, steps := b.answer(t)
	check.Equal(t, "done", strings.Join(k.done, "; "), "where s1t1shopfalse; fill s1t1shop[https://shop.test]false")
	done := acts(steps)
	if len(done) != 4 {
		t.Fatalf("%d steps, want 4", len(done))
	}
	if got := done[1].Label; got != `fill in the login "shop"` || done[1].Failed {
		t.Errorf("got %q, failed %v", got, done[1].Failed)
	}
	for _, d := range done[2:] {
		if !d.Failed || !strings.Contains(d.Text, `no login "bank"`) || !strings.Contains(d.Text, `"shop"`) {
			t.Errorf("an unknown login: %+v", d)
		}
	}
}

// After filling in a login, the model could submit it with a click, so nothing may be filled in before approval.
func TestToLogInIsAskedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const refused, nobody = "Not done: @ada said no.", "Not done: a person has to agree to it, and nobody can be " +
			"asked here."
		for _, tt := range []struct {
			name   string
			answer func(context.Context) (string, error)
			asked  bool
			says   string
		}{
			{"allowed", allowed, true, "Allowed by @ada."},
			{"after a minute", func(context.Context) (string, error) {
				<-time.After(time.Minute) // the person takes a while
				return "allowed by @ada", nil
			}, true, "Allowed by @ada."},
			{
				"refused", func(context.Context) (string, error) { return "", errors.New("not done: @ada said no") }, true,
				refused,
			},
			{"nobody to ask", nil, false, nobody},
		} {
			for input, submit := range map[string]bool{
				`{"entry":"shop"}`: false, `{"entry":"shop","submit":false}`: false,
				`{"entry":"shop","submit":true}`: true,
			} {
				b := newBench(call(loginCalls...), named("fill_login", input), named("fill_totp", `{"entry":"shop"}`), say("ok"))
				b.settings.StepTimeout = 5 * time.Second
				k := &keys{list: []browseagent.Login{{Name: "shop", Origins: []string{"https://shop.test"}, Code: true}}}
				b.agent.Logins = k
				a := &asker{answer: tt.answer}
				if tt.answer != nil {
					b.agent.Approver = a
				}
				_, steps := b.answer(t)
				var want []string
				failed := tt.says == refused || tt.says == nobody
				switch {
				case tt.asked && failed:
					want = []string{"where s1t1shopfalse", "where s1t1shoptrue"}
				case tt.asked:
					want = []string{
						"where s1t1shopfalse", fmt.Sprint("fill s1t1shop[https://shop.test]", submit),
						"where s1t1shoptrue", "code s1t1shop[https://shop.test]",
					}
				}
				check.Diff(t, fmt.Sprintf("%s, %s", tt.name, input), k.done, want)
				done := acts(steps)[1:]
				for _, s := range done {
					if s.Failed != failed || !strings.HasPrefix(s.Text, tt.says) {
						t.Errorf("%s, %s: the step says %+v", tt.name, input, s)
					}
				}
				if questions := map[bool]int{true: 2}[tt.asked]; len(done) != 2 || len(a.questions) != questions {
					t.Errorf("%s, %s: %d steps and %d questions, want 2 and %d", tt.name, input, len(done), len(a.questions),
						questions)
				}
				for _, q := range a.questions {
					check.Diff(t, tt.name, q, sessions.Question{
						Classes: []string{"login"}, Text: "Log in as ada",
						Origin: "https://shop.test",
					})
				}
			}
		}
	})
}

func TestALoginThatFitsNowhereAsksNobody(t *testing.T) {
	b := newBench(call(loginCalls...), named("fill_login", `{"entry":"shop","submit":true}`), say("ok"))
	b.agent.Logins = &keys{list: []browseagent.Login{{Name: "shop"}}, lost: errors.New("the page is of another site")}
	a := &asker{answer: allowed}
	b.agent.Approver = a
	_, steps := b.answer(t)
	if last := acts(steps)[1]; !last.Failed || last.Text != "the page is of another site" || len(a.questions) != 0 {
		t.Errorf("asked %+v, and the step says %+v", a.questions, last)
	}
}

func TestLoginsThatCannotBeReadDoNotEndTheTask(t *testing.T) {
	b := newBench(say("ok"))
	b.agent.Logins = &keys{err: errors.New("no key")}
	b.answer(t)
	check.Lacks(t, toolNames(t, b), "fill_")
}

func TestAPasswordThatTheModelTypesIsNeitherShownNorStored(t *testing.T) {
	b := newBench(
		call("open", `{"url":"http://shop.test/"}`),
		call("type", `{"ref":"e4","text":"hunter2"}`, "type", `{"ref":"e2","text":"lamp"}`),
		call("hover", `{"ref":"e3"}`), say("ok"),
	)
	withPage(b, &page{on: on{"type": func(context.Context, map[string]any) ([]string, error) { return nil, nil }}})
	_, steps := b.answer(t)
	for _, s := range steps {
		if strings.Contains(string(s.Memory)+s.Label+s.Text+string(s.Input), "hunter2") {
			t.Fatalf("step %d has the password: %+v", s.N, s)
		}
	}
	last := string(steps[len(steps)-1].Memory)
	check.Contains(t, last, "[password]", "lamp")
	if got := b.page(t).done(); got[1] != "type ref=e4 text=hunter2" {
		t.Errorf("the page got %q", got)
	}
}

// meanwhile adds a note to the inbox during a model call.
func (b *bench) meanwhile(text string, then func(context.Context, llm.Request) (llm.Reply, error)) func(context.Context,
	llm.Request) (llm.Reply, error) {
	b.task.Inbox = &sessions.Inbox{}
	inbox := b.task.Inbox
	return func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		inbox.Add(sessions.Note{By: "@ada", Text: text, At: time.Now()})
		return then(ctx, req)
	}
}

// lastWords returns the last text of a person in a request.
func lastWords(req llm.Request) string {
	m := req.Messages[len(req.Messages)-1]
	if m.Role != llm.RoleUser {
		return ""
	}
	return m.Parts[len(m.Parts)-1].Text
}

func TestTheModelHearsBeforeItsNextStepWhatWasSaid(t *testing.T) {
	b := newBench()
	b.script(b.meanwhile("the red one]", call("open", `{"url":"shop.test"}`)), say("done"))
	_, steps := b.answer(t)
	check.Equal(t, "steps", labels(steps), "think; open shop.test; @ada says: the red one]; think; answer")
	req := b.model.asked(t, 1)
	check.Equal(t, "the model heard", lastWords(req), "[@ada, while you work] the red one]")
	checkAnswered(t, req.Messages)
}

func TestWhatIsSaidDuringTheLastThoughtIsNotLost(t *testing.T) {
	b := newBench()
	b.script(b.meanwhile("and the price?", say("It is a lamp.")), say("It is a lamp for 39 €."))
	answer, steps := b.answer(t)
	check.Equal(t, "steps", labels(steps), "think; @ada says: and the price?; think; answer")
	if answer.Text != "It is a lamp for 39 €." {
		t.Errorf("got answer %q, want the one that knows all", answer.Text)
	}
	checkAnswered(t, b.model.asked(t, -1).Messages)
}

func TestWhatIsSaidAtTheStepLimitIsPartOfTheLastQuestion(t *testing.T) {
	b := newBench()
	b.task.MaxSteps = 1
	b.script(b.meanwhile("the price is enough", call("open", `{"url":"shop.test"}`)), say("39 €"))
	answer, _ := b.answer(t)
	if answer.Limit != "step limit of 1" || b.task.Inbox.Len() != 0 {
		t.Errorf("got %+v with %d notes left", answer, b.task.Inbox.Len())
	}
	req := b.model.asked(t, -1)
	if raw, _ := json.Marshal(req.Messages); !strings.Contains(string(raw), "the price is enough") ||
		!strings.Contains(lastWords(req), "step limit") {
		t.Errorf("the last question was %s", raw)
	}
}

func TestTheLiteralModelTakesWhatIsSaidAsFurtherSteps(t *testing.T) {
	b := withPlain(newBench())
	b.task.Prompt = `open the demo shop, read`
	b.task.Inbox = &sessions.Inbox{}
	b.task.Inbox.Add(sessions.Note{By: "@ada", Text: `type "lamp" into Search, press Enter, read`})
	answer, steps := b.answer(t)
	check.Equal(t, "the page", strings.Join(b.page(t).done(), "; "), "navigate url="+shop+
		"; type ref=e2 text=lamp; press key=Enter")
	check.Contains(t, answer.Text, "text of Lumen", "text of Found")
	check.Contains(t, labels(steps), "@ada says: type")
}

func TestATaskThatWentWrongDoesNotGoOnWithWhatWasSaid(t *testing.T) {
	b := withPlain(newBench())
	b.task.Prompt = `open the demo shop, click "No such thing"`
	b.task.Inbox = &sessions.Inbox{}
	b.task.Inbox.Add(sessions.Note{By: "@ada", Text: `read`})
	answer, _ := b.answer(t)
	if !answer.Failed || b.task.Inbox.Len() != 1 {
		t.Errorf("got %+v with %d notes left, want a failure that leaves the note to the manager", answer, b.task.Inbox.Len())
	}
}

func TestTheModelLeavesTheRestToAnotherRuntime(t *testing.T) {
	b := newBench(
		call("open", `{"url":"shop.test"}`),
		reply(llm.StopTools,
			llm.Part{Call: &llm.ToolCall{
				ID: "a", Name: "hand_over",
				Input: json.RawMessage(`{"runtime":"screen","brief":"the form is done"}`),
			}},
			llm.Part{Call: &llm.ToolCall{ID: "b", Name: "browser_click", Input: json.RawMessage(`{"ref":"e5"}`)}}),
	)
	b.settings.HandOver = []string{"screen"}
	steps, err := b.run(t.Context())
	h, ok := errors.AsType[*sessions.HandOverError](err)
	if !ok || h.Runtime != "screen" || h.Summary != "the form is done" {
		t.Fatalf("the task ended with %v, want a hand-over", err)
	}
	check.Equal(t, "steps", labels(steps), "think; open shop.test; think; hand over to screen")
	check.Contains(t, string(offer(t, b, "hand_over").Schema), `"enum":["screen"]`)
	// The conversation can be continued.
	b.script(say("It came back."))
	b.answer(t)
	checkAnswered(t, b.model.asked(t, 0).Messages)
}

// offer returns the definition of that tool in the first request.
func offer(t *testing.T, b *bench, name string) llm.Tool {
	t.Helper()
	for _, tool := range b.model.asked(t, 0).Tools {
		if tool.Name == name {
			return tool
		}
	}
	t.Fatalf("the model was not offered %s", name)
	return llm.Tool{}
}

func TestAModelAsksAPersonToTakeOver(t *testing.T) {
	for _, tc := range []struct {
		name   string
		ask    agent.TakeOverAsker
		wants  string // text for the model
		failed bool
	}{
		{"who does", func(context.Context, sessions.Session, sessions.Task, string) error {
			return nil
		}, "A person has the page now.", false},
		{"who does not", func(_ context.Context, _ sessions.Session, _ sessions.Task, reason string) error {
			return errors.New("not done: nobody could " + reason)
		}, "Not done: nobody could log in. Do not try it in another way", true},
		{"who cannot be asked", nil, "Nobody can take over here.", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(named(agent.ToolTakeOver, `{"reason":"log in"}`), say("done"))
			b.agent.TakeOver = tc.ask
			_, steps := b.answer(t)
			const label = "ask a person to take over: log in"
			if done := acts(steps); len(done) != 1 || done[0].Failed != tc.failed || done[0].Label != label {
				t.Errorf("steps %+v", done)
			}
			told, err := json.Marshal(b.model.asked(t, 1).Messages)
			if got := string(told); err != nil || !strings.Contains(got, tc.wants) {
				t.Errorf("the model is told %s, want %q", got, tc.wants)
			}
			isIt := func(tool llm.Tool) bool { return tool.Name == agent.ToolTakeOver }
			offered := slices.ContainsFunc(b.model.asked(t, 0).Tools, isIt)
			if offered != (tc.ask != nil) {
				t.Errorf("the tool is offered: %v", offered)
			}
		})
	}
}

func TestAModelAsksAPersonForWords(t *testing.T) {
	const input = `{"question":" Which lamp? ","choices":["small","  small ","large  one"]}`
	for _, tc := range []struct {
		name, input string
		ask         agent.PersonAsker
		wants       string
		failed      bool
	}{
		{"who answers", input, func(_ context.Context, _ sessions.Session, _ sessions.Task,
			q agent.PersonQuestion,
		) (string, error) {
			return q.Question + strings.Join(q.Choices, "/"), nil
		}, "The person answers: Which lamp?small/large one", false},
		{"who does not", input, func(context.Context, sessions.Session, sessions.Task, agent.PersonQuestion) (string, error) {
			return "", errors.New("not done: nobody answered within 1 minute")
		}, "Not done: nobody answered within 1 minute. Go on as you think best", true},
		{"who cannot be asked", input, nil, "Nobody can be asked here.", true},
		{"nothing", `{"question":" "}`, nil, "question", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(named(agent.ToolAskPerson, tc.input), say("done"))
			b.agent.AskWords = tc.ask
			b.answer(t)
			told, err := json.Marshal(b.model.asked(t, 1).Messages)
			if got := string(told); err != nil || !strings.Contains(got, tc.wants) {
				t.Errorf("the model is told %s, want %q", got, tc.wants)
			}
			isIt := func(tool llm.Tool) bool {
				return tool.Name == agent.ToolAskPerson && strings.Contains(string(tool.Schema), `"question"`)
			}
			if offered := slices.ContainsFunc(b.model.asked(t, 0).Tools, isIt); offered != (tc.ask != nil) {
				t.Errorf("the tool is offered: %v", offered)
			}
		})
	}
}

func TestNothingIsHandedOverWhereTheSettingsDoNotAllowIt(t *testing.T) {
	for name, allowed := range map[string][]string{"at all": nil, "to this one": {"screen"}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(named("hand_over", `{"runtime":"elsewhere","brief":"x"}`), say("then I do it"))
			b.settings.HandOver = allowed
			answer, steps := b.answer(t)
			if done := acts(steps); answer.Text != "then I do it" || len(done) != 1 || !done[0].Failed {
				t.Errorf("got %s, want a failed hand-over and an answer", labels(steps))
			}
			for _, tool := range b.model.asked(t, 0).Tools {
				if tool.Name == "hand_over" && allowed == nil {
					t.Error("the tool was offered")
				}
			}
		})
	}
}

func TestAnAgentWithAModelKeepsTheContractOfABackend(t *testing.T) {
	sessionstest.TestBackend(t, func(*testing.T) sessionstest.BackendCase {
		b := newBench()
		b.settings.HandOver = []string{"screen"}
		b.browser.make = func() *page {
			return &page{on: map[string]func(context.Context, map[string]any) ([]string, error){
				"wait": func(ctx context.Context, _ map[string]any) ([]string, error) { <-ctx.Done(); return nil, ctx.Err() },
			}}
		}
		b.agent.Model = func(context.Context, string) (llm.Model, error) { return thinker{}, nil }
		return sessionstest.BackendCase{
			Backend: b.agent, Runtime: browseagent.Runtime, Acts: b.browser.acts,
			Prompt: "find", Slow: "wait", HandOver: "pass on", Note: "more",
		}
	})
}

// thinker is a model that decides from the conversation alone: it opens the shop, clicks, and answers, waits or hands
// the task over, depending on the last prompt.
type thinker struct{}

func (thinker) Name() string   { return "test:thinker" }
func (thinker) Caps() llm.Caps { return llm.Caps{Tools: true} }

func (thinker) Generate(ctx context.Context, req llm.Request, _ func(llm.Delta)) (llm.Reply, error) {
	prompt, done := "", 0
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			switch {
			case m.Role == llm.RoleUser && (p.Text == "find" || p.Text == "wait" || p.Text == "pass on"):
				prompt, done = p.Text, 0
			case p.Result != nil:
				done++
			}
		}
	}
	next := say("done")
	switch {
	case prompt == "wait" && done == 0:
		next = call("wait", `{"timeMs":30000}`)
	case prompt == "pass on" && done == 0:
		next = named("hand_over", `{"runtime":"screen","brief":"the rest"}`)
	case prompt == "find" && done == 0:
		next = call("open", `{"url":"shop.test"}`)
	case prompt == "find" && done == 1:
		next = call("click", `{"ref":"e5"}`)
	}
	return next(ctx, req)
}

func TestAfterATakeOverTheModelLooksBeforeItActs(t *testing.T) {
	b := newBench()
	b.task.Inbox = &sessions.Inbox{}
	over := func(_ context.Context, req llm.Request) (llm.Reply, error) {
		p := b.page(t)
		p.mu.Lock()
		p.state = `- heading "Account" [ref=e2]`
		p.mu.Unlock()
		b.task.Inbox.Add(sessions.Note{By: "@ada", TookOver: true})
		return call("click", `{"ref":"e2"}`, "click", `{"ref":"e3"}`)(t.Context(), req)
	}
	b.script(call("open", `{"url":"http://shop.test/"}`), over, call("click", `{"ref":"e2"}`), say("done"))
	_, steps := b.answer(t)
	if acts := strings.Join(b.page(t).done()[1:], "; "); acts != "click ref=e2" {
		t.Errorf("the page got %q: what was decided before must not be done, what is decided after must", acts)
	}
	if got := labels(steps); strings.Count(got, "@ada has worked the page") != 1 {
		t.Errorf("steps: %s", got)
	}
	check.Contains(t, lastWords(b.model.asked(t, 2)), "Account")
	checkAnswered(t, b.model.asked(t, -1).Messages)
}
