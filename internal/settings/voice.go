package settings

import (
	"strings"
	"time"

	"clank/sessions/access"
)

const (
	groupCalls = "Calls"
	callKeys   = "interaction.voice."

	voiceEngineKey = callKeys + "brain"
)

// Voice configures calls: joining, listening and speaking.
type Voice struct {
	Enabled  bool
	AutoJoin bool   // follow a requester into their voice channel
	Engine   string // see the VoiceEngine constants
	Names    string // names to address the assistant by besides "clank", in calls and chats, separated by commas

	Transcription Transcription
	Speech        Speech
	Realtime      RealtimeModel

	BargeIn         string // see the BargeIn constants
	AloneTimeout    time.Duration
	MaxDuration     time.Duration // 0 means no limit
	MaxCalls        int
	CallsPerDay     TaskLimits
	AllowedChannels string // ids; "" means all
	BlockedChannels string // ids
	KeepTranscripts bool

	RequireEncryption bool // leave calls without end-to-end encryption
}

// Transcription configures speech recognition.
type Transcription struct {
	URL        string // base URL of an OpenAI-compatible API; "" means OpenAI, if there is a key
	Model      string
	Language   string // ISO 639-1; "" detects it
	WAV        bool
	Everything bool // including speech that is not addressed to the assistant
}

// Speech configures speech synthesis.
type Speech struct {
	Engine     string // see the Speech constants
	URL        string // as in [Transcription]
	Model      string
	Voice      string
	Format     string // see the SpeechFormat constants
	LocalVoice string // name of an espeak-ng voice
}

// RealtimeModel configures a model that listens and speaks itself.
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
	SpeechAuto   = "auto" // the server if there is a key or an address for it, otherwise the local program
	SpeechLocal  = "local"
	SpeechServer = "server"
	SpeechOff    = "off"
)

// Values of [Speech.Format], the requested audio format.
const (
	SpeechOpus = "opus" // in Ogg; forwarded as it is
	SpeechWAV  = "wav"
	SpeechPCM  = "pcm" // 24 kHz, 16 bits, mono, without a header
)

// NameList parses Names.
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

var voiceFields = inGroup(groupCalls,
	toggle(callKeys+"enabled", "Calls", "Let people bring clank into voice channels and talk with it on the call page.",
		true, &at.Voice.Enabled),
	toggle(callKeys+"autoJoin", "Join automatically", "Join the voice channel of a person who asks clank for "+
		"something.", false, &at.Voice.AutoJoin),
	choice(voiceEngineKey, "Conversation engine", "The assistant with transcription and speech synthesis, or a "+
		"realtime model that hears and speaks by itself.", VoiceEngineText, &at.Voice.Engine,
		Option{VoiceEngineText, "The assistant"}, Option{VoiceEngineRealtime, "A realtime model"}),
	text(callKeys+"names", "Other names", "More names for clank, separated by commas: in calls, and with a stop word "+
		"in chats. English words are heard at once; others only where speech is transcribed.", "", 200,
		&at.Voice.Names),
	address(callKeys+"transcription.baseUrl", "Transcription server", "Base URL of a server with OpenAI's "+
		"transcription API. Leave empty for OpenAI. Without a server or key, clank understands only its name and "+
		"stop words.", &at.Voice.Transcription.URL),
	text(callKeys+"transcription.model", "Transcription model", "The transcription model, as its server calls it.",
		"gpt-transcribe", modelMaxLen, &at.Voice.Transcription.Model),
	text(callKeys+"transcription.language", "Call language", "Two letters (en, de, ja) if people speak one language. "+
		"Leave empty to detect it. With de, es or fr, some of its stop words are heard at once, too.", "", 8,
		&at.Voice.Transcription.Language),
	toggle(callKeys+"transcription.wav", "Send speech as WAV", "For servers that cannot read Ogg Opus. 16 kHz WAV is "+
		"about eight times larger.", false, &at.Voice.Transcription.WAV),
	toggle(callKeys+"transcription.all", "Transcribe everything", "Also transcribe what people say to each other. "+
		"Finds clank's name in every language, but costs more.", false, &at.Voice.Transcription.Everything),
	choice(callKeys+"speech.engine", "Speech engine", "What speaks clank's answers.", SpeechAuto,
		&at.Voice.Speech.Engine, Option{SpeechAuto, "Server if set up, otherwise espeak-ng"},
		Option{SpeechServer, "A server"}, Option{SpeechLocal, "espeak-ng on this machine"},
		Option{SpeechOff, "Off: answers are written"}),
	address(callKeys+"speech.baseUrl", "Speech server", "Base URL of a server with OpenAI's speech API. Leave empty "+
		"for OpenAI.", &at.Voice.Speech.URL),
	text(callKeys+"speech.model", "Speech model", "The speech model, as its server calls it.", "gpt-4o-mini-tts",
		modelMaxLen, &at.Voice.Speech.Model),
	text(callKeys+"speech.voice", "Voice", "The voice of that model.", "alloy", modelMaxLen, &at.Voice.Speech.Voice),
	choice(callKeys+"speech.format", "Speech format", "The format requested from the server. Opus is forwarded as "+
		"is; choose another for servers without Opus.", SpeechOpus, &at.Voice.Speech.Format, Option{SpeechOpus, "Opus"},
		Option{SpeechWAV, "WAV"}, Option{SpeechPCM, "PCM of 24 kHz, 16 bits, mono"}),
	text(callKeys+"speech.localVoice", "espeak-ng voice", "A language (en, de, fr) or the name of an espeak-ng voice. "+
		"Leave empty for the language of the server.", "", 40, &at.Voice.Speech.LocalVoice),
	address(callKeys+"realtime.baseUrl", "Realtime server", "Base URL of a server with OpenAI's Realtime API. Leave "+
		"empty for OpenAI.", &at.Voice.Realtime.URL),
	text(callKeys+"realtime.model", "Realtime model", "The model of the realtime engine.", "gpt-realtime-2.1",
		modelMaxLen, &at.Voice.Realtime.Model),
	text(callKeys+"realtime.voice", "Realtime voice", "The voice of that model.", "marin", modelMaxLen,
		&at.Voice.Realtime.Voice),
	choice(callKeys+"bargeIn", "Interruptions", "Whose speech interrupts clank while it speaks. Stop words always do.",
		BargeInAnyone, &at.Voice.BargeIn, Option{BargeInAnyone, "Anyone"},
		Option{BargeInAsker, "The person being answered"}, Option{BargeInNone, "Nobody"}),
	duration(callKeys+"aloneMs", "Leave when alone after", "How long clank stays in an empty call.", 5*time.Minute,
		10*time.Second, 120*time.Minute, &at.Voice.AloneTimeout),
	duration(callKeys+"maxSessionMs", "Call time limit", "clank leaves every call after this time. 0 means no limit.",
		2*time.Hour, 0, 24*time.Hour, &at.Voice.MaxDuration),
	number(callKeys+"maxConcurrent", "Concurrent calls", "How many calls clank joins at the same time, on all "+
		"servers together.", 3, 1, 50, &at.Voice.MaxCalls),
	number(callKeys+"maxPerDay", "Calls per day and server", "How many calls clank joins on one server in 24 hours.",
		120, 1, 10_000, &at.Voice.CallsPerDay.Guild),
	number(callKeys+"maxPerDayPerUser", "Calls per day and person", "How many calls one person may bring clank "+
		"into in 24 hours.", 40, 1, 10_000, &at.Voice.CallsPerDay.User),
	longText(callKeys+"allowedChannels", "Allowed voice channels", "IDs of the voice channels that clank may join, "+
		"separated by spaces. Leave empty for all.", &at.Voice.AllowedChannels).checked(parses(access.ParseIDs)),
	longText(callKeys+"blockedChannels", "Blocked voice channels", "IDs of voice channels that clank never joins.",
		&at.Voice.BlockedChannels).checked(parses(access.ParseIDs)),
	toggle(callKeys+"requireEncryption", "Leave unencrypted calls", "Leave a call on Discord that is not end-to-end "+
		"encrypted or stops being so, and say nothing there meanwhile. Stage channels never are encrypted.",
		false, &at.Voice.RequireEncryption),
	toggle(callKeys+"keepTranscripts", "Keep transcripts", "Keep a text file of each call in the folder transcripts "+
		"of clank's home, which only clank's user can read. Files are deleted with the history. Audio is never kept. "+
		"People in the call are told.", false, &at.Voice.KeepTranscripts),
	secret("TRANSCRIPTION_API_KEY", "Transcription key", "Used instead of OPENAI_API_KEY for transcription."),
	secret("REALTIME_API_KEY", "Realtime key", "Used instead of OPENAI_API_KEY for realtime conversation."),
	secret("SPEECH_API_KEY", "Speech key", "Used instead of OPENAI_API_KEY for speech."),
)
