package discord_test

import (
	"regexp"
	"strings"
	"testing"

	"clank/bot/discord"
)

func TestAnAnswerShowsWhereItsLinksLead(t *testing.T) {
	for in, want := range map[string]string{
		"see [the bank](https://evil.example/a_(b)?q=1) now":   "see the bank (<https://evil.example/a_(b)?q=1>) now",
		"[https://bank.example](https://evil.example)":         "https://bank.example (<https://evil.example>)",
		"[shop.example](https://shop.example/)":                "<https://shop.example/>",
		`[x](<https://a.example> "title")`:                     "x (<https://a.example>)",
		"![x](https://a.example/?q=s)":                         "!x (<https://a.example/?q=s>)",
		"[a [b](https://x.example) c](https://y.example)":      "a b (<https://x.example>) c (<https://y.example>)",
		"[x] (not one) [y]: no [z](":                           "[x] (not one) [y]: no [z](",
		"`[a](b)` and ```\n[a](b) discord.gg/x\n```":           "`[a](b)` and ```\n[a](b) discord.gg/x\n```",
		"`open [a](https://b.example)":                         "`open a (<https://b.example>)",
		`\[a\]\(https\://b.example\)`:                          `\[a\]\(https\://b.example\)`,
		"join https://discord.gg/abc or discord.com/invite/x":  "join `https://discord.gg/abc` or `discord.com/invite/x`",
		"<https://DISCORD.gift/abc>, ptb.discord.com/events/1": "`https://DISCORD.gift/abc`, `ptb.discord.com/events/1`",
		"[free](https://discord.gg/abc)":                       "free (`https://discord.gg/abc`)",
		"https://discord.com/channels/1 mydiscord.gg.example":  "https://discord.com/channels/1 mydiscord.gg.example",
		"pay\u202egnp.exe \u2066x\u2069":                       "paygnp.exe x",
		"plain **text**, 1 < 2, שלום":                          "plain **text**, 1 < 2, שלום",
		`ends with \`:                                          `ends with \`,
	} {
		if got := discord.RevealLinks(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func FuzzHonest(f *testing.F) {
	for _, s := range []string{"[a](b)", "[[a](b)](c)", "`[a](b)`", "```[a](b)```[c](d)", `\[a](b)`, "[a](b(c)d)", "[a]((", "``[a`](b)", "[" + strings.Repeat("[", 50) + "](", "[`](a)`](b)"} {
		f.Add(s)
	}
	code := regexp.MustCompile("(?s)```.*?```|``.*?``|`[^`]*`|\\\\.")
	masked := regexp.MustCompile(`\[[^\[\]]*\]\(https?://[^()\s]*\)`)
	f.Fuzz(func(t *testing.T, s string) {
		out := discord.RevealLinks(s)
		if strings.ContainsAny(out, "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069") {
			t.Errorf("%q became %q", s, out)
		}
		if strings.Contains(s, "`") || strings.Contains(s, `\`) {
			return // what is code is for Discord to say
		}
		if m := masked.FindString(code.ReplaceAllString(out, "")); m != "" {
			t.Errorf("%q became %q, in which %q hides where it leads", s, out, m)
		}
	})
}
