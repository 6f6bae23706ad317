package dashboard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"iter"
	"strings"
	"sync"

	"clank/llm"
	"clank/sessions"
)

// script is a Backend that does what the prompt names:
//
//	"… hold …"  waits after its first act has begun, until let go or stopped
//	"… fail …"  ends with an error
//	"… trip …"  an act fails on the way
//	"… evil …"  says things that a page must not believe
//	"… brief …" answers at once
//	"… flood …" does a great deal, quickly
type script struct {
	bare bool // take no pictures

	mu    sync.Mutex
	held  chan struct{}   // closed: nothing is held any more
	tasks []sessions.Task // that were begun
}

// floodActs is more than a reader may be behind, and with it more than the
// network holds for one who does not read.
const floodActs = 400

func (b *script) gate() chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held == nil {
		b.held = make(chan struct{})
	}
	return b.held
}

// typed says of each task that was begun whether a person typed it.
func (b *script) typed() (typed []bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.tasks {
		typed = append(typed, t.Typed)
	}
	return typed
}

func (b *script) letGo() { close(b.gate()) }

func (b *script) Close(context.Context, string) error { return nil }

func (b *script) Run(ctx context.Context, _ sessions.Session, t sessions.Task) iter.Seq2[sessions.Step, error] {
	b.mu.Lock()
	b.tasks = append(b.tasks, t)
	b.mu.Unlock()
	return func(yield func(sessions.Step, error) bool) {
		n := 0
		think := func(text string) bool {
			n++
			return yield(sessions.Step{N: n, Kind: sessions.StepThink, Phase: sessions.PhaseBegun, Label: "think"}, nil) &&
				yield(sessions.Step{N: n, Kind: sessions.StepThink, Phase: sessions.PhaseDone, Label: "think", Text: text}, nil)
		}
		act := func(label, fails string) bool {
			n++
			st := sessions.Step{N: n, Kind: sessions.StepAct, Phase: sessions.PhaseBegun, Tool: "do", Input: json.RawMessage(`{"x":1}`), Label: label}
			if !yield(st, nil) {
				return false
			}
			if strings.Contains(t.Prompt, "hold") {
				select {
				case <-b.gate():
				case <-ctx.Done():
					yield(sessions.Step{}, context.Cause(ctx))
					return false
				}
			}
			st.Phase, st.URL, st.Title = sessions.PhaseDone, "http://127.0.0.1:8788/search?q=lamp", "6 results for “lamp” · Lumen & Oak"
			st.Failed, st.Text = fails != "", fails
			if b.bare {
				return yield(st, nil)
			}
			st.View = &llm.Image{MediaType: "image/png", Data: screen(n)}
			return yield(st, nil)
		}
		if strings.Contains(t.Prompt, "brief") {
			yield(sessions.Step{N: 1, Kind: sessions.StepAnswer, Phase: sessions.PhaseDone, Label: "answer", Text: "Here it is."}, nil)
			return
		}
		if strings.Contains(t.Prompt, "flood") {
			for range floodActs {
				if !act(strings.Repeat("flood ", 4000), "") {
					return
				}
			}
		}
		trip := ""
		if strings.Contains(t.Prompt, "trip") {
			trip = "“Accept” is covered by the notice “We use one cookie”; close that first"
		}
		label := `type "lamp" into Search`
		answer := "Six lamps are on sale, from € 19.90 to € 129.00:\n\nAurora Desk Lamp, € 49.00\nHarbour Floor Lamp, € 129.00\nPebble Night Lamp, € 24.50\n\nThe list is at http://127.0.0.1:8788/search?q=lamp (see also https://example.com/a_(b))."
		if strings.Contains(t.Prompt, "evil") {
			label = `click "<img src=x onerror=alert(1)>"`
			answer = `<script>alert(1)</script> javascript:alert(1) https://example.com/"onmouseover="alert(1) <b>bold</b>`
		}
		if !think("") || !act("open the demo shop", "") || !think("The search box is at the top, so I use that.") || !act(label, trip) || !act("press Enter", "") {
			return
		}
		if strings.Contains(t.Prompt, "fail") {
			yield(sessions.Step{}, errors.New("the model openai:gpt-5.6 refused the key; set OPENAI_API_KEY and start clank again"))
			return
		}
		yield(sessions.Step{N: n + 1, Kind: sessions.StepAnswer, Phase: sessions.PhaseDone, Label: "answer", Text: answer, Images: []llm.Image{{MediaType: "image/png", Data: screen(0)}}}, nil)
	}
}

// screen draws something like a page of the demo shop.
func screen(n int) []byte {
	img := image.NewRGBA(image.Rect(0, 0, 640, 400))
	box := func(x0, y0, x1, y1 int, c color.Color) {
		draw.Draw(img, image.Rect(x0, y0, x1, y1), image.NewUniform(c), image.Point{}, draw.Src)
	}
	paper, green, gold, line := color.RGBA{250, 247, 241, 255}, color.RGBA{47, 74, 60, 255}, color.RGBA{233, 185, 73, 255}, color.RGBA{226, 221, 210, 255}
	box(0, 0, 640, 400, paper)
	box(0, 0, 640, 56, color.White)
	box(24, 20, 120, 36, green)
	box(150, 14, 520, 42, line)
	box(152, 16, 518, 40, color.White)
	if n > 2 {
		box(162, 24, 162+14*n, 32, green)
	}
	for i := range 8 {
		x, y := 24+(i%4)*150, 90+(i/4)*150
		box(x, y, x+138, y+136, color.White)
		if (i+n)%3 != 2 {
			box(x+45, y+24, x+93, y+64, gold)
			box(x+66, y+64, x+72, y+90, green)
		}
		box(x+14, y+106, x+100, y+114, line)
	}
	var b bytes.Buffer
	_ = png.Encode(&b, img) // into memory
	return b.Bytes()
}
