package keyword

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// WakeWord is the phrase of a [voice.SpottedPhrase] for our name.
const WakeWord = "clank"

// pronunciations are of every word in phrases, in the phones of CMU's dictionary of English, which has no "clank". A
// second way to say a word is a word of its own with a number: the spotter does not look for alternatives by itself.
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
	standalonePhrase phraseKind = iota // counts if it stands alone
	wakePhrase                         // counts at the beginning
	decoyPhrase                        // sounds similar: if it fits better, the phrase was not said
)

// phrase is what the process looks for. Its threshold is the smallest ratio, as a power of ten, between the
// likelihoods of the phrase and of any other sounds.
type phrase struct {
	words     string
	kind      phraseKind
	threshold int
	drawn     bool // its end is often heard too early
}

// phrases were measured with ten synthetic voices at up to three speeds, with noise at 20 dB and 5 % of all packets
// lost.
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

// spokenForm returns the phrase without the marks of how it was pronounced.
func (p phrase) spokenForm() string {
	if p.kind == wakePhrase {
		return WakeWord
	}
	return variantMark.ReplaceAllString(p.words, "")
}

// variantMark distinguishes the pronunciations of a word.
var variantMark = regexp.MustCompile(`\(\d\)`)

// hisses reports whether p begins with an "s" before a stop.
func (p phrase) hisses() bool { return strings.HasPrefix(p.words, "stop") }

// phraseHit is a phrase that the process has heard, in seconds of its input.
type phraseHit struct {
	phrase     phrase
	start, end float64
	score      float64 // of the likelihoods' ratio; 1 is best
}

// maxLine is longer than any line that the process prints for a phrase.
const maxLine = 4096

// parseHits reads what `-time yes` prints: the words, their start and end in seconds, a score. Other lines are left
// out: each piece of speech is printed once without times before.
func (v *vocabulary) parseHits(text string) []phraseHit {
	var hits []phraseHit
	for line := range strings.Lines(text) {
		if h, ok := v.parseHit(line); ok {
			hits = append(hits, h)
		}
	}
	return hits
}

func (v *vocabulary) parseHit(line string) (phraseHit, bool) {
	fields := strings.Fields(line)
	n := len(fields) - 3
	if n < 1 || len(line) > maxLine {
		return phraseHit{}, false
	}
	var numbers [3]float64
	for i, f := range fields[n:] {
		x, err := strconv.ParseFloat(f, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
			return phraseHit{}, false
		}
		numbers[i] = x
	}
	p, ok := v.find(strings.Join(fields[:n], " "))
	if !ok || numbers[1] < numbers[0] {
		return phraseHit{}, false
	}
	return phraseHit{phrase: p, start: numbers[0], end: numbers[1], score: numbers[2]}, true
}

// Tolerances between the process and the gate about the start and the end of a word, in seconds.
const (
	slackStart    = 0.10
	slackHiss     = 0.20 // of a phrase that begins with a hiss: how long that is the process does not hear well
	slackEnd      = 0.28
	slackVowel    = 0.50 // at the end of a phrase whose last sound people draw out
	slackNamed    = 0.12 // at the end of a phrase after our name
	slackAlike    = 0.22 // of words that sound alike, on either side
	slackName     = 0.10 // of the name
	maxStopLength = 1.5  // the most that a segment with a stop phrase lasts
)

// scoreMargin is how much better than the phrase a word that sounds alike must fit. The name has none.
const scoreMargin = 0.012

// minNameScore is the least score at which the name counts.
const minNameScore = 0.835

// segmentSpan is a segment, in seconds of the input of the process.
type segmentSpan struct {
	start, end float64
	alone      bool // silence before it and after it
	asStop     bool // it begins as with "st"
}

// pickPhrase returns the phrase that was said to us in a segment. A phrase must be all of a segment that stands alone,
// except for our name before it, and no similar word may fit better. Our name counts at the beginning of speech.
func pickPhrase(hits []phraseHit, u segmentSpan) (phrase, bool) {
	var best, rival, name phraseHit
	for _, h := range hits {
		if h.end < u.start-slackAlike || h.start > u.end+slackEnd {
			continue
		}
		switch {
		case h.phrase.kind == wakePhrase && h.start <= u.start+slackName && h.score > name.score:
			name = h
		case h.phrase.kind == standalonePhrase && h.covers(u, hits) && h.score > best.score:
			best = h
		case h.phrase.kind == decoyPhrase && h.start <= u.start+slackAlike && h.end >= u.end-slackAlike &&
			h.score > rival.score:
			rival = h
		}
	}
	switch {
	case best.score > 0 && best.score+scoreMargin >= rival.score && u.alone && u.end-u.start <= maxStopLength:
		return best.phrase, true
	case name.score >= minNameScore && !beatenByDecoy(name, hits):
		return name.phrase, true
	}
	return phrase{}, false
}

// beatenByDecoy reports whether a word that sounds like the name fits better at the same place.
func beatenByDecoy(name phraseHit, hits []phraseHit) bool {
	for _, h := range hits {
		if h.phrase.kind == decoyPhrase && h.start < name.end && h.end > name.start && h.score > name.score {
			return true
		}
	}
	return false
}

// covers reports whether the hit is everything that was said, except for our name before it.
func (h phraseHit) covers(u segmentSpan, hits []phraseHit) bool {
	slack := slackEnd
	if h.phrase.drawn {
		slack = slackVowel
	}
	if h.end < u.end-slack {
		return false
	}
	if h.phrase.hisses() {
		if h.start <= u.start+slackHiss && u.asStop {
			return true
		}
	} else if h.start <= u.start+slackStart {
		return true
	}
	return !h.phrase.drawn && h.start < u.end-slackNamed && h.end >= u.end-slackNamed && h.afterName(u.start, hits)
}

// afterName reports whether our name was said at start, with nothing between it and the hit.
func (h phraseHit) afterName(start float64, hits []phraseHit) bool {
	for _, n := range hits {
		if n.phrase.kind == wakePhrase && n.start <= start+slackStart && n.end <= h.start+slackStart &&
			n.end >= h.start-slackEnd && !beatenByDecoy(n, hits) {
			return true
		}
	}
	return false
}
