package browsermgr_test

import (
	"context"
	"math"
	"net/http"
	"runtime"
	"slices"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/chrome"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
)

// tonePage plays a tone of 440 Hz, on the left channel only, when its button is clicked.
const tonePage = `<button autofocus onclick="
	const n = 48000, wav = new DataView(new ArrayBuffer(44 + 4 * n)), text = (at, s) => [...s].forEach((c, i) => wav.setUint8(at + i, c.charCodeAt()));
	text(0, 'RIFF'); wav.setUint32(4, 36 + 4 * n, true); text(8, 'WAVEfmt '); wav.setUint32(16, 16, true); wav.setUint16(20, 1, true);
	wav.setUint16(22, 2, true); wav.setUint32(24, 48000, true); wav.setUint32(28, 192000, true); wav.setUint16(32, 4, true);
	wav.setUint16(34, 16, true); text(36, 'data'); wav.setUint32(40, 4 * n, true);
	for (let i = 0; i < n; i++) wav.setInt16(44 + 4 * i, 16384 * Math.sin(2 * Math.PI * 440 * i / 48000), true);
	window.player = new Audio(window.URL.createObjectURL(new Blob([wav]))); player.loop = true; player.play()">Play</button>`

// hertz returns the frequency of one channel by the median length of its waves, since on a busy machine Chromium
// itself drops samples. It returns 0 for silence.
func hertz(samples []int16) float64 {
	var waves []int // how long each is
	last := 0
	for i := 1; i < len(samples); i++ {
		if samples[i-1] < 0 && samples[i] >= 0 {
			if last > 0 {
				waves = append(waves, i-last)
			}
			last = i
		}
	}
	if len(waves) == 0 {
		return 0
	}
	slices.Sort(waves)
	return chrome.SoundRate / float64(waves[len(waves)/2])
}

func TestAPageIsHeard(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has ALSA")
	}
	m := sharedManager(t)
	site := browsertest.Serve(t, func(w http.ResponseWriter, _ *http.Request) { browsertest.HTML(w, tonePage) }).URL
	w := window(t, m, browsermgr.WindowOptions{Key: "a", URL: site})
	act(t, w, "click", map[string]any{"ref": refOf(t, w, "Play")})
	pieces := listen(t, w)
	var left, right []int16
	for begin := awaitPiece(t, pieces); len(left) < chrome.SoundRate; begin = awaitPiece(t, pieces) {
		for i := 0; i < len(begin); i += chrome.SoundChannels {
			left, right = append(left, begin[i]), append(right, begin[i+1])
		}
	}
	left, right = left[len(left)/2:], right[len(right)/2:] // Chromium fades in
	if got := hertz(left); math.Abs(got-440) > 5 || hertz(right) > 1 {
		t.Errorf("left sounds with %.0f Hz and right with %.0f, want 440 and none", got, hertz(right))
	}

	takeover, err := w.TakeOver(t.Context(), "ada")
	check.Must(t, err)
	wantSilence(t, pieces, "while somebody works the page")
	takeover.End()
	awaitPiece(t, pieces)
	act(t, w, "evaluate", map[string]any{"fn": "() => player.pause()"})
	wantSilence(t, pieces, "when nothing plays")
}

// listen returns the audio of a window, without silent pieces.
func listen(t *testing.T, w *browsermgr.Window) <-chan []int16 {
	t.Helper()
	heard := make(chan []int16, 1)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		for p := range w.Sound(ctx) {
			for _, s := range p {
				if s != 0 {
					select {
					case heard <- p:
					case <-ctx.Done():
					}
					break
				}
			}
		}
	}()
	return heard
}

func awaitPiece(t *testing.T, pieces <-chan []int16) []int16 {
	t.Helper()
	select {
	case p := <-pieces:
		return p
	case <-time.After(browsertest.Patience):
		t.Fatal("nothing is heard")
		return nil
	}
}

// wantSilence waits until there was no sound for half a second.
func wantSilence(t *testing.T, pieces <-chan []int16, when string) {
	t.Helper()
	late := time.After(browsertest.Patience)
	for {
		select {
		case <-pieces:
		case <-time.After(500 * time.Millisecond):
			return
		case <-late:
			t.Fatalf("something is heard %s", when)
		}
	}
}
