package conversation_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/cancel"
	"clank/internal/assistant"
	"clank/internal/test/check"
	"clank/llm"
	"clank/voice"
	"clank/voice/conversation"
	"clank/voice/speech/playout"
	"clank/voice/speech/vad"
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
			p := asking(t, func(ctx context.Context, turn assistant.Turn,
				watch func(assistant.Progress),
			) (assistant.Answer, error) {
				return writing(ferries, whole)(ctx, turn, watch)
			})
			if broken {
				p.mouth.mu.Lock()
				p.mouth.err = errors.New("espeak-ng is missing")
				p.mouth.mu.Unlock()
			}
			p.wait(20 * time.Second)
			if got, want := strings.Count(p.chat.text(), ferriesSaid), map[bool]int{true: 1}[broken]; got != want {
				t.Errorf("broken %v: written %d times, want %d", broken, got, want)
			}
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
		if n, err := m.Say(ctx, feed); n != 0 || err == nil {
			t.Errorf("after the end, said %d, %v", n, err)
		}
		check.Must(t, <-over)
	})
}

const story = "There once was a lamp in a shop by the sea. It was green and rather old. Nobody wanted to buy it " +
	"for years."

// whileTelling runs a test with ada and bob while a long answer to ada is being said.
func whileTelling(t *testing.T, who conversation.BargeIn, do func(p *party)) {
	t.Helper()
	inParty(t, func(p *party) {
		p.Options = conversation.Options{TranscribeAll: true, BargeIn: who}
		p.brain.reply = func(_ context.Context, turn assistant.Turn, _ func(assistant.Progress)) (assistant.Answer, error) {
			if strings.Contains(turn.Lines[len(turn.Lines)-1].Text, "story") {
				return assistant.Answer{Text: story}, nil
			}
			return assistant.Answer{Text: "All right."}, nil
		}
		p.begin("ada", "bob")
		p.says("ada", "clank, tell me a story")
		p.wait(2 * time.Second)
		if time.Since(p.mouth.last()) > 50*time.Millisecond {
			p.t.Fatalf("nothing is being said: %q", p.mouth.words())
		}
		do(p)
	})
}

func TestAShortSoundDoesNotStopUs(t *testing.T) {
	whileTelling(t, "", func(p *party) {
		p.sound("ada", 240*time.Millisecond)
		p.wait(20 * time.Second)
		p.wantSuffix(p.mouth.words(), story)
	})
}

func TestANewRequestEndsTheAnswerThatItInterrupts(t *testing.T) {
	whileTelling(t, "", func(p *party) {
		p.says("ada", "clank, enough of that, what time is it")
		p.wait(30 * time.Second)
		p.wantCount(p.mouth.words(), "Nobody wanted", 0)
		p.wantSuffix(p.mouth.words(), "All right.")
		turn := p.brain.turns[1]
		mine := turn.Lines[len(turn.Lines)-2]
		if !mine.FromAssistant || strings.Contains(mine.Text, "Nobody") || len(mine.Notes) != 1 ||
			!strings.Contains(mine.Notes[0], "Nobody wanted") {
			t.Errorf("what was said stands in the history as %+v", mine)
		}
	})
}

func TestTalkThatIsNotOursOnlyInterrupts(t *testing.T) {
	whileTelling(t, "", func(p *party) {
		p.says("bob", "could you pass me the salt")
		p.wait(30 * time.Second)
		p.wantSuffix(p.mouth.words(), "Nobody wanted to buy it for years.")
		p.wantQuestions(1)
	})
}

func TestWhoMayInterrupt(t *testing.T) {
	for _, tc := range []struct {
		who  conversation.BargeIn
		by   string
		want bool
	}{
		{conversation.AnyoneBargesIn, "bob", true},
		{conversation.AskerBargesIn, "bob", false},
		{conversation.AskerBargesIn, "ada", true},
		{conversation.NoBargeIn, "ada", false},
	} {
		t.Run(string(tc.who)+" "+tc.by, func(t *testing.T) {
			whileTelling(t, tc.who, func(p *party) {
				began := time.Now()
				p.sound(tc.by, time.Second)
				check.Equal(t, "silent within 200 ms", p.mouth.last().Sub(began) <= 200*time.Millisecond, tc.want)
			})
		})
	}
}

func TestOurOwnEchoDoesNotInterruptAndIsNotAnswered(t *testing.T) {
	whileTelling(t, "", func(p *party) {
		began := time.Now()
		for range 6 { // bob's loudspeaker: sound that ends when we pause
			p.sound("bob", 100*time.Millisecond)
			p.wait(400 * time.Millisecond)
		}
		spoke := time.Now()
		p.sound("bob", 2*time.Second)
		if p.mouth.last().Before(spoke.Add(500 * time.Millisecond)) {
			t.Error("an echo still interrupts")
		}
		p.utter("bob", "once was a lamp in the shop by the sea, clank", began, time.Now())
		p.wait(30 * time.Second)
		p.wantQuestions(1)
		p.wantSuffix(p.mouth.words(), "Nobody wanted to buy it for years.")
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

// What the conversation itself takes: the transcriber of these tests takes 100 ms, which are over before the pause is,
// the brain nothing, the first packet of speech is there at once. The mouth waits for 60 ms of sound.
func TestAnAnswerBeginsAsSoonAsItsFirstSentenceCanBeHeard(t *testing.T) {
	inParty(t, func(p *party) {
		p.Player = &playout.Player{Line: p.line, Synthesizer: &speaker{packets: slices.Repeat([][]byte{{1}}, 25)}}
		p.begin("ada")
		began := time.Now()
		p.sound("ada", time.Second)
		ended := time.Now()
		said := voice.Utterance{
			From: "ada", Packets: []voice.Packet{{From: "ada", Opus: []byte("how late is it")}}, Began: began, Ended: ended,
			Loud: true,
		}
		p.wait(350 * time.Millisecond) // as an ear notices that somebody may have ended, and that they have
		p.ear.tell.Paused(said)
		p.wait(350 * time.Millisecond)
		before := p.line.packets.Load()
		p.ear.tell.Ended(said)
		noticed := time.Now()
		for p.line.packets.Load() == before && time.Since(noticed) < 5*time.Second {
			p.wait(5 * time.Millisecond)
		}
		took := time.Since(noticed)
		t.Logf("from the end of the words to the first sound: %v, of which the pause is %v, in which the words are found",
			time.Since(ended), noticed.Sub(ended))
		if took > 100*time.Millisecond {
			t.Errorf("the first sound came %v after the utterance, want at most 100 ms", took)
		}
	})
}

// tone returns Opus packets of a sound as loud as speech.
func tone(t *testing.T, span time.Duration) [][]byte {
	t.Helper()
	enc, err := voice.NewOpusEncoder(voice.RateOpus)
	check.Must(t, err)
	var out [][]byte
	for i := range span / voice.FrameTime {
		samples := make([]int16, 960)
		for j := range samples {
			at := float64(int(i)*960 + j)
			samples[j] = int16(6000 * math.Sin(at*0.05) * (0.5 + 0.5*math.Sin(at*0.0007)))
		}
		b, err := enc.Encode(samples)
		check.Must(t, err)
		out = append(out, b)
	}
	return out
}

// speaker says everything with the same sound.
type speaker struct {
	packets  [][]byte
	accounts chan llm.Account // for whom it spoke; nil: of no interest
}

func (s *speaker) Speak(ctx context.Context, _ string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if s.accounts != nil {
			s.accounts <- llm.AccountOf(ctx)
		}
		for _, p := range s.packets {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// worded is a detector whose utterances have words for the scripted transcriber.
type worded struct {
	*vad.Detector

	ear   *scriptedEar
	heard chan voice.Utterance
}

func (w worded) Run(ctx context.Context, on vad.Listener) error {
	w.ear.tell, w.ear.closed = on, true
	return w.Detector.Run(ctx, wording{on, w.heard})
}

// wording puts words into utterances.
type wording struct {
	vad.Listener

	heard chan<- voice.Utterance
}

func (w wording) Ended(u voice.Utterance) {
	u.Packets = []voice.Packet{{Opus: []byte("hello there")}}
	w.heard <- u
	w.Listener.Ended(u)
}

func TestFromThePacketToOurSilenceItTakesLessThan200Milliseconds(t *testing.T) {
	packets := tone(t, time.Second)
	inParty(t, func(p *party) {
		p.brain.reply = answer(assistant.Answer{Text: story}, nil)
		heard := make(chan voice.Utterance, 1)
		p.Detector = worded{&vad.Detector{}, p.ear, heard}
		spoken := &speaker{packets: packets}
		p.Player = &playout.Player{Line: p.line, Synthesizer: spoken}
		p.begin("ada")
		p.says("ada", "tell me a story") // through the scripted end of utterance
		for p.line.last().Before(time.Now().Add(-30 * time.Millisecond)) {
			p.wait(voice.FrameTime)
		}
		began := time.Now()
		for i, b := range packets {
			p.line.events <- voice.Event{Kind: voice.PacketReceived, Packet: voice.Packet{
				From: "ada", Sequence: uint16(i), Timestamp: uint32(i * 960), Opus: b, At: time.Now(),
			}}
			p.wait(voice.FrameTime)
		}
		if took := p.line.last().Sub(began); took > 200*time.Millisecond {
			t.Errorf("we spoke for %v into what ada said", took)
		} else {
			t.Logf("silent %v after the first packet", took)
		}
		u := <-heard
		if !u.Loud {
			t.Error("the utterance is not loud")
		}
		p.wait(10 * time.Second)
		p.wantQuestions(2)
	})
}
