package untrusted_test

import (
	"testing"

	"clank/internal/untrusted"
)

func TestShortenedTextEndsWithAnEllipsisAndHasWholeCharacters(t *testing.T) {
	for _, tc := range []struct {
		text string
		most int
		want string
	}{
		{"", 3, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"äöü", 3, "äöü"},
		{"äöüß", 3, "äö…"},
		{"日本語の文", 1, "…"},
		{"a\nb c", 4, "a\nb…"},
		{"\xff\xff\xff", 2, "\xff…"},
	} {
		if got := untrusted.Shorten(tc.text, tc.most); got != tc.want {
			t.Errorf("Shorten(%q, %d) = %q, want %q", tc.text, tc.most, got, tc.want)
		}
	}
	if got, want := untrusted.ShortenLine(" one\n\ttwo\u2028three \xff ", 13), "one two thre…"; got != want {
		t.Errorf("ShortenLine = %q, want %q", got, want)
	}
	if got, want := untrusted.ShortenLine("a\xffb\r\n", 9), "a\uFFFDb"; got != want {
		t.Errorf("ShortenLine = %q, want %q", got, want)
	}
}
