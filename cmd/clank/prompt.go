package main

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

// openTTY opens the terminal for answers. Where what is read or shown is not the
// terminal, nobody is there to be asked.
func openTTY() (io.ReadCloser, error) {
	if !term.IsTerminal(int(os.Stdin.Fd())) || !term.IsTerminal(int(os.Stderr.Fd())) {
		return nil, errNoTTY
	}
	// Unlike the standard input it can be closed while it is read from.
	return os.OpenFile("/dev/tty", os.O_RDONLY, 0)
}

// prompt begins to ask in the terminal; nil if there is none.
func (e *env) prompt(ctx context.Context, answer func(context.Context, string, bool, bool) error) *prompter {
	if e.tty == nil {
		return nil
	}
	in, err := e.tty()
	if err != nil {
		return nil
	}
	return startPrompter(ctx, in, e.stderr, answer)
}

func (e *env) endPrompt(p *prompter) {
	if err := p.end(); err != nil {
		fmt.Fprintf(e.stderr, "close the terminal: %v\n", err)
	}
}

// prompter asks the questions of one task in a terminal.
type prompter struct {
	in     io.ReadCloser
	out    io.Writer
	answer func(ctx context.Context, id string, allowed, forSession bool) error

	events chan consent.Event
	work   sync.WaitGroup
	quit   context.CancelFunc
}

// startPrompter begins to ask. The caller calls end.
func startPrompter(ctx context.Context, in io.ReadCloser, out io.Writer, answer func(context.Context, string, bool, bool) error) *prompter {
	p := &prompter{in: in, out: out, answer: answer, events: make(chan consent.Event, 64)}
	ctx, p.quit = context.WithCancel(ctx)
	lines := make(chan string)
	p.work.Go(func() { p.readLines(ctx, lines) })
	p.work.Go(func() { p.run(ctx, lines) })
	return p
}

// tell takes an event of the desk. It does not block: a terminal has one question
// at a time.
func (p *prompter) tell(ev consent.Event) {
	select {
	case p.events <- ev:
	default:
	}
}

// end stops asking.
func (p *prompter) end() error {
	p.quit()
	err := p.in.Close()
	p.work.Wait()
	return err
}

func (p *prompter) readLines(ctx context.Context, lines chan<- string) {
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
func (p *prompter) run(ctx context.Context, lines <-chan string) {
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
func (p *prompter) take(open []consent.Question, ev consent.Event) []consent.Question {
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

func (p *prompter) show(q consent.Question) {
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

func (p *prompter) reply(ctx context.Context, q consent.Question, line string) {
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
