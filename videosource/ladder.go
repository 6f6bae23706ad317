package videosource

// rung is one way to take a picture.
type rung struct {
	quality int // as WebP counts; 100 would be lossless
	scale   float64
}

// rungs are the ways from the best to the smallest: worse first, then smaller. Each makes less than half of the one before, so
// that a step back up does not lead straight down again.
var rungs = [...]rung{{80, 1}, {65, 1}, {50, 1}, {40, 1}, {30, 1}, {35, 0.75}, {30, 0.6}, {30, 0.5}}

// ladder finds out how pictures are to be taken so that frames keep within a number of bytes.
type ladder struct {
	budget int
	at     int // in rungs
	small  int // pictures in a row that left much room
}

const (
	room   = 0.4 // of the budget: what takes less leaves much room
	steady = 8   // pictures that must leave much room before the next is a better one
)

// rung is how the next picture is to be taken.
func (l *ladder) rung() (quality int, scale float64) { return rungs[l.at].quality, rungs[l.at].scale }

// step looks at how large a picture has come out.
func (l *ladder) step(bytes int) {
	switch {
	case bytes > l.budget:
		l.small = 0
		for over := bytes; over > l.budget && l.at < len(rungs)-1; over = over * 2 / 3 {
			l.at++
		}
	case l.at > 0 && float64(bytes) < room*float64(l.budget):
		if l.small++; l.small >= steady {
			l.small = 0
			l.at--
		}
	default:
		l.small = 0
	}
}
