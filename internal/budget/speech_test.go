package budget_test

import (
	"context"
	"errors"
	"iter"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/internal/budget"
	"clank/internal/test/check"
	"clank/internal/test/sqlitetest"
	"clank/llm"
	"clank/voice"
)

// purse is a keeper, and what its ledger says.
type purse struct {
	*budget.Enforcer

	ledger *sqlitetest.Ledger
}

func newPurse(t *testing.T, day budget.Amount) purse {
	t.Helper()
	l := sqlitetest.OpenLedger(t)
	rules := budget.Rules{Zone: time.UTC, Limits: budget.Limits{budget.LevelDay: day}}
	return purse{&budget.Enforcer{Ledger: l, Rules: func() budget.Rules { return rules }}, l}
}

// last returns the newest entry, and how many there are.
func (p purse) last(t *testing.T) (budget.Entry, int) {
	t.Helper()
	calls, err := p.ledger.Calls(context.WithoutCancel(t.Context()), 100)
	if err != nil || len(calls) == 0 {
		t.Fatalf("calls = %+v, %v", calls, err)
	}
	return calls[0], len(calls)
}

// hears is a transcriber.
type hears struct {
	n   int
	err error
}

func (h *hears) Transcribe(context.Context, voice.Utterance) (voice.Transcript, error) {
	h.n++
	return voice.Transcript{Text: "hello"}, h.err
}

// says is a speaker of so many packets, the last of which may be an error.
type says struct {
	packets int
	err     error
	texts   []string
}

func (s *says) Speak(_ context.Context, text string) iter.Seq2[[]byte, error] {
	s.texts = append(s.texts, text)
	return func(yield func([]byte, error) bool) {
		for range s.packets {
			if !yield([]byte{1}, nil) {
				return
			}
		}
		if s.err != nil {
			yield(nil, s.err)
		}
	}
}

func utterance(length time.Duration) voice.Utterance {
	began := time.Now()
	return voice.Utterance{
		From: "ada", Loud: true, Packets: make([]voice.Packet, 3), Began: began,
		Ended: began.Add(length),
	}
}

// near compares amounts of money.
func near(a budget.Money, usd float64) bool { return math.Abs(a.USD()-usd) < 1e-6 }

func TestSpeechCostsTheListPriceOfAMinute(t *testing.T) {
	for _, c := range []struct {
		model    budget.AudioModel
		usd      float64
		unpriced bool
	}{
		{budget.AudioModel{Name: "gpt-4o-mini-transcribe"}, 0.003, false},
		{budget.AudioModel{Name: "gpt-4o-mini-transcribe-2025-12-15"}, 0.003, false},
		{budget.AudioModel{Name: "GPT-Transcribe"}, 0.0045, false},
		{budget.AudioModel{Name: "gpt-transcribe-2099x"}, 0, true},
		{budget.AudioModel{Name: "unheard-of"}, 0, true},
		{budget.AudioModel{Name: "whisper-1", URL: "https://speech.example/v1"}, 0, true},
		{budget.AudioModel{Name: "whisper-1", URL: "http://127.0.0.1:8000/v1"}, 0, false},
	} {
		p := newPurse(t, budget.Amount{})
		tr := &budget.LimitedTranscriber{Transcriber: &hears{}, Enforcer: p.Enforcer, Model: c.model}
		all := utterance(0)
		all.Packets = make([]voice.Packet, 6000)
		for i, u := range []voice.Utterance{utterance(2 * time.Minute), all} {
			if said, err := tr.Transcribe(t.Context(), u); err != nil || said.Text != "hello" {
				t.Fatalf("%+v, %v", said, err)
			}
			e, n := p.last(t)
			if n != i+1 || !near(e.Amount.Money, 2*c.usd) || e.Unpriced != c.unpriced || e.Amount.Time != 2*time.Minute ||
				e.Amount.Tokens != 1201 || e.State != budget.StateSettled {
				t.Errorf("%+v: %d entries, %+v", c.model, n, e)
			}
		}
	}
}

func TestUnsentCallsAreNotCharged(t *testing.T) {
	p := newPurse(t, budget.Amount{Money: 1})
	tr := &budget.LimitedTranscriber{
		Transcriber: &hears{}, Enforcer: p.Enforcer,
		Model: budget.AudioModel{Name: "whisper-1"},
	}
	quiet := utterance(time.Minute)
	quiet.Loud = false
	check.Must(t, check.Err(tr.Transcribe(t.Context(), quiet)))
}

func TestNothingIsSentWhereTheBudgetIsSpent(t *testing.T) {
	p := newPurse(t, budget.Amount{Time: 90 * time.Second})
	h := &hears{}
	// minutes bound what has no price
	tr := &budget.LimitedTranscriber{Transcriber: h, Enforcer: p.Enforcer, Model: budget.AudioModel{Name: "unheard-of"}}
	_, first := tr.Transcribe(t.Context(), utterance(time.Minute))
	_, err := tr.Transcribe(t.Context(), utterance(time.Minute))
	var spent *llm.Error
	if first != nil || !errors.As(err, &spent) || spent.Kind != llm.ErrBudgetSpent || h.n != 1 {
		t.Errorf("first %v, then %v; heard %d times", first, err, h.n)
	}
}

func TestAModelOfUnknownPriceIsRefusedWhereOnlyMoneyIsLimited(t *testing.T) {
	p := newPurse(t, budget.Amount{Money: budget.Dollars(1)})
	tr := &budget.LimitedTranscriber{
		Transcriber: &hears{}, Enforcer: p.Enforcer,
		Model: budget.AudioModel{Name: "whisper-1", URL: "https://speech.example/v1"},
	}
	check.Fails(t, check.Err(tr.Transcribe(t.Context(), utterance(time.Second))), nil, "price is not known",
		"own:whisper-1")
}

func TestASentenceCostsItsSpeech(t *testing.T) {
	p := newPurse(t, budget.Amount{})
	s := &budget.LimitedSpeaker{
		Speaker: &says{packets: 6000}, Enforcer: p.Enforcer,
		Model: budget.AudioModel{Name: "gpt-4o-mini-tts"},
	}
	n := 0
	for _, err := range s.Speak(t.Context(), strings.Repeat("x", 1000)) {
		check.Must(t, err)
		n++
	}
	e, _ := p.last(t)
	if n != 6000 || !near(e.Amount.Money, 2*0.015+0.00015) || e.Amount.Time != 2*time.Minute ||
		e.Amount.Tokens != 501+2401 || e.State != budget.StateSettled {
		t.Errorf("%d packets, %+v", n, e)
	}
}

func TestAnInterruptedSentenceIsChargedCompletely(t *testing.T) {
	p := newPurse(t, budget.Amount{})
	s := &budget.LimitedSpeaker{
		Speaker: &says{packets: 3000}, Enforcer: p.Enforcer,
		Model: budget.AudioModel{Name: "tts-1"},
	}
	for _, err := range s.Speak(t.Context(), strings.Repeat("x", 1000)) {
		check.Must(t, err)
		break
	}
	if e, _ := p.last(t); !near(e.Amount.Money, 0.015) || e.State != budget.StateEstimated ||
		e.Amount.Tokens != 501+1008/8*20+1 || e.Amount.Time != voice.FrameTime { // eight characters a second, and one more
		t.Errorf("%+v", e)
	}
}

func TestASpeechErrorIsReturnedUnchanged(t *testing.T) {
	p := newPurse(t, budget.Amount{})
	broken := errors.New("the server is gone")
	s := &budget.LimitedSpeaker{
		Speaker: &says{packets: 1, err: broken}, Enforcer: p.Enforcer,
		Model: budget.AudioModel{Name: "tts-1"}, Fallback: &says{},
	}
	var got error
	for _, err := range s.Speak(t.Context(), "hello") {
		got = err
	}
	check.Fails(t, got, broken)
}

func TestSpeechThatWasRefusedCostsNothingUnlessItBegan(t *testing.T) {
	refused := &llm.Error{Kind: llm.ErrRateLimited, Status: 429}
	for packets, usd := range map[int]float64{0: 0, 1: 0.015} {
		p := newPurse(t, budget.Amount{})
		s := &budget.LimitedSpeaker{
			Speaker: &says{packets: packets, err: refused}, Enforcer: p.Enforcer, Model: budget.AudioModel{Name: "tts-1"},
		}
		for range s.Speak(t.Context(), strings.Repeat("x", 1000)) {
		}
		if e, _ := p.last(t); !near(e.Amount.Money, usd) {
			t.Errorf("after %d packets %+v, want %f USD", packets, e, usd)
		}
	}
}

func TestTheMachinesOwnVoiceSpeaksWhereTheBudgetIsSpent(t *testing.T) {
	p := newPurse(t, budget.Amount{Money: 1})
	server, own := &says{packets: 5}, &says{packets: 7}
	told := 0
	s := &budget.LimitedSpeaker{
		Speaker: server, Enforcer: p.Enforcer, Model: budget.AudioModel{Name: "tts-1"},
		Fallback: own, OnSpent: func(error) { told++ },
	}
	n := 0
	for _, err := range s.Speak(t.Context(), "hello") {
		check.Must(t, err)
		n++
	}
	if n != 7 || told != 1 || len(server.texts) != 0 || own.texts[0] != "hello" {
		t.Errorf("%d packets, told %d times, server %q, own %q", n, told, server.texts, own.texts)
	}
	s.Fallback = nil
	for _, err := range s.Speak(t.Context(), "hello") {
		if spent, ok := errors.AsType[*llm.Error](err); !ok || spent.Kind != llm.ErrBudgetSpent {
			t.Errorf("err = %v", err)
		}
	}
}

func TestAConversationAlwaysHoldsItsNextResponse(t *testing.T) {
	p := newPurse(t, budget.Amount{Money: budget.Dollars(1)})
	c := &budget.SpeechConversation{Enforcer: p.Enforcer, Model: budget.AudioModel{Name: "gpt-realtime"}}
	call := llm.WithAccount(t.Context(), llm.Account{Guild: "g"})
	ada := llm.WithAccount(t.Context(), llm.Account{Guild: "g", User: "discord:ada"})
	check.Must(t, c.Begin(call, 2000))
	holds := func(text, sound float64, tokens int64) {
		t.Helper()
		e, _ := p.last(t)
		if usd := (text*4 + sound*32 + 4096*64) / 1e6; e.State != budget.StateHeld || !near(e.Amount.Money, usd) ||
			e.Amount.Tokens != tokens || e.Amount.Time != 4096*50*time.Millisecond {
			t.Errorf("held %+v, want %f USD and %d tokens", e, usd, tokens)
		}
	}
	holds(1001, 900, 1001+900+4096)
	r := budget.SpeechResponse{
		Usage: llm.Usage{InputTokens: 1000, CachedTokens: 300, OutputTokens: 500}, AudioInput: 600,
		AudioCached: 200, AudioOutput: 400,
	}
	check.Must(t, c.CountResponse(call, ada, r))
	holds(400, 600+500+900, 1000+500+900+4096)
	const text, sound = 300*4 + 100*0.4 + 100*16, 400*32 + 200*0.4 + 400*64
	spent := adas(t, p)
	if !near(spent.Money, (text+sound)/1e6) || spent.Tokens != 1500 || spent.Calls != 1 || spent.Time != 20*time.Second {
		t.Errorf("she has spent %+v", spent)
	}
	check.Must(t, c.CountTranscription(ada, "gpt-4o-mini-transcribe", time.Minute))
	if more := adas(t, p).Sub(spent); !near(more.Money, 0.003) || more.Calls != 1 {
		t.Errorf("hearing took %+v", more)
	}
	spoken, done := context.WithCancel(call)
	var checks sync.WaitGroup
	checks.Go(func() { // as for everybody who speaks meanwhile
		for spoken.Err() == nil {
			_ = c.Check(ada)
		}
	})
	var err error
	for i := 0; err == nil && i < 20; i++ {
		err = c.CountResponse(call, ada, r)
	}
	done()
	checks.Wait()
	var failed *llm.Error
	if !errors.As(err, &failed) || failed.Kind != llm.ErrBudgetSpent || adas(t, p).Money > budget.Dollars(1) {
		t.Errorf("it went on until %v, with %s USD", err, adas(t, p).Money)
	}
	check.Fails(t, c.Check(ada), nil, "0.71 of 1.00 USD for today")
	c.End(call)
	sums, err := p.ledger.Sums(t.Context(),
		[]budget.Key{{Level: budget.LevelGuild, ID: "g", Day: time.Now().UTC().Format(time.DateOnly)}})
	if err != nil || sums[0].Held != (budget.Amount{}) {
		t.Errorf("held after the end: %+v, %v", sums, err)
	}
	for _, late := range []struct {
		r    budget.SpeechResponse
		want int64
	}{{r, 1500}, {budget.SpeechResponse{}, 2400 + 4096}, {budget.SpeechResponse{}, 2400 + 4096}} {
		before := adas(t, p)
		check.Fails(t, c.CountResponse(call, ada, late.r), nil, "budget spent")
		check.Equal(t, "tokens of a response that nothing was held for", adas(t, p).Sub(before).Tokens, late.want)
	}
}

func TestAnUnreportedResponseCountsAsEstimated(t *testing.T) {
	p := newPurse(t, budget.Amount{})
	c := &budget.SpeechConversation{Enforcer: p.Enforcer, Model: budget.AudioModel{Name: "gpt-realtime-mini"}}
	check.Must(t, errors.Join(c.Begin(t.Context(), 0), c.CountResponse(t.Context(), t.Context(), budget.SpeechResponse{})))
	c.End(t.Context())
	calls, err := p.ledger.Calls(t.Context(), 10)
	if err != nil || len(calls) != 1 || calls[0].State != budget.StateEstimated || calls[0].Amount.Tokens < 4096 {
		t.Errorf("calls %+v, %v", calls, err)
	}
}

// adas returns what Ada has spent today.
func adas(t *testing.T, p purse) budget.Amount {
	t.Helper()
	sums, err := p.ledger.Sums(t.Context(),
		[]budget.Key{{Level: budget.LevelUser, ID: "discord:ada", Day: time.Now().UTC().Format(time.DateOnly)}})
	check.Must(t, err)
	return sums[0].Amount
}
