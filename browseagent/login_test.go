package browseagent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"clank/browseagent"
	"clank/sessions"
)

// keys are scripted logins.
type keys struct {
	list []browseagent.Login
	done []string
	err  error
}

func (k *keys) List(context.Context, sessions.Task) ([]browseagent.Login, error) {
	return k.list, k.err
}

func (k *keys) Fill(_ context.Context, s sessions.Session, t sessions.Task, name string, submit bool) ([]string, error) {
	k.done = append(k.done, fmt.Sprint("fill ", s.ID, t.ID, name, submit))
	return []string{"filled in"}, k.err
}

func (k *keys) FillCode(_ context.Context, s sessions.Session, t sessions.Task, name string) ([]string, error) {
	k.done = append(k.done, fmt.Sprint("code ", s.ID, t.ID, name))
	return nil, errors.New("nobody agreed")
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
	b := newBench(call(loginCalls...), named("fill_login", `{"entry":"shop","submit":true}`), named("fill_login", `{"entry":"bank"}`), named("fill_totp", `{"entry":"shop"}`), say("ok"))
	k := &keys{list: []browseagent.Login{{Name: "shop", Origins: []string{"https://shop.test"}, Code: true}}}
	b.agent.Logins = k
	_, steps := b.answer(t)
	if got, want := strings.Join(k.done, "; "), "fill s1t1shoptrue; code s1t1shop"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	done := acts(steps)
	if got := done[1].Label; got != `fill in the login "shop" and send it` || done[1].Failed {
		t.Errorf("got %q, failed %v", got, done[1].Failed)
	}
	if !done[2].Failed || !strings.Contains(done[2].Text, `no login "bank"`) || !strings.Contains(done[2].Text, `"shop"`) {
		t.Errorf("an unknown login: %+v", done[2])
	}
	if !done[3].Failed || done[3].Text != "nobody agreed" {
		t.Errorf("a code that nobody agreed to: %+v", done[3])
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
