package speech

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"

	"clank/internal/hardening"
	"clank/llm/transport"
	"clank/voice"
)

// Defaults of [ESpeakOptions].
const (
	DefaultESpeakProgram = "espeak-ng"
	DefaultESpeakVoice   = "en-us"
	DefaultESpeakTimeout = 30 * time.Second
)

// wordsPerMinute is how fast the program speaks.
const wordsPerMinute = "165"

// ErrESpeakMissing is in the error of [NewESpeak] if the program is not installed.
var ErrESpeakMissing = errors.New("install the package espeak-ng")

// errESpeakTimeout is the cause when a process takes too long.
var errESpeakTimeout = errors.New("espeak-ng took too long")

// ESpeakOptions say how to speak. The zero value is fit for use.
type ESpeakOptions struct {
	Program string        // name or path; [DefaultESpeakProgram] if empty
	Voice   string        // as `espeak-ng --voices` lists them: "de", "en-gb+f3"; [DefaultESpeakVoice] if empty
	Timeout time.Duration // for one text; [DefaultESpeakTimeout] if 0
}

// ESpeak is a [voice.Synthesizer], safe for concurrent use.
type ESpeak struct {
	program string
	args    []string
	timeout time.Duration
}

var _ voice.Synthesizer = (*ESpeak)(nil)

// espeakVoicePattern keeps a setting from being read as an option of the program.
var espeakVoicePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_/+-]{0,63}$`)
})

// NewESpeak looks for the program and checks o. No process is started yet.
func NewESpeak(o ESpeakOptions) (*ESpeak, error) {
	o.Program = cmp.Or(o.Program, DefaultESpeakProgram)
	o.Voice = cmp.Or(o.Voice, DefaultESpeakVoice)
	if o.Timeout <= 0 {
		o.Timeout = DefaultESpeakTimeout
	}
	if !espeakVoicePattern().MatchString(o.Voice) {
		return nil, fmt.Errorf("set up speech: %q is no name of a voice; espeak-ng --voices lists them", o.Voice)
	}
	program, err := exec.LookPath(o.Program)
	if err != nil {
		return nil, fmt.Errorf("set up speech: find %s: %w (%w)", o.Program, err, ErrESpeakMissing)
	}
	return &ESpeak{
		program: program, args: []string{"--stdin", "--stdout", "-b", "1", "-v", o.Voice, "-s", wordsPerMinute},
		timeout: o.Timeout,
	}, nil
}

// Speak implements [voice.Synthesizer]. The process is gone when the sequence ends, however it ends.
func (s *ESpeak) Speak(ctx context.Context, text string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if strings.TrimSpace(text) == "" {
			return
		}
		err := s.run(ctx, text, func(packet []byte) bool { return yield(packet, nil) })
		if err != nil {
			yield(nil, fmt.Errorf("speak: %w", err))
		}
	}
}

// run passes packets to take until it returns false, which is no error.
func (s *ESpeak) run(outer context.Context, text string, take func([]byte) bool) error {
	ctx, cancel := context.WithTimeoutCause(outer, s.timeout, errESpeakTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.program, s.args...)
	cmd.Env = hardening.Environ()
	cmd.Stdin = strings.NewReader(espeakText(text) + "\n")
	var output bytes.Buffer
	cmd.Stderr = &limitedWriter{to: &output, left: 2048}
	cmd.WaitDelay = time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		if outer.Err() != nil {
			return context.Cause(outer)
		}
		return fmt.Errorf("start espeak-ng: %w", err)
	}
	wanted, readErr := packWAV(out, take)
	if !wanted || readErr != nil {
		cancel()
	}
	waitErr := cmd.Wait()
	switch {
	case !wanted:
		return nil
	case outer.Err() != nil:
		return context.Cause(outer)
	case errors.Is(context.Cause(ctx), errESpeakTimeout):
		return errESpeakTimeout
	}
	if message := strings.Join(strings.Fields(output.String()), " "); message != "" && (waitErr != nil || readErr != nil) {
		return fmt.Errorf("espeak-ng: %s", message)
	}
	return errors.Join(readErr, waitErr)
}

// espeakText returns text without what the program would interpret as commands: control characters, which change speed
// and volume or end the text, and the brackets that introduce phonemes.
func espeakText(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
	return strings.ReplaceAll(text, "[[", "")
}

// packWAV reads WAV as it arrives and passes packets to take. It reports whether take wanted all of them.
func packWAV(out io.Reader, take func([]byte) bool) (wanted bool, err error) {
	wav, err := voice.NewWAVReader(out)
	if err != nil {
		return true, err
	}
	wanted, err = packSamples(wav.Rate, func() ([]int16, error) { return wav.Read(wav.Rate / 10) }, take)
	if cut, ok := errors.AsType[*transport.TruncatedError](err); ok { // which is about servers
		err = cut.Err
	}
	return wanted, err
}

// limitedWriter keeps the beginning of what is written.
type limitedWriter struct {
	to   *bytes.Buffer
	left int
}

func (l *limitedWriter) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	l.to.Write(p[:n])
	return len(p), nil
}
