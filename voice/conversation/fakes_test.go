package conversation_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"clank/internal/assistant"
	"clank/sessions"
	"clank/voice"
	"clank/voice/conversation"
	"clank/voice/speech/playout"
	"clank/voice/speech/vad"
)

// line is a call that the test drives.
type line struct {
	events  chan voice.Event
	err     error
	played  atomic.Pointer[time.Time] // when the last packet was
	packets atomic.Int64
	once    sync.Once
	closed  chan struct{}
}

func newLine() *line { return &line{events: make(chan voice.Event, 4096), closed: make(chan struct{})} }

func (l *line) Events() <-chan voice.Event { return l.events }
func (l *line) EndSpeech() error           { return nil }
func (l *line) Err() error                 { return l.err }

func (l *line) Play([]byte) error {
	l.played.Store(new(time.Now()))
	l.packets.Add(1)
	return nil
}

func (l *line) last() time.Time {
	if at := l.played.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

func (l *line) Close(context.Context) error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// scriptedEar tells what the test has it tell, and remembers what it was given.
type scriptedEar struct {
	tell   vad.Listener
	mu     sync.Mutex
	from   []string
	forgot []string
	closed bool
	err    error
}

func (e *scriptedEar) Write(p voice.Packet) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.from = append(e.from, p.From)
}

func (e *scriptedEar) Forget(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.forgot = append(e.forgot, id)
}

func (e *scriptedEar) Run(ctx context.Context, tell vad.Listener) error {
	e.tell = tell
	if e.err == nil {
		<-ctx.Done()
	}
	e.closed = true
	return e.err
}

func (e *scriptedEar) heard(id string) (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, f := range e.from {
		if f == id {
			n++
		}
	}
	return n
}

// scriptedMouth says a word in 250 ms, in steps of 20 ms.
type scriptedMouth struct {
	mu         sync.Mutex
	paused     bool
	silence    chan error // of what is being said; nil: nothing
	said       []string   // sentences, begun
	sounded    time.Time  // when the last step was heard
	background bool       // a shared page is heard
	err        error
}

func (m *scriptedMouth) Say(ctx context.Context, sentences <-chan string) (said int, err error) {
	m.mu.Lock()
	if m.err != nil {
		defer m.mu.Unlock()
		return 0, m.err
	}
	silence := make(chan error, 1)
	m.silence, m.paused = silence, false
	m.mu.Unlock()
	for {
		var s string
		select {
		case s = <-sentences:
		default:
			return said, nil
		}
		m.mu.Lock()
		m.said = append(m.said, s)
		m.mu.Unlock()
		if _, err := m.sound(ctx, silence, time.Duration(len(strings.Fields(s)))*250*time.Millisecond); err != nil {
			return said, err
		}
		said++
	}
}

func (m *scriptedMouth) sound(ctx context.Context, silence chan error,
	span time.Duration,
) (played time.Duration, err error) {
	for played < span {
		select {
		case err := <-silence:
			return played, err
		case <-ctx.Done():
			return played, context.Cause(ctx)
		case <-time.After(voice.FrameTime):
		}
		m.mu.Lock()
		if !m.paused {
			played += voice.FrameTime
			m.sounded = time.Now()
		}
		m.mu.Unlock()
	}
	return played, nil
}

func (m *scriptedMouth) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

func (*scriptedMouth) Play(playout.SoundFunc) *playout.QueuedSentence {
	panic("no native model here")
}

func (m *scriptedMouth) Pause(on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.paused = on
}

func (m *scriptedMouth) Silence(cause error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case m.silence <- cause:
	default:
	}
}

func (m *scriptedMouth) StopBackground() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	background := m.background
	m.background = false
	return background
}

func (m *scriptedMouth) words() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.said, " ")
}

func (m *scriptedMouth) last() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sounded
}

// chat remembers what is written.
type chat struct {
	mu       sync.Mutex
	messages []conversation.Message
	shown    []string // lines, beside the messages
}

func (c *chat) Write(_ context.Context, m conversation.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.messages = append(c.messages, m)
	return nil
}

func (c *chat) ShowLine(l conversation.TranscriptLine) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown = append(c.shown, l.Speaker.Name+": "+l.Text)
}

func (c *chat) written() []conversation.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.messages)
}

func (c *chat) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []string
	for _, m := range c.messages {
		all = append(all, m.Text)
	}
	return strings.Join(all, "\n")
}

type answerFunc = func(ctx context.Context, t assistant.Turn, watch func(assistant.Progress)) (assistant.Answer, error)

// replier answers as reply says, and remembers what it was asked.
type replier struct {
	reply answerFunc
	mu    sync.Mutex
	turns []assistant.Turn
}

func (r *replier) Reply(ctx context.Context, t assistant.Turn,
	watch func(assistant.Progress),
) (assistant.Answer, error) {
	r.mu.Lock()
	r.turns = append(r.turns, t)
	r.mu.Unlock()
	if r.reply == nil {
		return assistant.Answer{Text: "Very well."}, nil
	}
	return r.reply(ctx, t, watch)
}

func (r *replier) asked() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, t := range r.turns {
		l := t.Lines[len(t.Lines)-1]
		out = append(out, l.Speaker+": "+l.Text)
	}
	return out
}

// answer returns a reply that is always the same.
func answer(a assistant.Answer, err error) answerFunc {
	return func(context.Context, assistant.Turn, func(assistant.Progress)) (assistant.Answer, error) {
		return a, err
	}
}

// browsing returns a reply that works a browser until it is stopped.
func browsing(ctx context.Context, _ assistant.Turn, watch func(assistant.Progress)) (assistant.Answer, error) {
	watch(assistant.Progress{Call: 1})
	<-ctx.Done()
	return assistant.Answer{}, context.Cause(ctx)
}

// transcriber reads the words that the test has put into the first packet.
type transcriber struct {
	calls   atomic.Int64
	running atomic.Int64
	err     error
	took    time.Duration
}

func (t *transcriber) Transcribe(ctx context.Context, u voice.Utterance) (voice.Transcript, error) {
	t.calls.Add(1)
	t.running.Add(1)
	defer t.running.Add(-1)
	err := t.err
	select {
	case <-time.After(t.took + 100*time.Millisecond):
	case <-ctx.Done():
		return voice.Transcript{}, context.Cause(ctx)
	}
	return voice.Transcript{Text: string(u.Packets[0].Opus)}, err
}

// spotter tells what the test has it find.
type spotter struct {
	mu    sync.Mutex
	found map[string]func(voice.SpottedPhrase)
	open  int
	err   error
	claim map[string]voice.SpotterPriority
	crowd map[string]bool // who is not listened to
}

func (s *spotter) Listen(_ context.Context, from string, found func(voice.SpottedPhrase)) (voice.SpotterStream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	if s.found == nil {
		s.found = map[string]func(voice.SpottedPhrase){}
	}
	s.found[from] = found
	s.open++
	return &spotting{s, from}, nil
}

type spotting struct {
	s    *spotter
	from string
}

func (*spotting) Write(voice.Sound) {}

func (l *spotting) SetPriority(c voice.SpotterPriority) {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	if l.s.claim == nil {
		l.s.claim = map[string]voice.SpotterPriority{}
	}
	l.s.claim[l.from] = c
}

func (l *spotting) Crowded() bool {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	return l.s.crowd[l.from]
}

func (l *spotting) Close() error {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	l.s.open--
	return nil
}

// unsaved keeps no choice.
type unsaved struct{}

func (unsaved) ListOptedOut(context.Context) ([]voice.PrivacyKey, error) { return nil, nil }

func (unsaved) SetOptedOut(context.Context, voice.PrivacyKey, bool) error { return nil }

// host knows of people what the test tells it.
type host struct {
	origin       func(p voice.Person) sessions.Origin
	sameRights   func(a, b sessions.Origin) bool
	ownAccount   string // the id of one
	disabled     func(o sessions.Origin) string
	checkChannel func(channel string) error
}

func (h *host) Origin(p voice.Person) sessions.Origin {
	if h.origin != nil {
		return h.origin(p)
	}
	if p.Name == "" {
		p.Name = "somebody"
	}
	return sessions.Origin{Kind: sessions.FromDiscord, User: p.ID, UserName: p.Name}
}

func (h *host) SameRights(_ context.Context, a, b sessions.Origin) bool {
	return h.sameRights != nil && h.sameRights(a, b)
}

func (h *host) IsOwnAccount(id string) bool { return h.ownAccount != "" && id == h.ownAccount }

func (h *host) DisabledReason(_ context.Context, o sessions.Origin) string {
	if h.disabled == nil {
		return ""
	}
	return h.disabled(o)
}

func (h *host) CheckChannel(channel string) error {
	if h.checkChannel == nil {
		return nil
	}
	return h.checkChannel(channel)
}

// recorder is given what was said.
type recorder func(l conversation.TranscriptLine)

func (r recorder) Record(l conversation.TranscriptLine) { r(l) }
