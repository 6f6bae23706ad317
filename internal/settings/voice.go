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

// Channels returns the ids of AllowedChannels and BlockedChannels.
func (v Voice) Channels() (allowed, blocked []string) {
	return readIDs(v.AllowedChannels), readIDs(v.BlockedChannels)
}

var voiceFields = []Field{
	{
		Key: callKeys + "enabled", Group: groupCalls, Label: "Calls",
		Effect: "Let people bring clank into voice channels and talk with it on the call page.",
		Kind:   KindToggle, Default: true, target: func(s *Settings) any { return &s.Voice.Enabled },
	},
	{
		Key: callKeys + "autoJoin", Group: groupCalls, Label: "Join automatically",
		Effect: "Join the voice channel of a person who asks clank for something.",
		Kind:   KindToggle, Default: false, target: func(s *Settings) any { return &s.Voice.AutoJoin },
	},
	{
		Key: callKeys + "brain", Group: groupCalls, Label: "Conversation engine",
		Effect: "The assistant with transcription and speech synthesis, or a realtime model that hears and speaks by itself.",
		Kind:   KindChoice, Default: VoiceEngineText, target: func(s *Settings) any { return &s.Voice.Engine },
		Options: []Option{{VoiceEngineText, "The assistant"}, {VoiceEngineRealtime, "A realtime model"}},
	},
	{
		Key: callKeys + "names", Group: groupCalls, Label: "Other names",
		Effect: "More names that clank listens to, separated by commas.",
		Kind:   KindText, Default: "", MaxLen: 200, target: func(s *Settings) any { return &s.Voice.Names },
	},
	{
		Key: callKeys + "transcription.baseUrl", Group: groupCalls, Label: "Transcription server",
		Effect: "Base URL of a server with OpenAI's transcription API. Leave empty for OpenAI. Without a server or key, clank understands only its name and stop words.",
		Kind:   KindURL, Default: "", MaxLen: pathMaxLen, target: func(s *Settings) any { return &s.Voice.Transcription.URL },
	},
	{
		Key: callKeys + "transcription.model", Group: groupCalls, Label: "Transcription model",
		Effect: "The transcription model, as its server calls it.",
		Kind:   KindText, Default: "gpt-transcribe", MaxLen: modelMaxLen, target: func(s *Settings) any { return &s.Voice.Transcription.Model },
	},
	{
		Key: callKeys + "transcription.language", Group: groupCalls, Label: "Call language",
		Effect: "Two letters (en, de, ja) if people speak one language. Leave empty to detect it.",
		Kind:   KindText, Default: "", MaxLen: 8, target: func(s *Settings) any { return &s.Voice.Transcription.Language },
	},
	{
		Key: callKeys + "transcription.wav", Group: groupCalls, Label: "Send speech as WAV",
		Effect: "For servers that cannot read Ogg Opus. 16 kHz WAV is about eight times larger.",
		Kind:   KindToggle, Default: false, target: func(s *Settings) any { return &s.Voice.Transcription.WAV },
	},
	{
		Key: callKeys + "transcription.all", Group: groupCalls, Label: "Transcribe everything",
		Effect: "Also transcribe what people say to each other. Finds clank's name in every language, but costs more.",
		Kind:   KindToggle, Default: false, target: func(s *Settings) any { return &s.Voice.Transcription.Everything },
	},
	{
		Key: callKeys + "speech.engine", Group: groupCalls, Label: "Speech engine",
		Effect: "What speaks clank's answers.",
		Kind:   KindChoice, Default: SpeechAuto, target: func(s *Settings) any { return &s.Voice.Speech.Engine },
		Options: []Option{
			{SpeechAuto, "Server if set up, otherwise espeak-ng"},
			{SpeechServer, "A server"},
			{SpeechLocal, "espeak-ng on this machine"},
			{SpeechOff, "Off: answers are written"},
		},
	},
	{
		Key: callKeys + "speech.baseUrl", Group: groupCalls, Label: "Speech server",
		Effect: "Base URL of a server with OpenAI's speech API. Leave empty for OpenAI.",
		Kind:   KindURL, Default: "", MaxLen: pathMaxLen, target: func(s *Settings) any { return &s.Voice.Speech.URL },
	},
	{
		Key: callKeys + "speech.model", Group: groupCalls, Label: "Speech model",
		Effect: "The speech model, as its server calls it.",
		Kind:   KindText, Default: "gpt-4o-mini-tts", MaxLen: modelMaxLen, target: func(s *Settings) any { return &s.Voice.Speech.Model },
	},
	{
		Key: callKeys + "speech.voice", Group: groupCalls, Label: "Voice",
		Effect: "The voice of that model.",
		Kind:   KindText, Default: "alloy", MaxLen: modelMaxLen, target: func(s *Settings) any { return &s.Voice.Speech.Voice },
	},
	{
		Key: callKeys + "speech.format", Group: groupCalls, Label: "Speech format",
		Effect: "The format requested from the server. Opus is forwarded as is; choose another for servers without Opus.",
		Kind:   KindChoice, Default: SpeechOpus, target: func(s *Settings) any { return &s.Voice.Speech.Format },
		Options: []Option{{SpeechOpus, "Opus"}, {SpeechWAV, "WAV"}, {SpeechPCM, "PCM of 24 kHz, 16 bits, mono"}},
	},
	{
		Key: callKeys + "speech.localVoice", Group: groupCalls, Label: "espeak-ng voice",
		Effect: "A language (en, de, fr) or the name of an espeak-ng voice.",
		Kind:   KindText, Default: "en", MaxLen: 40, target: func(s *Settings) any { return &s.Voice.Speech.LocalVoice },
	},
	{
		Key: callKeys + "realtime.baseUrl", Group: groupCalls, Label: "Realtime server",
		Effect: "Base URL of a server with OpenAI's Realtime API. Leave empty for OpenAI.",
		Kind:   KindURL, Default: "", MaxLen: pathMaxLen, target: func(s *Settings) any { return &s.Voice.Realtime.URL },
	},
	{
		Key: callKeys + "realtime.model", Group: groupCalls, Label: "Realtime model",
		Effect: "The model of the realtime engine.",
		Kind:   KindText, Default: "gpt-realtime-2.1", MaxLen: modelMaxLen, target: func(s *Settings) any { return &s.Voice.Realtime.Model },
	},
	{
		Key: callKeys + "realtime.voice", Group: groupCalls, Label: "Realtime voice",
		Effect: "The voice of that model.",
		Kind:   KindText, Default: "marin", MaxLen: modelMaxLen, target: func(s *Settings) any { return &s.Voice.Realtime.Voice },
	},
	{
		Key: callKeys + "bargeIn", Group: groupCalls, Label: "Interruptions",
		Effect: "Whose speech interrupts clank while it speaks. Stop words always do.",
		Kind:   KindChoice, Default: BargeInAnyone, target: func(s *Settings) any { return &s.Voice.BargeIn },
		Options: []Option{{BargeInAnyone, "Anyone"}, {BargeInAsker, "The person being answered"}, {BargeInNone, "Nobody"}},
	},
	{
		Key: callKeys + "aloneMs", Group: groupCalls, Label: "Leave when alone after",
		Effect: "How long clank stays in an empty call.",
		Kind:   KindDuration, Default: 5 * time.Minute, Min: 10 * secondMs, Max: 120 * minuteMs, target: func(s *Settings) any { return &s.Voice.AloneTimeout },
	},
	{
		Key: callKeys + "maxSessionMs", Group: groupCalls, Label: "Call time limit",
		Effect: "clank leaves every call after this time. 0 means no limit.",
		Kind:   KindDuration, Default: 2 * time.Hour, Min: 0, Max: 24 * 60 * minuteMs, target: func(s *Settings) any { return &s.Voice.MaxDuration },
	},
	{
		Key: callKeys + "maxConcurrent", Group: groupCalls, Label: "Concurrent calls",
		Effect: "How many calls clank joins at the same time, on all servers together.",
		Kind:   KindNumber, Default: 3, Min: 1, Max: 50, target: func(s *Settings) any { return &s.Voice.MaxCalls },
	},
	{
		Key: callKeys + "maxPerDay", Group: groupCalls, Label: "Calls per day",
		Effect: "How many calls clank joins in 24 hours.",
		Kind:   KindNumber, Default: 120, Min: 1, Max: 10_000, target: func(s *Settings) any { return &s.Voice.CallsPerDay },
	},
	{
		Key: callKeys + "allowedChannels", Group: groupCalls, Label: "Allowed voice channels",
		Effect: "IDs of the voice channels that clank may join, separated by spaces. Leave empty for all.",
		Kind:   KindLongText, Default: "", MaxLen: longTextMax, check: checkIDs, target: func(s *Settings) any { return &s.Voice.AllowedChannels },
	},
	{
		Key: callKeys + "blockedChannels", Group: groupCalls, Label: "Blocked voice channels",
		Effect: "IDs of voice channels that clank never joins.",
		Kind:   KindLongText, Default: "", MaxLen: longTextMax, check: checkIDs, target: func(s *Settings) any { return &s.Voice.BlockedChannels },
	},
	{
		Key: callKeys + "keepTranscripts", Group: groupCalls, Label: "Keep transcripts",
		Effect: "Keep a text file of each call in the folder transcripts of clank's home, which only clank's user can read. " +
			"Files are deleted with the history. Audio is never kept. People in the call are told.",
		Kind: KindToggle, Default: false, target: func(s *Settings) any { return &s.Voice.KeepTranscripts },
	},
	{
		Key: "TRANSCRIPTION_API_KEY", Group: groupCalls, Label: "Transcription key",
		Effect: "Used instead of OPENAI_API_KEY for transcription.", Kind: KindSecret,
	},
	{
		Key: "REALTIME_API_KEY", Group: groupCalls, Label: "Realtime key",
		Effect: "Used instead of OPENAI_API_KEY for realtime conversation.", Kind: KindSecret,
	},
	{
		Key: "SPEECH_API_KEY", Group: groupCalls, Label: "Speech key",
		Effect: "Used instead of OPENAI_API_KEY for speech.", Kind: KindSecret,
	},
}
