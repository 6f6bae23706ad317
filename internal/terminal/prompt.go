package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/term"

	"clank/consent"
)

// ErrNone says that there is no terminal to ask at.
var ErrNone = errors.New("there is no terminal to ask at")

// Open opens the terminal for answers. Where what is read or shown is not the
// terminal, nobody is there to be asked: [ErrNone].
func Open() (io.ReadCloser, error) {
	if !term.IsTerminal(int(os.Stdin.Fd())) || !term.IsTerminal(int(os.Stderr.Fd())) {
		return nil, ErrNone
	}
	// Unlike the standard input it can be closed while it is read from.
	return os.OpenFile("/dev/tty", os.O_RDONLY, 0)
}

// Prompter asks the questions of one task in a terminal.
type Prompter struct {
	in     io.ReadCloser
	out    io.Writer
	answer func(ctx context.Context, id string, allowed, forSession bool) error

	events chan consent.Event
	work   sync.WaitGroup
	quit   context.CancelFunc
}

// StartPrompter begins to ask on out and to read from in, which it closes at the end; answer takes what is typed to the
// question with that id. The caller calls Close.
func StartPrompter(ctx context.Context, in io.ReadCloser, out io.Writer, answer func(context.Context, string, bool, bool) error) *Prompter {
	p := &Prompter{in: in, out: out, answer: answer, events: make(chan consent.Event, 64)}
	ctx, p.quit = context.WithCancel(ctx)
	lines := make(chan string)
	p.work.Go(func() { p.readLines(ctx, lines) })
	p.work.Go(func() { p.run(ctx, lines) })
	return p
}

// Tell takes an event of the desk. It does not block: a terminal has one question
// at a time.
func (p *Prompter) Tell(ev consent.Event) {
	select {
	case p.events <- ev:
	default:
	}
}

// Close stops asking, and waits until nothing is read any more.
func (p *Prompter) Close() error {
	p.quit()
	err := p.in.Close()
	p.work.Wait()
	return err
}

func (p *Prompter) readLines(ctx context.Context, lines chan<- string) {
	sc := bufio.NewScanner(p.in)
	for sc.Scan() {
		select {
		case lines <- strings.ToLower(strings.TrimSpace(sc.Text())):
		case <-ctx.Done():
			return
		}
	}
}

// run shows the questions one after the other. What is typed when there is none
// is nobody's answer.
func (p *Prompter) run(ctx context.Context, lines <-chan string) {
	var open []consent.Question
	for {
		select {
		case <-ctx.Done():
			return
		case ev := <-p.events:
			before := len(open)
			open = p.take(open, ev)
			if len(open) > 0 && (before == 0 || ev.Over) {
				p.show(open[0])
			}
		case line := <-lines:
			if len(open) > 0 {
				p.reply(ctx, open[0], line)
			}
		}
	}
}

// take adds a question, or takes away one that is over.
func (p *Prompter) take(open []consent.Question, ev consent.Event) []consent.Question {
	for i, q := range open {
		if q.ID != ev.Question.ID {
			continue
		}
		if !ev.Over {
			return open
		}
		fmt.Fprintf(p.out, "%s\n", visible(ev.Answer.String()))
		return append(open[:i:i], open[i+1:]...)
	}
	if !ev.Over {
		open = append(open, ev.Question)
	}
	return open
}

func (p *Prompter) show(q consent.Question) {
	fmt.Fprintf(p.out, "\r\n%s?\n", visible(q.Text))
	if q.Detail != "" {
		fmt.Fprintf(p.out, "  the page calls it: “%s”\n", visible(q.Detail))
	}
	choices := "y = yes, anything else = no"
	if q.Class.Lasting() {
		choices = "y = yes, s = yes for this session, anything else = no"
	}
	fmt.Fprintf(p.out, "  %s: ", choices)
}

func (p *Prompter) reply(ctx context.Context, q consent.Question, line string) {
	lasting := q.Class.Lasting() && line == "s"
	err := p.answer(ctx, q.ID, lasting || line == "y" || line == "yes", lasting)
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintf(p.out, "%v\n", err)
	}
}

// visible makes text of a page harmless in a terminal.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
			return ' '
		}
		return r
	}, s)
}
