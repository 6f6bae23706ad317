// Package hostile is the range of hostile pages (make range): each mechanism by which a browser can be made
// to send something, run with a bare Chromium and with clank's. A case proves something if the bare browser
// reached the canary.
//
// It has a network namespace in which every private address is the range's own, and a name server that
// changes its mind.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// wholeLimit bounds the range, on the busiest machine. Two minutes are expected.
const wholeLimit = 15 * time.Minute

func main() { os.Exit(runMain()) }

func runMain() int {
	only := flag.String("run", "", "run only cases whose title matches this `regexp`")
	verbose := flag.Bool("v", false, "print a line for each case")
	hole := flag.String("hole", "", "have the guard let this `host` through: the range must report it")
	every := flag.Int("every", 1, "run only every `nth` case, with another one first each day of the year")
	flag.Parse()
	pattern, err := regexp.Compile(*only)
	if flag.NArg() > 1 || err != nil || *every < 1 {
		fmt.Fprintln(os.Stderr, "usage: hostile [-v] [-run REGEXP] [-every N] [-hole HOST] [CLANK]", err)
		return 2
	}
	if !InsideNamespace() {
		code, err := runInNamespace()
		if err == nil {
			return code
		}
		fmt.Fprintln(os.Stderr, "range: no network namespace can be made here, so only loopback addresses are tried:", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, wholeLimit, fmt.Errorf("the range took longer than %v", wholeLimit))
	defer cancel()
	from := time.Now().YearDay() % *every
	if *every > 1 {
		_, _ = fmt.Fprintf(os.Stdout, "every %d cases one, from number %d on\n", *every, from)
	}
	options := RangeOptions{
		Only: pattern, Every: *every, From: from, Workers: 8, AllowedHost: *hole, Joined: true, Program: flag.Arg(0),
		Out: os.Stdout, Verbose: *verbose,
	}
	if err := runRange(ctx, options); err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		return 1
	}
	return 0
}

// runInNamespace runs this program again in a network namespace, and returns its exit code.
func runInNamespace() (int, error) {
	cmd := ReenterCommand(os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	err := cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, nil
}

func runRange(ctx context.Context, o RangeOptions) error {
	var err error
	if o.Certificate, err = MakeCertificates(); err != nil {
		return err
	}
	o.Ground = LoopbackNetwork()
	if InsideNamespace() {
		dir, err := os.MkdirTemp("", "clank")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		if o.Ground, err = PrepareNamespace(dir, o.Certificate.Certificate[1]); err != nil {
			return err
		}
		defer o.Ground.Recorder.Close()
	}
	report, err := RunPasses(ctx, o)
	if err != nil {
		return err
	}
	if report.Packets != "" {
		_, _ = fmt.Fprintln(o.Out, report.Packets)
	}
	_, _ = fmt.Fprintf(o.Out, "silent by Chromium itself: %d, pages not opened: %d, took %s: %s\n",
		report.Silent, report.Unproven, report.Took.Round(time.Second), strings.Join(report.PassTimes, ", "))
	_, _ = fmt.Fprint(o.Out, report.Passes())
	err = report.Err()
	_, _ = fmt.Fprintln(o.Out, report.Line())
	return err
}
