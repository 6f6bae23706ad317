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
func TestALoginThatIsNotSentIsAskedAboutToo(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer func(context.Context) (string, error)
		done   string
		asked  int
		says   string
		failed bool
	}{
		{"allowed", allowed, "where s1t1shopfalse; fill s1t1shop[https://shop.test]false", 1, "Allowed by @ada.", false},
		{"refused", func(context.Context) (string, error) { return "", errors.New("not done: the settings refuse it") }, "where s1t1shopfalse", 1, "Not done: the settings refuse it. ", true},
		{"nobody to ask", nil, "", 0, "Not done: a person has to agree to it, and nobody can be asked here.", true},
	} {
		for _, input := range []string{`{"entry":"shop"}`, `{"entry":"shop","submit":false}`} {
			b := newBench(call(loginCalls...), named("fill_login", input), say("ok"))
			k := &keys{list: []browseagent.Login{{Name: "shop", Origins: []string{"https://shop.test"}}}}
			b.agent.Logins = k
			a := &asker{answer: tt.answer}
			if tt.answer != nil {
				b.agent.Approver = a
			}
			_, steps := b.answer(t)
			if got := strings.Join(k.done, "; "); got != tt.done {
				t.Errorf("%s: got %s, want %s", tt.name, got, tt.done)
			}
			if len(a.questions) != tt.asked {
				t.Errorf("%s: asked %+v, want %d questions", tt.name, a.questions, tt.asked)
			}
			done := acts(steps)
			if len(done) != 2 {
				t.Fatalf("%s: %d steps, want 2", tt.name, len(done))
			}
			if done[1].Failed != tt.failed || !strings.HasPrefix(done[1].Text, tt.says) {
				t.Errorf("%s: failed %v, the step says %q", tt.name, done[1].Failed, done[1].Text)
			}
		}
	}
}

func TestToLogInIsAskedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			name   string
			answer func(context.Context) (string, error)
			done   string
			says   string
			failed bool
		}{
			{"allowed", allowed, "where s1t1shopfalse; fill s1t1shop[https://shop.test]true; where s1t1shoptrue; code s1t1shop[https://shop.test]", "Allowed by @ada.", false},
			{"after a minute", func(context.Context) (string, error) {
				<-time.After(time.Minute) // the person thinks
				return "allowed by @ada", nil
			}, "where s1t1shopfalse; fill s1t1shop[https://shop.test]true; where s1t1shoptrue; code s1t1shop[https://shop.test]", "Allowed by @ada.", false},
			{"refused", func(context.Context) (string, error) { return "", errors.New("not done: @ada said no") }, "where s1t1shopfalse; where s1t1shoptrue", "Not done: @ada said no. ", true},
			{"nobody to ask", nil, "", "Not done: a person has to agree to it, and nobody can be asked here.", true},
		} {
			b := newBench(call(loginCalls...), named("fill_login", `{"entry":"shop","submit":true}`), named("fill_totp", `{"entry":"shop"}`), say("ok"))
			b.settings.StepTimeout = 5 * time.Second
			k := &keys{list: []browseagent.Login{{Name: "shop", Origins: []string{"https://shop.test"}, Code: true}}}
			b.agent.Logins = k
			a := &asker{answer: tt.answer}
			if tt.answer != nil {
				b.agent.Approver = a
			}
			_, steps := b.answer(t)
			if got := strings.Join(k.done, "; "); got != tt.done {
				t.Errorf("%s: got %s, want %s", tt.name, got, tt.done)
			}
			for _, s := range acts(steps)[1:] {
				if s.Failed != tt.failed || !strings.HasPrefix(s.Text, tt.says) {
					t.Errorf("%s: the step says %+v", tt.name, s)
				}
			}
			for _, q := range a.questions {
				if want := (sessions.Question{Classes: []string{"login"}, Text: "Log in as ada", Origin: "https://shop.test"}); !cmp.Equal(want, q) {
					t.Errorf("%s: %s", tt.name, cmp.Diff(want, q))
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

func TestAPasswordThatTheModelTypesIsNotStored(t *testing.T) {
	b := newBench(
		call("open", `{"url":"http://shop.test/"}`),
		call("type", `{"ref":"e4","text":"hunter2"}`, "type", `{"ref":"e2","text":"lamp"}`),
		call("hover", `{"ref":"e3"}`), say("ok"),
	)
	withPage(b, &page{on: on{"type": func(context.Context, map[string]any) ([]string, error) { return nil, nil }}})
	_, steps := b.answer(t)
	for _, s := range steps {
		if strings.Contains(string(s.Memory), "hunter2") {
			t.Fatalf("step %d stores the password: %s", s.N, s.Memory)
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
