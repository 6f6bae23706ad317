package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"clank/bot"
	"clank/cancel"
	"clank/internal/assistant"
	"clank/internal/budget"
	"clank/internal/i18n"
	"clank/internal/settings"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/agent"
	"clank/voice"
	"clank/voice/conversation"
	"clank/voice/share"
	"clank/voice/speech"
	"clank/voice/speech/playout"
	"clank/voice/speech/vad"
	"clank/voice/webrtc"
)

// shareStartTimeout bounds the start of a share, which may have to reopen a page.
const shareStartTimeout = 30 * time.Second

func (x *CallService) newConversation(line voice.Line, place conversation.Location, chat conversation.Chat,
	call share.CallRef,
) conversation.CallRunner {
	v := x.Settings.Current().Voice
	t := &conversation.Conversation{
		Line: line, Location: place, Chat: chat, Scopes: x.Scopes, Logger: x.Logger,
		Assistant: callReplier{ChargedReplier{x.Assistant}, x}, Host: callHost{service: x, place: place},
		Options: conversation.Options{
			TranscribeAll: v.Transcription.Everything, Names: v.NameList(), BargeIn: conversation.BargeIn(v.BargeIn),
			AloneTimeout: v.AloneTimeout, MaxDuration: v.MaxDuration,
			RequireEncryption: v.RequireEncryption,
		},
	}
	if place.Guild != "" {
		t.Locale = x.locale(place.Guild)
	}
	t.VoiceLocale = t.Locale // servers and realtime models speak every language
	var localLocale i18n.Locale
	v.Speech.LocalVoice, localLocale = localVoice(v.Speech.LocalVoice, t.Locale)
	listens := &vad.Detector{
		Rate: voice.RateSpeech, Logger: x.Logger,
		Ignore: func(id string) bool { return x.privacy.OptedOut(place.Guild, id) },
	}
	t.Detector = listens
	if x.spotter != nil {
		t.Spotter = x.spotter
	}
	if v.Engine == settings.VoiceEngineRealtime {
		listens.Rate = voice.RateRealtime
		x.useRealtime(t, v, call)
	} else if tr, err := x.newTranscriber(v.Transcription, v.NameList()); err != nil {
		x.Logger.Info("speech is not put into words", "error", err)
	} else {
		t.Transcriber = x.budgetedTranscriber(tr, v.Transcription)
	}
	says := &playout.Player{Line: line, Logger: x.Logger}
	if s, err := x.synthesizer(v.Speech); err != nil {
		x.Logger.Info("words are not spoken", "error", err)
	} else if s != nil {
		says.Synthesizer = x.budgetedSynthesizer(s, v.Speech, chat, t.Locale)
		if _, local := s.(*speech.ESpeak); local {
			t.VoiceLocale = localLocale
		}
	}
	if says.Synthesizer != nil || t.Native != nil { // which has its own voice
		t.Player = says
		x.players.Store(call.ID, says)
	}
	if place.Guild != "" {
		t.Privacy = x.privacy
	}
	return recordedConversation{t, x}
}

// localVoice returns the espeak-ng voice, either the configured one or one for loc, and the language it speaks.
func localVoice(set string, loc i18n.Locale) (name string, speaks i18n.Locale) {
	name = cmp.Or(set, strings.ToLower(string(loc.Spoken())))
	language, _, _ := strings.Cut(name, "+")
	return name, i18n.Locale(language).Spoken()
}

// locale returns the language of texts that everyone on a server reads.
func (x *CallService) locale(guild string) i18n.Locale {
	if b := x.bot.Load(); b != nil {
		return (*b).Locale(guild)
	}
	return ""
}

// callHost connects a conversation to the rest of the program. It implements [conversation.Host].
type callHost struct {
	service *CallService
	place   conversation.Location
	bill    *budget.SpeechConversation // budget of a realtime model; nil means that nothing is reserved in advance
}

// Origin implements [conversation.Host].
func (h callHost) Origin(p voice.Person) sessions.Origin {
	if h.place.Guild == "" {
		return pageOrigin
	}
	return sessions.Origin{
		Kind: h.place.Kind, Guild: h.place.Guild, Channel: h.place.Channel, User: p.ID, UserName: cmp.Or(p.Name, "somebody"),
		Roles: h.service.joiner.Roles(h.place.Guild, p.ID), Private: h.service.isPrivate(h.place.Guild),
		Locale: h.service.locale(h.place.Guild),
	}
}

// SameRights implements [conversation.Host].
func (h callHost) SameRights(ctx context.Context, a, b sessions.Origin) bool {
	if h.service.Access == nil {
		return false
	}
	var rights [2][]string
	for i, o := range []sessions.Origin{a, b} {
		now, why := h.service.presentOrigin(ctx, o)
		if why != "" {
			return false
		}
		var err error
		if rights[i], err = h.service.Access.Rights(ctx, now); err != nil {
			return false
		}
	}
	return slices.Equal(rights[0], rights[1])
}

// IsOwnAccount implements [conversation.Host].
func (h callHost) IsOwnAccount(id string) bool {
	return h.place.Guild != "" && h.service.goLive.isAccount(id)
}

// DisabledReason implements [conversation.Host]. If the call itself is charged, nobody may ask once the budget is
// spent.
func (h callHost) DisabledReason(ctx context.Context, o sessions.Origin) string {
	if why := h.service.refusal(o); why != "" {
		// The person's roles may have changed since Discord last sent them.
		if _, why = h.service.presentOrigin(ctx, o); why != "" {
			return why
		}
	}
	if h.bill == nil {
		return ""
	}
	var spent *llm.Error
	switch err := h.bill.Check(llm.WithAccount(ctx, agent.PersonAccount(o, "talk"))); {
	case errors.As(err, &spent):
		return fmt.Sprintf("Today's budget is spent: %v", spent)
	case err != nil:
		h.service.Logger.Error("what may be spent is not known", "error", err)
		return "I do not know what I may spend at the moment"
	}
	return ""
}

// CheckChannel implements [conversation.Host].
func (h callHost) CheckChannel(channel string) error {
	if h.place.Guild == "" {
		return nil
	}
	return h.service.registry.CheckChannel(channel)
}

// refusal returns why the person of o may not ask for anything now; empty if they may.
func (x *CallService) refusal(o sessions.Origin) string {
	if x.Access == nil {
		return ""
	}
	return x.Access.AccessRefusal(o)
}

// presentOrigin returns o with the current roles of its person, and why they may not ask for anything, if so. Discord
// sends the roles of people in calls when they join, but not when the roles change. If Discord does not answer, the
// last known roles apply.
func (x *CallService) presentOrigin(ctx context.Context, o sessions.Origin) (now sessions.Origin, why string) {
	if b := x.bot.Load(); b != nil && o.Guild != "" {
		now, err := (*b).RefreshOrigin(ctx, o)
		switch {
		case errors.Is(err, bot.ErrLeftGuild):
			return o, err.Error()
		case err != nil:
			x.Logger.Warn("the roles of somebody in a call are those that Discord told last", "guild", o.Guild, "error", err)
		default:
			o = now
		}
	}
	return o, x.refusal(o)
}

// callReplier answers people in calls with their current roles.
type callReplier struct {
	ChargedReplier

	service *CallService
}

// Reply implements [conversation.Assistant].
func (r callReplier) Reply(ctx context.Context, t assistant.Turn,
	watch func(assistant.Progress),
) (assistant.Answer, error) {
	now, why := r.service.presentOrigin(ctx, t.Origin)
	if why != "" {
		return assistant.Answer{Text: t.Origin.Locale.Sentence(why)}, nil
	}
	t.Origin = now
	return r.ChargedReplier.Reply(ctx, t, watch)
}

// byPresentRoles wraps tools so that people in calls use them with their current roles.
func (x *CallService) byPresentRoles(tools []sessions.Tool) []sessions.Tool {
	for i, t := range tools {
		tools[i].Call = func(ctx context.Context, o sessions.Origin, input json.RawMessage) (string, []llm.Image, error) {
			now, why := x.presentOrigin(ctx, o)
			if why != "" {
				return "", nil, errors.New(why)
			}
			return t.Call(ctx, now, input)
		}
	}
	return tools
}

// isPrivate reports whether requests on a server are visible only to the person who asks.
func (x *CallService) isPrivate(guild string) bool {
	return x.Settings.For(guild).Server.Private
}

// Tools returns the assistant's tools about calls for the person at o: joining, leaving, sharing a browser.
func (x *CallService) Tools(ctx context.Context, o sessions.Origin) []sessions.Tool {
	var tools []sessions.Tool
	if o.Kind == sessions.FromDiscord && x.bot.Load() != nil {
		tools = x.registry.Tools(ctx, o)
	}
	if call, ok := x.findCall(o); ok && x.mayControlShare(o, call) {
		tools = append(tools, x.shares.Tools(call)...)
	}
	return tools
}

// errNoSpeechServer means that no speech server is configured.
var errNoSpeechServer = errors.New("no key and no server is set up for it")

// remoteServer returns the speech server at base, or OpenAI's if there is a key.
func (x *CallService) remoteServer(base, name string) (speech.RemoteServer, error) {
	key, env := "", name
	for _, env = range []string{name, "OPENAI_API_KEY"} {
		s, err := settings.ReadSecret(env, x.Getenv)
		if err != nil {
			return speech.RemoteServer{}, err
		}
		if s.IsSet() {
			key = s.Reveal()
			break
		}
		if base != "" {
			break // do not send the key of another server to a custom server
		}
	}
	if base == "" && key == "" {
		return speech.RemoteServer{}, errNoSpeechServer
	}
	return speech.RemoteServer{BaseURL: base, Key: key, KeyVariable: env, Log: x.Logger}, nil
}

func (x *CallService) newTranscriber(t settings.Transcription, names []string) (voice.Transcriber, error) {
	server, err := x.remoteServer(t.URL, "TRANSCRIPTION_API_KEY")
	if err != nil {
		return nil, err
	}
	server.ModelSetting = "interaction.voice.transcription.model"
	return speech.NewTranscriber(speech.TranscriberOptions{
		Server: server, Model: t.Model, Language: t.Language, Keywords: append([]string{"clank"}, names...), WAV: t.WAV,
	})
}

// synthesizer returns the configured synthesizer, or nil if speech is off.
func (x *CallService) synthesizer(s settings.Speech) (voice.Synthesizer, error) {
	if s.Engine == settings.SpeechOff {
		return nil, nil //nolint:nilnil // speech is turned off on purpose
	}
	if s.Engine != settings.SpeechLocal {
		server, err := x.remoteServer(s.URL, "SPEECH_API_KEY")
		if err == nil {
			server.ModelSetting = "interaction.voice.speech.model"
			return speech.NewSynthesizer(speech.SynthesizerOptions{
				Server: server, Model: s.Model, Voice: s.Voice, Format: speech.Format(s.Format),
				FormatSetting: "interaction.voice.speech.format",
			})
		}
		if s.Engine == settings.SpeechServer || !errors.Is(err, errNoSpeechServer) {
			return nil, err
		}
	}
	return speech.NewESpeak(speech.ESpeakOptions{Voice: s.LocalVoice})
}

// missingSetup returns sentences about what calls cannot do and how to fix it; empty if nothing is missing.
func (x *CallService) missingSetup(loc i18n.Locale) string {
	v := x.Settings.Current().Voice
	var text []string
	_, err := x.newTranscriber(v.Transcription, v.NameList())
	if err != nil && v.Engine != settings.VoiceEngineRealtime {
		text = append(text, loc.T("I cannot understand words: set OPENAI_API_KEY, or the address of a transcription "+
			"server in the settings."))
		if x.spotter != nil {
			text = append(text, loc.T("I do hear “stop” and my name."))
		}
	}
	if x.spotter == nil {
		text = append(text,
			loc.T("To hear “stop” at once, I need a program on the machine I run on: %s.", x.spotterProblem))
	}
	if _, err := x.synthesizer(v.Speech); err != nil {
		text = append(text, loc.T("I cannot speak, so answers are written: %s.", loc.Text(err.Error())))
	}
	return strings.Join(text, " ")
}

// pageOrigin is the origin of the operator on the call page, the same as on the chat page.
var pageOrigin = sessions.Origin{Kind: sessions.FromDashboard, Channel: "dashboard", Moderator: true}

// pageCallRef identifies the call of the call page in shares.
var pageCallRef = share.CallRef{ID: "page"}

// pageCalls holds the calls on the call page. It implements [webrtc.PageCalls].
type pageCalls struct{ service *CallService }

// Begin implements [webrtc.PageCalls].
func (p pageCalls) Begin(c *webrtc.PageCall) {
	x := p.service
	place := conversation.Location{Kind: sessions.FromDashboard, Channel: pageOrigin.Channel}
	x.background.Go(func() {
		if err := x.newConversation(c, place, pageChat{c}, pageCallRef).Run(x.callsContext); err != nil &&
			cancel.CauseOf(x.callsContext, err) == nil {
			x.Logger.Info("call on the page ended", "reason", err)
		}
		x.endShares(pageCallRef)
	})
}

// Stop implements [webrtc.PageCalls].
func (p pageCalls) Stop(_ *webrtc.PageCall, by voice.Person) {
	actor := cancel.Actor{ID: pageOrigin.User, Name: by.Name, Moderator: true}
	p.service.Scopes.Stop(cancel.Scope{Channel: pageOrigin.Channel}, actor, false)
}

// Share implements [webrtc.PageCalls]: it starts or stops sharing the session that was used last. The page shows the
// result.
func (p pageCalls) Share(c *webrtc.PageCall, _ voice.Person, on bool) {
	x := p.service
	x.background.Go(func() {
		ctx, cancel := context.WithTimeout(x.callsContext, shareStartTimeout)
		defer cancel()
		do := x.Unshare
		if on {
			do = func(ctx context.Context, o sessions.Origin) (string, error) { return x.Share(ctx, o, "") }
		}
		if _, err := do(ctx, pageOrigin); err != nil {
			c.Write(webrtc.Note{Kind: webrtc.StatusNote, Text: i18n.Locale("").Sentence(err.Error())})
			return
		}
		c.Write(webrtc.Note{Kind: webrtc.StatusNote})
	})
}

// pageChat writes on the call page.
type pageChat struct{ call *webrtc.PageCall }

func (p pageChat) Write(_ context.Context, m conversation.Message) error {
	n := webrtc.Note{Kind: webrtc.ChatNote, Text: m.Text, Images: m.Images}
	if m.IsNotice {
		n.Kind = webrtc.NoticeNote
	}
	p.call.Write(n)
	return nil
}

// ShowLine implements [conversation.Chat].
func (p pageChat) ShowLine(s conversation.TranscriptLine) {
	if s.Speaker.ID == "" {
		p.call.Write(webrtc.Note{Kind: webrtc.SpokenNote, Text: s.Text})
		return
	}
	p.call.Write(webrtc.Note{Kind: webrtc.HeardNote, From: s.Speaker.Name, Text: s.Text})
}
