package server

import (
	"context"
	"sync"
	"time"

	"clank/internal/budget"
	"clank/internal/settings"
	"clank/voice"
	"clank/voice/conversation"
	"clank/voice/speech"
)

// noticeTimeout bounds writing news into a chat.
const noticeTimeout = 30 * time.Second

// budgetedTranscriber returns tr limited by the budget.
func (x *CallService) budgetedTranscriber(tr voice.Transcriber, s settings.Transcription) voice.Transcriber {
	if x.Budget == nil {
		return tr
	}
	return &budget.LimitedTranscriber{Transcriber: tr, Enforcer: x.Budget, Model: budget.AudioModel{Name: s.Model, URL: s.URL}}
}

// budgetedSynthesizer returns s limited by the budget. Once that is spent, the local voice of this machine
// speaks, which is announced once.
func (x *CallService) budgetedSynthesizer(s voice.Synthesizer, v settings.Speech, chat conversation.Chat) voice.Synthesizer {
	if _, free := s.(*speech.ESpeak); free || x.Budget == nil {
		return s
	}
	paid := &budget.LimitedSpeaker{Speaker: s, Enforcer: x.Budget, Model: budget.AudioModel{Name: v.Model, URL: v.URL}}
	if own, err := speech.NewESpeak(speech.ESpeakOptions{Voice: v.LocalVoice}); err == nil {
		paid.Fallback = own
	}
	var once sync.Once
	paid.OnSpent = func(err error) {
		once.Do(func() {
			x.Logger.Info("budget of speech spent; espeak-ng speaks", "error", err)
			x.background.Go(func() {
				ctx, done := context.WithTimeout(x.callsContext, noticeTimeout)
				defer done()
				text := "I may not spend more on my voice, so I speak with that of the machine I run on. " + conversation.AsSentence(err.Error())
				if err := chat.Write(ctx, conversation.Message{Text: text}); err != nil {
					x.Logger.Warn("spent budget not told", "error", err)
				}
			})
		})
	}
	return paid
}
