package videosource

// qualityStep is one way to take a picture.
type qualityStep struct {
	quality int // as WebP counts; 100 would be lossless
	scale   float64
}

// qualitySteps are the ways from the best to the smallest: worse first, then smaller. Each makes less than half of the one before, so
// that a step back up does not lead straight down again.
var qualitySteps = [...]qualityStep{{80, 1}, {65, 1}, {50, 1}, {40, 1}, {30, 1}, {35, 0.75}, {30, 0.6}, {30, 0.5}}

// qualityLadder finds out how pictures are to be taken so that frames keep within a number of bytes.
type qualityLadder struct {
	budget      int
	index       int // in rungs
	smallFrames int // pictures in a row that left much room
}

const (
	smallFrameShare    = 0.4 // of the budget: what takes less leaves much room
	smallFramesToRaise = 8   // pictures that must leave much room before the next is a better one
)

// current returns how the next picture is to be taken.
func (l *qualityLadder) current() (quality int, scale float64) {
	return qualitySteps[l.index].quality, qualitySteps[l.index].scale
}

// step looks at how large a picture has come out.
func (l *qualityLadder) step(bytes int) {
	switch {
	case bytes > l.budget:
		l.smallFrames = 0
		for over := bytes; over > l.budget && l.index < len(qualitySteps)-1; over = over * 2 / 3 {
			l.index++
		}
	case l.index > 0 && float64(bytes) < smallFrameShare*float64(l.budget):
		if l.smallFrames++; l.smallFrames >= smallFramesToRaise {
			l.smallFrames = 0
			l.index--
		}
	default:
		l.smallFrames = 0
	}
}
