package sessions_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"clank/internal/test/check"
	"clank/internal/test/sessionstest"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
)

func TestPasswordsAreTakenOutAndWordsAreLeft(t *testing.T) {
	for _, tt := range []struct{ secret, text, want string }{
		{"hunter2", "log in as ada/hunter2, then (hunter2).", "log in as ada/••••, then (••••)."},
		{"hunter2", "xhunter2x", "x••••x"},
		{"cat", "a cat, cats and concat: cat", "a ••••, cats and concat: ••••"},
		{"orange", "oranges, orange and an orange2", "oranges, •••• and an orange2"},
		{"Ünïcödé", "Ünïcödé|eÜnïcödée", "••••|eÜnïcödée"},
		{"12", "12 of 12", "12 of 12"}, // two boxes of a code
		{`q"<é& 7`, `q"<é& 7 q\"<é& 7 q\"\u003cé\u0026 7`, "•••• •••• ••••"},
		{`q"<é& 7`, `q%22%3C%C3%A9%26+7 q%22%3C%C3%A9&%207`, "•••• ••••"},
		{"cat", `line\ncat`, `line\n••••`},
		{"••••", "typed ••••", "typed ••••"},
	} {
		secrets, _ := sessions.Secrets{}.With(tt.secret)
		if got := secrets.Mask(tt.text); got != tt.want {
			t.Errorf("without %q, %q is %q, want %q", tt.secret, tt.text, got, tt.want)
		}
	}
	secrets, _ := sessions.Secrets{}.With("user", "user-12345", "123456")
	memory := `{"role":"user","n":123456,"user":[{"text":"a user, user-12345"},"\"user-12345\""]}`
	got := secrets.MaskJSON(json.RawMessage(memory))
	if want := `{"role":"user","n":123456,"user":[{"text":"a ••••, ••••"},"\"••••\""]}`; string(got) != want {
		t.Errorf("a memory is %s, want %s", got, want)
	}
	page := secrets.MaskSession(sessions.Session{URL: "https://user.example/user?as=user&word=user-12345#123456"})
	if want := "https://user.example/user?as=••••&word=••••#••••"; page.URL != want {
		t.Errorf("an address is %s, want %s", page.URL, want)
	}
}

func TestLikelyPasswordsAreFoundInInstructions(t *testing.T) {
	for _, tt := range []struct{ prompt, want string }{
		{"log in with ada / hunter2 and read the news", "hunter2"},
		{"sign in as ada:swordfish, then read", "swordfish"},
		{"Log in at shop.example as ada and hunter2.", "hunter2"},
		{"my password is hunter2.", "hunter2"},
		{"password: swordfish", "swordfish"},
		{"Passwort „grünes Haus“ eingeben", "grünes Haus"},
		{`type "correct horse" into "Password"`, "correct horse"},
		{"enter tr0ub4dor in the password field", "tr0ub4dor"},
		{"PIN 4711", "4711"},
		{"open http://ada:swordfish@shop.example/", "swordfish"},
		{"пароль: секрет99", "секрет99"},
		{"reset my password and open the password settings", ""},
		{"the password is wrong, say why", ""},
		{"log in with shop and read", ""},
		{"find a pin board for 20 euros", ""},
		{`type "lamps" into "Search"`, ""},
		{"sign in as ada and read the news", ""},
	} {
		if got := strings.Join(sessions.LikelySecrets(tt.prompt), "|"); got != tt.want {
			t.Errorf("%q has %q, want %q", tt.prompt, got, tt.want)
		}
		plain := slices.Contains([]string{"swordfish", "grünes Haus", "correct horse"}, tt.want)
		if got := strings.Join(sessions.LikelyCodes(tt.prompt), "|"); (got == "") != (plain || tt.want == "") {
			t.Errorf("%q has the code %q", tt.prompt, got)
		}
	}
}

func TestATypedPasswordIsKeptAndToldNowhere(t *testing.T) {
	const word = "Tr0ub4dor"
	synctest.Test(t, func(t *testing.T) {
		before, typed := sessionstest.Act("read "+word), sessionstest.Act("type")
		after := sessionstest.Act("go to " + word)
		before.Step.Memory = json.RawMessage(`{"said":"` + word + `"}`)
		typed.Step.Secrets = []string{word}
		after.Step.Input, after.Step.Text = json.RawMessage(`{"text":"`+word+`"}`), "it says "+word
		var asked []string
		backend := &sessionstest.Backend{Script: func(_ sessions.Session, t sessions.Task) []sessionstest.ScriptStep {
			asked = append(asked, t.Prompt)
			return []sessionstest.ScriptStep{before, typed, after, sessionstest.Answer("done with " + word)}
		}}
		r := newRig(t, sessions.Limits{}, backend)
		var told strings.Builder
		known := false
		first, err := r.Run(t.Context(), ask("ada", "between us it is "+word), func(ev sessions.Event) {
			if known = known || ev.Step != nil && ev.Step.Label == "type"; known {
				told.WriteString(mustJSON(t, ev))
				for _, w := range r.Scopes.Active(r.scope()) {
					told.WriteString(w.Label)
				}
			}
		})
		check.Must(t, err)
		again := r.run(goOn(first.SessionID, "ada", "once more "+word))
		if want := []string{"between us it is " + word, "once more " + word}; !cmp.Equal(asked, want) {
			t.Errorf("the backend was asked %q, want %q", asked, want)
		}
		check.Contains(t, first.Answer, "done with ••••")
		if n := strings.Count(first.Answer+again.Answer, "clank vault add"); n != 1 {
			t.Errorf("the vault was told of %d times: %q, %q", n, first.Answer, again.Answer)
		}
		told.WriteString(mustJSON(t, again))
		session, err := r.Session(t.Context(), first.SessionID)
		check.Must(t, err)
		fmt.Fprintf(&told, "%s%+v", session.Memory, session)
		for _, id := range []string{first.ID, again.ID} {
			rec, err := r.Task(t.Context(), id)
			check.Must(t, err)
			steps, err := r.Steps(t.Context(), id)
			check.Must(t, err)
			told.WriteString(mustJSON(t, rec) + mustJSON(t, steps))
		}
		if at := strings.Index(told.String(), word); at >= 0 {
			t.Errorf("the password is told: …%s…", told.String()[max(0, at-80):at+20])
		}
		check.Contains(t, told.String(), "read ••••", "between us it is ••••", "once more ••••")
	})
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	check.Must(t, err)
	return string(raw)
}
