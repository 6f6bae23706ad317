package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"clank/sessions"
)

// Progress tells how a task goes: in one line that changes, or in a line for each step.
type Progress struct {
	Out   io.Writer
	Width int // of the terminal, in columns; 0 if Out is none, and no line is to change

	shown bool // the changing line holds text
	acts  int  // begun so far
	last  string
}

// NewProgress tells it on out, which may be a terminal.
func NewProgress(out io.Writer) *Progress {
	p := &Progress{Out: out}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.Width = 80
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 20 {
			p.Width = width
		}
	}
	return p
}

// Watch shows one event.
func (p *Progress) Watch(ev sessions.Event) {
	if ev.Step == nil {
		if ev.Record.State == sessions.TaskQueued && ev.Record.Position > 0 {
			p.line(fmt.Sprintf("waiting, number %d in line", ev.Record.Position))
		}
		return
	}
	s := ev.Step
	switch {
	case s.Kind == sessions.StepAnswer:
	case s.Kind == sessions.StepNotice:
		p.keep(s.Label)
	case s.Kind == sessions.StepThink:
		if p.Width > 0 && s.Phase == sessions.Begun {
			p.line("thinking …")
		}
	case s.Phase == sessions.Begun:
		p.acts++
		if p.Width > 0 {
			p.line(fmt.Sprintf("%d  %s …", p.acts, s.Label))
		}
	case s.Failed:
		p.keep(fmt.Sprintf("%d  %s: %s", p.acts, s.Label, firstLine(s.Text)))
	default:
		p.line(fmt.Sprintf("%d  %s", p.acts, s.Label))
	}
}

// line shows s as what is happening now.
func (p *Progress) line(s string) {
	if s == p.last {
		return
	}
	p.last = s
	if p.Width == 0 {
		fmt.Fprintln(p.Out, s)
		return
	}
	fmt.Fprintf(p.Out, "\r\x1b[K%s", Clip(s, p.Width-1))
	p.shown = true
}

// keep shows s as a line of its own that stays.
func (p *Progress) keep(s string) {
	p.Clear()
	p.last = ""
	fmt.Fprintln(p.Out, s)
}

// Clear takes the changing line away.
func (p *Progress) Clear() {
	if p.shown {
		fmt.Fprint(p.Out, "\r\x1b[K")
		p.shown = false
	}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

// Clip makes one line of s, of at most n characters.
func Clip(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
