// Package smoke is make smoke: the first try of the README through the terminal, the chat page and Discord.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// Bounds. Nothing is expected to take nearly so long.
const (
	wholeLimit = 75 * time.Second
	checkLimit = 20 * time.Second
)

// firstTry is what the README tells people to try, found is in its answer, and
// endless never ends by itself.
const (
	firstTry = `open the demo shop, type "lamp" into Search, press Enter, read`
	found    = "Aurora Desk Lamp"
	endless  = `open the demo shop, wait for "a text that never comes"`
)

func main() { os.Exit(run()) }

func run() (exitCode int) {
	picture := flag.String("picture", "", "make no checks, but a picture of the chat page after the first try, and write it to `FILE` as PNG")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: smoke [-picture FILE] path/to/clank")
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, wholeLimit, fmt.Errorf("the whole took longer than %v", wholeLimit))
	defer cancel()
	s, err := newSmokeRun(flag.Arg(0))
	switch {
	case err != nil:
	case *picture != "":
		err = s.takePicture(ctx, *picture)
		_, closeErr := s.close(ctx)
		err = errors.Join(err, closeErr)
	case !s.report(ctx, os.Stdout):
		return 1
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "smoke:", err)
		return 1
	}
	return 0
}

// check is one thing that a person does. note is shown beside its name.
type check struct {
	name string
	do   func(ctx context.Context) (note string, err error)
}

// checks are what a person does first. What the tests of cmd/clank do with the whole program, calls among it, is not done again.
func (s *smokeRun) checks() []check {
	return []check{
		{"clank --help answers", s.help},
		{"the first try in a terminal, with no server", s.offline},
		{"no process and no temporary file is left of it", s.nothingLeft},
		{"clank serve gets ready and says what is missing", s.serve},
		{"the first try through the server, with a picture", s.throughServer},
		{"the same as JSON, and its session goes on", s.goesOn},
		{"the printed link opens the chat", s.openChat},
		{"the first try on the chat page: steps, pictures, answer", s.chatFirstTry},
		{"the Stop button stops", s.stopButton},
		{"the word stop stops, on the page", s.stopOnPage},
		{"settings are changed on their page", s.changeSettings},
		{"an interrupt ends the server and all it started", s.interrupt},
		{"the server starts again, with Discord", s.serveAgain},
		{"the settings are still there", s.settingsKept},
		{"the sessions and the conversation are still there", s.conversationKept},
		{"a browse in Discord: deferred, edited, answer with a picture", s.discordBrowse},
		{"an interrupt ends it all again", s.interrupt},
		{"nothing of this run is left", s.close},
	}
}

// report makes one check after the other, and reports whether all passed. One
// that cannot be made because of an earlier one fails too.
func (s *smokeRun) report(ctx context.Context, out io.Writer) bool {
	passed, failed := 0, 0
	for _, c := range s.checks() {
		begin := time.Now()
		bounded, cancel := context.WithTimeoutCause(ctx, checkLimit, fmt.Errorf("it took longer than %v", checkLimit))
		note, err := c.do(bounded)
		cancel()
		took := fmt.Sprintf("%.1f s", time.Since(begin).Seconds())
		if err != nil {
			failed++
			fmt.Fprintf(out, "FAIL %s (%s): %s\n", c.name, took, strings.ReplaceAll(err.Error(), "\n", "\n     "))
			continue
		}
		passed++
		if note == "" {
			note = took
		}
		fmt.Fprintf(out, "ok   %s (%s)\n", c.name, note)
	}
	if failed > 0 {
		s.printOutput(out)
	}
	fmt.Fprintf(out, "smoke: %d passed, %d failed\n", passed, failed)
	return failed == 0
}
