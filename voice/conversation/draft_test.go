package conversation_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/cancel"
	"clank/internal/assistant"
	"clank/internal/test/check"
	"clank/llm"
	"clank/voice"
	"clank/voice/speech/playout"
)

// writing returns a reply that is written with a second before each piece, and ends as end says. An empty piece goes
// before tools that take five seconds.
func writing(pieces []string, end func(text string) (assistant.Answer, error)) answerFunc {
	return func(ctx context.Context, turn assistant.Turn, watch func(assistant.Progress)) (assistant.Answer, error) {
		text := ""
		for _, p := range pieces {
			after := time.Second
			if p == "" {
				turn.OnText(assistant.TextChunk{Complete: true})
				watch(assistant.Progress{Call: 1})
				text, after = "", 5*time.Second
			}
			select {
			case <-ctx.Done():
				return assistant.Answer{}, context.Cause(ctx)
			case <-time.After(after):
			}
			if p != "" {
				turn.OnText(assistant.TextChunk{Text: p})
				text += p
			}
		}
		return end(text)
	}
}

// whole returns an answer of which everything was written.
func whole(text string) (assistant.Answer, error) { return assistant.Answer{Text: text}, nil }

var ferries = []string{
	"The next ferry goes at ", "ten. The one ", "after it goes at noon. ", "Shall I book ",
	"one of them?",
}

const ferriesSaid = "The next ferry goes at ten. The one after it goes at noon. Shall I book one of them?"

// asking returns a party with ada alone, who has just asked for the ferries: 200 ms ago.
func asking(t *testing.T, reply answerFunc) *party {
	t.Helper()
	p := newParty(t)
	p.Options.TranscribeAll = true
	p.brain.reply = func(ctx context.Context, turn assistant.Turn,
		watch func(assistant.Progress),
	) (assistant.Answer, error) {
		p.brain.reply = nil // "Very well.", once
		return reply(ctx, turn, watch)
	}
	p.begin("ada")
	p.says("ada", "look up the ferries")
	return p
}

// afterAsking runs a test with such a party.
func afterAsking(t *testing.T, reply answerFunc, do func(p *party)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := asking(t, reply)
		do(p)
		p.end()
	})
}

// spoke returns what was said since the notice.
func (p *party) spoke() string {
	_, after, _ := strings.Cut(p.mouth.words(), "to be left out. ")
	return after
}

func TestTheFirstSentenceIsSaidWhileTheOthersAreWritten(t *testing.T) {
	afterAsking(t, writing(ferries, whole), func(p *party) {
		p.wait(2100 * time.Millisecond)
		p.wantText(p.spoke(), "The next ferry goes at ten.")
		p.wait(20 * time.Second)
		check.Equal(t, "said", p.spoke(), ferriesSaid)
		p.says("ada", "and then")
		lines := p.brain.turns[1].Lines
		if got := lines[1]; len(lines) != 3 || got.Text != ferriesSaid || got.Notes != nil {
			t.Errorf("the history is %+v", lines)
		}
	})
}

func TestWhatIsInterruptedWhileItIsWrittenStandsAsFarAsItWasHeard(t *testing.T) {
	afterAsking(t, writing(append(ferries[:3:3], "Shall ", "I ", "book ", "one?"), whole), func(p *party) {
		p.wait(4 * time.Second) // the second sentence is being said, the third is being written
		p.says("ada", "no, look up the buses")
		p.wait(20 * time.Second)
		p.wantText(p.spoke(), "The next ferry goes at ten. The one after it goes at noon. Very well.")
		want := []assistant.ChatLine{
			{Speaker: "Ada", SpeakerID: "ada", Text: "look up the ferries"},
			{
				FromAssistant: true, Text: "The next ferry goes at ten.",
				Notes: []string{"interrupted here; not said: The one after it goes at noon."},
			},
			{Speaker: "Ada", SpeakerID: "ada", Text: "no, look up the buses"},
		}
		check.Diff(t, "history", p.brain.turns[1].Lines, want)
	})
}

func TestAnAnswerOfWhichNothingWasHeardIsThoughtAboutAnew(t *testing.T) {
	afterAsking(t, writing(ferries, whole), func(p *party) {
		p.wait(1500 * time.Millisecond)
		p.says("ada", "only on Sunday") // over the first words
		p.wait(20 * time.Second)
		want := []assistant.ChatLine{{Speaker: "Ada", SpeakerID: "ada", Text: "look up the ferries\nonly on Sunday"}}
		check.Diff(t, "history", p.brain.turns[1].Lines, want)
		p.wantSuffix(p.spoke(), "Very well.")
		p.wantCount(p.spoke(), "noon", 0)
	})
}

func TestTalkThatIsNotOursOnlyDelaysWhatIsBeingWritten(t *testing.T) {
	afterAsking(t, writing(ferries, whole), func(p *party) {
		p.join("bob")
		p.wait(2500 * time.Millisecond)
		p.says("bob", "could you pass me the salt")
		p.wait(30 * time.Second)
		p.wantText(p.spoke(), "The next ferry goes at ten. "+ferriesSaid)
	})
}

func TestWhatIsSaidBeforeToolsAreUsedStaysSaid(t *testing.T) {
	afterAsking(t, writing([]string{"I look it ", "up.", "", "It goes ", "at ten. Bye."}, whole), func(p *party) {
		p.wait(30 * time.Second)
		p.wantText(p.spoke(), "I look it up. It goes at ten. Bye.")
		p.says("ada", "and then")
		var mine []string
		for _, l := range p.brain.turns[1].Lines {
			if l.FromAssistant {
				mine = append(mine, l.Text)
			}
		}
		check.Diff(t, "our lines", mine, []string{"I look it up.", "It goes at ten. Bye."})
	})
}

func TestAnAnswerThatBreaksOffEndsWithOneShortSentence(t *testing.T) {
	fails := func(err error) func(string) (assistant.Answer, error) {
		return func(string) (assistant.Answer, error) { return assistant.Answer{}, err }
	}
	begun := []string{"It goes at ten. ", "The one after"}
	for name, tc := range map[string]struct {
		begun []string
		end   func(string) (assistant.Answer, error)
		said  string
		wrote string
	}{
		"before a whole sentence": {begun[1:], fails(errors.New("no power")), "That did not work. No power.", ""},
		"failed": {
			begun, fails(errors.New("the line to the model broke")),
			"It goes at ten. The rest of the answer did not come.", "The line to the model broke.",
		},
		"too long": {
			begun, func(text string) (assistant.Answer, error) {
				return assistant.Answer{Text: text + "\n\n(It ends here.)", Remainder: "\n\n(It ends here.)", Truncated: true}, nil
			},
			"It goes at ten. (It ends here.)", "",
		},
		"too dear": {
			begun, fails(fmt.Errorf("ask: %w", &cancel.Cause{Reason: cancel.BudgetSpent, Detail: "$2 of today"})),
			"It goes at ten. Budget spent: $2 of today.", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			afterAsking(t, writing(tc.begun, tc.end), func(p *party) {
				before := len(p.chat.text())
				p.wait(20 * time.Second)
				check.Equal(t, "said", p.spoke(), tc.said)
				if got := p.chat.text()[before:]; !strings.Contains(got, tc.wrote) || tc.wrote == "" && got != "" {
					t.Errorf("written %q, want %q", got, tc.wrote)
				}
			})
		})
	}
}

func TestWhatCannotBeReadOutIsWrittenOnceTheAnswerIsWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		png := llm.Image{MediaType: "image/png", Data: []byte("png")}
		p := asking(t, writing([]string{
			"It goes at **ten**. See [the ta", "ble. All of it](https://a.test/t). ",
			"```\nx. y\n``", "`\nBye.",
		},
			func(text string) (assistant.Answer, error) {
				return assistant.Answer{Text: text, Images: []llm.Image{png}}, nil
			}))
		before := len(p.chat.written())
		p.wait(30 * time.Second)
		p.wantText(p.spoke(), "It goes at ten. See the table. All of it. Bye. I have put it in the chat.")
		if got := p.chat.written()[before:]; len(got) != 1 || len(got[0].Images) != 1 ||
			!strings.HasSuffix(got[0].Text, "(https://a.test/t). ```\nx. y\n```\nBye.") {
			t.Errorf("written %+v", got)
		}
		p.end()
	})
}

func TestAStopWhileAnAnswerIsWrittenLeavesNothing(t *testing.T) {
	for at := 500 * time.Millisecond; at < 12*time.Second; at += 700 * time.Millisecond {
		for _, by := range []string{"voice", "chat"} {
			synctest.Test(t, func(t *testing.T) {
				gone := make(chan struct{})
				write := writing([]string{"I look ", "it up. ", "", "It goes ", "at ten. And then", " at noon. Bye."}, whole)
				p := asking(t, func(ctx context.Context, turn assistant.Turn,
					watch func(assistant.Progress),
				) (assistant.Answer, error) {
					defer close(gone)
					return write(ctx, turn, watch)
				})
				p.wait(at)
				scope := cancel.Scope{Guild: "g", Channel: "v"}
				if by == "chat" {
					p.scopes.Stop(scope, cancel.Actor{ID: "ada", Name: "@ada"}, false)
				} else {
					p.sound("ada", 100*time.Millisecond)
					p.spots("ada", "stop")
				}
				p.wait(50 * time.Millisecond)
				before, spoke := p.spoke(), p.mouth.last()
				select {
				case <-gone:
				default:
					t.Fatalf("%v, by %s: the reply goes on", at, by)
				}
				p.wait(20 * time.Second)
				after := strings.TrimSpace(strings.Replace(p.spoke()[len(before):], "Stopped.", "", 1))
				if after != "" || by == "chat" && p.mouth.last().After(spoke.Add(voice.FrameTime)) {
					t.Errorf("%v, by %s: said %q after the stop, and %q before", at, by, after, before)
				}
				p.wantActive(0)
				p.end()
			})
		}
	}
}

func TestWhatIsWrittenAfterAStopIsNotSaidAndWhatWasHeardIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := asking(t, func(ctx context.Context, turn assistant.Turn, _ func(assistant.Progress)) (assistant.Answer, error) {
			turn.OnText(assistant.TextChunk{Text: "It goes at ten. "})
			<-ctx.Done()
			turn.OnText(assistant.TextChunk{Text: "The one after it goes at noon. "})
			<-time.After(2 * time.Second) // it takes a while to notice
			return assistant.Answer{}, context.Cause(ctx)
		})
		p.wait(5 * time.Second) // all that is there was said
		p.scopes.Stop(cancel.Scope{Guild: "g", Channel: "v"}, cancel.Actor{ID: "ada", Name: "@ada"}, false)
		p.wait(5 * time.Second)
		p.wantText(p.spoke(), "It goes at ten.")
		p.says("ada", "and then")
		lines := p.brain.turns[1].Lines
		if len(lines) != 4 || lines[1].Text != "It goes at ten." || len(lines[1].Notes) != 1 ||
			!strings.Contains(lines[2].Text, "topped") {
			t.Errorf("the history is %+v", lines)
		}
		p.end()
	})
}

func TestACallMayEndWhileAnAnswerIsWritten(t *testing.T) {
	for at := 500 * time.Millisecond; at < 7*time.Second; at += 900 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			p := asking(t, writing(ferries, whole))
			p.wait(at)
			if err := p.end(); cancel.CauseOf(nil, err) == nil { //nolint:staticcheck // nil is documented as allowed
				t.Errorf("Run = %v, want the cause of its context", err)
			}
		})
	}
}

func TestAnAnswerThatCannotBeSpokenIsWrittenAsAWhole(t *testing.T) {
	for _, broken := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p := asking(t, writing(ferries, whole))
			if broken {
				p.mouth.mu.Lock()
				p.mouth.err = errors.New("espeak-ng is missing")
				p.mouth.mu.Unlock()
			}
			p.wait(20 * time.Second)
			check.Equal(t, fmt.Sprintf("broken %v: times written", broken), strings.Count(p.chat.text(), ferriesSaid),
				map[bool]int{true: 1}[broken])
			p.says("ada", "and then")
			if lines := p.brain.turns[1].Lines; len(lines) != 3 || lines[1].Text != ferriesSaid {
				t.Errorf("broken %v: the history is %+v", broken, lines)
			}
			p.end()
		})
	}
}

// slowly says each sentence in half a second of sound that takes 300 ms to begin.
type slowly struct{ asked chan string }

func (s *slowly) Speak(ctx context.Context, text string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		s.asked <- text
		select {
		case <-time.After(300 * time.Millisecond):
		case <-ctx.Done():
			return
		}
		for range 25 {
			if !yield([]byte{1}, nil) {
				return
			}
		}
	}
}

func TestASentenceIsMadeWhileTheOneBeforeItIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine()
		spoken := &slowly{asked: make(chan string, 10)}
		m := &playout.Player{Line: l, Synthesizer: spoken}
		ctx, end := context.WithCancelCause(t.Context())
		over := make(chan error)
		go func() { over <- m.Run(ctx) }()
		feed := make(chan string, 4)
		feed <- "One."
		began := time.Now()
		time.AfterFunc(400*time.Millisecond, func() { feed <- "Two." })
		if n, err := m.Say(ctx, feed); n != 2 || err != nil {
			t.Errorf("said %d, %v", n, err)
		}
		if took := time.Since(began); took > 1400*time.Millisecond {
			t.Errorf("two sentences took %v, want no gap between them", took)
		}
		if n, err := m.Say(ctx, feed); n != 0 || err != nil {
			t.Errorf("of nothing, said %d, %v", n, err)
		}
		feed <- "Three."
		time.AfterFunc(500*time.Millisecond, func() { end(errBroken) })
		check.Fails(t, check.Err(m.Say(ctx, feed)), errBroken)
		check.Must(t, <-over)
	})
}

// pauses has somebody say something and be silent for 350 ms. It returns what is to be told when they have ended.
func (p *party) pauses(id, text string) voice.Utterance {
	u := voice.Utterance{From: id, Packets: []voice.Packet{{From: id, Opus: []byte(text)}}, Began: time.Now(), Loud: true}
	p.sound(id, time.Second)
	u.Ended = time.Now()
	p.wait(350 * time.Millisecond)
	p.ear.tell.Paused(u)
	p.wait(0)
	return u
}

func TestWordsAreReadyWhenItIsCertainThatSomebodyHasEnded(t *testing.T) {
	inParty(t, func(p *party) {
		p.words.took = 400 * time.Millisecond // and 100 more
		p.begin("ada")
		for n := 1; n <= 3; n++ {
			u := p.pauses("ada", "how late is it")
			p.wait(350 * time.Millisecond)
			p.ear.tell.Ended(u)
			p.wait(140 * time.Millisecond)
			if len(p.brain.asked()) == n {
				t.Error("asked before the words were there")
			}
			p.wait(20 * time.Millisecond)
			if len(p.brain.asked()) != n || p.words.calls.Load() != int64(n) {
				t.Errorf("after %d utterances: %d transcriptions, asked %v", n, p.words.calls.Load(), p.brain.asked())
			}
			p.wait(5 * time.Second)
		}
	})
}

func TestWhoGoesOnIsHeardAsAWhole(t *testing.T) {
	inParty(t, func(p *party) {
		p.begin("ada")
		u := p.pauses("ada", "look up")
		p.wait(200 * time.Millisecond) // the words are there
		p.sound("ada", time.Second)    // and they go on
		for range 3 {
			p.ear.tell.Paused(u)
			p.wait(10 * time.Millisecond)
			p.ear.tell.Speaking("ada", 2*time.Second, false)
			p.wait(10 * time.Millisecond)
			check.Equal(t, "transcriptions go on of what is not whole", p.words.running.Load(), 0)
		}
		u.Packets, u.Ended = []voice.Packet{{From: "ada", Opus: []byte("look up the ferries")}}, time.Now()
		p.ear.tell.Ended(u)
		p.wait(time.Second)
		p.wantAsked("Ada: look up the ferries")
		if got := p.words.calls.Load(); got != 3 { // two in pauses, and the whole
			t.Errorf("%d transcriptions, want 3", got)
		}
	})
}

func TestAFailureInAPauseIsTriedAgain(t *testing.T) {
	inParty(t, func(p *party) {
		p.begin("ada")
		p.words.err = errors.New("busy")
		u := p.pauses("ada", "how late is it")
		p.wait(200 * time.Millisecond)
		p.words.err = nil
		p.ear.tell.Ended(u)
		p.wait(time.Second)
		if got := p.brain.asked(); len(got) != 1 || p.words.calls.Load() != 2 {
			t.Errorf("asked %v after %d transcriptions", got, p.words.calls.Load())
		}
	})
}

func TestWhoIsLeftOutInAPauseIsNotPutIntoWords(t *testing.T) {
	inParty(t, func(p *party) {
		p.begin("ada")
		u := p.pauses("ada", "how late is it")
		if p.words.running.Load() != 1 {
			p.t.Fatal("nothing is put into words")
		}
		p.optOut("ada", true)
		p.wait(60 * time.Millisecond)
		check.Equal(t, "transcriptions go on", p.words.running.Load(), 0)
		p.ear.tell.Ended(u)
		p.wait(time.Second)
		p.wantQuestions(0)
	})
}
