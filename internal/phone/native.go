package phone

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"clank/brain"
	"clank/budget/speech"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/working"
	"clank/settings"
	"clank/sharing"
	"clank/voice"
	"clank/voice/realtime"
	"clank/voice/talk"
	"clank/voice/talk/native"
	"clank/voice/talk/words"
)

// nativeStyle is what a model that speaks by itself is told of its manner.
const nativeStyle = "This is a voice call: you hear people and speak with them. Answer in one to three short sentences of plain spoken language, in the " +
	"language of the person. Never read addresses, code or lists aloud: pictures of a browse are put into the chat for you, and share_browser_session " +
	"shows the live page. Before a tool that takes a while, say in a few words that you are looking. People may speak with each other: where that " +
	"is not for you, say nothing."

// noRealtimeKey is told where the settings want a realtime model, and nothing says how to reach one.
const noRealtimeKey = "calls are held by a realtime model here, and there is no key for one: whoever runs clank can set OPENAI_API_KEY, or the address of a realtime " +
	"server (and REALTIME_API_KEY, if it wants one), or have the brain talk instead (setting interaction.voice.brain)"

// noRealtime is noRealtimeKey if the settings want a realtime model that cannot be had; else empty.
func (x *Exchange) noRealtime(v settings.Voice) string {
	if v.Brain != settings.VoiceBrainRealtime {
		return ""
	}
	if _, err := x.server(v.Realtime.URL, "REALTIME_API_KEY"); err != nil {
		return words.Sentence(noRealtimeKey)
	}
	return ""
}

// natively has a model hold the conversation that hears and speaks by itself. Where none can be had the call says so, and nothing
// takes its place.
func (x *Exchange) natively(t *talk.Talk, v settings.Voice, call sharing.Call) {
	server, err := x.server(v.Realtime.URL, "REALTIME_API_KEY")
	if err != nil {
		t.NewNative = func(native.Events) native.Model { return mute{errors.New(noRealtimeKey)} }
		return
	}
	s := &realtime.Session{
		BaseURL: server.BaseURL, Key: server.Key, Model: v.Realtime.Model, Voice: v.Realtime.Voice,
		Instructions: x.Standing(nativeStyle), MostOutput: speech.MostAnswer, HTTPClient: x.HTTPClient, Logger: x.Logger,
	}
	if v.Transcription.URL == v.Realtime.URL { // it is a model of that server
		s.Transcribe, s.Language = v.Transcription.Model, v.Transcription.Language
	}
	begin := native.Realtime(s, func(on native.Events) []brain.Tool { return x.nativeTools(on, call, t.Line) })
	if x.Keeper == nil {
		t.NewNative = begin
		return
	}
	bill := &speech.Conversation{Keeper: x.Keeper, Model: speech.Model{Name: v.Realtime.Model, URL: v.Realtime.URL}}
	place := llm.Account{Guild: t.Place.Guild, Channel: t.Place.Channel, Purpose: "talk"}
	t.Disabled = x.affords(bill)
	t.NewNative = func(on native.Events) native.Model {
		m := &metered{Session: s, bill: bill, place: place, asker: on.Asker, uses: make(chan use, 256)}
		s.Used, s.Transcribed = m.used, m.transcribed
		begin(on)
		bill.Prompt = prompt(s)
		return m
	}
}

// affords is [Exchange.Disabled] where what somebody asks has to be paid for, too.
func (x *Exchange) affords(bill *speech.Conversation) func(context.Context, sessions.Origin) string {
	return func(ctx context.Context, o sessions.Origin) string {
		if x.Disabled != nil {
			if why := x.Disabled(ctx, o); why != "" {
				return why
			}
		}
		var spent *llm.Error
		switch err := bill.May(llm.WithAccount(ctx, accountOf(o, "talk"))); {
		case errors.As(err, &spent):
			return "I may not spend more today: " + spent.Error()
		case err != nil:
			x.Logger.Error("what may be spent is not known", "error", err)
			return "I do not know what I may spend at the moment"
		}
		return ""
	}
}

// prompt is how many characters a model is told before anybody speaks.
func prompt(s *realtime.Session) int {
	n := len(s.Instructions)
	for _, t := range s.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return n
}

// accountOf says to whom something is put down.
func accountOf(o sessions.Origin, purpose string) llm.Account {
	return llm.Account{Guild: o.Guild, Channel: o.Channel, User: working.Person(o), Purpose: purpose}
}

// nativeTools are what a model that holds the conversation by itself may use, on behalf of whoever speaks with it.
func (x *Exchange) nativeTools(on native.Events, call sharing.Call, line voice.Line) []brain.Tool {
	tools := []brain.Tool{x.Browse(func(_ sessions.Origin, a brain.Answer) { on.Show(picture(a)) })}
	for _, t := range x.shares.Tools(call) {
		tools = append(tools, brain.Tool(t))
	}
	if call == pageCall {
		return append(tools, leavePage(line))
	}
	for _, t := range x.calls.Tools(x.life, sessions.Origin{Kind: sessions.FromDiscord, Guild: call.Guild}) {
		if t.Name == "leave_voice_channel" {
			tools = append(tools, t)
		}
	}
	return tools
}

// picture is what a browse has left to be seen.
func picture(a brain.Answer) (text string, images []sessions.Image) {
	text, images = a.Text, a.Images
	if len(images) == 0 && a.View != nil {
		images = []sessions.Image{*a.View}
	}
	if text == "" {
		text = "From the browser:"
	}
	return text, images
}

// leavePage ends the call on the call page.
func leavePage(line voice.Line) brain.Tool {
	return brain.Tool{
		Tool: llm.Tool{
			Name: "leave_voice_channel", Description: "End this call, when somebody asks you to.",
			Schema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
		},
		Call: func(ctx context.Context, _ sessions.Origin, _ json.RawMessage) (string, []llm.Image, error) {
			return "You have left the call.", nil, line.Close(ctx)
		},
	}
}

// mute is a model that cannot be had.
type mute struct{ why error }

// Run implements [native.Model].
func (m mute) Run(context.Context) error { return m.why }

// Hear implements [native.Model].
func (mute) Hear(voice.Sound) {}

// Interrupt implements [native.Model].
func (mute) Interrupt() {}

// Cancel implements [native.Model].
func (mute) Cancel(error) {}

// metered is a conversation within the budget: what it uses is counted for whoever spoke last, and it ends where no more may be
// spent.
type metered struct {
	*realtime.Session

	bill  *speech.Conversation
	place llm.Account
	asker func() (sessions.Origin, bool)
	uses  chan use
}

// use is something to be counted, for somebody.
type use struct {
	by    llm.Account
	count func(place, by context.Context) error
}

// account is that of whoever spoke last.
func (m *metered) account(purpose string) llm.Account {
	if o, known := m.asker(); known {
		return accountOf(o, purpose)
	}
	return m.place
}

func (m *metered) used(u realtime.Usage) {
	r := speech.Response{Usage: u.Usage, AudioInput: u.AudioInput, AudioCached: u.AudioCached, AudioOutput: u.AudioOutput}
	m.uses <- use{m.account("talk"), func(place, by context.Context) error { return m.bill.Used(place, by, r) }}
}

func (m *metered) transcribed(length time.Duration) {
	m.uses <- use{m.account("transcribe"), func(_, by context.Context) error { return m.bill.Heard(by, m.Transcribe, length) }}
}

// Run implements [native.Model].
func (m *metered) Run(ctx context.Context) error {
	place := llm.WithAccount(ctx, m.place)
	if err := m.bill.Begin(place); err != nil {
		return err
	}
	talking, end := context.WithCancelCause(ctx)
	defer end(context.Canceled)
	var counting sync.WaitGroup
	counting.Go(func() {
		for u := range m.uses {
			if err := u.count(place, llm.WithAccount(context.WithoutCancel(ctx), u.by)); err != nil {
				end(err)
			}
		}
	})
	err := m.Session.Run(talking)
	close(m.uses) // nothing of the session runs any more
	counting.Wait()
	m.bill.End(context.WithoutCancel(place))
	if err == nil && ctx.Err() == nil {
		err = context.Cause(talking)
	}
	return err
}
