package phone

import (
	"context"
	"testing"

	"clank/settings"
	"clank/voice"
	"clank/voice/privacy"
	"clank/voice/talk"
)

// bob does not want to be heard.
type bob struct{}

func (bob) LeftOut(context.Context) ([]privacy.Key, error) {
	return []privacy.Key{{Guild: "g", User: "bob"}}, nil
}

func (bob) SetLeftOut(context.Context, privacy.Key, bool) error { return nil }

func TestWhoIsLeftOutIsInNoTranscriptAndNobodyIsWhenTheSettingIsTakenBack(t *testing.T) {
	left, err := privacy.Open(t.Context(), bob{})
	if err != nil {
		t.Fatal(err)
	}
	s := settings.Defaults()
	s.Voice.KeepTranscripts = true
	x := &Exchange{left: left, Settings: func() settings.Settings { return s }}
	lines := make(chan transcriptLine, 10)
	keep := x.keep(talk.Place{Guild: "g"}, lines)
	keep(talk.Said{By: voice.Person{ID: "bob", Name: "Bob"}, Text: "a secret"})
	keep(talk.Said{By: voice.Person{ID: "ada", Name: "Ada"}, Text: "hello"})
	keep(talk.Said{Text: "Hello, Ada."})
	s.Voice.KeepTranscripts = false
	keep(talk.Said{Text: "Goodbye."})
	close(lines)
	var got []string
	for l := range lines {
		got = append(got, l.By+": "+l.Text)
	}
	if len(got) != 2 || got[0] != "Ada: hello" || got[1] != ": Hello, Ada." {
		t.Errorf("kept %q", got)
	}
}
