package computerusetest

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"slices"
	"strings"
	"sync"

	"clank/llm"
	"clank/sessions"
)

// Screen is an in-memory [sessions.Page]. Its image changes with each action. Set the exported fields before first
// use.
type Screen struct {
	Size  image.Point // in CSS pixels; zero means 320x180
	Ratio float64     // image pixels per CSS pixel; 0 means 1
	Still bool        // the image never changes
	// On is called instead of an action of that kind.
	On map[string]func(ctx context.Context, args map[string]any) ([]string, error)
	// Blind, if set, is the error of all screenshots.
	Blind error

	mu      sync.Mutex
	url     string
	acts    []string
	shots   int
	changed int
}

// Act implements [sessions.Page].
func (s *Screen) Act(ctx context.Context, kind string, args map[string]any) ([]string, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	words := []string{kind}
	for _, k := range slices.Sorted(maps.Keys(args)) {
		words = append(words, fmt.Sprintf("%s=%v", k, args[k]))
	}
	s.mu.Lock()
	s.acts = append(s.acts, strings.Join(words, " "))
	on := s.On[kind]
	s.mu.Unlock()
	if on != nil {
		return on(ctx, args)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed++
	if at, ok := args["url"].(string); ok {
		s.url = at
	}
	return nil, nil
}

// Assess implements [sessions.Page]: no action has consequences.
func (*Screen) Assess(context.Context, string, map[string]any) (sessions.Assessment, error) {
	return sessions.Assessment{}, nil
}

// ActIfUnchanged implements [sessions.Page].
func (s *Screen) ActIfUnchanged(ctx context.Context, kind string, args map[string]any,
	_ string,
) ([]string, bool, error) {
	notes, err := s.Act(ctx, kind, args)
	return notes, true, err
}

// Screenshot implements [sessions.Page] with an image of one color.
func (s *Screen) Screenshot(ctx context.Context, _ string) (sessions.Screenshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		return sessions.Screenshot{}, context.Cause(ctx)
	}
	if s.Blind != nil {
		return sessions.Screenshot{}, s.Blind
	}
	s.shots++
	size, ratio := s.Size, s.Ratio
	if size == (image.Point{}) {
		size = image.Pt(320, 180)
	}
	if ratio == 0 {
		ratio = 1
	}
	shade := uint8(s.changed)
	if s.Still {
		shade = 0
	}
	data, err := Picture(image.Pt(int(float64(size.X)*ratio), int(float64(size.Y)*ratio)), shade)
	return sessions.Screenshot{
		Image: llm.Image{MediaType: "image/png", Data: data}, Width: float64(size.X),
		Height: float64(size.Y),
	}, err
}

// Change changes the image, as pages do by themselves.
func (s *Screen) Change() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed++
}

// Picture returns a PNG in one shade of gray.
func Picture(size image.Point, shade uint8) ([]byte, error) {
	img := image.NewPaletted(image.Rectangle{Max: size}, color.Palette{color.Gray{Y: shade}})
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img); err != nil {
		return nil, fmt.Errorf("draw a picture: %w", err)
	}
	return b.Bytes(), nil
}

// State implements [sessions.Page].
func (s *Screen) State(context.Context) (url, title string, tabs []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.url, "title of " + s.url, []string{"t1 " + s.url}, nil
}

// Text implements [sessions.Page].
func (s *Screen) Text(context.Context, string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return "text of " + s.url, nil
}

// Snapshot implements [sessions.Page].
func (s *Screen) Snapshot(context.Context, sessions.SnapshotOptions) (string, error) {
	return `- button "Buy" [ref=e1]`, nil
}

// Acts returns the actions so far, as "clickCoords button=left clickCount=1 x=10 y=20".
func (s *Screen) Acts() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.acts)
}

// Shots returns the number of screenshots taken.
func (s *Screen) Shots() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shots
}

// Browser is an in-memory [sessions.Browser] with one screen per session.
type Browser struct {
	New    func() *Screen                                          // nil means the zero Screen
	Wrap   func(*Screen) sessions.Page                             // nil means the Screen itself
	Refuse func(ctx context.Context, o sessions.PageRequest) error // may refuse to open a page

	mu   sync.Mutex
	open map[string]*Screen
	all  []*Screen
}

// Open implements [sessions.Browser].
func (b *Browser) Open(ctx context.Context, o sessions.PageRequest) (sessions.Page, string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ctx.Err() != nil {
		return nil, "", context.Cause(ctx)
	}
	s, reopened := b.open[o.Key], ""
	if s == nil {
		var err error
		if s, err = b.openScreen(ctx, o); err != nil {
			return nil, "", err
		}
		reopened = "the page had been closed and was opened again at " + o.URL
	}
	if b.Wrap != nil {
		return b.Wrap(s), reopened, nil
	}
	return s, reopened, nil
}

// openScreen opens a screen. The caller holds the lock.
func (b *Browser) openScreen(ctx context.Context, o sessions.PageRequest) (*Screen, error) {
	if b.Refuse != nil {
		if err := b.Refuse(ctx, o); err != nil {
			return nil, err
		}
	}
	s := &Screen{}
	if b.New != nil {
		s = b.New()
	}
	s.url = o.URL
	if b.open == nil {
		b.open = map[string]*Screen{}
	}
	b.open[o.Key] = s
	b.all = append(b.all, s)
	return s, nil
}

// Rest implements [sessions.Browser].
func (*Browser) Rest(string) {}

// Close implements [sessions.Browser].
func (b *Browser) Close(_ context.Context, key string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, key)
	return nil
}

// Park implements [sessions.Browser]: the page stays as it is.
func (*Browser) Park(context.Context, string, bool) (bool, error) { return true, nil }

// Screen returns the screen opened last; nil if there is none.
func (b *Browser) Screen() *Screen {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.all) == 0 {
		return nil
	}
	return b.all[len(b.all)-1]
}

// Acts returns the number of actions on all screens.
func (b *Browser) Acts() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, s := range b.all {
		n += len(s.Acts())
	}
	return n
}
