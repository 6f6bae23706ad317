package spot

// Segment is a segment as the gate cuts it, in frames of 10 ms.
type Segment struct {
	Began, Ended int64
	Alone        bool
}

// Cut puts samples through a new gate.
func Cut(samples []int16) []Segment {
	g := newGate()
	var all []Segment
	for len(samples) >= frameSize {
		if _, ended := g.frame(samples[:frameSize]); ended {
			all = append(all, Segment{g.current.began, g.current.ended, g.current.alone})
		}
		samples = samples[frameSize:]
	}
	return all
}

// Judge says what is heard in a segment of which the process prints text; empty for nothing.
func Judge(text string, start, end float64, alone bool) string {
	p, ok := judge(parseHits(text), start, end, alone)
	if !ok {
		return ""
	}
	return p.said()
}

// Phrases are all stop phrases that are listened for.
func Phrases() []string {
	var all []string
	for _, p := range phrases {
		if p.kind == stops {
			all = append(all, p.said())
		}
	}
	return all
}
