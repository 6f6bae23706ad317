package computeruse_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"clank/computeruse"
	"clank/internal/test/check"
	"clank/internal/test/computerusetest"
	"clank/sessions"
)

// form is a screen that says what it has where: a button under the mouse, and what has the focus.
type form struct {
	*computerusetest.Screen
	role, name string // of the focus
	secret     bool
	err        error
}

func (f form) InputField(context.Context, string) (role, name string, secret bool, err error) {
	return f.role, f.name, f.secret, f.err
}

func (f form) ElementAt(context.Context, float64, float64) (role, name string, err error) {
	return "button", f.name, f.err
}

func TestLabelsSayWhatWasMet(t *testing.T) {
	typed := computeruse.Action{Kind: computeruse.ActType, Text: "ada", Enter: true}
	fill := computeruse.Action{Kind: computeruse.ActFill, Ref: "e5", Text: "ada"}
	keys := computeruse.Action{Kind: computeruse.ActKeys, Keys: []string{"a"}}
	down, up := computeruse.Action{Kind: computeruse.ActDown}, computeruse.Action{Kind: computeruse.ActUp}
	for _, tc := range []struct {
		form        form
		act         computeruse.Action
		label, want string // in the input
	}{
		{form{name: "Sign in"}, click(10, 20), `click "Sign in" at 10, 20`, `"on":{"name":"Sign in","role":"button"}`},
		{form{name: "Sign\n\u202ein \"now\""}, click(10, 20), `click "Sign \u{202E}in 'now'" at 10, 20`, `in \"now\""`},
		{
			form{name: strings.Repeat("long ", 30)},
			click(1, 2), `click "` + strings.Repeat("long ", 12) + `…" at 1, 2`,
			`"name":"` + strings.Repeat("long ", 29) + `long"`,
		},
		{form{name: strings.Repeat("long ", 50)}, click(1, 2), `click at 1, 2`, `{"x":1,"y":2}`},
		{form{err: errors.New("gone"), name: "x"}, click(1, 2), `click at 1, 2`, `{"x":1,"y":2}`},
		{
			form{role: "textbox", name: "E-mail"},
			typed, `type "ada" into "E-mail" and press Enter`,
			`"on":{"name":"E-mail","role":"textbox"}`,
		},
		{form{role: "textbox", name: "E-mail"}, fill, `fill "ada" into "E-mail"`, `"ref":"e5"`},
		{form{role: "textbox", name: "PIN", secret: true}, fill, `fill "••••" into "PIN"`, `"text":"••••"`},
		{form{role: "textbox", name: "PIN", secret: true}, keys, "press ••••", `{"keys":["••••"],"on":`},
		{
			form{role: "textbox", name: "PIN", err: errors.New("gone")},
			typed, `type "••••" and press Enter`,
			`{"enter":true,"text":"••••"}`,
		},
		{form{name: "Board"}, down, `hold the mouse down, over "Board"`, `"name":"Board"`},
		{form{name: "Board"}, up, `let the mouse go, over "Board"`, `"name":"Board"`},
	} {
		b := newBench(t, do(tc.act), say("done"))
		b.browser.Wrap = func(s *computerusetest.Screen) sessions.Page {
			tc.form.Screen = s
			return tc.form
		}
		_, steps := b.answer(t)
		i := slices.IndexFunc(steps, func(s sessions.Step) bool { return s.Kind == sessions.StepAct })
		certain := tc.form.secret && tc.act.Kind == computeruse.ActFill
		if got := steps[i].Secrets; certain != slices.Equal(got, []string{"ada"}) {
			t.Errorf("%s: got secrets %q", tc.label, got)
		}
		if got := steps[i]; got.Label != tc.label || !strings.Contains(string(got.Input), tc.want) {
			t.Errorf("got %s %s, want %s %s", got.Label, got.Input, tc.label, tc.want)
		}
	}
}

func TestATextThatGoesOnInAnotherFieldIsNotShown(t *testing.T) {
	b := newBench(t, do(computeruse.Action{Kind: computeruse.ActType, Text: "ada\thunter2\n"}),
		say("signed in with hunter2"))
	b.browser.Wrap = func(s *computerusetest.Screen) sessions.Page { return form{Screen: s, name: "Name"} }
	_, steps := b.answer(t)
	for _, s := range steps {
		if strings.Contains(s.Label+string(s.Input)+s.Text+string(s.Memory), "hunter2") {
			t.Errorf("step %d shows the password: %+v", s.N, s)
		}
	}
}

func TestAPasswordThatIsTalkedOfIsNotShown(t *testing.T) {
	typed := computeruse.Action{Kind: computeruse.ActType, Text: "hunter2"}
	spoken := do(typed)
	spoken.Text, spoken.Calls[0].Intent = "now I type hunter2", "enter hunter2"
	warned := do(typed)
	warned.Calls[0].Safety = []computeruse.SafetyWarning{{ID: "cu_1", Message: "a bank"}}
	for name, turn := range map[string]computeruse.Turn{
		"in words": spoken, "in a question": warned,
		"in what is not done": do(typed, computeruse.Action{Kind: computeruse.ActUnknown}),
	} {
		b := newBench(t, turn, say("done"))
		p := &people{decision: "allowed by @ada"}
		b.agent.Approver = p
		b.browser.Wrap = func(s *computerusetest.Screen) sessions.Page {
			return form{Screen: s, role: "textbox", name: "PIN", secret: true}
		}
		_, steps := b.answer(t)
		if !slices.ContainsFunc(steps, func(s sessions.Step) bool { return s.Kind == sessions.StepAct }) {
			t.Errorf("%s: nothing was done", name)
		}
		for _, s := range steps {
			if all := s.Label + string(s.Input) + s.Text + string(s.Memory); strings.Contains(all, "hunter2") {
				t.Errorf("%s: step %d shows the password: %s %s %s", name, s.N, s.Label, s.Input, s.Text)
			}
		}
		if want := map[bool]int{true: 1}[name == "in a question"]; len(p.asked) != want {
			t.Errorf("%s: %d questions were asked, want %d", name, len(p.asked), want)
		}
		for _, q := range p.asked {
			if strings.Contains(q.Text+q.Detail, "hunter2") || !strings.Contains(q.Text, `type "••••" into "PIN"`) {
				t.Errorf("%s: people are asked %+v", name, q)
			}
		}
	}
}

func TestAModelThatReadsThatAPasswordWasTypedDoesNotTypeThat(t *testing.T) {
	for _, kind := range []computeruse.ActionKind{computeruse.ActType, computeruse.ActFill} {
		b := newBench(t, do(computeruse.Action{Kind: kind, Ref: "e1", Text: "[password]"}), say("done"))
		b.answer(t)
		if told := b.told(t, 1).Outcomes[0].Err; b.browser.Acts() != 0 || !strings.Contains(told, "sk the person for it") {
			t.Errorf("%s: %d acts, the model is told %q", kind, b.browser.Acts(), told)
		}
	}
}

// careful is a screen on which pressing and letting go of what buys is told apart from the rest.
type careful struct {
	*computerusetest.Screen
	kinds []string // what buys
	mark  func(kind string) string
	done  []string // what was done with a yes
}

func (c *careful) markOf(kind string) string {
	switch {
	case !slices.Contains(c.kinds, kind):
		return ""
	case c.mark != nil:
		return c.mark(kind)
	}
	return "buy"
}

func (c *careful) Assess(_ context.Context, kind string, _ map[string]any) (sessions.Assessment, error) {
	found := sessions.Assessment{Mark: c.markOf(kind), Question: sessions.Question{
		Text: "buy", Detail: "Buy now",
		Origin: "http://shop.test",
	}}
	if found.Mark != "" {
		found.Classes = []string{"buy"}
	}
	return found, nil
}

func (c *careful) ActIfUnchanged(ctx context.Context, kind string, args map[string]any,
	mark string,
) ([]string, bool, error) {
	at := c.markOf(kind)
	if args["x"] == 0 { // nothing is in the corner
		at = ""
	}
	if at != mark {
		return nil, false, nil
	}
	if mark != "" {
		c.done = append(c.done, kind)
	}
	notes, err := c.Act(ctx, kind, args)
	return notes, true, err
}

func TestOneActionIsOneQuestion(t *testing.T) {
	down, up := computeruse.Action{Kind: computeruse.ActDown}, computeruse.Action{Kind: computeruse.ActUp}
	move := computeruse.Action{Kind: computeruse.ActMove, At: click(5, 5).At}
	typed := computeruse.Action{Kind: computeruse.ActType, Text: "one\n", Enter: true}
	space := func(kind computeruse.ActionKind) computeruse.Action {
		return computeruse.Action{Kind: kind, Keys: []string{"space"}}
	}
	twice := computeruse.Action{Kind: computeruse.ActKeys, Keys: []string{"Return Return"}}
	pressed := func(kind string) string { return kind }
	for _, tc := range []struct {
		name    string
		actions []computeruse.Action
		kinds   []string
		mark    func(string) string
		asked   int
	}{
		{"a click in two", []computeruse.Action{down, up}, []string{"pointerDown", "pointerUp"}, nil, 1},
		{"with a move between", []computeruse.Action{down, move, up}, []string{"pointerDown", "pointerUp"}, nil, 1},
		{"that changes its meaning", []computeruse.Action{down, up}, []string{"pointerDown", "pointerUp"}, pressed, 2},
		{"two clicks in four", []computeruse.Action{down, up, down, up}, []string{"pointerDown", "pointerUp"}, nil, 2},
		{
			"a click in two with a key between",
			[]computeruse.Action{down, twice, up},
			[]string{"pointerDown", "pointerUp"},
			nil, 2,
		},
		{"a text that is sent", []computeruse.Action{typed}, []string{"insertText", "press"}, nil, 1},
		{"a text that is sent and leads elsewhere", []computeruse.Action{typed}, []string{"insertText", "press"}, pressed, 2},
		{
			"a key in two",
			[]computeruse.Action{space(computeruse.ActKeyDown), space(computeruse.ActKeyUp)},
			[]string{"keyDown", "keyUp"},
			nil, 1,
		},
		{"two clicks", []computeruse.Action{click(1, 1), click(1, 1)}, []string{"clickCoords"}, nil, 2},
		{"two presses", []computeruse.Action{
			{Kind: computeruse.ActKeys, Keys: []string{"Return"}},
			{Kind: computeruse.ActKeys, Keys: []string{"Return"}},
		}, []string{"press"}, nil, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := &people{decision: "allowed by @ada"}
			b := newBench(t, do(tc.actions...), say("done"))
			b.agent.Approver = p
			var screen *careful
			b.browser.Wrap = func(s *computerusetest.Screen) sessions.Page {
				if screen == nil {
					screen = &careful{Screen: s, kinds: tc.kinds, mark: tc.mark}
				}
				return screen
			}
			b.answer(t)
			if o := b.told(t, 1).Outcomes[0]; o.Err != "" && !strings.Contains(o.Err, "known") {
				t.Errorf("it failed: %s", o.Err)
			}
			if len(p.asked) != tc.asked {
				t.Errorf("%d questions, want %d (done: %q)", len(p.asked), tc.asked, screen.done)
			}
		})
	}
}

// sayNo is a person who says yes to the first question alone.
type sayNo struct{ asked int }

func (p *sayNo) Ask(context.Context, sessions.Session, sessions.Task, sessions.Question) (string, error) {
	if p.asked++; p.asked == 1 {
		return "allowed by @ada", nil
	}
	return "", errors.New("@ada said no")
}

func TestWhatNobodyAgreedToIsNotSetOffByLettingGo(t *testing.T) {
	for _, tc := range []struct {
		name string
		mark func(string) string
		turn computeruse.Turn
		want string
	}{
		{
			"a release that was refused", func(kind string) string { return kind },
			do(computeruse.Action{Kind: computeruse.ActDown}, computeruse.Action{Kind: computeruse.ActUp}),
			"pointerUp button=left x=0 y=0",
		},
		{
			"a press that nothing followed", nil, do(computeruse.Action{Kind: computeruse.ActDown}),
			"pointerUp button=left x=0 y=0",
		},
		{"a key", nil, do(computeruse.Action{Kind: computeruse.ActKeyDown, Keys: []string{"space"}}), "keyDown"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, tc.turn, say("done"))
			b.agent.Approver = &sayNo{}
			var screen *careful
			b.browser.Wrap = func(s *computerusetest.Screen) sessions.Page {
				if screen == nil {
					screen = &careful{Screen: s, kinds: []string{"pointerDown", "pointerUp", "keyDown", "keyUp"}, mark: tc.mark}
				}
				return screen
			}
			b.answer(t)
			acts := b.browser.Screen().Acts()
			if got := acts[len(acts)-1]; !strings.HasPrefix(got, tc.want) {
				t.Errorf("the last act is %q, want %q (all: %q)", got, tc.want, acts)
			}
			if slices.ContainsFunc(screen.done, func(kind string) bool { return strings.HasSuffix(kind, "Up") }) {
				t.Errorf("it was set off: %q", screen.done)
			}
		})
	}
}

func TestARefusedPressLeavesNothingDown(t *testing.T) {
	b := newBench(t, do(computeruse.Action{Kind: computeruse.ActDown}), say("done"))
	b.agent.Approver = &people{no: errors.New("@ada said no")}
	b.browser.Wrap = func(s *computerusetest.Screen) sessions.Page {
		return &careful{Screen: s, kinds: []string{"pointerDown"}}
	}
	b.answer(t)
	check.Equal(t, "the screen got", b.acts(), "")
}

func TestPeopleAreAskedBeforeAnAddressIsOpened(t *testing.T) {
	for name, turn := range map[string]computeruse.Turn{
		"tool":   use(computeruse.ToolNavigate, `{"url":"http://evil.test/?q=secret"}`),
		"action": do(computeruse.Action{Kind: computeruse.ActNavigate, URL: "http://evil.test/?q=secret"}),
	} {
		t.Run(name, func(t *testing.T) {
			for _, p := range []*people{{no: errors.New("@ada said no")}, {decision: "allowed by @ada"}} {
				b := newBench(t, turn, say("done"))
				b.agent.Approver = p
				b.browser.Wrap = func(s *computerusetest.Screen) sessions.Page {
					return &careful{Screen: s, kinds: []string{"navigate"}}
				}
				b.answer(t)
				want := 1
				if p.no != nil {
					want = 0
				}
				if got := b.browser.Acts(); got != want || len(p.asked) != 1 {
					t.Errorf("no: %v; %d acts after %d questions, want %d after one", p.no, got, len(p.asked), want)
				}
			}
		})
	}
}

// people answer questions.
type people struct {
	decision string
	no       error
	asked    []sessions.Question
}

func (p *people) Ask(_ context.Context, _ sessions.Session, _ sessions.Task, q sessions.Question) (string, error) {
	p.asked = append(p.asked, q)
	return p.decision, p.no
}

func TestPeopleAreAskedBeforeWhatTheyWantToDecide(t *testing.T) {
	buys, moods := []string{"clickCoords"}, 0
	moody := func(string) string { // means something else each time
		moods++
		return strconv.Itoa(moods)
	}
	for _, tc := range []struct {
		name   string
		people people
		screen careful
		acts   int
		told   string // beside the outcome
		failed bool
		asked  int
	}{
		{"allowed", people{decision: "allowed by @ada"}, careful{kinds: buys}, 1, "Allowed by @ada.", false, 1},
		{"refused", people{no: errors.New("@ada said no")}, careful{kinds: buys}, 0, "@ada said no. Do not try it in " +
			"another way", true, 1},
		{"nothing to ask", people{}, careful{}, 1, "", false, 0},
		{
			"changing its meaning",
			people{decision: "allowed by @ada"},
			careful{kinds: buys, mark: moody},
			0,
			"the page changed what this does", true, 2,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, do(click(1, 1)), say("done"))
			b.agent.Approver = &tc.people
			b.browser.Wrap = func(s *computerusetest.Screen) sessions.Page {
				tc.screen.Screen = s
				return &tc.screen
			}
			b.answer(t)
			o := b.told(t, 1).Outcomes[0]
			if b.browser.Acts() != tc.acts || len(tc.people.asked) != tc.asked || (o.Err != "") != tc.failed ||
				!strings.Contains(o.Err+o.Text, tc.told) {
				t.Errorf("%d acts, %d questions, outcome %+v", b.browser.Acts(), len(tc.people.asked), o)
			}
		})
	}
}

func TestOnlyAYesOfSomebodyAcknowledgesASafetyCheck(t *testing.T) {
	checks := []computeruse.SafetyWarning{{ID: "cu_1", Code: "sensitive", Message: "a bank"}}
	for _, tc := range []struct {
		name    string
		consent sessions.Approver
		yes     bool
		says    string
	}{
		{"yes", &people{decision: "allowed by @ada"}, true, ""},
		{"no", &people{no: errors.New("@ada said no")}, false, "@ada said no"},
		{"nobody had to be asked", &people{}, false, "Nobody was asked"},
		{"nobody there", nil, false, "nobody who could be asked"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			turn := do(click(1, 1))
			turn.Calls[0].Safety = checks
			b := newBench(t, turn, say("done"))
			b.agent.Approver = tc.consent
			answer, _ := b.answer(t)
			if tc.yes {
				if got := b.told(t, 1).Outcomes[0].Acknowledged; len(got) != 1 || b.browser.Acts() != 1 {
					t.Errorf("acknowledged %v after %d acts", got, b.browser.Acts())
				}
				return
			}
			if !answer.Failed || !strings.Contains(answer.Text, tc.says) || b.browser.Acts() != 0 {
				t.Errorf("got %+v after %d acts, want a failed answer", answer, b.browser.Acts())
			}
			b.model.Script = script(say("as you wish"))
			b.answer(t) // the session goes on
			if o := b.told(t, 1).Outcomes[0]; o.Err == "" || len(o.Acknowledged) != 0 {
				t.Errorf("the model was told %+v", o)
			}
		})
	}
}

func TestAPasswordInAnAddressIsNowhereButInTheBrowser(t *testing.T) {
	b := newBench(t,
		do(computeruse.Action{Kind: computeruse.ActNavigate, URL: "http://ada:hunter2@shop.test/"}),
		use(computeruse.ToolNavigate, `{"url":"http://bob:swordfish@shop.test/"}`), say("done"),
	)
	_, steps := b.answer(t)
	for _, s := range steps {
		if all := s.Label + string(s.Input) + s.Text + string(s.Memory); strings.Contains(all, "hunter2") ||
			strings.Contains(all, "swordfish") {
			t.Errorf("step %d shows a password: %+v", s.N, s)
		}
	}
	check.Contains(t, b.acts(), "http://ada:hunter2@shop.test/", "http://bob:swordfish@shop.test/")
}
