package phone

import (
	"context"
	"errors"
	"time"

	"clank/brain"
	"clank/cancel"
	"clank/sessions"
	"clank/settings"
	"clank/sharing"
	"clank/voice"
	"clank/voice/ear"
	"clank/voice/mouth"
	"clank/voice/speech/espeak"
	"clank/voice/speech/remote"
	"clank/voice/talk"
	"clank/voice/talk/calls"
	"clank/voice/talk/senses"
	"clank/voice/talk/words"
	"clank/voice/webcall"
)

// shareTimeout bounds the beginning of a share, which may have to wake a page.
const shareTimeout = 30 * time.Second

// conversation is what happens in a call.
func (x *Exchange) conversation(line voice.Line, place talk.Place, chat talk.Chat, call sharing.Call) calls.Session {
	v := x.Settings().Voice
	t := &talk.Talk{
		Line: line, Place: place, Chat: chat, Scopes: x.Scopes, Disabled: x.Disabled, Logger: x.Logger,
		Brain:   x.Brain(x.Tools),
		Account: accountOf,
		Manners: talk.Manners{
			TranscribeAll: v.Transcription.All, Names: v.NameList(), BargeIn: talk.BargeIn(v.BargeIn), Alone: v.Alone, Limit: v.Longest,
		},
	}
	listens := &ear.Ear{
		Rate: voice.RateSpeech, Logger: x.Logger,
		Ignore: func(id string) bool { return x.left.LeftOut(place.Guild, id) },
	}
	t.NewEar = senses.Ear(listens)
	if x.spotter != nil {
		t.Spotter = x.spotter
	}
	if v.Brain == settings.VoiceBrainRealtime {
		listens.Rate = voice.RateRealtime
		x.natively(t, v, call)
	} else if tr, err := x.transcriber(v.Transcription); err != nil {
		x.Logger.Info("speech is not put into words", "error", err)
	} else {
		t.Transcriber = x.paidHearing(tr, v.Transcription)
	}
	says := &mouth.Mouth{Line: line, Logger: x.Logger}
	if s, err := x.speaker(v.Speech); err != nil {
		x.Logger.Info("words are not spoken", "error", err)
	} else if s != nil {
		says.Speaker = x.paidSpeech(s, v.Speech, chat)
	}
	if says.Speaker != nil || t.NewNative != nil { // which brings a voice of its own
		t.Mouth = senses.Mouth(says)
	}
	if place.Guild != "" {
		t.Privacy = x.left
		t.Stay, t.Ours = x.calls.Stay, x.live.sits
	} else {
		t.Origin = func(voice.Person) sessions.Origin { return pageOrigin }
	}
	if page, ok := chat.(pageChat); ok {
		t.Show = page.show
	}
	return kept{t, x}
}

// Tools are what a brain can do about calls for the person at o: come into one, leave it, show a browser there.
func (x *Exchange) Tools(ctx context.Context, o sessions.Origin) []brain.Tool {
	var tools []brain.Tool
	if o.Kind == sessions.FromDiscord && x.bot.Load() != nil {
		tools = x.calls.Tools(ctx, o)
	}
	if call, ok := x.callOf(o); ok && x.within(o, call) {
		for _, t := range x.shares.Tools(call) {
			tools = append(tools, brain.Tool(t))
		}
	}
	return tools
}

// errNoServer says that a server is not set up.
var errNoServer = errors.New("no key and no server is set up for it")

// server is where speech is sent to, or comes from: an address of its own, or OpenAI's with a key.
func (x *Exchange) server(base, name string) (remote.Server, error) {
	key, env := "", name
	for _, env = range []string{name, "OPENAI_API_KEY"} {
		s, err := x.Secret(env)
		if err != nil {
			return remote.Server{}, err
		}
		if s.Present() {
			key = s.Reveal()
			break
		}
		if base != "" {
			break // a server of one's own gets no key that was meant for another
		}
	}
	if base == "" && key == "" {
		return remote.Server{}, errNoServer
	}
	return remote.Server{BaseURL: base, Key: key, KeyEnv: env, HTTPClient: x.HTTPClient, Log: x.Logger}, nil
}

func (x *Exchange) transcriber(t settings.Transcription) (voice.Transcriber, error) {
	server, err := x.server(t.URL, "TRANSCRIPTION_API_KEY")
	if err != nil {
		return nil, err
	}
	server.Chosen = "interaction.voice.transcription.model"
	return remote.NewTranscriber(remote.TranscriberOptions{
		Server: server, Model: t.Model, Language: t.Language, Keywords: []string{"clank"}, WAV: t.WAV,
	})
}

// speaker is who says our words; nil if nobody shall.
func (x *Exchange) speaker(s settings.Speech) (voice.Speaker, error) {
	if s.Engine == settings.SpeechOff {
		return nil, nil //nolint:nilnil // to be silent is a choice
	}
	if s.Engine != settings.SpeechLocal {
		server, err := x.server(s.URL, "SPEECH_API_KEY")
		if err == nil {
			server.Chosen = "interaction.voice.speech.model"
			return remote.NewSpeaker(remote.SpeakerOptions{
				Server: server, Model: s.Model, Voice: s.Voice, Format: remote.Format(s.Format), FormatChosen: "interaction.voice.speech.format",
			})
		}
		if s.Engine == settings.SpeechServer || !errors.Is(err, errNoServer) {
			return nil, err
		}
	}
	return espeak.New(espeak.Options{Voice: s.Local})
}

// missing says what calls have to do without, in sentences with the way out; empty if nothing.
func (x *Exchange) missing() string {
	v := x.Settings().Voice
	var text string
	if _, err := x.transcriber(v.Transcription); err != nil && v.Brain != settings.VoiceBrainRealtime {
		text = "I cannot understand words: set OPENAI_API_KEY, or the address of a transcription server in the settings."
		if x.spotter != nil {
			text += " I do hear “stop” and my name."
		}
	}
	if x.spotter == nil {
		text += " To hear “stop” at once, I need a program on the machine I run on: " + x.problem + "."
	}
	if _, err := x.speaker(v.Speech); err != nil {
		text += " I cannot speak, so answers are written: " + err.Error() + "."
	}
	return text
}

// pageOrigin is the operator at the call page, as the chat page has it.
var pageOrigin = sessions.Origin{Kind: sessions.FromDashboard, Channel: "dashboard", Moderator: true}

// pageCall is the call of the call page, as shares know it.
var pageCall = sharing.Call{ID: "page"}

// answerPage begins the conversation on the call page.
func (x *Exchange) answerPage(c *webcall.Call) {
	place := talk.Place{Kind: sessions.FromDashboard, Channel: pageOrigin.Channel}
	x.work.Go(func() {
		if err := x.conversation(c, place, pageChat{c}, pageCall).Run(x.life); err != nil && cancel.CauseOf(x.life, err) == nil {
			x.Logger.Info("call on the page ended", "reason", err)
		}
		if err := x.shares.EndCall(context.WithoutCancel(x.life), pageCall); err != nil {
			x.Logger.Warn("share not ended with its call", "error", err)
		}
	})
}

func (x *Exchange) stopByPage(_ *webcall.Call, p voice.Person) {
	x.Scopes.Stop(cancel.Scope{Channel: pageOrigin.Channel}, cancel.Actor{ID: pageOrigin.User, Name: p.Name, Moderator: true}, false)
}

// shareByPage shows what was browsed last on the call page, or shows it no more. What comes of it is told on the page.
func (x *Exchange) shareByPage(c *webcall.Call, _ voice.Person, on bool) {
	x.work.Go(func() {
		ctx, cancel := context.WithTimeout(x.life, shareTimeout)
		defer cancel()
		do := x.Unshare
		if on {
			do = func(ctx context.Context, o sessions.Origin) (string, error) { return x.Share(ctx, o, "") }
		}
		if _, err := do(ctx, pageOrigin); err != nil {
			c.Write(webcall.Note{Kind: webcall.Status, Text: words.Sentence(err.Error())})
			return
		}
		c.Write(webcall.Note{Kind: webcall.Status})
	})
}

// pageChat writes on the call page.
type pageChat struct{ call *webcall.Call }

// Write implements [talk.Chat].
func (p pageChat) Write(_ context.Context, m talk.Message) error {
	n := webcall.Note{Kind: webcall.Chat, Text: m.Text}
	if m.Notice {
		n.Kind = webcall.Notice
	}
	for _, im := range m.Images {
		n.Images = append(n.Images, webcall.Image(im))
	}
	p.call.Write(n)
	return nil
}

// show has what is said in the call read on the page.
func (p pageChat) show(s talk.Said) {
	if s.By.ID == "" {
		p.call.Write(webcall.Note{Kind: webcall.Said, Text: s.Text})
		return
	}
	p.call.Write(webcall.Note{Kind: webcall.Heard, From: s.By.Name, Text: s.Text})
}
