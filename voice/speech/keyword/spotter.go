package keyword

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"clank/voice"
)

// Defaults of [Options].
const (
	DefaultProgram      = "pocketsphinx_continuous"
	DefaultModel        = "/usr/share/pocketsphinx/model/en-us/en-us"
	DefaultMaxListeners = 8
	DefaultIdleTimeout  = 20 * time.Second
)

// ErrMissing is in the error of [Open] if the program or its model is not installed.
var ErrMissing = errors.New("install the packages pocketsphinx and pocketsphinx-en-us")

// Options say how to listen. The zero value is fit for use on Debian.
type Options struct {
	Program      string        // name or path of pocketsphinx_continuous; [DefaultProgram] if empty
	Model        string        // folder of the acoustic model; [DefaultModel] if empty
	MaxListeners int           // how many people can be listened to at once; 0: [DefaultMaxListeners]
	IdleTimeout  time.Duration // how long a process outlives the last speech; [DefaultIdleTimeout] if 0
	Log          *slog.Logger  // nil for none
	// for files, ours alone: what a former run has left there goes; a new temporary one if empty
	Dir string

	// Speech returns other names for us than "clank", and the language (ISO 639-1) of stop words in addition to English.
	// It is called for each process that starts. Nil means neither.
	Speech func() (names []string, language string)
}

// Spotter is a [voice.Spotter]. It is safe for concurrent use.
type Spotter struct {
	program, model string
	dir            string // with the phrases; ours
	slots          recognizerSlots
	idle           time.Duration
	log            *slog.Logger
	speech         func() (names []string, language string)

	mu           sync.Mutex
	closed       bool
	open         map[*stream]struct{}
	words        *vocabulary // the latest
	vocabularies int         // that were made
}

var _ voice.Spotter = (*Spotter)(nil)

// Open checks the requirements and creates a directory for the phrases, which Close removes. It starts no process yet.
func Open(o Options) (*Spotter, error) {
	o.Program = cmp.Or(o.Program, DefaultProgram)
	o.Model = cmp.Or(o.Model, DefaultModel)
	if o.MaxListeners <= 0 {
		o.MaxListeners = DefaultMaxListeners
	}
	if o.IdleTimeout <= 0 {
		o.IdleTimeout = DefaultIdleTimeout
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	program, err := exec.LookPath(o.Program)
	if err != nil {
		return nil, fmt.Errorf("listen for stop words: find %s: %w (%w)", o.Program, err, ErrMissing)
	}
	if _, err := os.Stat(filepath.Join(o.Model, "mdef")); err != nil {
		return nil, fmt.Errorf("listen for stop words: find the model of speech: %w (%w)", err, ErrMissing)
	}
	dir := o.Dir
	if dir == "" {
		dir, err = os.MkdirTemp("", "clank")
	} else {
		err = errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700))
	}
	if err != nil {
		return nil, fmt.Errorf("listen for stop words: %w", err)
	}
	return &Spotter{
		program: program, model: o.Model, dir: dir,
		slots: recognizerSlots{limit: o.MaxListeners, slots: map[*stream]*recognizerSlot{}}, idle: o.IdleTimeout, log: o.Log,
		speech: o.Speech, open: map[*stream]struct{}{},
	}, nil
}

// Listen implements [voice.Spotter]. found receives "clank" for a name, and otherwise words that cancel.IsStop accepts.
// Its At is the time of the sound that ends the phrase. A process runs only while the person speaks and shortly after;
// if it exits by itself, it is started again with their next words. Beyond Max people at once, the others are not
// listened to, which is logged. found must be quick and must not close the stream. The end of ctx has the effect of
// Close.
func (s *Spotter) Listen(ctx context.Context, from string,
	found func(voice.SpottedPhrase),
) (voice.SpotterStream, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	l := newStream(s, from, found, cancel)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		cancel(nil)
		return nil, errors.New("listen for stop words: this is closed")
	}
	s.open[l] = struct{}{}
	go l.run(ctx)
	return l, nil
}

// Close ends all listening and removes the directory. It may be called twice.
func (s *Spotter) Close() error {
	s.mu.Lock()
	s.closed = true
	var all []*stream
	for l := range s.open {
		all = append(all, l)
	}
	s.mu.Unlock()
	for _, l := range all {
		_ = l.Close()
	}
	return os.RemoveAll(s.dir)
}

func (s *Spotter) removeStream(l *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, l)
}

// recognizerSlots limits the processes: everyone who speaks needs one, and their number is limited.
type recognizerSlots struct {
	limit int

	mu    sync.Mutex
	slots map[*stream]*recognizerSlot
}

// recognizerSlot is held by one listening.
type recognizerSlot struct {
	priority   voice.SpotterPriority
	recognizer *recognizer // nil while it is being started; then nobody else may take the slot
	idle       bool        // they say nothing
	since      time.Time   // that they rest, or that they began to speak
}

// acquire gives l, who has begun to speak, a slot: a free one, or that of someone with lower priority, or of someone
// with the same priority who has not spoken for a while. The previous holder loses it, and the caller ends their
// process.
func (p *recognizerSlots) acquire(l *stream, c voice.SpotterPriority) (ok bool, instead *recognizer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	mine := &recognizerSlot{priority: c, since: time.Now()}
	if len(p.slots) < p.limit {
		p.slots[l] = mine
		return true, nil
	}
	var least *stream
	for other, have := range p.slots {
		if have.recognizer != nil && (least == nil || have.lessThan(p.slots[least])) {
			least = other
		}
	}
	if least == nil || !p.slots[least].yieldsTo(c) {
		return false, nil
	}
	instead = p.slots[least].recognizer
	delete(p.slots, least)
	p.slots[l] = mine
	return true, instead
}

// lessThan reports whether p is given up sooner than o.
func (p *recognizerSlot) lessThan(o *recognizerSlot) bool {
	switch {
	case p.priority != o.priority:
		return p.priority.Less(o.priority)
	case p.idle != o.idle:
		return p.idle
	default:
		return p.since.Before(o.since)
	}
}

// yieldsTo reports whether p may be taken by someone with that priority.
func (p *recognizerSlot) yieldsTo(to voice.SpotterPriority) bool {
	return p.priority.Less(to) || !to.Less(p.priority) && p.idle && time.Since(p.since) >= yieldAfter
}

// setRecognizer puts the process of l into its place.
func (p *recognizerSlots) setRecognizer(l *stream, e *recognizer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slots[l].recognizer = e
}

// update records that l begins to speak with a priority, or has ended.
func (p *recognizerSlots) update(l *stream, c voice.SpotterPriority, ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if have := p.slots[l]; have != nil {
		have.priority, have.idle, have.since = c, ended, time.Now()
	}
}

// release frees the place of l. It reports whether they had one: they may have lost it.
func (p *recognizerSlots) release(l *stream) (had bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, had = p.slots[l]
	delete(p.slots, l)
	return had
}
