package agent_test

import (
	"testing"

	"clank/sessions/agent"
)

func TestFieldsForPasswordsAreKnownByTheirNames(t *testing.T) {
	for name, want := range map[string]bool{
		"Password": true, "your PassPhrase": true, "PIN": true, "Kennwort": true, "パスワード": true, "Contraseña": true, "client secret": true,
		"Search": false, "Shopping": false, "passenger": false, "": false,
	} {
		if got := agent.IsPasswordFieldName(name); got != want {
			t.Errorf("%q: got %v, want %v", name, got, want)
		}
	}
}

func TestARefHasOneSpelling(t *testing.T) {
	for _, ref := range []string{"e12", "@e12", "ref=e12", "E12", "@ref=E12"} {
		if got := agent.NormalizeRef(ref); got != "e12" {
			t.Errorf("%q: got %q", ref, got)
		}
	}
}
