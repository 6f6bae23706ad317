//go:build !browseronly

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"

	"clank/internal/untrusted"
	"clank/sessions/agent"
	"clank/sessions/approval"

	"golang.org/x/term"
)

// errNoTerminal means that there is no terminal to ask questions on.
var errNoTerminal = errors.New("there is no terminal to ask at")

// openTerminal opens the terminal for answers. If standard input or error is not a terminal, nobody can be asked, and
// the error is [errNoTerminal].
func openTerminal() (io.ReadCloser, error) {
	if !term.IsTerminal(int(os.Stdin.Fd())) || !term.IsTerminal(int(os.Stderr.Fd())) {
		return nil, errNoTerminal
	}
	return openConsole()
}

// answerFunc answers the question with that id.
type answerFunc func(ctx context.Context, id string, a approval.Answer) error

// questioner asks someone the questions of a task until it is closed.
type questioner interface {
	HandleEvent(ev approval.Event)
	Close() error
}

// approvalPrompter asks the questions of one task in a terminal.
type approvalPrompter struct {
	in     io.ReadCloser
	out    io.Writer
	answer answerFunc

	events     chan approval.Event
	goroutines sync.WaitGroup
	quit       context.CancelFunc
}

// startApprovalPrompter starts asking questions on out and reading answers from in, which it closes at the end;
// answer sends an answer. The caller calls Close.
func startApprovalPrompter(ctx context.Context, in io.ReadCloser, out io.Writer, answer answerFunc) *approvalPrompter {
	p := &approvalPrompter{in: in, out: out, answer: answer, events: make(chan approval.Event, 64)}
	ctx, p.quit = context.WithCancel(ctx)
	lines := make(chan string)
	p.goroutines.Go(func() { p.readLines(ctx, lines) })
	p.goroutines.Go(func() { p.promptLoop(ctx, lines) })
	return p
}

// HandleEvent handles an event of the approval queue. It does not block: questions are shown one at a time.
func (p *approvalPrompter) HandleEvent(ev approval.Event) {
	select {
	case p.events <- ev:
	default:
	}
}

// Close stops asking, and waits until the reader has ended.
func (p *approvalPrompter) Close() error {
	p.quit()
	err := p.in.Close()
	p.goroutines.Wait()
	return err
}

func (p *approvalPrompter) readLines(ctx context.Context, lines chan<- string) {
	sc := bufio.NewScanner(p.in)
	for sc.Scan() {
		select {
		case lines <- strings.TrimSpace(sc.Text()):
		case <-ctx.Done():
			return
		}
	}
}

// promptLoop shows the questions one after another. Input while there is no question is discarded.
func (p *approvalPrompter) promptLoop(ctx context.Context, lines <-chan string) {
	var open []approval.Question
	for {
		select {
		case <-ctx.Done():
			return
		case ev := <-p.events:
			before := len(open)
			open = p.updateOpen(open, ev)
			if len(open) > 0 && (before == 0 || ev.Resolved) {
				p.showQuestion(open[0])
			}
		case line := <-lines:
			if len(open) > 0 {
				p.submitAnswer(ctx, open[0], line)
			}
		}
	}
}

// updateOpen adds a question, or removes one that is closed.
func (p *approvalPrompter) updateOpen(open []approval.Question, ev approval.Event) []approval.Question {
	for i, q := range open {
		if q.ID != ev.Question.ID {
			continue
		}
		if !ev.Resolved {
			return open
		}
		fmt.Fprintf(p.out, "%s\n", untrusted.CleanLine(ev.Answer.String(), 1000))
		return append(open[:i:i], open[i+1:]...)
	}
	if !ev.Resolved {
		open = append(open, ev.Question)
	}
	return open
}

func (p *approvalPrompter) showQuestion(q approval.Question) {
	if q.Class == approval.ClassAnswer {
		fmt.Fprintf(p.out, "\r\nThe model asks: %s\n", untrusted.CleanLine(q.Detail, agent.MaxQuestion))
		for i, c := range q.Choices {
			fmt.Fprintf(p.out, "  %d = %s\n", i+1, untrusted.CleanLine(c, agent.MaxChoiceLength))
		}
		fmt.Fprint(p.out, "  your answer (no passwords; empty = none): ")
		return
	}
	fmt.Fprintf(p.out, "\r\n%s?\n", untrusted.CleanLine(q.Text, 1000))
	if q.Detail != "" {
		fmt.Fprintf(p.out, "  the page calls it: “%s”\n", untrusted.CleanLine(q.Detail, 1000))
	}
	choices := "y = yes, anything else = no"
	if q.Class.AllowedForSession() {
		choices = "y = yes, s = yes for this session, anything else = no"
	}
	fmt.Fprintf(p.out, "  %s: ", choices)
}

func (p *approvalPrompter) submitAnswer(ctx context.Context, q approval.Question, line string) {
	var a approval.Answer
	if q.Class == approval.ClassAnswer {
		if n, err := strconv.Atoi(line); err == nil && n > 0 && n <= len(q.Choices) {
			line = q.Choices[n-1]
		}
		a = approval.Answer{Allowed: line != "", Text: line}
	} else {
		line = strings.ToLower(line)
		lasting := q.Class.AllowedForSession() && line == "s"
		a = approval.Answer{Allowed: lasting || line == "y" || line == "yes", ForSession: lasting}
	}
	a.By = "the person at the terminal"
	err := p.answer(ctx, q.ID, a)
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintf(p.out, "%v\n", err)
	}
}
