package bot_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/internal/assistant"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/llm"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// shelf is a [bot.Files] in a directory.
type shelf struct {
	dir  string
	base string // of links

	mu   sync.Mutex
	n    int
	full error
}

func (s *shelf) Receive(_ context.Context, name string, r io.Reader) (f sessions.File, err error) {
	s.mu.Lock()
	s.n++
	f = sessions.File{ID: strconv.Itoa(s.n), Name: name, Path: filepath.Join(s.dir, strconv.Itoa(s.n))}
	err = s.full
	s.mu.Unlock()
	data, broken := io.ReadAll(r)
	if err = errors.Join(err, broken); err != nil {
		return f, err
	}
	f.Size, f.Type = int64(len(data)), http.DetectContentType(data)
	return f, os.WriteFile(f.Path, data, 0o600)
}

func (s *shelf) Discard(list ...sessions.File) (err error) {
	for _, f := range list {
		err = errors.Join(err, os.Remove(f.Path))
	}
	return err
}

func (s *shelf) LinksWork() bool { return s.base != "" }

func (s *shelf) Link(f sessions.File) (string, time.Time) { return s.base + f.Name, time.Unix(60, 0) }

// left returns how many files are on the shelf.
func (s *stage) left() int {
	entries, err := os.ReadDir(s.bot.Files.(*shelf).dir)
	check.Must(s.t, err)
	return len(entries)
}

var paper = discordtest.File{Name: "paper.pdf", ContentType: "application/pdf", Data: []byte("%PDF-1.7 is a paper")}

// ignoreWhere leaves out of the comparison what a shelf makes up.
var ignoreWhere = cmpopts.IgnoreFields(sessions.File{}, "ID", "Path")

func TestFilesOfACommandGoWithItsTask(t *testing.T) {
	s := openStage(t)
	it := s.browse(s.ada, discordtest.Args{
		"task": "apply", "file": paper,
		"file2": discordtest.File{Name: "b.txt", Data: []byte("b")},
	})
	k := s.next()
	want := []sessions.File{
		{Name: "paper.pdf", Type: "application/pdf", Size: 19},
		{Name: "b.txt", Type: "text/plain; charset=utf-8", Size: 1},
	}
	check.Diff(t, "files of the task", k.Files, want, ignoreWhere)
	if data, err := os.ReadFile(k.Files[0].Path); err != nil || !bytes.Equal(data, paper.Data) {
		t.Errorf("got %q, %v", data, err)
	}
	k.done("sent")
	s.answer(it, "sent")
	s.close() // after which nothing of it is left
	check.Equal(t, "files are left", s.left(), 0)
}

func TestFilesOfAMessageAndOfTheOneItRepliesToReachTheBrain(t *testing.T) {
	s := newStage(t)
	turns := s.answering("ok")
	s.open()
	first, err := s.Send(s.room, s.bob, discordtest.Post{Text: "here", Files: []discordtest.File{paper}})
	check.Must(t, err)
	_, err = s.Send(s.room, s.ada, discordtest.Post{
		Text: s.account.Mention() + " find this", Reply: &first,
		Files: []discordtest.File{
			{Name: "lamp.png", ContentType: "image/png", Data: picture(9).Data},
			{Name: "lie.png", ContentType: "image/png", Data: []byte("<html>not a picture")},
		},
	})
	check.Must(t, err)
	got := s.turn(turns)
	var names []string
	for _, f := range got.Files {
		names = append(names, f.Name)
	}
	if want := []string{"lamp.png", "lie.png", "paper.pdf"}; !cmp.Equal(names, want) {
		t.Errorf("got files %q, want %q", names, want)
	}
	check.Diff(t, "got.Lines[len(got.Lines)-1].Images", got.Lines[len(got.Lines)-1].Images, []llm.Image{picture(9)})
}

// TestAForwardedMessageIsReadAsSomebodyElsesWords forwards a message in each way in which it can reach the assistant.
func TestAForwardedMessageIsReadAsSomebodyElsesWords(t *testing.T) {
	s := newStage(t)
	turns := s.answering("ok")
	s.open()
	original, err := s.Send(s.room, s.bob, discordtest.Post{
		Text: s.account.Mention() + " buy the lamp", Files: []discordtest.File{paper},
	})
	check.Must(t, err)
	s.turn(turns)
	s.message(s.room, "ok")
	forward := func(in discordtest.Channel) discordtest.Message {
		m, err := s.Send(in, s.ada, discordtest.Post{Forward: &original})
		check.Must(t, err)
		return m
	}
	attached := []string{"attached earlier: paper.pdf"}
	asked := assistant.ChatLine{Text: "what is it"}
	for name, way := range map[string]struct {
		post        func()
		quoted, own assistant.ChatLine
		files       int
	}{
		"sent to the bot": {
			post:   func() { forward(s.OpenDM(s.ada, s.account)) },
			quoted: assistant.ChatLine{Subject: true, Notes: attached}, files: 1,
			own: assistant.ChatLine{Notes: []string{"forwarded the message above, without a word of their own"}},
		},
		"replied to": {
			post: func() {
				in := s.CreateChannel(s.guild, "a")
				m := forward(in)
				_, err := s.Send(in, s.ada, discordtest.Post{Text: s.account.Mention() + " what is it", Reply: &m})
				check.Must(t, err)
			},
			quoted: assistant.ChatLine{Subject: true, Notes: attached}, own: asked, files: 1,
		},
		"said before": {
			post: func() {
				in := s.CreateChannel(s.guild, "b")
				forward(in)
				s.say(in, s.ada, s.account.Mention()+" what is it")
			},
			quoted: assistant.ChatLine{Notes: attached}, own: asked,
		},
	} {
		t.Run(name, func(t *testing.T) {
			way.post()
			got := s.turn(turns)
			way.quoted.Speaker, way.quoted.Text = "somebody, forwarded by ada", "buy the lamp"
			way.own.Speaker, way.own.SpeakerID = "ada", s.ada.ID
			check.Diff(t, "got.Lines", got.Lines, []assistant.ChatLine{way.quoted, way.own})
			if len(got.Files) != way.files {
				t.Errorf("got files %+v, want %d", got.Files, way.files)
			}
		})
	}
}

func TestAFileThatDoesNotComeIsToldAndTheTaskIsNotLost(t *testing.T) {
	s := newStage(t)
	s.open()
	inner := s.bot.HTTPClient.Transport
	var mu sync.Mutex
	var send func(*http.Request) (*http.Response, error)
	s.bot.HTTPClient.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		if strings.HasPrefix(r.URL.Path, "/attachments/") {
			return send(r)
		}
		return inner.RoundTrip(r)
	})
	answer := func(status int, body string) func(*http.Request) (*http.Response, error) {
		return func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
		}
	}
	whole := string(paper.Data)
	for _, tt := range []struct {
		name string
		send func(*http.Request) (*http.Response, error)
		full error
		want string
	}{
		{"gone", answer(http.StatusNotFound, "This content is no longer available."), nil, "Attach it again"},
		{"elsewhere", answer(http.StatusFound, ""), nil, "status 302"},
		{"broken", answer(http.StatusServiceUnavailable, whole), nil, "status 503"},
		{"short", answer(http.StatusOK, whole[:5]), nil, "did not come whole"},
		{"long", answer(http.StatusOK, whole+"!"), nil, "did not come whole"},
		{"cut", func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }, nil, "cannot be reached"},
		{"full", answer(http.StatusOK, whole), errors.New("the disk is full"), "the disk is full"},
	} {
		mu.Lock()
		send = tt.send
		mu.Unlock()
		s.bot.Files.(*shelf).full = tt.full
		it := s.browse(s.ada, discordtest.Args{"task": "apply for " + tt.name, "file": paper})
		got := s.answer(it, tt.want)
		check.Contains(t, got.Text(), "paper.pdf", "Nothing was done.", "> apply for "+tt.name)
		_, err := s.Send(s.room, s.ada, discordtest.Post{
			Text:  s.account.Mention() + " in words " + tt.name,
			Files: []discordtest.File{paper},
		})
		check.Must(t, err)
		check.Contains(t, s.message(s.room, "> in words "+tt.name).Content, tt.want)
	}
	check.Equal(t, "files are left", s.left(), 0)
}

func TestAStopEndsTheWaitForAFile(t *testing.T) {
	s := newStage(t)
	s.open()
	asked := make(chan struct{})
	inner := s.bot.HTTPClient.Transport
	s.bot.HTTPClient.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		if strings.HasPrefix(r.URL.Path, "/attachments/") {
			close(asked)
			<-r.Context().Done()
			return nil, r.Context().Err()
		}
		return inner.RoundTrip(r)
	})
	it := s.browse(s.ada, discordtest.Args{"task": "apply", "file": paper})
	<-asked
	s.say(s.room, s.ada, "stop")
	check.Contains(t, s.answer(it, "topped").Text(), "ada")
}

func TestFilesThatAreTooManyTooLargeOrFromElsewhereAreNotFetched(t *testing.T) {
	s := newStage(t)
	s.open()
	asked := make(chan string, 1)
	inner := s.bot.HTTPClient.Transport
	s.bot.HTTPClient.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		if strings.Contains(r.URL.Host, "evil") || strings.Contains(r.URL.Path, "attachments") {
			asked <- r.URL.String()
		}
		return inner.RoundTrip(r)
	})
	file := func(where string, size int) string {
		return fmt.Sprintf(`{"filename":"a.png","content_type":"image/png","size":%d,"url":%q}`, size, where)
	}
	const elsewhere = "not Discord's"
	for i, tt := range []struct{ files, want string }{
		{file("http://evil.example/a.png", 1), elsewhere},
		{file("https://cdn.discordapp.com.evil.example/a.png", 1), elsewhere},
		{file("https://user@evil.example/cdn.discordapp.com/a.png", 1), elsewhere},
		{file("file:///etc/passwd", 1), elsewhere},
		{file("::", 1), elsewhere},
		{file(s.URL+"/attachments/1/2/a.png", 101<<20), "105 MB"},
		{strings.Join(slices.Repeat([]string{file(s.URL+"/attachments/1/2/a.png", 1)}, 11), ","), "11 files"},
	} {
		event := fmt.Sprintf(`{"id":"%d","type":0,"channel_id":%q,"content":"x %[1]d","author":{"id":%[3]q,"username":"ada"},
			"attachments":[null,%[4]s]}`, i+1, s.OpenDM(s.ada, s.account).ID, s.ada.ID, tt.files)
		check.Must(t, s.Dispatch(s.account, "MESSAGE_CREATE", event))
		check.Contains(t, s.message(s.OpenDM(s.ada, s.account), fmt.Sprintf("> x %d", i+1)).Content, tt.want)
	}
	select {
	case u := <-asked:
		t.Errorf("asked for %s", u)
	default:
	}
}

// offered returns a file of size bytes that a page has offered.
func offered(t *testing.T, dir, name string, size int) sessions.File {
	t.Helper()
	f := sessions.File{Name: name, Type: "application/pdf", Size: int64(size), Path: filepath.Join(dir, name)}
	check.Must(t, os.WriteFile(f.Path, bytes.Repeat([]byte{'x'}, size), 0o600))
	return f
}

func TestWhatPagesOfferComesWithTheAnswer(t *testing.T) {
	s := openStage(t)
	dir := t.TempDir()
	list := []sessions.File{
		offered(t, dir, "bill.pdf", 8<<20), offered(t, dir, "other.pdf", 3<<20), offered(t, dir, "large.iso", 10<<20+1),
		offered(t, dir, "empty.txt", 0),
		{Name: "lost.pdf", Size: 5, Path: filepath.Join(dir, "lost.pdf")},
	}
	it := s.browse(s.ada, discordtest.Args{"task": "bills"})
	k := s.next()
	k.end <- ending{rec: sessions.TaskRecord{State: sessions.TaskDone, Answer: "Here.", Downloads: list}}
	got, err := s.WaitInteraction(s.ctx(), it, func(i discordtest.Interaction) bool { return len(i.Followups) == 2 })
	check.Must(t, err)
	check.Contains(t, got.Original.Content, "Here.", "bill.pdf (8.39 MB)",
		"large.iso (10.5 MB): It is larger than Discord takes here. The person who runs clank finds it",
		"lost.pdf (5 bytes): It is not there any more.")
	var names []string
	for _, m := range got.Followups {
		for _, a := range m.Attachments {
			names = append(names, fmt.Sprintf("%s %d", a.Filename, a.Size))
		}
	}
	if want := []string{"bill.pdf 8388608", "other.pdf 3145728", "empty.txt 0"}; !cmp.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

func TestTheFilesButtonGivesFilesToWhoAskedAlone(t *testing.T) {
	s := openStage(t)
	path := filepath.Join(t.TempDir(), "bill.pdf")
	check.Must(t, os.WriteFile(path, []byte("%PDF"), 0o600))
	list := []sessions.File{{Name: "bill.pdf", Size: 4, Path: path}, {Name: "large.iso", Size: 11 << 20, Path: path}}
	answered := func() discordtest.Message {
		it := s.browse(s.ada, discordtest.Args{"task": "bills"})
		k := s.next()
		rec := sessions.TaskRecord{Task: k.Task, State: sessions.TaskDone, Answer: "Here.", Downloads: list}
		rec.ID = "task1"
		s.tasks.mu.Lock()
		s.tasks.records = []sessions.TaskRecord{rec}
		s.tasks.mu.Unlock()
		k.end <- ending{rec: rec}
		return *s.answer(it, "Here.").Original
	}
	given := func(m discordtest.Message, want ...string) {
		t.Helper()
		it := s.pressLabel(m, s.ada, "Files")
		got, err := s.WaitInteraction(s.ctx(), it, func(i discordtest.Interaction) bool { return len(i.Followups) == 1 })
		check.Must(t, err)
		check.Contains(t, got.Original.Content, want...)
		if a := got.Followups[0].Attachments; !got.Ephemeral || got.Followups[0].Flags&discordtest.FlagEphemeral == 0 ||
			len(a) != 1 || a[0].Filename != "bill.pdf" {
			t.Errorf("got %+v, want bill.pdf for Ada alone", got)
		}
	}
	m := answered()
	check.Contains(t, m.Content, "large.iso (11.5 MB): It is larger than Discord takes here. The person who "+
		"runs clank finds it among the downloads.")
	given(m, "bill.pdf (4 bytes)", "The person who runs clank finds it among the downloads.")

	s.bot.Files.(*shelf).base = "https://clank.example/files/"
	m = answered()
	check.Contains(t, m.Content, "large.iso (11.5 MB): It is larger than Discord takes here. The button Files gives you "+
		"a link to it.")
	check.Lacks(t, m.Content, "clank.example")
	given(m, "larger than Discord takes here. Until <t:60:t> you get it here: <https://clank.example/files/large.iso>")

	it := s.pressLabel(m, s.bob, "Files")
	if got := s.answered(it); !got.Ephemeral || len(got.Followups) > 0 || strings.Contains(got.Text(), "bill.pdf") {
		t.Errorf("Bob is given %+v", got)
	}
	check.Must(t, os.Remove(path))
	it = s.pressLabel(m, s.ada, "Files")
	check.Contains(t, s.answered(it).Text(), "bill.pdf (4 bytes): It is not there any more.")
}

func TestABoostedServerTakesLargerFiles(t *testing.T) {
	s := openStage(t)
	s.SetBoostTier(s.guild, 2)
	path := filepath.Join(t.TempDir(), "film.mp4")
	check.Must(t, os.WriteFile(path, make([]byte, 11<<20), 0o600))
	it := s.browse(s.ada, discordtest.Args{"task": "film"})
	film := sessions.File{Name: "film.mp4", Size: 11 << 20, Path: path}
	s.next().end <- ending{rec: sessions.TaskRecord{
		State: sessions.TaskDone, Answer: "Here.",
		Downloads: []sessions.File{film},
	}}
	_, err := s.WaitInteraction(s.ctx(), it, func(i discordtest.Interaction) bool {
		return len(i.Followups) == 1 && len(i.Followups[0].Attachments) == 1
	})
	check.Must(t, err)
}
