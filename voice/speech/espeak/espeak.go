// Package espeak has words said by espeak-ng, a speech synthesiser that needs no key and no network. It is a process for each text.
package espeak

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"clank/voice"
	"clank/voice/audio"
)

// Defaults of [Options].
const (
	DefaultProgram = "espeak-ng"
	DefaultVoice   = "en-us"
	DefaultSpeed   = 165
	DefaultTimeout = 30 * time.Second
)

// ErrMissing is in the error of [New] if the program is not installed.
var ErrMissing = errors.New("install the package espeak-ng")

// errTimeout is the cause of the end of a process that takes too long.
var errTimeout = errors.New("espeak-ng took too long")

// Options say how to speak. The zero value is fit for use.
type Options struct {
	Program string        // name or path; [DefaultProgram] if empty
	Voice   string        // as `espeak-ng --voices` lists them: "de", "en-gb+f3"; [DefaultVoice] if empty
	Speed   int           // words a minute, from 80 to 450; [DefaultSpeed] if 0
	Timeout time.Duration // for one text; [DefaultTimeout] if 0
}

// Speaker is a [voice.Speaker], safe for concurrent use.
type Speaker struct {
	program string
	args    []string
	timeout time.Duration
}

var _ voice.Speaker = (*Speaker)(nil)

// isVoice keeps a setting from being read as an option of the program.
var isVoice = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_/+-]{0,63}$`) })

// New looks for the program and checks o. No process is started yet.
func New(o Options) (*Speaker, error) {
	if o.Program == "" {
		o.Program = DefaultProgram
	}
	if o.Voice == "" {
		o.Voice = DefaultVoice
	}
	if o.Speed == 0 {
		o.Speed = DefaultSpeed
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	switch {
	case !isVoice().MatchString(o.Voice):
		return nil, fmt.Errorf("set up speech: %q is no name of a voice; espeak-ng --voices lists them", o.Voice)
	case o.Speed < 80 || o.Speed > 450:
		return nil, fmt.Errorf("set up speech: the speed %d is not from 80 to 450 words a minute", o.Speed)
	}
	program, err := exec.LookPath(o.Program)
	if err != nil {
		return nil, fmt.Errorf("set up speech: find %s: %w (%w)", o.Program, err, ErrMissing)
	}
	return &Speaker{
		program: program, args: []string{"--stdin", "--stdout", "-b", "1", "-v", o.Voice, "-s", strconv.Itoa(o.Speed)}, timeout: o.Timeout,
	}, nil
}

// Speak implements [voice.Speaker]. The process is gone when the sequence ends, however it ends.
func (s *Speaker) Speak(ctx context.Context, text string) iter.Seq2[[]byte, error] {
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

// run gives packets to take until it wants no more, which is no error.
func (s *Speaker) run(outer context.Context, text string, take func([]byte) bool) error {
	ctx, cancel := context.WithTimeoutCause(outer, s.timeout, errTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.program, s.args...)
	cmd.Stdin = strings.NewReader(words(text) + "\n")
	var told bytes.Buffer
	cmd.Stderr = &limited{to: &told, left: 2048}
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
	wanted, readErr := pack(out, take)
	if !wanted || readErr != nil {
		cancel()
	}
	waitErr := cmd.Wait()
	switch {
	case !wanted:
		return nil
	case outer.Err() != nil:
		return context.Cause(outer)
	case errors.Is(context.Cause(ctx), errTimeout):
		return errTimeout
	}
	if message := strings.Join(strings.Fields(told.String()), " "); message != "" && (waitErr != nil || readErr != nil) {
		return fmt.Errorf("espeak-ng: %s", message)
	}
	return errors.Join(readErr, waitErr)
}

// words is text without what the program would take for commands: characters of control, which change speed and loudness or end the
// text, and the brackets behind which it reads sounds.
func words(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
	return strings.ReplaceAll(text, "[[", "")
}

// pack makes packets of WAV as it comes. It says whether all of them were wanted.
func pack(out io.Reader, take func([]byte) bool) (wanted bool, err error) {
	wav, err := audio.NewWAVReader(out)
	if err != nil {
		return true, err
	}
	packer, err := audio.NewPacker(wav.Rate)
	if err != nil {
		return true, err
	}
	for {
		samples, readErr := wav.Read(wav.Rate / 10)
		packets, err := packer.Write(samples)
		if err != nil {
			return true, err
		}
		for _, p := range packets {
			if !take(p) {
				return false, nil
			}
		}
		if errors.Is(readErr, io.EOF) {
			break
		}
		if readErr != nil {
			return true, readErr
		}
	}
	last, err := packer.Flush()
	if err != nil || last == nil {
		return true, err
	}
	return take(last), nil
}

// limited keeps the beginning of what is written.
type limited struct {
	to   *bytes.Buffer
	left int
}

// Write implements [io.Writer].
func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	l.to.Write(p[:n])
	return len(p), nil
}
