package page_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"regexp"
	"strings"
	"testing"
	"time"

	"clank/browseagent"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/llm"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
)

func TestScreenshot(t *testing.T) {
	tab := show(t, `<style>::-webkit-scrollbar{display:none} body{margin:0;height:3000px;background:#00f}</style><button style="position:absolute;top:2000px;left:50px;width:120px;height:40px;border:0;background:#f00">B</button>`)
	act(t, tab, page.Action{Kind: actiontable.KindResize, Width: 800, Height: 600})
	ref := refOf(t, tab, `"B"`)
	for _, tt := range []struct {
		name          string
		opts          page.ScreenshotOptions
		format        string
		width, height int
		red           bool // the colour of the corner
	}{
		{"viewport", page.ScreenshotOptions{}, "png", 800, 600, false},
		{"jpeg", page.ScreenshotOptions{Format: "jpeg", Quality: 50}, "jpeg", 800, 600, false},
		{"full page", page.ScreenshotOptions{FullPage: true}, "png", 800, 3000, false},
		{"element", page.ScreenshotOptions{Ref: ref}, "png", 120, 40, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data, err := tab.Screenshot(t.Context(), tt.opts)
			check.Must(t, err)
			img, format, err := image.Decode(bytes.NewReader(data))
			check.Must(t, err)
			if size := img.Bounds().Size(); format != tt.format || size != image.Pt(tt.width, tt.height) {
				t.Errorf("got %s of %v, want %s of %dx%d", format, size, tt.format, tt.width, tt.height)
			}
			if r, _, b, _ := img.At(2, 2).RGBA(); (r > b) != tt.red {
				t.Errorf("got corner red %d blue %d", r, b)
			}
		})
	}
	browsertest.WantJS(t, tab, "[innerWidth, innerHeight]", "[800,600]")
	for _, opts := range []page.ScreenshotOptions{{Format: "gif"}, {Quality: 101}, {FullPage: true, Ref: ref}} {
		check.Fails(t, check.Err(tab.Screenshot(t.Context(), opts)), page.ErrInvalid)
	}
	check.Fails(t, check.Err(tab.Screenshot(t.Context(), page.ScreenshotOptions{Ref: "e99"})),
		page.ErrUnknownRef)
}

func white(tb testing.TB, width, height int) *image.RGBA {
	tb.Helper()
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range img.Pix {
		img.Pix[i] = 0xff
	}
	return img
}

func encoded(tb testing.TB, format string, img image.Image) []byte {
	tb.Helper()
	var b bytes.Buffer
	err := png.Encode(&b, img)
	if format == "jpeg" {
		b.Reset()
		err = jpeg.Encode(&b, img, nil)
	}
	check.Must(tb, err)
	return b.Bytes()
}

func TestAreasAreCoveredWhereThePictureShowsThem(t *testing.T) {
	v := &page.PrivacyMask{
		Areas: []page.Area{{Left: 110, Top: 220, Right: 130, Bottom: 230}}, Left: 100, Top: 200,
		Zoom: 2, PixelRatio: 1.5,
	}
	for _, tc := range []struct {
		name string
		got  []image.Rectangle
		want []image.Rectangle
	}{
		{"viewport", v.ViewportBoxes(1), []image.Rectangle{image.Rect(8, 18, 32, 32)}},
		{"viewport of many pixels", v.ViewportBoxes(3), []image.Rectangle{image.Rect(24, 54, 96, 96)}},
		{"document", v.ClipBoxes(0, 0, 1), []image.Rectangle{image.Rect(108, 218, 132, 232)}},
		{"fractions are covered whole", v.ClipBoxes(0.3, 0.3, 0.5), []image.Rectangle{image.Rect(53, 108, 66, 116)}},
		{"nothing hidden", (*page.PrivacyMask)(nil).ViewportBoxes(1), nil},
		{"nothing hidden in the document", (*page.PrivacyMask)(nil).ClipBoxes(0, 0, 1), nil},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
}

func TestPaintKeepsTheFormatAndAllElse(t *testing.T) {
	box := image.Rect(4, 4, 8, 8)
	for _, format := range []string{"png", "jpeg"} {
		data, err := page.PaintBoxes(encoded(t, format, white(t, 16, 16)),
			[]image.Rectangle{box, image.Rect(-9, -9, -1, -1), image.Rect(90, 90, 99, 99)})
		check.Must(t, err)
		img, got, err := image.Decode(bytes.NewReader(data))
		if err != nil || got != format || img.Bounds() != image.Rect(0, 0, 16, 16) {
			t.Fatalf("got %s of %v, %v; want %s", got, img, err, format)
		}
		for _, at := range []struct {
			x, y int
			dark bool
		}{{4, 4, true}, {7, 7, true}, {0, 0, false}, {15, 15, false}} {
			if gray := color.GrayModel.Convert(img.At(at.x, at.y)).(color.Gray).Y; (gray < 0xa0) != at.dark {
				t.Errorf("%s: at %d,%d: got gray %#x, want dark %v", format, at.x, at.y, gray, at.dark)
			}
		}
	}
}

func TestPaintWithoutBoxesChangesNothing(t *testing.T) {
	if got, err := page.PaintBoxes([]byte("not a picture"), nil); err != nil || string(got) != "not a picture" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestUnreadablePicturesAreWithheld(t *testing.T) {
	for _, data := range [][]byte{nil, []byte("not a picture"), encoded(t, "png", white(t, 16, 16))[:40]} {
		if got, err := page.PaintBoxes(data, []image.Rectangle{image.Rect(0, 0, 1, 1)}); err == nil || got != nil {
			t.Errorf("got %d bytes, want an error", len(got))
		}
	}
	check.Fails(t, check.Err(page.ViewportScale([]byte("not a picture"), 100, 1)), image.ErrFormat)
}

func TestScaleIsThatOfTheDocument(t *testing.T) {
	data := encoded(t, "jpeg", white(t, 400, 10))
	for _, tc := range []struct{ width, zoom, want float64 }{{800, 1, 0.5}, {200, 0, 2}, {200, 2, 4}} {
		if got, err := page.ViewportScale(data, tc.width, tc.zoom); err != nil || got != tc.want {
			t.Errorf("%v CSS pixels at zoom %v: got %v, %v, want %v", tc.width, tc.zoom, got, err, tc.want)
		}
	}
	check.Fails(t, check.Err(page.ViewportScale(data, 0, 1)), nil, "0 CSS pixels")
}

func TestWhatMovesIsCoveredOnItsWay(t *testing.T) {
	at := func(y int) image.Rectangle { return image.Rect(0, y, 10, y+10) }
	for name, tc := range map[string]struct {
		before, after []image.Rectangle
		want          image.Rectangle
	}{
		"still":   {[]image.Rectangle{at(0)}, []image.Rectangle{at(0)}, at(0)},
		"came":    {nil, []image.Rectangle{at(50)}, at(50)},
		"went":    {[]image.Rectangle{at(50)}, nil, at(50)},
		"moves":   {[]image.Rectangle{at(0)}, []image.Rectangle{at(50)}, image.Rect(0, 0, 10, 60)},
		"divides": {[]image.Rectangle{at(40)}, []image.Rectangle{at(0), at(80)}, image.Rect(0, 0, 10, 90)},
	} {
		var got image.Rectangle
		whole := false
		for _, b := range page.SweptBoxes(tc.before, tc.after) {
			got = got.Union(b)
			whole = whole || b == tc.want
		}
		if got != tc.want || !whole {
			t.Errorf("%s: got %v, want %v in one piece", name, got, tc.want)
		}
	}
}

// secretForm is a form with all kinds of password fields.
const secretForm = `<!doctype html><title>Sign in</title>
	<label>Word<input type=password oninput="document.title='typed'"></label>
	<label>Code<input autocomplete="one-time-code" value=123456></label>
	<label>Again<input autocomplete="section-x new-password" value=hunter3></label>
	<label>Dots<input style="-webkit-text-security:disc" value=hunter4></label>
	<label>Number<input autocomplete="one-time-code" type=number></label>
	<label>Name<input value=Ada></label>
	<label>Find<input type=search autocomplete=new-password value=lamp></label>
	<label>Land<input role=combobox autocomplete=new-password value=Peru></label>
	<label>Safe<input role=combobox type=password autocomplete=new-password value=hunter5></label>
	<button onclick="document.querySelector('input').type='text'">Show</button>`

func TestPasswordFieldsAreMarkedAndNeverShown(t *testing.T) {
	tab := show(t, secretForm)
	word := refOf(t, tab, `"Word"`)
	act(t, tab, page.Action{Kind: actiontable.KindType, Ref: word, Text: "hunter2"})
	check := func() {
		t.Helper()
		for _, opts := range []page.SnapshotOptions{{}, {Interactive: true}} {
			got := snapshot(t, tab, opts).Text
			if strings.Contains(got, "hunter") || strings.Contains(got, "123456") {
				t.Errorf("snapshot shows a secret: %s", got)
			}
			for _, name := range []string{"Word", "Code", "Again", "Dots", "Number", "Safe"} {
				if !strings.Contains(got, `"`+name+`" [password]`) {
					t.Errorf("%s is not marked in %s", name, got)
				}
			}
			check.Contains(t, got, `- textbox "Name" [ref=`, ": Ada", ": lamp", ": Peru")
		}
	}
	check()
	// A page that shows what was typed shows it to the person at the screen only.
	click(t, tab, refOf(t, tab, "Show"))
	check()
	if text, err := tab.Text(t.Context(), word); err != nil || strings.Contains(text, "hunter") {
		t.Errorf("got text %q, %v; want a mask", text, err)
	}
	_, err := tab.Act(t.Context(), page.Action{
		Kind: actiontable.KindType, Ref: refOf(t, tab, `"Number"`),
		Text: "hunter5",
	})
	if err == nil || strings.Contains(err.Error(), "hunter5") {
		t.Errorf("got %v, want the refused value kept out", err)
	}
}

// agentTab is a tab as used by the agent loop.
type agentTab struct{ *page.Tab }

func (a agentTab) Act(ctx context.Context, kind string, args map[string]any) ([]string, error) {
	if kind == "navigate" {
		_, err := a.Navigate(ctx, args["url"].(string))
		return nil, err
	}
	_, err := a.Tab.Act(ctx, page.Action{
		Kind: actiontable.Kind(kind), Ref: args["ref"].(string),
		Text: args["text"].(string),
	})
	return nil, err
}

// Assess implements [sessions.Page]: no action has effects.
func (agentTab) Assess(context.Context, string, map[string]any) (sessions.Assessment, error) {
	return sessions.Assessment{}, nil
}

// ActIfUnchanged implements [sessions.Page].
func (a agentTab) ActIfUnchanged(ctx context.Context, kind string, args map[string]any,
	_ string,
) ([]string, bool, error) {
	notes, err := a.Act(ctx, kind, args)
	return notes, true, err
}

func (a agentTab) Snapshot(ctx context.Context, o sessions.SnapshotOptions) (string, error) {
	snap, err := a.Tab.Snapshot(ctx, page.SnapshotOptions{Interactive: o.Interactive, MaxChars: o.MaxChars})
	return snap.Text, err
}

func (a agentTab) Screenshot(ctx context.Context, _ string) (sessions.Screenshot, error) {
	data, err := a.Tab.Screenshot(ctx, page.ScreenshotOptions{})
	return sessions.Screenshot{Image: llm.Image{MediaType: "image/png", Data: data}}, err
}

func (a agentTab) State(context.Context) (url, title string, tabs []string, err error) {
	return a.URL(), a.Title(), nil, nil
}

// Open, Close and Park implement the agent's browser.
func (a agentTab) Open(context.Context, sessions.PageRequest) (sessions.Page, string, error) {
	return a, "", nil
}

func (agentTab) Rest(string) {}

func (a agentTab) Close(context.Context, string) error { return nil }

func (agentTab) Park(context.Context, string, bool) (bool, error) { return true, nil }

// typist is a model that opens a page, types into the first field and ends.
type typist struct {
	url    string
	said   *strings.Builder // all that it was told, its own words left out
	rounds *int
}

func (typist) Name() string   { return "test:typist" }
func (typist) Caps() llm.Caps { return llm.Caps{Tools: true} }

func (m typist) Generate(_ context.Context, req llm.Request, _ func(llm.Delta)) (llm.Reply, error) {
	m.said.Reset()
	for _, msg := range req.Messages {
		for _, part := range msg.Parts {
			if part.Result != nil {
				m.said.WriteString(part.Result.Text)
			}
		}
	}
	*m.rounds++
	call := func(name, input string) (llm.Reply, error) {
		return llm.Reply{Stop: llm.StopTools, Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{
			{Call: &llm.ToolCall{ID: fmt.Sprint("c", *m.rounds), Name: name, Input: json.RawMessage(input)}},
		}}}, nil
	}
	switch *m.rounds {
	case 1:
		return call("browser_open", fmt.Sprintf(`{"url":%q}`, m.url))
	case 2:
		ref := regexp.MustCompile(`"Geheimnis".*\[ref=(e\d+)\]`).FindStringSubmatch(m.said.String())
		if ref == nil {
			return llm.Reply{}, fmt.Errorf("no field in what the page shows: %s", m.said)
		}
		return call("browser_type", fmt.Sprintf(`{"ref":%q,"text":"hunter2"}`, ref[1]))
	}
	return llm.Reply{Stop: llm.StopEnd, Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: "done"}}}},
		nil
}

func TestAgentKeepsPasswordsOutOfWhatPeopleRead(t *testing.T) {
	// Nothing in its name says what the field is for.
	srv := site(t, map[string]string{
		"/": `<!doctype html><title>x</title><label>Geheimnis<input type=password oninput="out.textContent='taken'"></label><p id=out>`,
	})
	tab := openTab(t, "")
	var said strings.Builder
	model := typist{url: srv.URL, said: &said, rounds: new(int)}
	agent := &browseagent.Agent{
		Browser: agentTab{tab},
		Model:   func(context.Context, string) (llm.Model, error) { return model, nil },
	}
	typed := false
	for step, err := range agent.Run(browsertest.Within(t, 30*time.Second), sessions.Session{ID: "s1"},
		sessions.Task{ID: "k1", Prompt: "sign in"}) {
		check.Must(t, err)
		if strings.Contains(step.Label+step.Text+string(step.Input)+string(step.Memory), "hunter2") {
			t.Errorf("step %d shows the password: %+v", step.N, step)
		}
		if step.Failed {
			t.Errorf("step %d failed: %s", step.N, step.Text)
		}
		typed = typed || step.Label == `type •••• into "Geheimnis"`
	}
	if !typed {
		t.Error("no step is labelled as typing a masked text")
	}
	if got := said.String(); strings.Contains(got, "hunter2") || !strings.Contains(got, "taken") ||
		!strings.Contains(got, "[password]") {
		t.Errorf("the model was told %s, want the outcome without the password", got)
	}
	browsertest.WantJS(t, tab, "document.querySelector('input').value", `"hunter2"`)
}
