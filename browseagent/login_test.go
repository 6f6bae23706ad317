package browseagent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/browseagent"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
)

// keys are scripted logins.
type keys struct {
	list []browseagent.Login
	done []string
	err  error
	lost error // of Where
}

func (k *keys) List(context.Context, sessions.Task) ([]browseagent.Login, error) {
	return k.list, k.err
}

func (k *keys) Where(_ context.Context, s sessions.Session, t sessions.Task, name string, code bool) (origin, about string, err error) {
	k.done = append(k.done, fmt.Sprint("where ", s.ID, t.ID, name, code))
	return "https://shop.test", "Log in as ada", k.lost
}

func (k *keys) Fill(_ context.Context, s sessions.Session, t sessions.Task, name, at string, submit bool) ([]string, error) {
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
	b := newBench(call(loginCalls...), named("fill_login", `{"entry":"shop"}`), named("fill_login", `{"entry":"bank"}`), named("fill_totp", `{"entry":"bank"}`), say("ok"))
	k := &keys{list: []browseagent.Login{{Name: "shop", Origins: []string{"https://shop.test"}, Code: true}}}
	b.agent.Logins = k
	b.agent.Approver = &asker{answer: allowed}
	_, steps := b.answer(t)
	if got, want := strings.Join(k.done, "; "), "where s1t1shopfalse; fill s1t1shop[https://shop.test]false"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
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

// A model that only fills a login in can send it with a click: nothing may be revealed before people agreed.
func TestToLogInIsAskedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const refused, nobody = "Not done: @ada said no. ", "Not done: a person has to agree to it, and nobody can be asked here."
		for _, tt := range []struct {
			name   string
			answer func(context.Context) (string, error)
			asked  bool
			says   string
		}{
			{"allowed", allowed, true, "Allowed by @ada."},
			{"after a minute", func(context.Context) (string, error) {
				<-time.After(time.Minute) // the person thinks
				return "allowed by @ada", nil
			}, true, "Allowed by @ada."},
			{"refused", func(context.Context) (string, error) { return "", errors.New("not done: @ada said no") }, true, refused},
			{"nobody to ask", nil, false, nobody},
		} {
			for input, submit := range map[string]bool{`{"entry":"shop"}`: false, `{"entry":"shop","submit":false}`: false, `{"entry":"shop","submit":true}`: true} {
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
					want = []string{"where s1t1shopfalse", fmt.Sprint("fill s1t1shop[https://shop.test]", submit), "where s1t1shoptrue", "code s1t1shop[https://shop.test]"}
				}
				if diff := cmp.Diff(want, k.done); diff != "" {
					t.Errorf("%s, %s (-want +got):\n%s", tt.name, input, diff)
				}
				done := acts(steps)[1:]
				for _, s := range done {
					if s.Failed != failed || !strings.HasPrefix(s.Text, tt.says) {
						t.Errorf("%s, %s: the step says %+v", tt.name, input, s)
					}
				}
				if questions := map[bool]int{true: 2}[tt.asked]; len(done) != 2 || len(a.questions) != questions {
					t.Errorf("%s, %s: %d steps and %d questions, want 2 and %d", tt.name, input, len(done), len(a.questions), questions)
				}
				for _, q := range a.questions {
					if diff := cmp.Diff(sessions.Question{Classes: []string{"login"}, Text: "Log in as ada", Origin: "https://shop.test"}, q); diff != "" {
						t.Errorf("%s: %s", tt.name, diff)
					}
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
	if names := toolNames(t, b); strings.Contains(names, "fill_") {
		t.Errorf("offered %s", names)
	}
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
	if !strings.Contains(last, "[password]") || !strings.Contains(last, "lamp") {
		t.Errorf("stored %s", last)
	}
	if got := b.page(t).done(); got[1] != "type ref=e4 text=hunter2" {
		t.Errorf("the page got %q", got)
	}
}
