package server

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/dashboard/api"
	"clank/internal/budget"
	"clank/internal/settings"
	"clank/llm"
	"clank/sessions"
	"clank/voice"
	"clank/voice/realtime"
	"clank/voice/speech"
	"clank/voice/speech/playout"
)

const (
	// voiceCheckTime bounds each part of the check, so that the whole ends within the half minute that pages wait.
	voiceCheckTime = 12 * time.Second
	// maxCheckedSound is the maximum amount of synthesized speech, in packets.
	maxCheckedSound = int(10 * time.Second / voice.FrameTime)
	// checkedText is spoken and must be recognized: any of checkedWords.
	checkedText = "Hello, this is a test of my voice."
)

var checkedWords = []string{"hello", "test", "voice"}

// CheckVoice tests the speech services used in calls: it synthesizes a sentence, transcribes the result, and asks a
// realtime model for an answer. Failures say what to do.
func (x *CallService) CheckVoice(ctx context.Context) []api.VoiceCheck {
	v := x.Settings.Current().Voice
	if !v.Enabled {
		return []api.VoiceCheck{{Name: "Calls", Text: "They are switched off: switch them on in the settings under Calls."}}
	}
	ctx = llm.WithAccount(ctx, llm.Account{Purpose: "setup"})
	spoken, speaks := x.checkSpeech(ctx, v.Speech)
	list := []api.VoiceCheck{speaks}
	if v.Engine == settings.VoiceEngineRealtime {
		list = append(list, x.checkRealtime(ctx, v.Realtime))
	} else {
		list = append(list, x.checkTranscription(ctx, v, spoken))
	}
	stop := stopWordsCapability()
	return append(list, api.VoiceCheck{Name: "Stop word", OK: stop.Ready, Text: sentence(stop.Detail)})
}

func (x *CallService) hasSecret(name string) bool {
	v, err := settings.ReadSecret(name, x.Getenv)
	return err == nil && v.IsSet()
}

// checkSpeech synthesizes a sentence and returns the audio.
func (x *CallService) checkSpeech(ctx context.Context, v settings.Speech) ([]voice.Packet, api.VoiceCheck) {
	c := api.VoiceCheck{Name: "Speech"}
	about := sentence(speechCapability(settings.Voice{Speech: v}, x.hasSecret).Detail)
	s, err := x.synthesizer(v)
	switch {
	case err != nil:
		c.Text = about
		return nil, c
	case s == nil:
		c.OK, c.Text = true, about
		return nil, c
	}
	if _, local := s.(*speech.ESpeak); !local && x.Budget != nil {
		s = &budget.LimitedSpeaker{Speaker: s, Enforcer: x.Budget, Model: budget.AudioModel{Name: v.Model, URL: v.URL}}
	}
	begun := time.Now()
	sound, err := speakForCheck(ctx, s)
	switch {
	case err != nil:
		c.Text = checkFailure(err)
	case len(sound) == 0:
		c.Text = v.Model + " sent no sound: choose another model, voice or format in the settings under Calls."
	default:
		c.OK = true
		length := time.Duration(len(sound)) * voice.FrameTime
		c.Text = fmt.Sprintf("%s %.1f s of sound came within %.1f s.", about, length.Seconds(), time.Since(begun).Seconds())
	}
	return sound, c
}

// speakForCheck returns the audio of the sentence.
func speakForCheck(ctx context.Context, s voice.Synthesizer) (sound []voice.Packet, err error) {
	ctx, done := context.WithTimeoutCause(ctx, voiceCheckTime, fmt.Errorf("no sound within %s", voiceCheckTime))
	defer done()
	for packet, err := range s.Speak(ctx, checkedText) {
		if err != nil {
			return nil, err
		}
		sound = append(sound, packetOf(len(sound), packet))
		if len(sound) == maxCheckedSound {
			break
		}
	}
	return sound, nil
}

// packetOf returns the nth packet of a stream.
func packetOf(n int, opus []byte) voice.Packet {
	const each = int(voice.FrameTime * voice.RateOpus / time.Second)
	return voice.Packet{Sequence: uint16(n), Timestamp: uint32(n * each), //nolint:gosec // there are few
		Opus: slices.Clone(opus)}
}

// checkTranscription transcribes the sound. Without one it uses the voice of this machine or, failing that, a tone.
func (x *CallService) checkTranscription(ctx context.Context, v settings.Voice, sound []voice.Packet) api.VoiceCheck {
	about := transcriptionCapability(v, x.hasSecret)
	c := api.VoiceCheck{Name: "Understanding", Text: sentence(about.Detail)}
	tr, err := x.newTranscriber(v.Transcription, v.NameList())
	if err != nil {
		return c
	}
	tr = x.budgetedTranscriber(tr, v.Transcription)
	ctx, done := context.WithTimeoutCause(ctx, voiceCheckTime, fmt.Errorf("no answer within %s", voiceCheckTime))
	defer done()
	words := true
	if own, err := speech.NewESpeak(speech.ESpeakOptions{}); len(sound) == 0 && err == nil {
		sound, _ = speakForCheck(ctx, own) // without a local voice a tone is used
	}
	if len(sound) == 0 {
		words = false
		if sound, err = tone(); err != nil {
			c.Text = checkFailure(err)
			return c
		}
	}
	now := time.Now()
	length := time.Duration(len(sound)) * voice.FrameTime
	said, err := tr.Transcribe(ctx, voice.Utterance{
		From: "check", Packets: sound, Began: now.Add(-length), Ended: now,
		Loud: true,
	})
	understood := slices.ContainsFunc(checkedWords, func(word string) bool {
		return strings.Contains(strings.ToLower(said.Text), word)
	})
	switch {
	case err != nil:
		c.Text = checkFailure(err)
	case !words:
		c.OK = true
		c.Text += " The server answers. With espeak-ng on this machine it would be given words (Debian: apt install " +
			"espeak-ng)."
	case understood:
		c.OK = true
		c.Text += fmt.Sprintf(" “%s” was understood as “%s”.", checkedText, said.Text)
	default:
		c.Text = fmt.Sprintf("“%s” was understood as “%s”: choose another model or language in the settings under Calls.",
			checkedText, said.Text)
	}
	return c
}

// tone returns a second of sound without speech.
func tone() (sound []voice.Packet, err error) {
	encoder, err := voice.NewOpusEncoder(voice.RateSpeech)
	if err != nil {
		return nil, err
	}
	samples := make([]int16, voice.RateSpeech)
	for i := range samples {
		samples[i] = int16(8000 * math.Sin(2*math.Pi*440*float64(i)/voice.RateSpeech))
	}
	for frame := range slices.Chunk(samples, voice.RateSpeech/50) {
		packet, err := encoder.Encode(frame)
		if err != nil {
			return nil, err
		}
		sound = append(sound, packetOf(len(sound), packet))
	}
	return sound, nil
}

// checkFailure returns what went wrong and what to do about it.
func checkFailure(err error) string {
	if e, ok := errors.AsType[*llm.Error](err); ok {
		if e.Hint != "" {
			return sentence(e.Message) + " " + sentence(e.Hint)
		}
		return sentence(e.Message)
	}
	return sentence(err.Error())
}

// checkRealtime asks the realtime model for a spoken answer.
func (x *CallService) checkRealtime(ctx context.Context, v settings.RealtimeModel) api.VoiceCheck {
	c := api.VoiceCheck{Name: "Realtime model", Text: v.Model}
	server, err := x.remoteServer(v.URL, "REALTIME_API_KEY")
	if err != nil {
		c.Text = sentence(noRealtimeKeyText)
		return c
	}
	ctx, end := context.WithTimeoutCause(ctx, voiceCheckTime, errors.New(
		"no answer within "+voiceCheckTime.String()+"; see whether the address and the model in the settings under Calls "+
			"are right"))
	defer end()
	s := &realtime.Session{
		BaseURL: server.BaseURL, Key: server.Key, Model: v.Model, Voice: v.Voice, Instructions: "Say the word: ready.",
		MaxOutputTokens: budget.MaxSpokenAnswer, MaxOutage: voiceCheckTime / 2, Logger: x.Logger,
	}
	told := &checkListener{ctx: ctx, came: make(chan struct{}, 1)}
	if x.Budget != nil {
		bill := &budget.SpeechConversation{Enforcer: x.Budget, Model: budget.AudioModel{Name: v.Model, URL: v.URL}}
		if err := bill.Begin(ctx, promptLength(s)); err != nil {
			c.Text += ": " + checkFailure(err)
			return c
		}
		defer bill.End(context.WithoutCancel(ctx))
		s.Meter = checkMeter{context.WithoutCancel(ctx), bill}
	}
	talk, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	begun := time.Now()
	go func() { ended <- s.Run(talk, told) }()
	s.AddMessage("Say the word: ready.")
	select {
	case <-told.came:
		stop()
		err = <-ended
	case err = <-ended:
	}
	told.playing.Wait()
	if err == nil && !told.answered {
		err = context.Cause(ctx)
	}
	if err != nil {
		c.Text += ": " + checkFailure(err)
		return c
	}
	c.OK = true
	c.Text += fmt.Sprintf(" answered within %.1f s.", time.Since(begun).Seconds())
	return c
}

// checkListener waits for an answer and checks that it has sound.
type checkListener struct {
	ctx      context.Context //nolint:containedctx // of the check
	came     chan struct{}
	playing  sync.WaitGroup
	answered bool // set before came is signaled
}

// Speak implements [realtime.Listener].
func (l *checkListener) Speak(_ []string, sound playout.SoundFunc) realtime.PlaybackPosition {
	l.playing.Go(func() {
		for _, err := range sound(l.ctx) {
			if err != nil {
				return
			}
		}
	})
	return unplayed{}
}

// unplayed discards sound.
type unplayed struct{}

func (unplayed) Played() time.Duration { return 0 }

func (*checkListener) StopPlayback(error) {}

func (*checkListener) Heard([]string, string) {}

// Answered implements [realtime.Listener].
func (l *checkListener) Answered(string) {
	if !l.answered {
		l.answered = true
		l.came <- struct{}{}
	}
}

func (*checkListener) Trouble(*llm.Error) {} // Run returns the error

func (*checkListener) Show(string, []llm.Image) {}

func (*checkListener) Name(string) string { return "" }

// Asker implements [realtime.Listener]. The model has no tools.
func (*checkListener) Asker(context.Context, []string) (sessions.Origin, error) {
	return sessions.Origin{}, errors.New("there are no tools")
}

// checkMeter charges what the check uses.
type checkMeter struct {
	ctx  context.Context //nolint:containedctx // of the check
	bill *budget.SpeechConversation
}

// CountResponse implements [realtime.Meter]. An exhausted budget does not stop the check.
func (m checkMeter) CountResponse(_ []string, u realtime.Usage) {
	r := budget.SpeechResponse{
		Usage: u.Usage, AudioInput: u.AudioInput, AudioCached: u.AudioCached,
		AudioOutput: u.AudioOutput,
	}
	_ = m.bill.CountResponse(m.ctx, m.ctx, r)
}

func (checkMeter) CountTranscription([]string, time.Duration) {}

// CheckVoice implements [dashboard.Setup].
func (a setup) CheckVoice(ctx context.Context) []api.VoiceCheck { return a.CallService.CheckVoice(ctx) }
