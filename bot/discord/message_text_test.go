package discord_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"clank/bot/discord"
	"clank/internal/test/check"
)

func TestSplit(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"nothing": {"", nil},
		"short":   {"one\n\ntwo", []string{"one\n\ntwo"}},
		"on lines": {
			"aaaaaaaaaaaa\nbbbbbbbbbbbb\ncccccccccccc",
			[]string{"aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc"},
		},
		"on sentences":        {"One is here. Two is here too.", []string{"One is here.", "Two is here too."}},
		"on spaces":           {"aaaaa bbbbb ccccc ddddd", []string{"aaaaa bbbbb ccccc", "ddddd"}},
		"without spaces":      {strings.Repeat("x", 45), []string{strings.Repeat("x", 20), strings.Repeat("x", 20), "xxxxx"}},
		"in Japanese":         {"これは長い文章です。つぎの文章もここにあります。", []string{"これは長い文章です。", "つぎの文章もここにあります。"}},
		"pairs stay together": {strings.Repeat("😀", 11), []string{strings.Repeat("😀", 10), "😀"}},
		"a block stays whole": {"some words\n```\na\nb\n```", []string{"some words", "```\na\nb\n```"}},
		"a long block is made two": {
			"```go\naaaaaaaa\nbbbbbbbb\n```\nend", []string{"```go\naaaaaaaa\n```", "```go\nbbbbbbbb\n```", "end"},
		},
		"an open block is closed": {"```\nabc", []string{"```\nabc\n```"}},
		"inline code is a line":   {"use ```x``` here", []string{"use ```x``` here"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := discord.SplitMessage(tc.text, 20)
			check.Diff(t, "split message", got, tc.want)
		})
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		"", "a b c", "```go\nx\n```", "```\n" + strings.Repeat("y", 90), "`````` ```\n ```",
		"😀😀 。\n\n\n.", "```" + strings.Repeat("z", 99) + "\n\xff", strings.Repeat("`", 99), "```\n```N" +
			strings.Repeat("````` `", 9), "```````````\n" + strings.Repeat("`````` ", 30),
	} {
		f.Add(s)
	}
	squeeze := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) || r == '`' || r == '\u200b' {
				return -1
			}
			return r
		}, s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "\uFFFD")
		parts := discord.SplitMessage(text, 60)
		all := strings.Join(parts, "")
		for _, p := range parts {
			if n := discord.MessageLength(p); n > 60 || strings.TrimSpace(p) == "" {
				t.Errorf("part of %d characters: %q", n, p)
			}
		}
		// Blocks that were cut repeat their first line, so only count without them.
		if !strings.Contains(text, "```") && squeeze(all) != squeeze(text) {
			t.Errorf("markup.Split(%q) = %q: something was lost", text, parts)
		}
		if len(squeeze(all)) < len(squeeze(text)) {
			t.Errorf("markup.Split(%q) = %q: something was lost", text, parts)
		}
	})
}

func TestPlainShowsAsItIs(t *testing.T) {
	for in, want := range map[string]string{
		"click *here* @everyone":  `click \*here\* \@everyone`,
		"[a](https://b.example)":  `\[a\]\(https\://b.example\)`,
		"two\nlines\x00\xff":      "two lines\x00\uFFFD",
		strings.Repeat("é", 30):   strings.Repeat("é", 24) + "…",
		"see discord.gg/scam now": `see discord.gg\/scam now`,
		"https://discord.gg/x":    `https\://discord.gg\/x`,
		"dis\u202ecord":           "discord",
		"<@123> `x` ||y|| ~~z~~":  "\\<\\@123\\> \\`x\\` \\|\\|y\\|\\| \\~\\~z\\~\\~",
	} {
		check.Equal(t, "markup.Plain("+in+")", discord.EscapeLine(in, 25), want)
	}
}

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
		"[[bank.com](https://evil.example)](https://bank.com)": "bank.com (<https://evil.example>) (<https://bank.com>)",
		"[`[a](b)`](https://evil.example)":                     "`[a](b)` (<https://evil.example>)",
	} {
		check.Equal(t, in, discord.RevealLinks(in), want)
	}
}

// TestLinksAreRevealedInBoundedTime ends long texts with a link. What is not read any more must not hide where it
// leads.
func TestLinksAreRevealedInBoundedTime(t *testing.T) {
	const size = 64 << 10
	for _, shape := range []string{"[", "[a](", "[a][", "[]([", "]["} {
		got := discord.RevealLinks(strings.Repeat(shape, size/len(shape)) + "[x](https://evil.example)")
		end := got[max(0, len(got)-40):]
		if !strings.HasSuffix(end, `\[x\](https://evil.example)`) && !strings.HasSuffix(end, "x (<https://evil.example>)") {
			t.Errorf("%q many times: the text ends %q", shape, end)
		}
		if len(got) > 3*size {
			t.Errorf("%q many times: the text has %d bytes", shape, len(got))
		}
	}
	const many = 1 << 20 // takes minutes if each bracket costs as much as the text is long
	if got := discord.RevealLinks(strings.Repeat("[", many)); strings.Count(got, `\[`) < many/2 {
		t.Error("brackets that nobody reads are not escaped")
	}
}

func FuzzHonest(f *testing.F) {
	for _, s := range []string{
		"[a](b)", "[[a](b)](c)", "`[a](b)`", "```[a](b)```[c](d)", `\[a](b)`, "[a](b(c)d)", "[a]((",
		"``[a`](b)", "[" + strings.Repeat("[", 50) + "](", "[`](a)`](b)",
	} {
		f.Add(s, byte(1))
		f.Add(s, byte(200))
	}
	code := regexp.MustCompile("(?s)```.*?```|``.*?``|`[^`]*`|\\\\.")
	masked := regexp.MustCompile(`\[[^\[\]]*\]\(https?://[^()\s]*\)`)
	f.Fuzz(func(t *testing.T, s string, times byte) {
		s = strings.Repeat(s, min(int(times), 1+(32<<10)/(len(s)+1)))
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
