package intent

import (
	"testing"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
)

func TestHowKeysAreJudged(t *testing.T) {
	for _, c := range []struct {
		kind actiontable.Kind
		keys []string
		want string
	}{
		{actiontable.KindPress, []string{"Enter", "enter", "Return", "NumpadEnter", "\n", "\r", "shift+Return"}, "key"},
		{actiontable.KindPress, []string{"Control+Enter", "Meta+Enter", "Alt+Shift+Enter"}, "chord"},
		{actiontable.KindPress, []string{" ", "Space", "space", "Spacebar", "Shift+Space"}, "space"},
		{actiontable.KindPress, []string{"Delete", "backspace", "Shift+Delete", "a", "#", "ä", "Control+d"}, "strike"},
		{actiontable.KindPress, []string{"ArrowDown", "Control+Home"}, "strike"}, // which choose in a list
		{actiontable.KindPress, []string{"Tab", "F5", "Escape", ""}, ""},
		{actiontable.KindKeyDown, []string{"Enter"}, "key"},
		{actiontable.KindKeyUp, []string{"Space", " "}, "space"},
		{actiontable.KindKeyUp, []string{"Enter", "a", "Delete", "Tab"}, ""},
	} {
		for _, key := range c.keys {
			if got := judgeMode(page.Action{Kind: c.kind, Key: key}); got != c.want {
				t.Errorf("%s %q is judged as %q, want %q", c.kind, key, got, c.want)
			}
		}
	}
}

func TestWhatIsQuotedHasAnEndAndNoSurprises(t *testing.T) {
	for in, want := range map[string]string{
		"abcd": `"abcd"`, "abcde": `"abcd" … (5 characters)`, "äöüß": `"\u00e4\u00f6\u00fc\u00df"`,
		"a\"\n\u202e": `"a\"\n\u202e"`, "": `""`,
	} {
		if got := QuoteUntrusted(in, 4); got != want {
			t.Errorf("%q is quoted as %s, want %s", in, got, want)
		}
	}
}
