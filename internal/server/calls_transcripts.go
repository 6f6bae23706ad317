package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"clank/dashboard/api"
	"clank/sessions"
	"clank/voice/conversation"
)

const (
	transcriptDir           = "transcripts" // in the home
	transcriptSuffix        = ".jsonl"
	transcriptSweepInterval = time.Hour
	maxUnwrittenLines       = 256                  // lines waiting to be written
	transcriptTime          = "2006-01-02T150405Z" // prefix of the file name, followed by server and channel
)

// transcriptLine is a line of a transcript. By is empty for our own speech.
type transcriptLine struct {
	At   time.Time `json:"at"`
	ID   string    `json:"id,omitempty"` // of the person, within the call's platform
	By   string    `json:"by,omitempty"`
	Text string    `json:"text"`
}

// openTranscripts removes transcripts older than the history limit, now and periodically.
func (x *CallService) openTranscripts() {
	x.background.Go(func() {
		tick := time.Tick(transcriptSweepInterval)
		for {
			x.sweepTranscripts(time.Now())
			select {
			case <-tick:
			case <-x.callsContext.Done():
				return
			}
		}
	})
}

// sweepTranscripts removes old transcripts. It logs errors; the next sweep tries again.
func (x *CallService) sweepTranscripts(now time.Time) {
	days := x.Settings.Current().RetentionInDays
	if days == 0 {
		return
	}
	dir := filepath.Join(x.Dir, transcriptDir)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		x.Logger.Warn("old transcripts not looked for", "error", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || filepath.Ext(e.Name()) != transcriptSuffix ||
			now.Sub(info.ModTime()) < time.Duration(days)*24*time.Hour {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			x.Logger.Warn("old transcript not removed", "error", err)
		}
	}
}

// recordedConversation is a conversation whose transcript is stored if the settings enable that when it starts,
// because people are told then.
type recordedConversation struct {
	*conversation.Conversation

	service *CallService
}

func (k recordedConversation) Run(ctx context.Context) error {
	if k.service.keepsTranscripts(k.Location.Guild) {
		lines := make(chan transcriptLine, maxUnwrittenLines)
		done := make(chan struct{})
		go func() {
			defer close(done)
			k.service.writeTranscript(k.Location, lines)
		}()
		defer func() { // nothing is recorded after Run has returned
			close(lines)
			<-done
		}()
		k.Recorder = transcriptRecorder{k.service, k.Location, lines}
	}
	return k.Conversation.Run(ctx)
}

// keepsTranscripts reports whether transcripts of calls on a server are stored.
func (x *CallService) keepsTranscripts(guild string) bool {
	return x.Settings.For(guild).Voice.KeepTranscripts
}

// transcriptRecorder queues the lines of a call to be written. It implements [conversation.Recorder].
type transcriptRecorder struct {
	service *CallService
	place   conversation.Location
	lines   chan<- transcriptLine
}

// Record queues a line, unless its speaker has opted out or the settings have changed.
func (r transcriptRecorder) Record(l conversation.TranscriptLine) {
	x, guild := r.service, r.place.Guild
	if l.Speaker.ID != "" && x.privacy.OptedOut(guild, l.Speaker.ID) || !x.keepsTranscripts(guild) {
		return
	}
	select {
	case r.lines <- transcriptLine{At: l.At, ID: l.Speaker.ID, By: l.Speaker.Name, Text: l.Text}:
	default:
		x.Logger.Warn("a line of a transcript is lost, as the disk is slow", "channel", r.place.Channel)
	}
}

// writeTranscript writes lines to a new file, created with the first line, until the channel is closed.
func (x *CallService) writeTranscript(place conversation.Location, lines <-chan transcriptLine) {
	var f *os.File
	told := false
	report := func(err error) {
		if err != nil && !told {
			told = true
			x.Logger.Error("transcript of a call not written", "channel", place.Channel, "error", err)
		}
	}
	for l := range lines {
		var err error
		if f == nil {
			f, err = x.newTranscript(place, l.At)
		}
		if err == nil {
			err = json.NewEncoder(f).Encode(l)
		}
		report(err)
	}
	if f != nil {
		report(f.Close())
	}
}

// newTranscript creates the file of a call, readable only by this user.
func (x *CallService) newTranscript(place conversation.Location, at time.Time) (*os.File, error) {
	dir := filepath.Join(x.Dir, transcriptDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("keep a transcript: %w", err)
	}
	where := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, place.Channel)
	if place.Guild != "" {
		where = place.Guild + "-" + where
	}
	name := at.UTC().Format(transcriptTime) + "-" + where + "-*" + transcriptSuffix
	f, err := os.CreateTemp(dir, name) // readable only by its owner
	if err != nil {
		return nil, fmt.Errorf("keep a transcript: %w", err)
	}
	return f, nil
}

// Transcripts implements [dashboard.Transcripts].
func (x *CallService) Transcripts(words string) ([]api.Transcript, error) {
	entries, err := os.ReadDir(filepath.Join(x.Dir, transcriptDir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("list the transcripts: %w", err)
	}
	wanted := strings.Fields(strings.ToLower(words))
	var list []api.Transcript
	for _, e := range slices.Backward(entries) { // file names begin with the time
		name, ok := strings.CutSuffix(e.Name(), transcriptSuffix)
		if !ok || !e.Type().IsRegular() {
			continue
		}
		t, err := x.readTranscript(name)
		if err != nil {
			return nil, err
		}
		t.Lines = slices.DeleteFunc(t.Lines, func(l api.TranscriptLine) bool {
			said := strings.ToLower(l.By + " " + l.Text)
			missing := func(word string) bool { return !strings.Contains(said, word) }
			return len(wanted) == 0 || slices.ContainsFunc(wanted, missing)
		})
		if len(wanted) == 0 || len(t.Lines) > 0 {
			list = append(list, t)
		}
	}
	return list, nil
}

// Transcript implements [dashboard.Transcripts].
func (x *CallService) Transcript(name string) (api.Transcript, error) {
	if _, err := x.transcriptFile(name); err != nil {
		return api.Transcript{}, err
	}
	return x.readTranscript(name)
}

// RemoveTranscript implements [dashboard.Transcripts].
func (x *CallService) RemoveTranscript(name string) error {
	path, err := x.transcriptFile(name)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("delete a transcript: %w", err)
	}
	return nil
}

// transcriptFile returns the path of the named transcript. The error wraps [sessions.ErrNotFound].
func (x *CallService) transcriptFile(name string) (string, error) {
	path := filepath.Join(x.Dir, transcriptDir, name+transcriptSuffix)
	info, err := os.Lstat(path)
	if err != nil || filepath.Base(path) != name+transcriptSuffix || !info.Mode().IsRegular() {
		return "", fmt.Errorf("transcript: %w", sessions.ErrNotFound)
	}
	return path, nil
}

// readTranscript reads the named transcript. It skips a truncated line, as left by a crash.
func (x *CallService) readTranscript(name string) (api.Transcript, error) {
	data, err := os.ReadFile(filepath.Join(x.Dir, transcriptDir, name+transcriptSuffix))
	if err != nil {
		return api.Transcript{}, fmt.Errorf("read a transcript: %w", err)
	}
	t := api.Transcript{Name: name}
	if start, rest, ok := strings.Cut(name, "Z-"); ok {
		t.At, _ = time.Parse(transcriptTime, start+"Z")
		where := strings.Split(rest, "-")
		if len(where) > 2 {
			t.Guild, where = where[0], where[1:]
		}
		t.Channel = where[0]
	}
	for line := range strings.Lines(string(data)) {
		var l transcriptLine
		if json.Unmarshal([]byte(line), &l) != nil {
			continue
		}
		t.Lines = append(t.Lines, api.TranscriptLine{At: l.At, By: l.By, Text: l.Text})
		if l.By != "" && !slices.Contains(t.People, l.By) {
			t.People = append(t.People, l.By)
		}
	}
	t.Count = len(t.Lines)
	return t, nil
}
