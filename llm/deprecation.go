package llm

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
