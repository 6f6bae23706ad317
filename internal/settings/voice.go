package settings

import (
	"strings"
	"time"
)

const (
	groupCalls = "Calls"
	callKeys   = "interaction.voice."
)

// Voice is how calls are joined, heard and spoken in.
type Voice struct {
	Enabled  bool
	AutoJoin bool   // follow the person who asks for something into their voice channel
	Engine   string // see the VoiceBrain constants
	Names    string // by which people call us beside "clank", separated by commas

	Transcription Transcription
	Speech        Speech
	Realtime      RealtimeModel

	BargeIn         string // see the BargeIn constants
	AloneTimeout    time.Duration
	MaxDuration     time.Duration // 0 = no limit
	MaxCalls        int
	CallsPerDay     int
	AllowedChannels string // ids; "" = all
	BlockedChannels string // ids
	KeepTranscripts bool
}

// Transcription is who puts speech into words.
type Transcription struct {
	URL        string // base of an API like OpenAI's; "" = OpenAI, if there is a key
	Model      string
	Language   string // ISO 639-1; "" = found out
	WAV        bool
	Everything bool // also what is not said to us
}

// Speech is who says our words.
type Speech struct {
	Engine     string // see the Speech constants
	URL        string // as of [Transcription]
	Model      string
	Voice      string
	Format     string // see the SpeechFormat constants
	LocalVoice string // espeak-ng's name of a voice
}

// RealtimeModel is a model that hears and speaks by itself.
type RealtimeModel struct {
	URL   string
	Model string
	Voice string
}

// Values of [Voice.Engine].
const (
	VoiceEngineText     = "text"
	VoiceEngineRealtime = "realtime"
)

// Values of [Voice.BargeIn].
const (
	BargeInAnyone = "anyone"
	BargeInAsker  = "asker"
	BargeInNone   = "none"
)

// Values of [Speech.Engine].
const (
	SpeechAuto   = "auto" // the server if there is a key or an address for it, else the local program
	SpeechLocal  = "local"
	SpeechServer = "server"
	SpeechOff    = "off"
)

// Values of [Speech.Format]: what the server is asked for.
const (
	SpeechOpus = "opus" // in Ogg; passed on as it is
	SpeechWAV  = "wav"
	SpeechPCM  = "pcm" // 24 kHz, 16 bits, mono, without a header
)

// NameList reads Names.
func (v Voice) NameList() []string {
	var names []string
	for name := range strings.SplitSeq(v.Names, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Channels are the ids of AllowedChannels and BlockedChannels.
func (v Voice) Channels() (allowed, blocked []string) {
	return readIDs(v.AllowedChannels), readIDs(v.BlockedChannels)
}

var voiceFields = []Field{
	{
		Key: callKeys + "enabled", Group: groupCalls, Label: "Calls",
		Effect: "Whether clank can be brought into voice channels, and talked with on the call page.",
		Kind:   KindToggle, Default: true, target: func(s *Settings) any { return &s.Voice.Enabled },
	},
	{
		Key: callKeys + "autoJoin", Group: groupCalls, Label: "Follow who asks",
		Effect: "Whether clank joins the voice channel of somebody who asks it for something, without being told to.",
		Kind:   KindToggle, Default: false, target: func(s *Settings) any { return &s.Voice.AutoJoin },
	},
	{
		Key: callKeys + "brain", Group: groupCalls, Label: "Who talks",
		Effect: "Who holds the conversation in a call: the brain, over transcription and synthesis of speech, or a model that hears and speaks by itself.",
		Kind:   KindChoice, Default: VoiceEngineText, target: func(s *Settings) any { return &s.Voice.Engine },
		Options: []Option{{VoiceEngineText, "The brain"}, {VoiceEngineRealtime, "A realtime model"}},
	},
	{
		Key: callKeys + "names", Group: groupCalls, Label: "Other names",
		Effect: "Names that clank listens to beside its own, separated by commas.",
		Kind:   KindText, Default: "", MaxLen: 200, target: func(s *Settings) any { return &s.Voice.Names },
	},
	{
		Key: callKeys + "transcription.baseUrl", Group: groupCalls, Label: "Server that hears words",
		Effect: "Base address of a server with OpenAI's transcription API. Empty means OpenAI, if there is a key. Without either, only stop words and the name are understood.",
		Kind:   KindURL, Default: "", MaxLen: pathMaxLen, target: func(s *Settings) any { return &s.Voice.Transcription.URL },
	},
	{
		Key: callKeys + "transcription.model", Group: groupCalls, Label: "Model that hears words",
		Effect: "The model that puts speech into words, as its server calls it.",
		Kind:   KindText, Default: "gpt-transcribe", MaxLen: modelMaxLen, target: func(s *Settings) any { return &s.Voice.Transcription.Model },
	},
	{
		Key: callKeys + "transcription.language", Group: groupCalls, Label: "Language of the call",
		Effect: "Two letters (en, de, ja) if people speak one language. Empty lets the model find out.",
		Kind:   KindText, Default: "", MaxLen: 8, target: func(s *Settings) any { return &s.Voice.Transcription.Language },
	},
	{
		Key: callKeys + "transcription.wav", Group: groupCalls, Label: "Send speech as WAV",
		Effect: "For servers that cannot read Ogg Opus: speech is sent as 16 kHz WAV, which is some eight times as large.",
		Kind:   KindToggle, Default: false, target: func(s *Settings) any { return &s.Voice.Transcription.WAV },
	},
	{
		Key: callKeys + "transcription.all", Group: groupCalls, Label: "Put everything into words",
		Effect: "Whether what people say to each other is transcribed, too. It finds clank's name in every language, and costs accordingly.",
		Kind:   KindToggle, Default: false, target: func(s *Settings) any { return &s.Voice.Transcription.Everything },
	},
	{
		Key: callKeys + "speech.engine", Group: groupCalls, Label: "Who speaks",
		Effect: "What clank's words are spoken by.",
		Kind:   KindChoice, Default: SpeechAuto, target: func(s *Settings) any { return &s.Voice.Speech.Engine },
		Options: []Option{
			{SpeechAuto, "A server if there is one, else espeak-ng"},
			{SpeechServer, "A server"},
			{SpeechLocal, "espeak-ng on this machine"},
			{SpeechOff, "Nobody: answers are written"},
		},
	},
	{
		Key: callKeys + "speech.baseUrl", Group: groupCalls, Label: "Server that speaks",
		Effect: "Base address of a server with OpenAI's speech API. Empty means OpenAI, if there is a key.",
		Kind:   KindURL, Default: "", MaxLen: pathMaxLen, target: func(s *Settings) any { return &s.Voice.Speech.URL },
	},
	{
		Key: callKeys + "speech.model", Group: groupCalls, Label: "Model that speaks",
		Effect: "The model that speaks, as its server calls it.",
		Kind:   KindText, Default: "gpt-4o-mini-tts", MaxLen: modelMaxLen, target: func(s *Settings) any { return &s.Voice.Speech.Model },
	},
	{
		Key: callKeys + "speech.voice", Group: groupCalls, Label: "Voice",
		Effect: "The voice of that model.",
		Kind:   KindText, Default: "alloy", MaxLen: modelMaxLen, target: func(s *Settings) any { return &s.Voice.Speech.Voice },
	},
	{
		Key: callKeys + "speech.format", Group: groupCalls, Label: "Format of speech",
		Effect: "What that server is asked for. Opus is passed on as it comes; the others are for servers that cannot make it, and clank encodes them.",
		Kind:   KindChoice, Default: SpeechOpus, target: func(s *Settings) any { return &s.Voice.Speech.Format },
		Options: []Option{{SpeechOpus, "Opus"}, {SpeechWAV, "WAV"}, {SpeechPCM, "PCM of 24 kHz, 16 bits, mono"}},
	},
	{
		Key: callKeys + "speech.localVoice", Group: groupCalls, Label: "Voice of espeak-ng",
		Effect: "The voice that espeak-ng speaks with: a language (en, de, fr) or one of its names for a voice.",
		Kind:   KindText, Default: "en", MaxLen: 40, target: func(s *Settings) any { return &s.Voice.Speech.LocalVoice },
	},
	{
		Key: callKeys + "realtime.baseUrl", Group: groupCalls, Label: "Realtime server",
		Effect: "Base address of a server with OpenAI's Realtime API. Empty means OpenAI.",
		Kind:   KindURL, Default: "", MaxLen: pathMaxLen, target: func(s *Settings) any { return &s.Voice.Realtime.URL },
	},
	{
		Key: callKeys + "realtime.model", Group: groupCalls, Label: "Realtime model",
		Effect: "The model that hears and speaks by itself, where it is chosen.",
		Kind:   KindText, Default: "gpt-realtime-2.1", MaxLen: modelMaxLen, target: func(s *Settings) any { return &s.Voice.Realtime.Model },
	},
	{
		Key: callKeys + "realtime.voice", Group: groupCalls, Label: "Voice of the realtime model",
		Effect: "The voice of that model.",
		Kind:   KindText, Default: "marin", MaxLen: modelMaxLen, target: func(s *Settings) any { return &s.Voice.Realtime.Voice },
	},
	{
		Key: callKeys + "bargeIn", Group: groupCalls, Label: "Who may interrupt",
		Effect: "Whose speech makes clank fall silent while it speaks. Stop words always do.",
		Kind:   KindChoice, Default: BargeInAnyone, target: func(s *Settings) any { return &s.Voice.BargeIn },
		Options: []Option{{BargeInAnyone, "Anyone"}, {BargeInAsker, "Whoever is being answered"}, {BargeInNone, "Nobody"}},
	},
	{
		Key: callKeys + "aloneMs", Group: groupCalls, Label: "Alone for",
		Effect: "How long clank stays in a call with nobody else there.",
		Kind:   KindDuration, Default: 5 * time.Minute, Min: 10 * secondMs, Max: 120 * minuteMs, target: func(s *Settings) any { return &s.Voice.AloneTimeout },
	},
	{
		Key: callKeys + "maxSessionMs", Group: groupCalls, Label: "Longest call",
		Effect: "After how long clank leaves a call in any case. 0 is never.",
		Kind:   KindDuration, Default: 2 * time.Hour, Min: 0, Max: 24 * 60 * minuteMs, target: func(s *Settings) any { return &s.Voice.MaxDuration },
	},
	{
		Key: callKeys + "maxConcurrent", Group: groupCalls, Label: "Calls at once",
		Effect: "How many calls clank is in at the same time, on all servers together.",
		Kind:   KindNumber, Default: 3, Min: 1, Max: 50, target: func(s *Settings) any { return &s.Voice.MaxCalls },
	},
	{
		Key: callKeys + "maxPerDay", Group: groupCalls, Label: "Calls in a day",
		Effect: "How many calls clank joins in 24 hours.",
		Kind:   KindNumber, Default: 120, Min: 1, Max: 10_000, target: func(s *Settings) any { return &s.Voice.CallsPerDay },
	},
	{
		Key: callKeys + "allowedChannels", Group: groupCalls, Label: "Only these voice channels",
		Effect: "Ids of the voice channels that clank may join, separated by spaces. Empty allows all.",
		Kind:   KindLongText, Default: "", MaxLen: longTextMax, check: checkIDs, target: func(s *Settings) any { return &s.Voice.AllowedChannels },
	},
	{
		Key: callKeys + "blockedChannels", Group: groupCalls, Label: "Never these voice channels",
		Effect: "Ids of voice channels that clank never joins.",
		Kind:   KindLongText, Default: "", MaxLen: longTextMax, check: checkIDs, target: func(s *Settings) any { return &s.Voice.BlockedChannels },
	},
	{
		Key: callKeys + "keepTranscripts", Group: groupCalls, Label: "Keep transcripts",
		Effect: "Whether what was understood in calls is kept, in words: a file for each call, in the folder transcripts of clank's home, which only clank's user can read. " +
			"Files go when they are older than history is kept, and may be deleted at any time. Sound is never kept. People in the call are told.",
		Kind: KindToggle, Default: false, target: func(s *Settings) any { return &s.Voice.KeepTranscripts },
	},
	{
		Key: "TRANSCRIPTION_API_KEY", Group: groupCalls, Label: "Key of the server that hears words",
		Effect: "Used instead of OPENAI_API_KEY for transcription.", Kind: KindSecret,
	},
	{
		Key: "REALTIME_API_KEY", Group: groupCalls, Label: "Key of the realtime server",
		Effect: "Used instead of OPENAI_API_KEY for realtime conversation.", Kind: KindSecret,
	},
	{
		Key: "SPEECH_API_KEY", Group: groupCalls, Label: "Key of the server that speaks",
		Effect: "Used instead of OPENAI_API_KEY for speech.", Kind: KindSecret,
	},
}
