package spot

import (
	"math"
	"strconv"
	"strings"
)

// hit is a phrase that the process has heard, in seconds of its input.
type hit struct {
	phrase     phrase
	start, end float64
	score      float64 // of the likelihoods' ratio; 1 is best
}

// maxLine is longer than any line that the process prints for a phrase.
const maxLine = 4096

// parseHits reads what `-time yes` prints: the words, their start and end in seconds, a score. Other lines are left out: each
// piece of speech is printed once without times before.
func parseHits(text string) []hit {
	var hits []hit
	for line := range strings.Lines(text) {
		if h, ok := parseHit(line); ok {
			hits = append(hits, h)
		}
	}
	return hits
}

func parseHit(line string) (hit, bool) {
	fields := strings.Fields(line)
	n := len(fields) - 3
	if n < 1 || len(line) > maxLine {
		return hit{}, false
	}
	var numbers [3]float64
	for i, f := range fields[n:] {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			return hit{}, false
		}
		numbers[i] = v
	}
	p, ok := phraseOf(strings.Join(fields[:n], " "))
	if !ok || numbers[1] < numbers[0] {
		return hit{}, false
	}
	return hit{phrase: p, start: numbers[0], end: numbers[1], score: numbers[2]}, true
}

// Slack between what the process and the gate take for the start and the end of a word, in seconds.
const (
	slackStart = 0.15
	slackOrder = 0.08 // of a stop phrase before which somebody seems to say "I"
	slackEnd   = 0.28
	slackVowel = 0.50 // at the end of a phrase whose last sound people draw out
	slackAlike = 0.22 // of words that sound alike, on either side
	slackName  = 0.10 // of the name
	longestCry = 1.5  // the most that a segment with a stop phrase lasts
)

// margin is how much better than the phrase a word that sounds alike must fit.
const (
	margin     = 0.012
	marginName = 0.017 // of the name
)

// leastName is the least score at which the name counts.
const leastName = 0.826

// judge picks what was said to us in a segment from start to end. A stop phrase must be all of a segment that stands alone, but
// for the name before it, and no word that sounds like it may fit better. The name counts where they
// begin to speak.
func judge(hits []hit, start, end float64, alone bool) (phrase, bool) {
	var best, rival, name hit
	for _, h := range hits {
		if h.end < start-slackAlike || h.start > end+slackEnd {
			continue
		}
		switch {
		case h.phrase.kind == wakes && h.start <= start+slackName && h.score > name.score:
			name = h
		case h.phrase.kind == stops && h.covers(start, end, hits) && h.score > best.score:
			best = h
		case h.phrase.kind == other && h.start <= start+slackAlike && h.end >= end-slackAlike && h.score > rival.score:
			rival = h
		}
	}
	switch {
	case best.score > 0 && best.score+margin >= rival.score && alone && end-start <= longestCry:
		return best.phrase, true
	case name.score >= leastName && !outdone(name, hits):
		return name.phrase, true
	}
	return phrase{}, false
}

// outdone says whether a word that sounds like the name fits much better where it was heard.
func outdone(name hit, hits []hit) bool {
	for _, h := range hits {
		if h.phrase.kind == other && h.start < name.end && h.end > name.start && h.score > name.score+marginName {
			return true
		}
	}
	return false
}

// covers says whether the hit is all of what was said, the name before it left out.
func (h hit) covers(start, end float64, hits []hit) bool {
	slack := slackEnd
	if h.phrase.drawn {
		slack = slackVowel
	}
	if h.end < end-slack {
		return false
	}
	if h.start <= start+slackStart && !h.afterI(start, hits) {
		return true
	}
	for _, n := range hits {
		if n.phrase.kind == wakes && n.start <= start+slackStart && n.end <= h.start+slackStart && n.end >= h.start-slackEnd {
			return true
		}
	}
	return false
}

// soundsLikeI is the word that is heard where somebody says "I", as in "I stopped". A long "s" is heard as other words.
const soundsLikeI = "right"

// afterI says whether "I" was said between the start of the segment and the hit.
func (h hit) afterI(start float64, hits []hit) bool {
	for _, x := range hits {
		if x.phrase.words == soundsLikeI && x.start <= start+slackOrder && x.end > start && x.end <= h.start+slackOrder && h.start > start+slackOrder {
			return true
		}
	}
	return false
}
