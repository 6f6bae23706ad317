package budget

import (
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"clank/internal/pageorigin"
	"clank/llm"
)

// AudioPrice is the price of transcription or synthesis in US dollars.
type AudioPrice struct {
	Minute     float64 // per minute of audio
	Characters float64 // per million spoken characters
}

// List prices on OpenAI's model pages of 2026-11-21, by model name; dated snapshots cost the same as their model.
// Models charged by tokens for which OpenAI also gives an estimate per minute have the price per minute.
var (
	transcriptionPrices = map[string]AudioPrice{
		"gpt-transcribe":            {Minute: 0.0045},
		"gpt-live-transcribe":       {Minute: 0.017},
		"gpt-realtime-whisper":      {Minute: 0.017},
		"gpt-4o-transcribe":         {Minute: 0.006},
		"gpt-4o-transcribe-diarize": {Minute: 0.006},
		"gpt-4o-mini-transcribe":    {Minute: 0.003},
		"whisper-1":                 {Minute: 0.006},
	}
	speechPrices = map[string]AudioPrice{
		"gpt-4o-mini-tts": {Minute: 0.015, Characters: 0.60 / 4},
		"tts-1":           {Characters: 15},
		"tts-1-hd":        {Characters: 30},
	}
)

// RealtimePrice is the price of a realtime model's tokens in US dollars per million, for text and audio.
type RealtimePrice struct {
	Text, Audio llm.Price
}

var (
	realtimeLarge = llm.Price{Input: 32, Cached: 0.40, Output: 64}
	realtimeSmall = RealtimePrice{
		Text:  llm.Price{Input: 0.60, Cached: 0.06, Output: 2.40},
		Audio: llm.Price{Input: 10, Cached: 0.30, Output: 20},
	}

	realtimePrices = map[string]RealtimePrice{
		"gpt-realtime-2.1":      {Text: llm.Price{Input: 4, Cached: 0.40, Output: 24}, Audio: realtimeLarge},
		"gpt-realtime-2":        {Text: llm.Price{Input: 4, Cached: 0.40, Output: 24}, Audio: realtimeLarge},
		"gpt-realtime-1.5":      {Text: llm.Price{Input: 4, Cached: 0.40, Output: 16}, Audio: realtimeLarge},
		"gpt-realtime":          {Text: llm.Price{Input: 4, Cached: 0.40, Output: 16}, Audio: realtimeLarge},
		"gpt-realtime-2.1-mini": realtimeSmall,
		"gpt-realtime-mini":     realtimeSmall,
	}
)

// AudioModel is an audio model and its server.
type AudioModel struct {
	Name string
	URL  string // of its server; "" means OpenAI's
}

// ledgerName returns the name of m in the ledger, in the form of the setting of prices.
func (m AudioModel) ledgerName() string {
	if m.URL == "" {
		return "openai:" + m.Name
	}
	return "own:" + m.Name
}

// isLocal reports whether m runs on this machine, where it is free.
func (m AudioModel) isLocal() bool {
	u, err := url.Parse(m.URL)
	return err == nil && pageorigin.IsLoopback(u.Hostname())
}

// priced adds a list price to u. The price on another server is unknown, whatever the names of its models.
func (m AudioModel) priced(u llm.Usage, usd float64, known bool) llm.Usage {
	u.Calls = 1
	switch {
	case m.isLocal():
	case m.URL == "" && known:
		u.USD = usd
	default:
		u.Unpriced = true
	}
	return u
}

// findPrice returns the price of a model in a table, by its name or by that of the model it is a dated snapshot of.
func findPrice[T any](table map[string]T, name string) (T, bool) {
	name = strings.ToLower(name)
	if p, ok := table[name]; ok {
		return p, true
	}
	base, _, _ := strings.Cut(name, "-20")
	p, ok := table[base]
	return p, ok && strings.Trim(name[len(base):], "-0123456789") == ""
}

// OpenAI's audio tokens: one per 100 ms of input, and one per 50 ms of output.
const (
	heardTokenTime  = 100 * time.Millisecond
	spokenTokenTime = 50 * time.Millisecond
)

// transcriptionUsage returns the usage of transcribing speech of this length.
func (m AudioModel) transcriptionUsage(length time.Duration) llm.Usage {
	p, known := findPrice(transcriptionPrices, m.Name)
	return m.priced(llm.Usage{InputTokens: int(length/heardTokenTime) + 1}, p.Minute*length.Minutes(), known)
}

// speechUsage returns the usage of speaking a text, which takes length.
func (m AudioModel) speechUsage(text string, length time.Duration) llm.Usage {
	p, known := findPrice(speechPrices, m.Name)
	n := utf8.RuneCountInString(text)
	u := llm.Usage{InputTokens: n/2 + 1, OutputTokens: int(length/spokenTokenTime) + 1}
	return m.priced(u, p.Minute*length.Minutes()+p.Characters*float64(n)/1e6, known)
}
