package intent

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/check"
	"clank/sessions"

	"github.com/google/go-cmp/cmp/cmpopts"
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
			check.Equal(t, fmt.Sprintf("%s %q is judged as", c.kind, key),
				judgeMode(page.Action{Kind: c.kind, Key: key}), c.want)
		}
	}
	for _, c := range []struct {
		action page.Action
		want   string
	}{
		{page.Action{Kind: actiontable.KindType, Text: "a\nb"}, "cell"},
		{page.Action{Kind: actiontable.KindType, Text: "ab", Slowly: true}, "cell"},
		{page.Action{Kind: actiontable.KindType, Text: "a\nb", Slowly: true}, "type"},
		{page.Action{Kind: actiontable.KindType, Submit: true}, "type"},
		{page.Action{Kind: actiontable.KindInsertText, Text: "ab"}, ""},
		{page.Action{Kind: actiontable.KindInsertText, Text: "a\rb"}, "insert"},
	} {
		check.Equal(t, fmt.Sprintf("%+v is judged as", c.action), judgeMode(c.action), c.want)
	}
}

func TestAVerdictIsToldInOurWords(t *testing.T) {
	const shop = "https://shop.example:8443/pay?id=1"
	long := strings.Repeat("x", 250)
	for _, c := range []struct {
		verdict scriptVerdict
		want    sessions.Assessment
	}{
		{
			scriptVerdict{At: shop, To: shop},
			sessions.Assessment{Question: sessions.Question{Origin: "https://shop.example:8443"}},
		},
		{
			scriptVerdict{
				At: shop, To: "http://bank.example/x", Classes: []string{"submit", "send", "delete", "buy"},
				Kinds: []string{"name", "password"},
				Names: []string{"Pay", "Go on"}, Terms: []string{"€ 1", "to Eve"}, Fingerprint: "m",
			},
			sessions.Assessment{Mark: "m", Question: sessions.Question{
				Classes: []string{"buy", "delete", "send", "submit", "leave"}, Origin: "https://shop.example:8443",
				TargetHost: "bank.example",
				Text: "Buy, order or pay something at shop.example:8443, and delete or cancel something at " +
					"shop.example:8443, and send or publish something at shop.example:8443, and hand over personal data (name, " +
					"password) at shop.example:8443, and go to bank.example",
				Detail: "Pay / Go on (€ 1, to Eve)",
			}},
		},
		{
			scriptVerdict{At: "about:blank", To: "ftp://bank.example/", Classes: []string{"unclear", "executable"}},
			sessions.Assessment{Question: sessions.Question{
				Classes: []string{"executable", "unclear"},
				Text: "Download a program from a page without an address, and do something at a page without an address whose " +
					"meaning clank cannot tell",
			}},
		},
		{
			scriptVerdict{At: "http://a\x00b/", To: "https://x y/", Names: []string{long}, Terms: []string{long}},
			sessions.Assessment{Question: sessions.Question{Detail: long[:199] + "… (" + long[:199] + "…)"}},
		},
	} {
		check.Diff(t, fmt.Sprint(c.verdict), c.verdict.toJudgement(), c.want, cmpopts.EquateEmpty())
	}
}

func TestWhatIsQuotedHasAnEndAndNoSurprises(t *testing.T) {
	for in, want := range map[string]string{
		"abcd": `"abcd"`, "abcde": `"abcd" … (5 characters)`, "äöüß": `"\u00e4\u00f6\u00fc\u00df"`,
		"a\"\n\u202e": `"a\"\n\u202e"`, "": `""`,
	} {
		check.Equal(t, in+" is quoted as", QuoteUntrusted(in, 4), want)
	}
}

func TestWordsAreThoseOfTheirClassAndLanguage(t *testing.T) {
	for _, c := range []struct{ class, text, want string }{
		{"languages", "de", "de"},
		{"languages", "iw", "iw"},
		{"languages", "th", "th"},
		{"languages", "all", ""},
		{"languages", "Words", ""},
		{"languages", "with", ""}, // of the comments in words.txt
		{"buy", "buy it", "buy "},
		{"buy", "a good buy", " buy"},
		{"buy", "buying", ""},
		{"buy", "withdraw now", "withdraw "},
		{"buy", "they withdraw", ""}, // only as the first word
		{"buy", "今すぐ購入する", "購入"},
		{"buy", "ยืนยันสั่งซื้อเลย", "สงซอ"}, // without spaces, folded
		{"delete", "Конто удалить", " удалить"},
		{"delete", "jetzt löschen!", " loschen!"},
		{"delete", "unlöschen", ""},
		{"#", "", "none"},
		{"", "", "none"},
	} {
		pattern, ok := wordPatterns()[c.class]
		got := "none"
		if ok {
			got = regexp.MustCompile(pattern).FindString(foldText(c.text))
		}
		if c.class == "languages" {
			got = regexp.MustCompile(pattern).FindString(c.text)
		}
		check.Equal(t, fmt.Sprintf("%s in %q", c.class, c.text), got, c.want)
	}
}
