package phone

import (
	"context"
	"sync"
	"time"

	"clank/budget/speech"
	"clank/settings"
	"clank/voice"
	"clank/voice/speech/espeak"
	"clank/voice/talk"
	"clank/voice/talk/words"
)

// newsTimeout bounds writing news into a chat.
const newsTimeout = 30 * time.Second

// paidHearing is tr within the budget.
func (x *Exchange) paidHearing(tr voice.Transcriber, s settings.Transcription) voice.Transcriber {
	if x.Keeper == nil {
		return tr
	}
	return &speech.Transcriber{Transcriber: tr, Keeper: x.Keeper, Model: speech.Model{Name: s.Model, URL: s.URL}}
}

// paidSpeech is s within the budget. Where that is spent the voice of this machine speaks, which is told once.
func (x *Exchange) paidSpeech(s voice.Speaker, v settings.Speech, chat talk.Chat) voice.Speaker {
	if _, free := s.(*espeak.Speaker); free || x.Keeper == nil {
		return s
	}
	paid := &speech.Speaker{Speaker: s, Keeper: x.Keeper, Model: speech.Model{Name: v.Model, URL: v.URL}}
	if own, err := espeak.New(espeak.Options{Voice: v.Local}); err == nil {
		paid.Instead = own
	}
	var once sync.Once
	paid.Spent = func(err error) {
		once.Do(func() {
			x.Logger.Info("budget of speech spent; espeak-ng speaks", "error", err)
			x.work.Go(func() {
				ctx, done := context.WithTimeout(x.life, newsTimeout)
				defer done()
				text := "I may not spend more on my voice, so I speak with that of the machine I run on. " + words.Sentence(err.Error())
				if err := chat.Write(ctx, talk.Message{Text: text}); err != nil {
					x.Logger.Warn("spent budget not told", "error", err)
				}
			})
		})
	}
	return paid
}
