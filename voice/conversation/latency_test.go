package conversation_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"clank/cancel"
	"clank/internal/assistant"
	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/llm/openai"
	"clank/sessions"
	"clank/voice"
	"clank/voice/conversation"
	"clank/voice/speech/playout"
)

// What the conversation itself takes: the transcriber of these tests takes 100 ms, which are over before the pause is, the brain nothing, the
// first packet of speech is there at once. The mouth waits for 60 ms of sound.
func TestAnAnswerBeginsAsSoonAsItsFirstSentenceCanBeHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.Player = conversation.NewPlayer(&playout.Player{Line: p.line, Synthesizer: &speaker{packets: slices.Repeat([][]byte{{1}}, 25)}})
		p.begin("ada")
		began := time.Now()
		p.sound("ada", time.Second)
		ended := time.Now()
		said := voice.Utterance{
			From: "ada", Packets: []voice.Packet{{From: "ada", Opus: []byte("how late is it")}}, Began: began, Ended: ended, Loud: true,
		}
		p.wait(350 * time.Millisecond) // as an ear notices that somebody may have ended, and that they have
		p.ear.tell.Paused(said)
		p.wait(350 * time.Millisecond)
		before := p.line.packets()
		p.ear.tell.Ended(said)
		noticed := time.Now()
		for p.line.packets() == before && time.Since(noticed) < 5*time.Second {
			p.wait(5 * time.Millisecond)
		}
		took := time.Since(noticed)
		t.Logf("from the end of the words to the first sound: %v, of which the pause is %v, in which the words are found", time.Since(ended), noticed.Sub(ended))
		if took > 100*time.Millisecond {
			t.Errorf("the first sound came %v after the utterance, want at most 100 ms", took)
		}
		p.end()
	})
}

// atOnce has an answer said only when all of it is written.
type atOnce struct{ conversation.Replier }

func (a atOnce) Reply(ctx context.Context, t assistant.Turn, watch func(assistant.Progress)) (assistant.Answer, error) {
	t.OnText = nil
	return a.Replier.Reply(ctx, t, watch)
}

// nothing is a browser agent that is never used.
type nothing struct{ assistant.TaskRunner }

func (nothing) LastSession(context.Context, sessions.Origin) (sessions.Session, error) {
	return sessions.Session{}, sessions.ErrNotFound
}

func (nothing) Sessions(context.Context, sessions.SessionQuery) ([]sessions.Session, error) {
	return nil, nil
}

// spelled puts what was said into words without taking time.
type spelled struct{}

func (spelled) Transcribe(_ context.Context, u voice.Utterance) (voice.Transcript, error) {
	return voice.Transcript{Text: string(u.Packets[0].Opus)}, nil
}

// How long it takes from the end of an utterance (which an ear notices 700 ms after the last word) to the first sound of the answer, by a
// model that writes three sentences slowly: with each sentence said as soon as it is whole, and with all said at the end.
func BenchmarkFirstSound(b *testing.B) {
	srv, err := llmtest.Open()
	if err != nil {
		b.Fatal(err)
	}
	defer srv.Close()
	srv.SetFallback(llmtest.SayWithFault(
		"The next ferry goes at ten past four. The one after that goes at half past six, from the other pier. Shall I book a seat on one of them?",
		llmtest.Fault{Trickle: 200 * time.Microsecond},
	))
	model, err := openai.New(openai.Options{BaseURL: srv.BaseURL(), Key: "k", Model: "m", API: openai.APIChat})
	if err != nil {
		b.Fatal(err)
	}
	mind := &assistant.Assistant{Model: func(context.Context) (llm.Model, error) { return model, nil }, Tasks: nothing{}}
	for name, who := range map[string]conversation.Replier{"as written": mind, "at the end": atOnce{mind}} {
		b.Run(name, func(b *testing.B) {
			var took time.Duration
			for b.Loop() {
				took += firstSound(b, who)
			}
			b.ReportMetric(float64(took.Milliseconds())/float64(b.N), "ms/first_sound")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// firstSound returns how long it takes until an utterance is answered.
func firstSound(b *testing.B, who conversation.Replier) time.Duration {
	b.Helper()
	l := newLine()
	var tell conversation.SpeechEvents
	c := &conversation.Conversation{
		Line: l, Location: conversation.Location{Kind: sessions.FromDashboard, Channel: "v"}, Assistant: who, Chat: &chat{}, Scopes: &cancel.Scopes{},
		Player:      conversation.NewPlayer(&playout.Player{Line: l, Synthesizer: &speaker{packets: slices.Repeat([][]byte{{1}}, 10)}}),
		Transcriber: spelled{},
		NewDetector: func(h conversation.SpeechEvents) conversation.SpeechDetector { tell = h; return &scriptedEar{} },
	}
	ctx, end := context.WithCancelCause(b.Context())
	over := make(chan error, 1)
	go func() { over <- c.Run(ctx) }()
	l.events <- voice.Event{Kind: voice.Joined, Person: voice.Person{ID: "ada", Name: "Ada"}}
	l.events <- voice.Event{Kind: voice.Connected}
	until := func(done func() bool) {
		for !done() {
			select {
			case err := <-over:
				b.Fatal(err)
			case <-time.After(time.Millisecond):
			}
		}
	}
	until(func() bool { return l.packets() >= 20 && time.Since(l.last()) > 300*time.Millisecond }) // the notice is over
	before, began := l.packets(), time.Now()
	tell.Ended(voice.Utterance{
		From: "ada", Packets: []voice.Packet{{From: "ada", Opus: []byte("when does the ferry go")}}, Began: began.Add(-time.Second), Ended: began, Loud: true,
	})
	until(func() bool { return l.packets() > before })
	took := time.Since(began)
	end(&cancel.Cause{Reason: cancel.ShuttingDown})
	<-over
	return took
}
