package keyword

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"clank/internal/hardening"
	"clank/voice"
)

// recognizer is one running process. It reads sound from its standard input and prints, when it has heard the end of
// some speech, which phrases were in it. One goroutine feeds it and one reads from it; both end with the process.
type recognizer struct {
	cmd     *exec.Cmd
	samples chan []byte
	results chan []phraseHit // of one piece of speech each; closed when the process has ended
	done    chan struct{}
	wrote   chan struct{} // closed when nothing writes to the process any more
	cancel  context.CancelFunc
	fed     int64 // samples
	err     error // valid once heard is closed
}

// maxQueuedBlocks is how many pieces of sound may wait for a process that does not read: about five seconds.
const maxQueuedBlocks = 512

var errStuck = errors.New("the process does not read")

func (s *Spotter) startRecognizer(ctx context.Context) (*recognizer, error) {
	words, err := s.vocabulary()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, s.program,
		"-infile", "/dev/stdin", "-hmm", s.model, "-logfn", "/dev/null", "-time", "yes",
		"-dict", filepath.Join(words.dir, dictFile), "-kws", filepath.Join(words.dir, listFile))
	cmd.Env = hardening.Environ()
	cmd.Dir = s.dir
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, fmt.Errorf("start %s: %w", s.program, err)
	}
	e := &recognizer{
		cmd: cmd, samples: make(chan []byte, maxQueuedBlocks), results: make(chan []phraseHit, 16), done: make(chan struct{}),
		wrote: make(chan struct{}), cancel: cancel,
	}
	go e.write(ctx, in)
	go e.read(ctx, out, words)
	return e, nil
}

// write passes sound to the process; a process that stops reading is ended by its owner.
func (e *recognizer) write(ctx context.Context, in io.WriteCloser) {
	defer close(e.wrote)
	defer in.Close()
	for {
		select {
		case b := <-e.samples:
			if _, err := in.Write(b); err != nil {
				return
			}
		case <-ctx.Done():
			return
		case <-e.done:
			return
		}
	}
}

// read parses the output. The process writes all phrases of one segment at once.
func (e *recognizer) read(ctx context.Context, out io.Reader, words *vocabulary) {
	defer close(e.done)
	defer close(e.results)
	defer e.cancel()
	buffer := make([]byte, 16<<10)
	rest := ""
	for {
		n, err := out.Read(buffer)
		text := rest + string(buffer[:n])
		end := strings.LastIndexByte(text, '\n') + 1
		rest = text[end:]
		if len(rest) > maxLine {
			rest = ""
		}
		if hits := words.parseHits(text[:end]); len(hits) > 0 {
			select {
			case e.results <- hits:
			case <-ctx.Done():
			}
		}
		if err != nil {
			break
		}
	}
	e.err = e.cmd.Wait()
}

// writeSamples gives samples to the process without waiting for it.
func (e *recognizer) writeSamples(samples []int16) error {
	select {
	case e.samples <- voice.AppendPCM(nil, samples):
		e.fed += int64(len(samples))
		return nil
	default:
		return errStuck
	}
}

// blockSize is how many samples the process reads at once.
const blockSize = 2048

// flush makes the process detect the end of speech: it writes room noise of the given level up to the end of a block.
// After digital silence the process would take room noise for part of the next words.
func (e *recognizer) flush(level float64) error {
	const still = voice.RateSpeech * 7 / 10
	samples := make([]int16, still+blockSize-int(e.fed+still)%blockSize)
	for i := range samples {
		samples[i] = int16(rand.NormFloat64() * max(level, minNoise))
	}
	return e.writeSamples(samples)
}

// minNoise is the level of the stillest room, as a root mean square.
const minNoise = 20

// stop ends the process and waits for it and for its goroutines.
func (e *recognizer) stop() {
	e.cancel()
	<-e.done
	<-e.wrote
}
