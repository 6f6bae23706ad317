package conversation_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"clank/internal/assistant"
	"clank/internal/test/check"
	"clank/llm"
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
		"privacy": true, "Privacy.": true, "privacy please": true, "my privacy": true, "Leave me out, please": false,
		"leave me out": true, "Don't listen to me!": true,
		"what is your privacy policy": false, "what about privacy": false, "is privacy important": false, "": false,
	} {
		check.Equal(t, "isPrivacy("+rest+")", conversation.IsOptOutRequest(rest), want)
	}
}

func TestAnswersAreSaidWithoutWhatOnlyEyesUnderstand(t *testing.T) {
	for _, tc := range []struct {
		answer string
		want   []string
		more   bool
	}{
		{"It is ten. Shall I book it?", []string{"It is ten.", "Shall I book it?"}, false},
		{"It costs 3.50 euros, e.g. at Dr. Miller's shop. Fine!", []string{
			"It costs 3.50 euros, e.g. at Dr. Miller's shop.",
			"Fine!",
		}, false},
		{"## Ferries\n- **ten** o'clock\n- _noon_\n", []string{"Ferries", "ten o'clock", "noon"}, false},
		{"See [the table](https://a.test/x_(y)).", []string{"See the table.", conversation.AnswerInChat}, true},
		{"Here: https://a.test/b?c=d", []string{"Here:", conversation.AnswerInChat}, true},
		{
			"Run this:\n```sh\nrm -r x. y\n```\nThat is all.",
			[]string{"Run this:", "That is all.", conversation.AnswerInChat},
			true,
		},
		{"| a | b |\n|---|---|\n| 1 | 2 |\nSo it is one.", []string{"So it is one.", conversation.AnswerInChat}, true},
		{"船は十時です。次は正午です。", []string{"船は十時です。", "次は正午です。"}, false},
		{"set OPENAI_API_KEY", []string{"set OPENAI_API_KEY"}, false},
		{"", nil, false},
		{"🎉", nil, false},
	} {
		got, more := spokenSentences(tc.answer)
		if diff := cmp.Diff(tc.want, got); diff != "" || more != tc.more {
			t.Errorf("spoken(%q), more = %v (-want +got):\n%s", tc.answer, more, diff)
		}
	}
}

func TestALongAnswerIsReadToItsEndInTheChat(t *testing.T) {
	got, more := spokenSentences(strings.Repeat("This is one of many sentences. ", 100))
	if n := len(strings.Join(got, " ")); !more || n > 750 || got[len(got)-1] != conversation.RestInChat {
		t.Errorf("%d characters are said, more = %v, ending with %q", n, more, got[len(got)-1])
	}
	got, _ = spokenSentences(strings.Repeat("words without an end ", 20))
	for _, s := range got {
		if len(s) > 270 {
			t.Errorf("a sentence has %d bytes", len(s))
		}
	}
}

func TestTheNoticeSaysOnlyWhatIsSo(t *testing.T) {
	for _, tt := range []struct {
		name    string
		able    conversation.Capabilities
		written []string
		spoken  string
	}{
		{
			"all there is",
			conversation.Capabilities{Transcribes: true, Spots: true, OptOut: true},
			[]string{"Nothing that is said is stored", "Say “clank privacy”"},
			"Say: clank privacy",
		},
		{
			"words are kept",
			conversation.Capabilities{Spots: true, OptOut: true, Records: true},
			[]string{"stored as text, and no sound"},
			"stored as text",
		},
		{"nothing hears words", conversation.Capabilities{OptOut: true}, []string{"Use `/clank privacy`"}, "The chat says"},
		{
			"a page",
			conversation.Capabilities{Native: true, OnPage: true},
			[]string{"Mute your microphone"},
			"Mute your microphone",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			written, spoken := tt.able.ListeningNotice()
			check.Contains(t, written, tt.written...)
			check.Contains(t, strings.Join(spoken, " "), tt.spoken)
			if !tt.able.OptOut && strings.Contains(written+strings.Join(spoken, ""), "privacy") {
				t.Error("it tells of a command that does nothing here")
			}
		})
	}
}

func TestWhatIsWrittenIsInTheLanguageOfTheServer(t *testing.T) {
	inParty(t, func(p *party) {
		p.Locale = "de"
		p.begin("ada")
		p.wait(time.Second)
		p.wantIn(p.chat.text(), "Ich bin im Anruf und höre zu", "Nichts von dem, was gesagt wird, wird gespeichert.")
	})
}

func TestWhatIsSpokenIsInTheLanguageOfTheVoice(t *testing.T) {
	inParty(t, func(p *party) {
		p.brain.reply = browsing
		p.VoiceLocale = "de"
		p.begin("ada")
		p.wantIn(p.chat.text(), "I have joined the call and listen")
		p.says("ada", "find a lamp")
		p.wait(time.Minute)
		p.spots("ada", "stop")
		p.wait(10 * time.Second)
		p.says("ada", "clank")
		p.wait(10 * time.Second)
		p.wantIn(p.mouth.words(), "Hallo, ich bin clank und höre zu.", "Sag „clank privacy“", "Ich sehe nach.",
			"Ich sehe noch nach.",
			"Gestoppt.", "Ja?")
		p.brain.reply = answer(assistant.Answer{}, &llm.Error{Kind: llm.ErrAuth, Model: "m", Message: "key refused"})
		p.says("ada", "clank, find a lamp")
		p.wait(20 * time.Second)
		p.wantIn(p.mouth.words(), "Mir ist keine Antwort eingefallen.")
		check.Lacks(t, p.mouth.words(), "I am looking")
	})
}

func TestChoicesOfAQuestionAreSaidAndTheAnswerNeedsNoName(t *testing.T) {
	inParty(t, func(p *party) {
		p.brain.reply = answer(assistant.Answer{
			Text: "Which lamp?", Asks: true,
			Choices: []string{"the red one", "the blue one"},
		}, nil)
		p.Options.TranscribeAll = true
		p.begin("ada", "bob")
		p.says("ada", "clank, find a lamp")
		p.wait(20 * time.Second)
		p.wantIn(p.mouth.words(), "Which lamp?", "You can say: the red one; the blue one.")
		p.says("ada", "the red one")
		p.wait(10 * time.Second)
		if diff := cmp.Diff([]string{"Ada: find a lamp", "Ada: the red one"}, p.brain.asked()); diff != "" ||
			!p.brain.turns[0].CanAsk {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
	})
}

func TestWhatHelpsIsWhatThereIs(t *testing.T) {
	why := errors.New("no program")
	for able, want := range map[conversation.Capabilities][]string{
		{Spots: true, OptOut: true}: {
			"stop words still work", "write “stop” in the chat", "Stop still works",
			"write `/clank privacy`",
		},
		{OnPage: true}:                     {"on the page Chat", "button Stop", "No program", "mute your microphone"},
		{OnPage: true, Spots: true}:        {"on the page Chat instead; stop words still work"},
		{Transcribes: true, Records: true}: {"write to me instead."},
	} {
		written, spoken := able.BudgetSpentTexts(why)
		whose, _ := able.UnclearOptOutTexts()
		all := strings.Join([]string{
			able.FallbackHint(), able.SpotterFailedText(why), written, spoken, whose,
			able.NoTranscriptionText(),
		}, " ")
		for _, text := range want {
			if !strings.Contains(all, text) {
				t.Errorf("%+v: %q is missing in %s", able, text, all)
			}
		}
		if !able.Spots && strings.Contains(all, "still works") {
			t.Errorf("%+v: it promises stop words", able)
		}
	}
}

func TestWhoIsLeftOutIsToldWhatHoldsAndForHowLong(t *testing.T) {
	var able conversation.Capabilities
	if got := able.OptOutConfirmed("Ada", nil); !strings.HasPrefix(got, "Ada, ") || strings.Contains(got, "could not") {
		t.Errorf("told %q", got)
	}
	got := able.OptOutConfirmed("Ada", errors.New("the disk is full"))
	check.Contains(t, got, "until I am started again: The disk is full.")
	check.Contains(t, able.ModelGoneText("It hung up."), "It hung up. To start again, use `/clank leave`")
}

func TestASentenceIsSaidAsSoonAsItIsWhole(t *testing.T) {
	var r conversation.SentenceReader
	for _, tc := range []struct {
		piece string
		want  []string
	}{
		{"The fer", nil},
		{"ry goes at 3.", nil},
		{"30 from Dr.", nil},
		{" Miller's pier.", nil},
		{" Sh", []string{"The ferry goes at 3.30 from Dr. Miller's pier."}},
		{"all I book it?\n", []string{"Shall I book it?"}},
		{"See [the", nil},
		{" table. It is long](https://a.test/", nil},
		{"t). Then", []string{"See the table. It is long."}},
		{" this:\n``", []string{"Then this:"}},
		{"`sh\nrm x. y\n``", nil},
		{"`\nThat is all. ", []string{"That is all."}},
		{"And n", nil},
	} {
		check.Diff(t, "after "+tc.piece, r.Write(tc.piece), tc.want)
	}
	if diff := cmp.Diff([]string{"And n", conversation.AnswerInChat}, r.End(false)); diff != "" || !r.HasUnspoken() {
		t.Errorf("at the end, more = %v (-want +got):\n%s", r.HasUnspoken(), diff)
	}
}

func TestWhatModelsWriteForProgramsIsNotSaid(t *testing.T) {
	for _, tc := range []struct {
		answer string
		want   []string
	}{
		{"<think>I should. Or not?</think>It is ten.", []string{"It is ten."}},
		{"It is <b>ten</b>.", []string{"It is  ten ."}},
		{
			"One moment.\n{\"name\": \"browser_browse\", \"arguments\": {\"query\": \"a \\\"}. b\"}}\nDone.",
			[]string{"One moment.", "Done.", conversation.AnswerInChat},
		},
		{"[\n  {\"a\": 1}, {\"b\": [2]}\n] is it.", []string{"is it.", conversation.AnswerInChat}},
		{"Well. <tool_call>{\"name\": \"x. y\"}</tool_call>", []string{"Well."}},
		{"<tool_call>{\"name\": \"x. y\"}", []string{conversation.AnswerInChat}},
		{"{not data} but talk.", []string{"{not data} but talk."}},
		{"a < bee. And `c. d` is code.", []string{"a < bee.", "And c. d is code."}},
		{"1. First one.\n12. Twelfth one.", []string{"1. First one.", "12. Twelfth one."}},
		{"|\n|\nIt is one.", []string{"It is one.", conversation.AnswerInChat}},
		{"I <thin", []string{"I <thin"}},
		{"An [open bracket. And more.", []string{"An [open bracket. And more."}},
	} {
		got, _ := spokenSentences(tc.answer)
		check.Diff(t, "spoken("+tc.answer+")", got, tc.want)
	}
}

func FuzzReader(f *testing.F) {
	for _, s := range []string{
		"a. b", "```x``` y. z", "see [x. y](u). z", "| a |\n| b |\nc.", "<think>a. b</think> c. d", "{\"a\": \"}. \"} b. c",
		"`a. b` c", "10. x\n- y. z",
		"船。次は！", "\xff. \xe3\x80", "a\u00a0. b", strings.Repeat("word, ", 200), strings.Repeat("[", 700) + " a. b",
		"```", "[x](y)", "e.g. x", "| |", "\xff.",
	} {
		f.Add(s, uint8(3))
	}
	f.Fuzz(func(t *testing.T, s string, step uint8) {
		want, more := spokenSentences(s)
		for _, one := range want {
			if !conversation.HasWords(one) || strings.Contains(one, "\n") {
				t.Errorf("spoken(%q) has the sentence %q", s, one)
			}
		}
		var r conversation.SentenceReader
		var got []string
		for rest := s; rest != ""; {
			n := min(len(rest), 1+int(step%16))
			got = append(got, r.Write(rest[:n])...)
			rest = rest[n:]
		}
		got = append(got, r.End(false)...)
		if diff := cmp.Diff(want, got); diff != "" || more != r.HasUnspoken() {
			t.Errorf("%q in pieces of %d bytes, more = %v, want %v (-whole +pieces):\n%s", s, 1+step%16, r.HasUnspoken(), more,
				diff)
		}
	})
}

// spokenSentences returns the part of a whole answer that can be said, and whether there is something that can only be
// read.
func spokenSentences(answer string) (sentences []string, more bool) {
	var r conversation.SentenceReader
	sentences = append(r.Write(answer), r.End(false)...)
	return sentences, r.HasUnspoken()
}
