package llm

import (
	"strings"
)

// modelAbility is what the models whose names begin with prefix can do. ToolImages is
// left out: it depends on the API, not the model.
type modelAbility struct {
	prefix string
	caps   Caps
}

var abilities = []modelAbility{
	{"gpt-6", Caps{Tools: true, Vision: true, Computer: true, ContextSize: 1_050_000}},
	{"gpt-5.6", Caps{Tools: true, Vision: true, Computer: true, ContextSize: 1_050_000}},
	{"gpt-5.5", Caps{Tools: true, Vision: true, Computer: true, ContextSize: 1_050_000}},
	{"gpt-5.4", Caps{Tools: true, Vision: true, Computer: true, ContextSize: 1_050_000}},
	{"gpt-5.4-mini", Caps{Tools: true, Vision: true, Computer: true, ContextSize: 400_000}},
	{"gpt-5", Caps{Tools: true, Vision: true, ContextSize: 400_000}},
	{"gpt-4.1", Caps{Tools: true, Vision: true, ContextSize: 1_047_576}},
	{"gpt-4o", Caps{Tools: true, Vision: true, ContextSize: 128_000}},
	{"o3", Caps{Tools: true, Vision: true, ContextSize: 200_000}},
	{"o4-mini", Caps{Tools: true, Vision: true, ContextSize: 200_000}},
	{"gpt-oss", Caps{Tools: true, ContextSize: 131_072}},
	{"claude-", Caps{Tools: true, Vision: true, ContextSize: 200_000}},
	{"claude-fable-5", Caps{Tools: true, Vision: true, Computer: true, ContextSize: 1_000_000}},
	{"claude-mythos-5", Caps{Tools: true, Vision: true, Computer: true, ContextSize: 1_000_000}},
	{"claude-opus-5", Caps{Tools: true, Vision: true, Computer: true, ContextSize: 1_000_000}},
	{"claude-sonnet-5", Caps{Tools: true, Vision: true, Computer: true, ContextSize: 1_000_000}},
	{"claude-haiku-5", Caps{Tools: true, Vision: true, Computer: true, ContextSize: 1_000_000}},
	{"claude-opus-4-8", Caps{Tools: true, Vision: true, Computer: true, ContextSize: 1_000_000}},
	{"claude-opus-4-7", Caps{Tools: true, Vision: true, Computer: true, ContextSize: 1_000_000}},
	{"claude-opus-4-6", Caps{Tools: true, Vision: true, Computer: true, ContextSize: 1_000_000}},
	{"claude-sonnet-4-6", Caps{Tools: true, Vision: true, Computer: true, ContextSize: 1_000_000}},
	{"claude-opus-4", Caps{Tools: true, Vision: true, Computer: true, ContextSize: 200_000}},
	{"claude-sonnet-4", Caps{Tools: true, Vision: true, Computer: true, ContextSize: 200_000}},
	{"claude-haiku-4-5", Caps{Tools: true, Vision: true, Computer: true, ContextSize: 200_000}},
	{"gemini-", Caps{Tools: true, Vision: true, ContextSize: 1_048_576}},
	{"gemini-3-flash", Caps{Tools: true, Vision: true, ContextSize: 1_048_576, Computer: true}},
	{"gemini-3.5-flash", Caps{Tools: true, Vision: true, ContextSize: 1_048_576, Computer: true}},
	{"gemini-3.5-flash-lite", Caps{Tools: true, Vision: true, ContextSize: 1_048_576}},
	{"gemini-3.6-flash", Caps{Tools: true, Vision: true, ContextSize: 1_048_576, Computer: true}},
	{"gemini-3.7-flash", Caps{Tools: true, Vision: true, ContextSize: 1_048_576, Computer: true}},
	{"gemini-3.8-flash", Caps{Tools: true, Vision: true, ContextSize: 1_048_576, Computer: true}},
	{"gemini-2.5-computer-use", Caps{Tools: true, Vision: true, ContextSize: 128_000, Computer: true}},
	{"grok-4.3", Caps{Tools: true, Vision: true, ContextSize: 1_000_000}},
	{"qwen3-vl", Caps{Tools: true, Vision: true}},
	{"qwen2.5vl", Caps{Vision: true}},
	{"qwen2.5-vl", Caps{Vision: true}},
	{"llama4", Caps{Tools: true, Vision: true}},
	{"llama-4", Caps{Tools: true, Vision: true}},
	{"llama3.2-vision", Caps{Vision: true}},
	{"gemma3", Caps{Vision: true}},
	{"gemma-3", Caps{Vision: true}},
	{"mistral-small3", Caps{Tools: true, Vision: true}},
	{"pixtral", Caps{Tools: true, Vision: true}},
	{"llava", Caps{Vision: true}},
	{"minicpm-v", Caps{Vision: true}},
	{"moondream", Caps{Vision: true}},
}

// CapsOf returns what is known of a model by the longest matching prefix of its name, ignoring the vendor in
// front. It returns false for an unknown model.
func CapsOf(model string) (Caps, bool) {
	name := bareName(model)
	var best modelAbility
	for _, a := range abilities {
		if strings.HasPrefix(name, a.prefix) && len(a.prefix) > len(best.prefix) {
			best = a
		}
	}
	return best.caps, best.prefix != ""
}

// Deprecation says when a vendor takes a model back.
type Deprecation struct {
	ShutdownDate string // the day, as yyyy-mm-dd
	Replacement  string // the model that the vendor names in its place; "" if there is none with the same API
}

// deprecations are those that OpenAI has announced, as of [PricesAsOf].
var deprecations = map[string]Deprecation{
	"computer-use-preview":      {"2026-07-23", "gpt-5.4-mini"},
	"gpt-5":                     {"2026-12-11", "gpt-5.6-sol"},
	"gpt-5-mini":                {"2026-12-11", "gpt-5.6-luna"},
	"gpt-5-nano":                {"2026-12-11", "gpt-5.6-luna"},
	"gpt-5-pro":                 {"2026-12-11", "gpt-5.6-sol"},
	"o3":                        {"2026-12-11", "gpt-5.6-sol"},
	"o3-pro":                    {"2026-12-11", "gpt-5.6-sol"},
	"tts-1":                     {"2027-01-06", ""},
	"tts-1-hd":                  {"2027-01-06", ""},
	"gpt-4o-mini-tts":           {"2027-01-06", ""},
	"gpt-4o":                    {"2027-01-14", "gpt-6-luna"},
	"gpt-4o-mini":               {"2027-01-14", "gpt-6-luna"},
	"gpt-4.1":                   {"2027-01-14", "gpt-6-luna"},
	"gpt-4.1-mini":              {"2027-01-14", "gpt-6-luna"},
	"gpt-realtime":              {"2027-01-20", "gpt-realtime-2.1"},
	"gpt-realtime-mini":         {"2027-01-20", "gpt-realtime-2.1-mini"},
	"whisper-1":                 {"2027-02-26", "gpt-transcribe"},
	"gpt-4o-transcribe":         {"2027-02-26", "gpt-transcribe"},
	"gpt-4o-mini-transcribe":    {"2027-02-26", "gpt-transcribe"},
	"gpt-4o-transcribe-diarize": {"2027-02-26", "gpt-transcribe"},
}

// DeprecationOf says when OpenAI takes a model back that it calls so, or a snapshot of
// it. It says false for those of which nothing is announced.
func DeprecationOf(model string) (Deprecation, bool) {
	name := bareName(model)
	for of, r := range deprecations {
		if len(name) >= len(of) && name[:len(of)] == of && isSnapshot(name[len(of):]) {
			return r, true
		}
	}
	return Deprecation{}, false
}

// String says it to people: "OpenAI takes it back on 2027-01-14; gpt-6-luna takes its place".
func (r Deprecation) String() string {
	s := "OpenAI takes it back on " + r.ShutdownDate
	if r.Replacement != "" {
		s += "; " + r.Replacement + " takes its place"
	}
	return s
}
