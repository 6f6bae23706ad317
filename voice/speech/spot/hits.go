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

// Slack between what the process and the gate take for the start and the end of a word, in seconds, and the most that a segment
// with a stop phrase lasts.
const (
	slackStart = 0.22
	slackEnd   = 0.28
	longestCry = 1.5
)

// judge picks what was said to us in a segment from start to end. A stop phrase must be all of a segment that stands alone, and fit
// better than every word that sounds like it. The name may stand anywhere.
func judge(hits []hit, start, end float64, alone bool) (phrase, bool) {
	var best, rival, name hit
	for _, h := range hits {
		if h.end < start-slackStart || h.start > end+slackEnd {
			continue
		}
		covers := h.start <= start+slackStart && h.end >= end-slackEnd
		switch {
		case h.phrase.kind == wakes && h.score > name.score:
			name = h
		case h.phrase.kind == stops && covers && h.score > best.score:
			best = h
		case h.phrase.kind == other && h.score > rival.score:
			rival = h
		}
	}
	switch {
	case best.score > 0 && best.score >= rival.score && alone && end-start <= longestCry:
		return best.phrase, true
	case name.score > 0 && name.score >= rival.score:
		return name.phrase, true
	}
	return phrase{}, false
}
