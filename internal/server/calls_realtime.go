package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"clank/internal/assistant"
	"clank/internal/budget"
	"clank/internal/i18n"
	"clank/internal/settings"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/agent"
	"clank/voice"
	"clank/voice/conversation"
	"clank/voice/realtime"
	"clank/voice/share"
)

// realtimeStyle instructs realtime models how to speak.
const realtimeStyle = "This is a voice call: you hear people and speak with them. Answer in one to three short " +
	"sentences of plain spoken language, in the language of the person. Never read addresses, code or lists aloud: " +
	"pictures of a browse are put into the chat for you, and share_browser_session shows the live page. Before a tool " +
	"that takes a while, say in a few words that you are looking. People may speak with each other: where that is not " +
	"for you, say nothing."

// noRealtimeKeyText is shown if the settings select a realtime model but there is no key or server for it.
const noRealtimeKeyText = "calls are held by a realtime model here, and there is no key for one: whoever runs clank " +
	"can set OPENAI_API_KEY, or the address of a realtime server (and REALTIME_API_KEY, if it wants one), or have the " +
	"brain talk instead (setting interaction.voice.brain)"

// realtimeProblem returns noRealtimeKeyText if the settings want a realtime model that is not available,
// otherwise "".
func (x *CallService) realtimeProblem(v settings.Voice) string {
	if v.Engine != settings.VoiceEngineRealtime {
		return ""
	}
	if _, err := x.remoteServer(v.Realtime.URL, "REALTIME_API_KEY"); err != nil {
		return i18n.Locale("").Sentence(noRealtimeKeyText)
	}
	return ""
}

// useRealtime lets a realtime model hold the conversation. If none is available the call says so; nothing replaces
// it.
func (x *CallService) useRealtime(t *conversation.Conversation, v settings.Voice, call share.CallRef) {
	server, err := x.remoteServer(v.Realtime.URL, "REALTIME_API_KEY")
	if err != nil {
		t.Native = missingModel{errors.New(noRealtimeKeyText)}
		return
	}
	style := realtimeStyle
	if names := v.NameList(); len(names) > 0 {
		style += " People may also call you " + strings.Join(names, ", ") + "."
	}
	if advice := x.Assistant.Web.Advice(sessions.Origin{}); advice != "" {
		style += "\n\n" + advice
	}
	s := &realtime.Session{
		BaseURL: server.BaseURL, Key: server.Key, Model: v.Realtime.Model, Voice: v.Realtime.Voice,
		Instructions: x.Assistant.StandingInstructions(style), MaxOutputTokens: budget.MaxSpokenAnswer, Logger: x.Logger,
	}
	if v.Transcription.URL == v.Realtime.URL { // the model belongs to that server
		s.TranscriptionModel, s.Language = v.Transcription.Model, v.Transcription.Language
	}
	s.Blind = strings.HasPrefix(v.Realtime.Model, blindRealtime)
	if sees, said := x.Settings.Current().Vision.Sees(realtimeProvider(v.Realtime) + ":" + v.Realtime.Model); said {
		s.Blind = !sees
	}
	if x.Models != nil {
		s.Describe = func(ctx context.Context, o sessions.Origin, p llm.Image) string {
			return x.Models.DescribePicture(llm.WithAccount(ctx, agent.PersonAccount(o, "describe")), p)
		}
	}
	m := &nativeModel{
		Session: s, service: x, call: call, line: t.Line,
		callAccount: llm.Account{Guild: t.Location.Guild, Channel: t.Location.Channel, Purpose: "talk"},
		uses:        make(chan budgetUse, 256),
	}
	if x.Budget != nil {
		m.bill = &budget.SpeechConversation{
			Enforcer: x.Budget,
			Model:    budget.AudioModel{Name: v.Realtime.Model, URL: v.Realtime.URL},
		}
		s.Meter = m
		t.Host = callHost{x, t.Location, m.bill}
	}
	t.Native = m
}

// blindRealtime is the prefix of OpenAI's realtime models that do not accept images.
const blindRealtime = "gpt-4o-"

// realtimeProvider returns the provider of a realtime model, as in model names of the settings.
func realtimeProvider(m settings.RealtimeModel) string {
	if m.URL == "" {
		return "openai"
	}
	return "compatible"
}

// promptLength returns the number of characters sent to a model before anyone speaks.
func promptLength(s *realtime.Session) int {
	n := len(s.Instructions)
	for _, t := range s.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return n
}

// realtimeTools returns the tools for a realtime model, used on behalf of the current speaker.
func (x *CallService) realtimeTools(on realtime.Listener, call share.CallRef, line voice.Line) []sessions.Tool {
	tools := x.Assistant.StandingTools(func(_ sessions.Origin, a assistant.Answer) { on.Show(answerImages(a)) })
	tools = append(tools, x.shares.Tools(call)...)
	if call == pageCallRef {
		return append(tools, leavePageTool(line))
	}
	for _, t := range x.registry.Tools(x.callsContext, sessions.Origin{Kind: sessions.FromDiscord, Guild: call.Guild}) {
		if t.Name == "leave_voice_channel" {
			tools = append(tools, t)
		}
	}
	return x.byPresentRoles(tools)
}

// answerImages returns the text and images of an answer.
func answerImages(a assistant.Answer) (text string, images []llm.Image) {
	text, images = a.Text, a.Images
	if len(images) == 0 && a.View != nil {
		images = []llm.Image{*a.View}
	}
	text = cmp.Or(text, "From the browser:")
	return text, images
}

// leavePageTool returns a tool that ends the call on the call page.
func leavePageTool(line voice.Line) sessions.Tool {
	return sessions.Tool{
		Tool: llm.Tool{
			Name: "leave_voice_channel", Description: "End this call, when somebody asks you to.",
			Schema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
		},
		Call: func(ctx context.Context, _ sessions.Origin, _ json.RawMessage) (string, []llm.Image, error) {
			return "You have left the call.", nil, line.Close(ctx)
		},
	}
}

// missingModel is a model that is not available.
type missingModel struct{ reason error }

func (m missingModel) Run(context.Context, realtime.Listener) error { return m.reason }

func (missingModel) Hear(voice.Sound) {}

func (missingModel) Interrupt() {}

func (missingModel) Cancel(error, string) {}

// nativeModel is a realtime conversation. With a budget, its use is charged to the people who asked, and it ends when
// the budget is exhausted.
type nativeModel struct {
	*realtime.Session

	service     *CallService
	call        share.CallRef
	line        voice.Line
	bill        *budget.SpeechConversation // nil charges nothing
	callAccount llm.Account
	on          realtime.Listener // since Run
	uses        chan budgetUse
}

// budgetUse is a use to charge.
type budgetUse struct {
	by      []string // ids of the people who asked
	purpose string
	count   func(place, by context.Context) error
}

// account returns the account to charge: that of the people, or that of the call if there are none.
func (m *nativeModel) account(ctx context.Context, u budgetUse) llm.Account {
	if o, err := m.on.Asker(ctx, u.by); err == nil {
		return agent.PersonAccount(o, u.purpose)
	}
	return m.callAccount
}

// CountResponse implements [realtime.Meter].
func (m *nativeModel) CountResponse(by []string, u realtime.Usage) {
	r := budget.SpeechResponse{
		Usage: u.Usage, AudioInput: u.AudioInput, AudioCached: u.AudioCached,
		AudioOutput: u.AudioOutput,
	}
	m.uses <- budgetUse{by, "talk", func(place, by context.Context) error { return m.bill.CountResponse(place, by, r) }}
}

// CountTranscription implements [realtime.Meter].
func (m *nativeModel) CountTranscription(by []string, length time.Duration) {
	m.uses <- budgetUse{by, "transcribe", func(_, by context.Context) error {
		return m.bill.CountTranscription(by, m.TranscriptionModel, length)
	}}
}

func (m *nativeModel) Run(ctx context.Context, on realtime.Listener) error {
	m.Tools, m.on = m.service.realtimeTools(on, m.call, m.line), on
	if m.bill == nil {
		return m.Session.Run(ctx, on)
	}
	place := llm.WithAccount(ctx, m.callAccount)
	if err := m.bill.Begin(place, promptLength(m.Session)); err != nil {
		return err
	}
	talking, end := context.WithCancelCause(ctx)
	defer end(context.Canceled)
	var counting sync.WaitGroup
	counting.Go(func() {
		for u := range m.uses {
			rest := context.WithoutCancel(ctx)
			if err := u.count(place, llm.WithAccount(rest, m.account(rest, u))); err != nil {
				end(err)
			}
		}
	})
	err := m.Session.Run(talking, on)
	close(m.uses) // the session sends no more uses
	counting.Wait()
	m.bill.End(context.WithoutCancel(place))
	if err == nil && ctx.Err() == nil {
		err = context.Cause(talking)
	}
	return err
}
