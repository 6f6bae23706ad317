package conversation_test

import (
	"strings"
	"testing"

	"clank/voice/conversation"

	"github.com/google/go-cmp/cmp"
)

func TestOurNameIsHeardWhereWeAreCalled(t *testing.T) {
	names := []string{"Robin", "Captain Nemo", ""}
	for _, tc := range []struct {
		text  string
		named bool
		rest  string
	}{
		{"Clank, look up the ferry times.", true, "look up the ferry times."},
		{"clank look up the ferry times", true, "look up the ferry times"},
		{"Hey Clank, what's the time?", true, "what's the time?"},
		{"Okay, so, clank. Stop.", true, "Stop."},
		{"what is the time, clank?", true, "what is the time"},
		{"Can you help me clank", true, "Can you help me"},
		{"Well, I think, clank, you should look", true, "Well, I think you should look"},
		{"I say hey clank do it", true, "I say do it"},
		{"Clank", true, ""},
		{"hey clank!", true, ""},
		{"Robin, open the page", true, "open the page"},
		{"Hey captain Nemo, open the page", true, "open the page"},
		{"open the page, Captain Nemo", true, "open the page"},
		{"captain, open the page", false, ""},
		{"Klank, open the page", true, "open the page"},
		{"hey plank open the page", true, "open the page"},
		{"open the page, plank.", true, "open the page"},
		{"Clank, clank stop", true, "clank stop"},

		{"there was a loud clank in the kitchen", false, ""},
		{"plank walking is hard", false, ""},
		{"the form is blank", false, ""},
		{"Blank", false, ""},
		{"did you see the match", false, ""},
		{"", false, ""},
		{"...", false, ""},
	} {
		named, rest := conversation.CutName(tc.text, names)
		if !tc.named {
			tc.rest = tc.text
		}
		if named != tc.named || rest != tc.rest {
			t.Errorf("named(%q) = %v, %q; want %v, %q", tc.text, named, rest, tc.named, tc.rest)
		}
	}
}

func FuzzNamed(f *testing.F) {
	for _, s := range []string{"hey clank, stop", "plank", "a, clank", "ok ok ok", "\xff clank", "é clank´s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if named, rest := conversation.CutName(s, nil); named && len(rest) >= len(s) {
			t.Errorf("named(%q) leaves %q, which is not shorter", s, rest)
		}
	})
}

func TestWhatIsLeftOutByPrivacyIsAskedForInSoManyWords(t *testing.T) {
	for rest, want := range map[string]bool{
		"privacy": true, "Privacy.": true, "privacy please": true, "my privacy": true, "Leave me out, please": false, "leave me out": true, "Don't listen to me!": true,
		"what is your privacy policy": false, "what about privacy": false, "is privacy important": false, "": false,
	} {
		if got := conversation.IsOptOutRequest(rest); got != want {
			t.Errorf("isPrivacy(%q) = %v, want %v", rest, got, want)
		}
	}
}

func TestAnswersAreSaidWithoutWhatOnlyEyesUnderstand(t *testing.T) {
	for _, tc := range []struct {
		answer string
		want   []string
		more   bool
	}{
		{"It is ten. Shall I book it?", []string{"It is ten.", "Shall I book it?"}, false},
		{"It costs 3.50 euros, e.g. at Dr. Miller's shop. Fine!", []string{"It costs 3.50 euros, e.g. at Dr. Miller's shop.", "Fine!"}, false},
		{"## Ferries\n- **ten** o'clock\n- _noon_\n", []string{"Ferries", "ten o'clock", "noon"}, false},
		{"See [the table](https://a.test/x_(y)).", []string{"See the table.", conversation.AnswerInChat}, true},
		{"Here: https://a.test/b?c=d", []string{"Here:", conversation.AnswerInChat}, true},
		{"Run this:\n```sh\nrm -r x. y\n```\nThat is all.", []string{"Run this:", "That is all.", conversation.AnswerInChat}, true},
		{"| a | b |\n|---|---|\n| 1 | 2 |\nSo it is one.", []string{"So it is one.", conversation.AnswerInChat}, true},
		{"船は十時です。次は正午です。", []string{"船は十時です。", "次は正午です。"}, false},
		{"set OPENAI_API_KEY", []string{"set OPENAI_API_KEY"}, false},
		{"", nil, false},
		{"🎉", nil, false},
	} {
		got, more := conversation.SpokenSentences(tc.answer)
		if diff := cmp.Diff(tc.want, got); diff != "" || more != tc.more {
			t.Errorf("spoken(%q), more = %v (-want +got):\n%s", tc.answer, more, diff)
		}
	}
}

func TestALongAnswerIsReadToItsEndInTheChat(t *testing.T) {
	got, more := conversation.SpokenSentences(strings.Repeat("This is one of many sentences. ", 100))
	if n := len(strings.Join(got, " ")); !more || n > 750 || got[len(got)-1] != conversation.RestInChat {
		t.Errorf("%d characters are said, more = %v, ending with %q", n, more, got[len(got)-1])
	}
	got, _ = conversation.SpokenSentences(strings.Repeat("words without an end ", 20))
	for _, s := range got {
		if len(s) > 270 {
			t.Errorf("a sentence has %d bytes", len(s))
		}
	}
}

func FuzzSpoken(f *testing.F) {
	for _, s := range []string{"a. b", "```", "[x](y)", "e.g. x", "| |", "\xff.", "a\u00a0. b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, _ := conversation.SpokenSentences(s)
		for _, one := range got {
			if !conversation.HasWords(one) || strings.Contains(one, "\n") {
				t.Errorf("spoken(%q) has the sentence %q", s, one)
			}
		}
	})
}
