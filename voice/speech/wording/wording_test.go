package wording_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"clank/voice/speech/wording"
)

func TestWhatIsWrittenBecomesSpeakable(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"The ferry leaves at **9:40**.", "The ferry leaves at 9:40."},
		{"See [the timetable](https://ferry.example/times?x=1).", "See the timetable."},
		{"It is at https://www.ferry.example/a/b?c=d.", "It is at ferry.example."},
		{"# Times\n- 9:40\n- 11:20\n", "Times. 9:40. 11:20."},
		{"Do this:\n```go\nfmt.Println()\n```\nThen stop.", "Do this: Then stop."},
		{"Type `ls` there.", "Type ls there."},
		{"Great 🎉👍🏽 <:party:123456> :tada: news", "Great news."},
		{"The key is sk4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d today", "The key is today."},
		{"_It_ is *very* snake_case", "It is very snake case."},
		{"> quoted\nanswer", "quoted. answer."},
		{"| a | b |\n|---|---|\n| 1 | 2 |", "a b. 1 2."},
		{"<speak>loud</speak> [[h@loU]]", "loud h@loU."},
		{"5 × 3 = 15, 20 °C, €4.50", "5 × 3 = 15, 20 °C, €4.50."},
		{"...", ""},
		{"", ""},
		{"渡し船は九時に出ます。", "渡し船は九時に出ます。"},
	} {
		if got := wording.Spoken(c.text); got != c.want {
			t.Errorf("Spoken(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

func TestTextIsCutIntoSentences(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"One. Two! Three? Four", []string{"One.", "Two!", "Three?", "Four"}},
		{"Dr. Smith paid 3.50 at example.com today. Fine.", []string{"Dr. Smith paid 3.50 at example.com today.", "Fine."}},
		{"It is e.g. this one. J. R. R. Tolkien wrote it.", []string{"It is e.g. this one.", "J. R. R. Tolkien wrote it."}},
		{"No. 5 is alive. No. Not that.", []string{"No. 5 is alive.", "No.", "Not that."}},
		{`He said "stop." Then he left.`, []string{`He said "stop."`, "Then he left."}},
		{"Wait... what? Yes.", []string{"Wait... what?", "Yes."}},
		{"船は九時です。次は十時！いいですか？", []string{"船は九時です。", "次は十時！", "いいですか？"}},
		{"a line\nanother", []string{"a line", "another"}},
		{"", nil},
		{" . ", []string{"."}},
	} {
		if diff := cmp.Diff(c.want, wording.Sentences(c.text)); diff != "" {
			t.Errorf("Sentences(%q): (-want +got)\n%s", c.text, diff)
		}
	}
}

func TestALongSentenceIsCutAtACommaOrASpace(t *testing.T) {
	long := strings.Repeat("word ", 40) + "here, " + strings.Repeat("more ", 40)
	got := wording.Sentences(long)
	if len(got) < 2 || !strings.HasSuffix(got[0], "here,") {
		t.Errorf("got %q, want the first to end with the comma", got)
	}
}

func FuzzSentences(f *testing.F) {
	for _, s := range []string{"One. Two!", "# a\n- b `c`", "船は。", strings.Repeat("x", 900), "[a](b) ![c](d) https://e.f ``` g"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		spoken := wording.Spoken(text)
		if !utf8.ValidString(spoken) {
			t.Fatalf("Spoken(%q) is not UTF-8", text)
		}
		if strings.ContainsAny(spoken, "<>[]`*|\\") {
			t.Errorf("Spoken(%q) = %q has marks in it", text, spoken)
		}
		all := wording.Sentences(spoken)
		for _, s := range all {
			if s == "" || utf8.RuneCountInString(s) > 240 {
				t.Errorf("a sentence of %q is %q", spoken, s)
			}
		}
		if got, want := solid(strings.Join(all, "")), solid(spoken); got != want {
			t.Errorf("sentences of %q have %q, want %q", spoken, got, want)
		}
	})
}

// solid is s without space.
func solid(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}
