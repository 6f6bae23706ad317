package conversation_test

import (
	"strings"
	"testing"

	"clank/voice/conversation"

	"github.com/google/go-cmp/cmp"
)

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
		if diff := cmp.Diff(tc.want, r.Write(tc.piece)); diff != "" {
			t.Errorf("after %q (-want +got):\n%s", tc.piece, diff)
		}
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
		{"One moment.\n{\"name\": \"browser_browse\", \"arguments\": {\"query\": \"a \\\"}. b\"}}\nDone.", []string{"One moment.", "Done.", conversation.AnswerInChat}},
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
		got, _ := conversation.SpokenSentences(tc.answer)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("spoken(%q) (-want +got):\n%s", tc.answer, diff)
		}
	}
}

func TestAnAnswerThatBreaksOffEndsWithItsLastWholeSentence(t *testing.T) {
	var r conversation.SentenceReader
	got := r.Write("It is ten. And the next")
	r.DropRest()
	got = append(got, r.Write("\n\n(It ends here.)")...)
	got = append(got, r.End(false)...)
	if diff := cmp.Diff([]string{"It is ten.", "(It ends here.)"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzReader(f *testing.F) {
	for _, s := range []string{
		"a. b", "```x``` y. z", "see [x. y](u). z", "| a |\n| b |\nc.", "<think>a. b</think> c. d", "{\"a\": \"}. \"} b. c", "`a. b` c", "10. x\n- y. z",
		"船。次は！", "\xff. \xe3\x80", "a\u00a0. b", strings.Repeat("word, ", 200), strings.Repeat("[", 700) + " a. b",
	} {
		f.Add(s, uint8(3))
	}
	f.Fuzz(func(t *testing.T, s string, step uint8) {
		want, more := conversation.SpokenSentences(s)
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
			t.Errorf("%q in pieces of %d bytes, more = %v, want %v (-whole +pieces):\n%s", s, 1+step%16, r.HasUnspoken(), more, diff)
		}
	})
}
