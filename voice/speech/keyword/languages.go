package keyword

// languages are the words for stop in other languages than English, by ISO 639-1, with similar words that must not
// count. The phones are the nearest English ones, because only an English model exists: a phrase whose phones are too
// different is missing here. They were measured with five synthetic voices at two speeds. Phrases are spelled as
// [clank/cancel.IsStop] normalizes them.
var languages = map[string]struct {
	spoken  [][2]string
	phrases []phrase
}{
	"de": {
		[][2]string{
			{"stopp", "SH T AO P"},
			{"schluss", "SH L UH S"},
			{"fluss", "F L UH S"},
			{"schuss", "SH UH S"},
			{"stoff", "SH T AO F"},
			{"sprechen", "SH P R EH SH N"},
		},
		[]phrase{
			{"stopp", standalonePhrase, -34, false},
			{"schluss", standalonePhrase, -34, false},
			{"fluss", decoyPhrase, -30, false},
			{"schuss", decoyPhrase, -30, false},
			{"stoff", decoyPhrase, -30, false},
			{"sprechen", decoyPhrase, -30, false},
		},
	},
	"fr": {
		[][2]string{
			{"arrete", "AA R EH T"},
			{"arretez", "AA R EH T EY"},
			{"ca", "S AA"},
			{"suffit", "S UW F IY"},
			{"suffit(2)", "S IY F IY"},
			{"merci", "M EH R S IY"},
			{"fete", "F EH T"},
			{"latete", "L AA T EH T"},
			{"tresbien", "T R EH B Y EH N"},
			{"peutetre", "P UH T EH T R"},
			{"fini", "S EH F IY N IY"},
			{"attends", "AA T AA N"},
			{"lanuit", "L AA N W IY"},
		},
		[]phrase{
			{"arrete", standalonePhrase, -34, false},
			{"arretez", standalonePhrase, -40, false},
			{"ca suffit", standalonePhrase, -46, false},
			{"ca suffit(2)", standalonePhrase, -46, false},
			{"merci", decoyPhrase, -34, false},
			{"fete", decoyPhrase, -30, false},
			{"latete", decoyPhrase, -34, false},
			{"tresbien", decoyPhrase, -40, false},
			{"peutetre", decoyPhrase, -40, false},
			{"fini", decoyPhrase, -40, false},
			{"attends", decoyPhrase, -34, false},
			{"lanuit", decoyPhrase, -40, false},
		},
	},
}
