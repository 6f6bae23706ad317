package keyword

import (
	"math"
	"strconv"
	"strings"
)

// phraseHit is a phrase that the process has heard, in seconds of its input.
type phraseHit struct {
	phrase     phrase
	start, end float64
	score      float64 // of the likelihoods' ratio; 1 is best
}

// maxLine is longer than any line that the process prints for a phrase.
const maxLine = 4096

// parseHits reads what `-time yes` prints: the words, their start and end in seconds, a score. Other lines are left out: each
// piece of speech is printed once without times before.
func parseHits(text string) []phraseHit {
	var hits []phraseHit
	for line := range strings.Lines(text) {
		if h, ok := parseHit(line); ok {
			hits = append(hits, h)
		}
	}
	return hits
}

func parseHit(line string) (phraseHit, bool) {
	fields := strings.Fields(line)
	n := len(fields) - 3
	if n < 1 || len(line) > maxLine {
		return phraseHit{}, false
	}
	var numbers [3]float64
	for i, f := range fields[n:] {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			return phraseHit{}, false
		}
		numbers[i] = v
	}
	p, ok := phraseOf(strings.Join(fields[:n], " "))
	if !ok || numbers[1] < numbers[0] {
		return phraseHit{}, false
	}
	return phraseHit{phrase: p, start: numbers[0], end: numbers[1], score: numbers[2]}, true
}

// Slack between what the process and the gate take for the start and the end of a word, in seconds.
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

// pickPhrase picks what was said to us in a segment. A phrase must be all of a segment that stands alone, but for the name before it, and
// no word that sounds like it may fit better. The name counts where they begin to speak.
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
		case h.phrase.kind == decoyPhrase && h.start <= u.start+slackAlike && h.end >= u.end-slackAlike && h.score > rival.score:
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

// beatenByDecoy says whether a word that sounds like the name fits better where it was heard.
func beatenByDecoy(name phraseHit, hits []phraseHit) bool {
	for _, h := range hits {
		if h.phrase.kind == decoyPhrase && h.start < name.end && h.end > name.start && h.score > name.score {
			return true
		}
	}
	return false
}

// covers says whether the hit is all of what was said, the name before it left out.
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

// afterName says whether our name was said at start, and nothing between it and the hit.
func (h phraseHit) afterName(start float64, hits []phraseHit) bool {
	for _, n := range hits {
		if n.phrase.kind == wakePhrase && n.start <= start+slackStart && n.end <= h.start+slackStart && n.end >= h.start-slackEnd && !beatenByDecoy(n, hits) {
			return true
		}
	}
	return false
}
