package keyword

// Segment is a segment as the gate cuts it, in frames of 10 ms.
type Segment struct {
	Began, Ended int64
	Alone        bool
}

// Cut puts samples through a new gate.
func Cut(samples []int16) []Segment {
	g := newSpeechGate()
	var all []Segment
	for len(samples) >= frameSize {
		if _, ended := g.frame(samples[:frameSize]); ended {
			all = append(all, Segment{g.current.began, g.current.ended, g.current.alone})
		}
		samples = samples[frameSize:]
	}
	return all
}

// BeginsAsStop says whether what is said in head begins as with "st". Head begins at the beginning of a segment.
func BeginsAsStop(head []int16) bool { return beginsAsStop(head, 0) }

// Judge says what is heard in a segment of which the process prints text; empty for nothing. It begins as with "st" if asStop is true.
func Judge(text string, start, end float64, alone, asStop bool) string {
	p, ok := pickPhrase(parseHits(text), segmentSpan{start, end, alone, asStop})
	if !ok {
		return ""
	}
	return p.spokenForm()
}

// Phrases returns all phrases that count where they stand alone.
func Phrases() []string {
	var all []string
	for _, p := range phrases {
		if p.kind == standalonePhrase {
			all = append(all, p.spokenForm())
		}
	}
	return all
}
