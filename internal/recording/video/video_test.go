package video_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/internal/recording/video"
	"clank/internal/test/check"
	"clank/sessions"
	"clank/videosource"
)

// stage is the tasks, the page and the encoder of a test.
type stage struct {
	video.Recorder

	events  chan sessions.Event
	control sessions.ControlState
	changed chan struct{} // of control
	page    chan string   // what it shows from now on
	shown   string
	mode    video.Mode
	room    int64
	stop    context.CancelFunc
	done    chan error
}

// play films in a bubble of [synctest].
func play(t *testing.T, mode video.Mode) *stage {
	t.Helper()
	s := &stage{
		events: make(chan sessions.Event), page: make(chan string), shown: "first", mode: mode, room: 1 << 30,
		done: make(chan error, 1),
	}
	s.setControl("")
	s.Recorder = video.Recorder{
		Dir: t.TempDir(), Manager: s, Mode: func() video.Mode { return s.mode }, Logger: slog.New(slog.DiscardHandler),
		Screen:      func(string) videosource.Screenshotter { return s },
		OpenEncoder: func(context.Context) (videosource.Encoder, error) { return &encoder{}, nil },
		Keep: func(_ string, place sessions.Place, n int64) error {
			if s.room -= n; s.room < 0 || place != "server-9" {
				return errors.New("no room")
			}
			return nil
		},
	}
	ctx, stop := context.WithCancel(t.Context())
	s.stop = stop
	go func() { s.done <- s.Run(ctx) }()
	synctest.Wait()
	t.Cleanup(s.end)
	return s
}

func (s *stage) end() {
	if s.stop(); s.done != nil {
		<-s.done
		s.done = nil
	}
}

func (s *stage) Subscribe() (<-chan sessions.Event, func()) { return s.events, func() {} }

func (s *stage) Control(string) sessions.ControlState { return s.control }

func (s *stage) CaptureWebP(context.Context, int, float64) ([]byte, string, error) {
	return nil, "", errors.New("there is a screencast")
}

func (s *stage) Screencast(ctx context.Context, show func(videosource.Picture)) error {
	for {
		show(videosource.Picture{JPEG: []byte(s.shown), Width: 64, Height: 48, Drawn: time.Now()})
		select {
		case s.shown = <-s.page:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// encoder makes frames that hold the picture.
type encoder struct{ last string }

func (e *encoder) Encode(_ context.Context, jpeg []byte, key bool, _ int) ([]byte, error) {
	if jpeg != nil {
		e.last = string(jpeg)
	}
	if !key {
		return []byte("\x01" + e.last), nil
	}
	b := []byte{0, 0, 0, 0x9d, 0x01, 0x2a}
	return append(binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(b, 64), 48), e.last...), nil
}

func (*encoder) Close() {}

var task = sessions.Task{
	ID: "bcdfghjkmn", SessionID: "s1", Origin: sessions.Origin{Kind: sessions.FromDiscord, Guild: "9", User: "7"},
}

// step tells of a task's state, and of a step.
func (s *stage) step(t sessions.Task, state sessions.TaskState, step *sessions.Step) {
	s.events <- sessions.Event{Record: sessions.TaskRecord{Task: t, State: state}, Step: step}
	synctest.Wait()
}

// pass lets time go by.
func pass(d time.Duration) { <-time.After(d) }

func (s *stage) act(n int, label string) {
	step := &sessions.Step{N: n, Kind: sessions.StepAct, Phase: sessions.PhaseBegun, Label: label}
	s.step(task, sessions.TaskRunning, step)
}

// show changes the page, which nobody may be looking at.
func (s *stage) show(text string) {
	select {
	case s.page <- text:
	default:
		s.shown = text
	}
	synctest.Wait()
}

// hold lets somebody take the page, or give it back with an empty name.
func (s *stage) hold(holder string) {
	before := s.changed
	s.setControl(holder)
	close(before)
	synctest.Wait()
}

func (s *stage) setControl(holder string) {
	s.changed = make(chan struct{})
	s.control = sessions.ControlState{Holder: holder, Changed: s.changed}
	if holder != "" {
		s.control.Since = time.Now()
	}
}

// film ends the task and returns its film, decoded: each frame's second and picture, and the chapters.
func (s *stage) film(t *testing.T) (frames, chapters []string) {
	t.Helper()
	s.step(task, sessions.TaskDone, nil)
	s.end()
	ended := sessions.TaskRecord{Task: task, State: sessions.TaskDone}
	list, err := s.Chapters(ended)
	check.Must(t, err)
	for _, c := range list {
		chapters = append(chapters, fmt.Sprint(c.ID&0xff, " ", c.At.Round(time.Second), " ", c.Title))
	}
	f, err := s.Open(ended)
	check.Must(t, err)
	defer f.Close()
	b, err := io.ReadAll(f)
	check.Must(t, err)
	for _, m := range regexp.MustCompile(`first|(page|typed)\d+`).FindAll(b, -1) {
		if text := string(m); len(frames) == 0 || frames[len(frames)-1] != text {
			frames = append(frames, text)
		}
	}
	return frames, chapters
}

func TestAFilmHasTheStepsAsChaptersAndOmitsWhatAPersonDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, video.Always)
		s.act(1, "open the shop")
		pass(5 * time.Second)
		s.show("page1")
		s.act(3, "click Buy")
		pass(5 * time.Second)
		s.hold("Ada")
		s.show("typed1")
		pass(time.Hour)
		s.show("typed2")
		s.shown = "page2"
		s.hold("")
		pass(2 * time.Second)
		s.act(4, "click Pay")
		s.show("page3")
		pass(time.Second)
		frames, chapters := s.film(t)
		check.Diff(t, "pictures", frames, []string{"first", "page1", "page2", "page3"})
		want := []string{
			"1 0s open the shop", "3 5s click Buy", "1 10s Ada worked the page (not recorded)", "4 12s click Pay",
		}
		check.Diff(t, "chapters", chapters, want)
		film := filepath.Join(s.Dir, "film@server-9", task.ID+".webm")
		for path, mode := range map[string]os.FileMode{film: 0o600, filepath.Dir(film): 0o700 | os.ModeDir} {
			if info, err := os.Stat(path); err != nil || info.Mode() != mode {
				t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, mode)
			}
		}
	})
}

// A frame that was on its way when somebody took the page is not kept.
func TestNoFrameIsKeptThatCameWithAHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, video.Always)
		s.act(1, "open the shop")
		before := s.changed
		s.setControl("Ada")
		close(before)
		s.page <- "typed1" // with nobody having had time to look
		synctest.Wait()
		pass(time.Minute)
		if frames, _ := s.film(t); !slices.Equal(frames, []string{"first"}) {
			t.Errorf("pictures: %q", frames)
		}
	})
}

func TestAFilmShowsTheResultOfATaskButNotTheNextTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, video.Always)
		s.act(1, "open the shop")
		s.step(task, sessions.TaskDone, nil)
		pass(time.Second)
		s.show("page1")
		next := task
		next.ID, next.Origin.Private = "next", true
		s.step(next, sessions.TaskRunning, nil)
		s.show("typed1")
		if frames, _ := s.film(t); !slices.Equal(frames, []string{"first", "page1"}) {
			t.Errorf("pictures: %q", frames)
		}
	})
}

func TestWhichTasksAreFilmed(t *testing.T) {
	private := task
	private.Origin.Private = true
	for _, c := range []struct {
		name      string
		mode      video.Mode
		task      sessions.Task
		requested bool
		filmed    bool
	}{
		{"all", video.Always, task, false, true},
		{"none", video.Never, task, true, false},
		{"not requested", video.OnRequest, task, false, false},
		{"requested", video.OnRequest, task, true, true},
		{"private", video.Always, private, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := play(t, c.mode)
				s.step(c.task, sessions.TaskRunning, nil) // it may be requested while it runs
				if c.requested {
					if err := s.Request(c.task.SessionID, true); (err != nil) != (c.mode == video.Never) {
						t.Error(err)
					}
				}
				synctest.Wait()
				asked := c.mode == video.OnRequest && c.requested
				if on, _ := s.Requested(c.task.SessionID); on != (c.mode == video.Always || asked) {
					t.Error("whether the session is filmed is told wrong")
				}
				s.step(c.task, sessions.TaskDone, nil)
				s.end()
				ended := sessions.TaskRecord{Task: c.task, State: sessions.TaskDone}
				if f, err := s.Open(ended); err == nil != c.filmed {
					t.Errorf("film: %v", err)
				} else {
					f.Close()
				}
				if left, err := filepath.Glob(filepath.Join(s.Dir, "*")); err != nil || len(left) > 0 != c.filmed {
					t.Errorf("files: %q, %v", left, err)
				}
			})
		})
	}
}

func TestAFilmEndsPlayableWhereThereIsNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, video.Always)
		s.room = 2000
		s.act(1, "open the shop")
		for i := range 20 {
			s.show(fmt.Sprintf("page%d", i) + strings.Repeat("x", 400))
			pass(time.Second)
		}
		clip, err := os.Create(filepath.Join(t.TempDir(), "clip.webm"))
		check.Must(t, err)
		defer clip.Close()
		check.Must(t, s.WriteClip(clip, sessions.TaskRecord{Task: task}, time.Hour, 1<<20))
		frames, chapters := s.film(t)
		if len(frames) < 3 || len(frames) > 10 || len(chapters) != 1 {
			t.Errorf("%d pictures, chapters %q", len(frames), chapters)
		}
	})
}

// A film that is begun anew would hide the first one.
func TestAFilmIsNotOverwritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, video.Always)
		s.act(1, "open the shop")
		old := s.events
		s.events = make(chan sessions.Event)
		close(old) // too many came
		synctest.Wait()
		s.shown = "page1"
		s.act(2, "click Buy")
		if frames, _ := s.film(t); !slices.Equal(frames, []string{"first"}) {
			t.Errorf("pictures: %q", frames)
		}
	})
}
