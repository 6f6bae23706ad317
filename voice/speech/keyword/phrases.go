package keyword

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// WakeWord is the phrase of [voice.SpottedPhrase] when somebody says the name.
const WakeWord = "clank"

// pronunciations are of every word in phrases, in the phones of CMU's dictionary of English, which has no "clank". A second way to say a
// word is a word of its own with a number: the spotter does not look for alternatives by itself.
var pronunciations = [][2]string{
	{"stop", "S T AA P"},
	{"stop(2)", "S T AO P"},
	{"it", "IH T"},
	{"now", "N AW"},
	{"please", "P L IY Z"},
	{"okay", "OW K EY"},
	{"cancel", "K AE N S AH L"},
	{"cancel(2)", "K AE N T S AH L"},
	{"cancel(3)", "K AA N S AH L"},
	{"that", "DH AE T"},
	{"that(2)", "DH AE"},
	{"hey", "HH EY"},
	{"clank", "K L AE NG K"},
	{"clank(2)", "K L EH NG K"},
	{"clank(3)", "K L AA NG K"},
	{"clank(4)", "K L AE N K"},
	{"privacy", "P R AY V AH S IY"},
	{"yes", "Y EH S"},
	{"right", "R AY T"},
	{"sorry", "S AA R IY"},
	{"sorry(2)", "S AO R IY"},
	{"drop", "D R AA P"},
	{"drop(2)", "D R AO P"},
	{"whats", "W AH T S"},
	{"up", "AH P"},
	{"so", "S OW"},
	{"what", "W AH T"},
	{"thank", "TH AE NG K"},
	{"thanks", "TH AE NG K S"},
	{"bank", "B AE NG K"},
	{"drink", "D R IH NG K"},
	{"you", "Y UW"},
	{"not", "N AA T"},
	{"stay", "S T EY"},
	{"start", "S T AA R T"},
	{"step", "S T EH P"},
	{"spot", "S P AA T"},
	{"shop", "SH AA P"},
	{"sharp", "SH AA R P"},
}

type phraseKind int

const (
	standalonePhrase phraseKind = iota // counts where it stands alone
	wakePhrase                         // counts at the beginning
	decoyPhrase                        // sounds alike: where it fits better, nothing was said to us
)

// phrase is what the process looks for. Its threshold is the smallest ratio, as a power of ten, between the
// likelihoods of the phrase and of any other sounds.
type phrase struct {
	words     string
	kind      phraseKind
	threshold int
	drawn     bool // its end is often heard too early
}

// phrases were measured with ten synthetic voices at up to three speeds, with noise at 20 dB and 5 % of all packets lost.
var phrases = []phrase{
	{"stop", standalonePhrase, -29, false},
	{"stop(2)", standalonePhrase, -29, false},
	{"stop it", standalonePhrase, -36, false},
	{"stop(2) it", standalonePhrase, -36, false},
	{"stop now", standalonePhrase, -36, true},
	{"stop(2) now", standalonePhrase, -36, true},
	{"stop please", standalonePhrase, -36, true},
	{"please stop", standalonePhrase, -36, false},
	{"please stop(2)", standalonePhrase, -36, false},
	{"okay stop", standalonePhrase, -36, false},
	{"okay stop(2)", standalonePhrase, -36, false},
	{"clank stop", standalonePhrase, -38, false},
	{"clank stop(2)", standalonePhrase, -38, false},
	{"cancel that", standalonePhrase, -26, false},
	{"cancel(2) that", standalonePhrase, -29, false},
	{"cancel(3) that", standalonePhrase, -29, false},
	{"cancel(2) that(2)", standalonePhrase, -32, false},
	{"cancel(3) that(2)", standalonePhrase, -32, false},
	{"cancel it", standalonePhrase, -36, false},
	{"clank privacy", standalonePhrase, -45, false},
	{"clank(2) privacy", standalonePhrase, -45, false},
	{"clank(3) privacy", standalonePhrase, -45, false},
	{"clank", wakePhrase, -26, false},
	{"clank(2)", wakePhrase, -26, false},
	{"clank(3)", wakePhrase, -26, false},
	{"clank(4)", wakePhrase, -26, false},
	{"hey clank", wakePhrase, -36, false},
	{"yes", decoyPhrase, -30, false},
	{"okay", decoyPhrase, -30, false},
	{"right", decoyPhrase, -30, false},
	{"sorry", decoyPhrase, -30, false},
	{"sorry(2)", decoyPhrase, -30, false},
	{"drop it", decoyPhrase, -30, false},
	{"drop(2) it", decoyPhrase, -30, false},
	{"whats up", decoyPhrase, -30, false},
	{"so what", decoyPhrase, -30, false},
	{"not that", decoyPhrase, -30, false},
	{"stay", decoyPhrase, -30, false},
	{"thank you", decoyPhrase, -30, false},
	{"thanks", decoyPhrase, -30, false},
	{"bank", decoyPhrase, -30, false},
	{"drink", decoyPhrase, -30, false},
	{"start", decoyPhrase, -30, false},
	{"step", decoyPhrase, -30, false},
	{"spot", decoyPhrase, -30, false},
	{"shop", decoyPhrase, -30, false},
	{"sharp", decoyPhrase, -30, false},
}

// phraseOf finds a phrase by what the process prints of it.
func phraseOf(words string) (phrase, bool) {
	for _, p := range phrases {
		if p.words == words {
			return p, true
		}
	}
	return phrase{}, false
}

// spokenForm returns the phrase without the marks of how it was pronounced.
func (p phrase) spokenForm() string {
	if p.kind == wakePhrase {
		return WakeWord
	}
	return variantMark.ReplaceAllString(p.words, "")
}

// variantMark tells one way to say a word from others.
var variantMark = regexp.MustCompile(`\(\d\)`)

// hisses says whether p begins with an "s" before a stop.
func (p phrase) hisses() bool { return strings.HasPrefix(p.words, "stop") }

const (
	dictFile = "words.dict"
	listFile = "phrases.list"
)

func writePhrases(dir string) error {
	var dict, list strings.Builder
	for _, p := range pronunciations {
		fmt.Fprintf(&dict, "%s %s\n", p[0], p[1])
	}
	for _, p := range phrases {
		fmt.Fprintf(&list, "%s /1e%d/\n", p.words, p.threshold)
	}
	if err := os.WriteFile(filepath.Join(dir, dictFile), []byte(dict.String()), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, listFile), []byte(list.String()), 0o600)
}
