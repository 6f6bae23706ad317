//go:build !browseronly

package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"clank/internal/untrusted"
	"clank/sessions"

	"golang.org/x/term"
)

// progressPrinter prints the progress of a task: as one line that changes, or as a line for each step.
type progressPrinter struct {
	Out   io.Writer
	Width int // of the terminal, in columns; 0 if Out is not a terminal, so that no line changes

	lineShown bool // the changing line is not empty
	actCount  int  // actions started so far
	lastLine  string
}

// newProgressPrinter returns a printer to out, which may be a terminal.
func newProgressPrinter(out io.Writer) *progressPrinter {
	p := &progressPrinter{Out: out}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) && allowEscapes(f) {
		p.Width = 80
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 20 {
			p.Width = width
		}
	}
	return p
}

// waitingText describes the position of a task in the queue.
func waitingText(r sessions.TaskRecord) string {
	if r.Shortage == sessions.ShortMemory {
		return fmt.Sprintf("waiting until this machine has more memory, number %d in line", r.Position)
	}
	return fmt.Sprintf("waiting, number %d in line", r.Position)
}

// showEvent shows one event.
func (p *progressPrinter) showEvent(ev sessions.Event) {
	if ev.Step == nil {
		if ev.Record.State == sessions.TaskQueued && ev.Record.Position > 0 {
			p.showTransient(waitingText(ev.Record))
		}
		return
	}
	s := ev.Step
	switch {
	case s.Kind == sessions.StepAnswer:
	case s.Kind == sessions.StepNotice:
		p.showPermanent(s.Label)
	case s.Kind == sessions.StepThink:
		if p.Width > 0 && s.Phase == sessions.PhaseBegun {
			p.showTransient("thinking …")
		}
	case s.Phase == sessions.PhaseBegun:
		p.actCount++
		if p.Width > 0 {
			p.showTransient(fmt.Sprintf("%d  %s …", p.actCount, s.Label))
		}
	case s.Failed:
		p.showPermanent(fmt.Sprintf("%d  %s: %s", p.actCount, s.Label, headLine(s.Text)))
	default:
		p.showTransient(fmt.Sprintf("%d  %s", p.actCount, s.Label))
	}
}

// showTransient shows s as the current activity.
func (p *progressPrinter) showTransient(s string) {
	if s == p.lastLine {
		return
	}
	p.lastLine = s
	if p.Width == 0 {
		fmt.Fprintln(p.Out, s)
		return
	}
	fmt.Fprintf(p.Out, "\r\x1b[K%s", clipLine(s, p.Width-1))
	p.lineShown = true
}

// showPermanent prints s as a line that stays.
func (p *progressPrinter) showPermanent(s string) {
	p.clearLine()
	p.lastLine = ""
	fmt.Fprintln(p.Out, s)
}

// clearLine removes the changing line.
func (p *progressPrinter) clearLine() {
	if p.lineShown {
		fmt.Fprint(p.Out, "\r\x1b[K")
		p.lineShown = false
	}
}

func headLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

// clipLine returns s on one line of at most n characters.
func clipLine(s string, n int) string {
	return untrusted.ShortenLine(s, n)
}
