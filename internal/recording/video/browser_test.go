package video_test

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/page"
	"clank/browsermgr/page/login"
	"clank/browsermgr/profile"
	"clank/internal/recording/video"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/sessions"
	"clank/videosource"
)

const (
	password      = "correct-horse-battery"
	width, height = 720, 400
)

// site shows what is filled into it as openly as a page can, in magenta. Its background is what a step changes.
const site = browsertest.Head + `<style>body,input{font:bold 40px monospace;color:#f0f} input{width:700px}</style>
	<form><input name=user value=a style="color:#000"><input id=p type=password
	oninput="this.type='text'; said.textContent = this.value"></form><p id=said>control</p>`

type entry struct{}

func (entry) Username() string { return "ada" }
func (entry) Password() string { return password }

// scene is a window that is filmed, and the person who works it now and then.
type scene struct {
	*browsermgr.Window

	browsers *browsermgr.Manager
	tab      *page.Tab
	events   chan sessions.Event
	mu       sync.Mutex
	control  sessions.ControlState
	changed  chan struct{}
	casts    int // that run
	encoded  int // pictures
}

func (s *scene) Subscribe() (<-chan sessions.Event, func()) { return s.events, func() {} }

func (s *scene) Control(string) sessions.ControlState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.control
}

func (s *scene) hold(holder string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed != nil {
		close(s.changed)
	}
	s.changed = make(chan struct{})
	s.control = sessions.ControlState{Holder: holder, Since: time.Now(), Changed: s.changed}
}

func (s *scene) add(casts, encoded int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.casts += casts
	s.encoded += encoded
}

func (s *scene) Screencast(ctx context.Context, show func(videosource.Picture)) error {
	s.add(1, 0)
	defer s.add(-1, 0)
	return s.Window.Screencast(ctx, show)
}

// counted is an encoder whose pictures are counted.
type counted struct {
	videosource.Encoder
	scene *scene
}

func (c counted) Encode(ctx context.Context, jpeg []byte, key bool, bitrate int) ([]byte, error) {
	defer c.scene.add(0, 1)
	return c.Encoder.Encode(ctx, jpeg, key, bitrate)
}

// paint changes the page's background, and waits until some pictures of that are filmed, if there is filming.
func (s *scene) paint(t *testing.T, color string, filmed bool) {
	t.Helper()
	browsertest.JS(t, s.tab, `() => { document.body.style.background = "`+color+`" }`)
	before := -1
	browsertest.Eventually(t, "pictures of "+color, func() bool {
		browsertest.JS(t, s.tab, `() => {
			globalThis.lamp ??= document.documentElement.appendChild(document.createElement("div"));
			lamp.style.cssText = "position: fixed; bottom: 0; right: 0; width: 9px; height: 9px";
			lamp.style.background = "hsl(" + 360 * Math.random() + " 20% 90%)";
		}`)
		s.mu.Lock()
		defer s.mu.Unlock()
		if before < 0 {
			before = s.encoded
		}
		return s.encoded >= before+4 || !filmed && s.casts == 0
	})
}

func openScene(t *testing.T) (*scene, *login.Filler, string) {
	t.Helper()
	s, keeper := &scene{events: make(chan sessions.Event)}, &login.Filler{}
	server := browsertest.Serve(t, func(w http.ResponseWriter, _ *http.Request) { browsertest.HTML(w, site) })
	dir, err := os.MkdirTemp("", "clank") //nolint:usetesting // sockets of the browser want a short path
	check.Must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s.browsers = &browsermgr.Manager{
		Home: dir, FirstPort: 18650, LastPort: 18659, Secrets: keeper,
		Config: func() profile.Config {
			return profile.Config{Headless: new(true), NoSandbox: true, LaunchTimeout: time.Minute}
		},
	}
	check.Must(t, s.browsers.Open(t.Context()))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), browsertest.Patience)
		defer cancel()
		_ = s.browsers.Close(ctx)
	})
	ctx := browsertest.Within(t, 2*browsertest.Patience)
	s.Window, _, err = s.browsers.Window(ctx, browsermgr.WindowOptions{Key: "s1", URL: server.URL})
	check.Must(t, err)
	_, err = s.Act(ctx, "resize", map[string]any{"width": width, "height": height})
	check.Must(t, err)
	check.Must(t, s.WithTab(ctx, func(tab *page.Tab) error { s.tab = tab; return nil }))
	s.hold("")
	return s, keeper, server.URL
}

// picture is what a frame of a film shows.
type picture struct {
	at    time.Duration
	color string // of the background
	ink   bool
}

// decode returns what ffmpeg makes of a film.
func decode(t *testing.T, path string) (list []picture) {
	t.Helper()
	raw, err := exec.Command("ffmpeg", "-v", "error", "-i", path, "-fps_mode", "passthrough", "-pix_fmt", "rgb24",
		"-f", "rawvideo", "-").Output()
	check.Must(t, err)
	times, err := exec.Command("ffprobe", "-v", "error", "-show_entries", "packet=pts_time",
		"-of", "csv=p=0", path).Output()
	check.Must(t, err)
	const size = 3 * width * height
	for i, text := range strings.Fields(string(times)) {
		if len(raw) < (i+1)*size {
			t.Fatalf("%d bytes of frames, and %d times", len(raw), len(strings.Fields(string(times))))
		}
		seconds, err := strconv.ParseFloat(strings.TrimRight(text, ","), 64)
		check.Must(t, err)
		p, frame := picture{at: time.Duration(seconds * float64(time.Second))}, raw[i*size:(i+1)*size]
		for x := 0; x < size; x += 6 {
			p.ink = p.ink || frame[x] > 180 && frame[x+1] < 120 && frame[x+2] > 180
		}
		for _, c := range frame[3*(width*350+600):][:3] {
			p.color += strconv.Itoa(int(c) >> 7) // 1 is bright
		}
		list = append(list, p)
	}
	return list
}

func TestAFilmOfABrowserShowsTheStepsAndNoSecrets(t *testing.T) {
	check.Installed(t, "ffmpeg", "ffprobe")
	s, keeper, origin := openScene(t)
	r := &video.Recorder{
		Dir: t.TempDir(), Manager: s, Mode: func() video.Mode { return video.Always },
		Logger: slog.New(slog.DiscardHandler),
		Screen: func(string) videosource.Screenshotter { return s },
		OpenEncoder: func(ctx context.Context) (videosource.Encoder, error) {
			e, err := s.browsers.OpenEncoder(ctx)
			return counted{e, s}, err
		},
		Keep: func(string, sessions.Place, int64) error { return nil },
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = r.Run(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
	record := sessions.TaskRecord{Task: sessions.Task{ID: "film", SessionID: "s1"}, State: sessions.TaskRunning}
	step := func(n int) {
		act := &sessions.Step{N: n, Kind: sessions.StepAct, Phase: sessions.PhaseBegun, Label: "step"}
		s.events <- sessions.Event{Record: record, Step: act}
	}

	step(1)
	s.paint(t, "#fff", true) // what is said there is no secret
	browsertest.JS(t, s.tab, `() => { said.textContent = "" }`)
	step(2)
	s.paint(t, "#0f0", true)
	_, err := keeper.Fill(browsertest.Within(t, browsertest.Patience), s.tab, login.FillRequest{
		Name: "shop", Origins: []string{origin},
		Reveal: func(context.Context, string) (login.Secret, error) { return entry{}, nil },
	})
	check.Must(t, err)
	s.paint(t, "#0f0", true)
	s.hold("Ada")
	browsertest.Eventually(t, "the end of filming", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.casts == 0
	})
	s.paint(t, "#0ff", false)
	browsertest.JS(t, s.tab, `async () => {
		document.body.style.background = "#00f";
		for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame); // it is drawn then
	}`)
	s.hold("")
	step(3)
	s.paint(t, "#00f", true)

	record.State = sessions.TaskDone
	film, err := r.Open(record)
	check.Must(t, err)
	defer film.Close()
	pictures := decode(t, film.Name())
	var order []string
	begins := map[string]time.Duration{}
	for _, p := range pictures {
		if len(order) == 0 || order[len(order)-1] != p.color {
			order, begins[p.color] = append(order, p.color), p.at
		}
		if p.ink && p.color != "111" {
			t.Errorf("at %s on %s: what was filled in is seen", p.at, p.color)
		}
	}
	check.Diff(t, "backgrounds", order, []string{"111", "010", "001"})
	if !slices.ContainsFunc(pictures, func(p picture) bool { return p.ink }) {
		t.Error("no ink is seen at all: this test sees nothing")
	}
	chapters, err := r.Chapters(record)
	check.Must(t, err)
	for _, c := range chapters {
		color := map[uint64]string{2: "010", 3: "001"}[c.ID]
		if begins := begins[color]; color != "" && (begins < c.At-100*time.Millisecond || begins > c.At+3*time.Second) {
			t.Errorf("chapter %d begins at %s, what it shows at %s", c.ID, c.At, begins)
		}
	}
	if len(chapters) != 4 {
		t.Errorf("chapters: %+v, want three steps and what was left out", chapters)
	}
}
