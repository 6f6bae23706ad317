package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"clank/internal/test/discordtest"
)

// smokeRun is one run: a new home, what was started in it, and what earlier checks
// found out for later ones.
type smokeRun struct {
	bin        string
	root       string // of everything below
	home, tmp  string // CLANK_HOME and TMPDIR of clank
	addr, shop string // where the server listens
	programs   []*program
	server     *program
	login      string          // the link that opens the page
	session    string          // one that was begun through the server
	browser    *personsBrowser // our own browser
	discord    *discordRoom
}

// discordRoom is a text channel of an emulated Discord with clank in it.
type discordRoom struct {
	*discordtest.Server
	clank   discordtest.Bot
	ada     discordtest.User
	guild   discordtest.Guild
	channel discordtest.Channel
}

func newSmokeRun(bin string) (*smokeRun, error) {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return nil, fmt.Errorf("find the program: %w", err)
	}
	root, err := os.MkdirTemp("", "clank") // Chromium puts a socket there, whose path may not be long
	if err != nil {
		return nil, fmt.Errorf("make a place: %w", err)
	}
	s := &smokeRun{bin: bin, root: root, home: filepath.Join(root, "home"), tmp: filepath.Join(root, "tmp")}
	if err := os.Mkdir(s.tmp, 0o700); err != nil {
		return nil, fmt.Errorf("make a place: %w", err)
	}
	if s.addr, s.shop, err = freeAddrs(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(root))
	}
	return s, nil
}

// freeAddrs finds two addresses that nobody listens on. They stay the same when
// the server is started again, as they do for a person.
func freeAddrs() (one, two string, err error) {
	var lns [2]net.Listener
	for i := range lns {
		if lns[i], err = net.Listen("tcp", "127.0.0.1:0"); err != nil { //nolint:noctx // a free loopback port is there at once
			return "", "", fmt.Errorf("find a free port: %w", err)
		}
		defer lns[i].Close()
	}
	return lns[0].Addr().String(), lns[1].Addr().String(), nil
}

// close ends what still runs and removes the place. It does so in any case: that
// ctx has ended does not matter.
func (s *smokeRun) close(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 8*time.Second)
	defer cancel()
	var errs []error
	if s.browser != nil {
		errs = append(errs, s.browser.close(ctx))
	}
	for _, p := range s.programs {
		p.kill()
	}
	if s.discord != nil {
		errs = append(errs, s.discord.Close())
	}
	if err := s.awaitNoProcess(ctx, s.root); err != nil {
		errs = append(errs, err) // the directory stays: somebody uses it
	} else {
		errs = append(errs, os.RemoveAll(s.root))
	}
	return "", errors.Join(errs...)
}

// printOutput prints what the programs said.
func (s *smokeRun) printOutput(out io.Writer) {
	for _, p := range s.programs {
		fmt.Fprintf(out, "---- clank %s\n%s%s", strings.Join(p.cmd.Args[1:], " "), p.stdout.text(), p.stderr.text())
	}
	fmt.Fprintln(out, "----")
}

// nothingLeft looks for what clank should have taken away.
func (s *smokeRun) nothingLeft(ctx context.Context) (string, error) {
	entries, err := os.ReadDir(s.tmp)
	if err != nil {
		return "", fmt.Errorf("look for temporary files: %w", err)
	}
	for _, e := range entries {
		err = errors.Join(err, fmt.Errorf("left in TMPDIR: %s", e.Name()))
	}
	note := ""
	if _, statErr := os.Stat("/proc"); statErr != nil {
		note = "this system has no /proc: processes were not looked for"
	}
	return note, errors.Join(err, s.awaitNoProcess(ctx, s.home))
}

// awaitNoProcess waits until the arguments of no process name dir. Children that lose
// their parent take a moment to see it.
func (s *smokeRun) awaitNoProcess(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		left, err := processes(dir)
		if err != nil || len(left) == 0 {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("left running: %s", strings.Join(left, "\n"))
		}
	}
}

// processes lists the processes whose arguments name dir. Where there is no
// /proc it knows of none.
func processes(dir string) ([]string, error) {
	entries, err := os.ReadDir("/proc")
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	var found []string
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		raw, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err != nil {
			continue // it has ended meanwhile
		}
		if args := strings.ReplaceAll(string(raw), "\x00", " "); strings.Contains(args, dir) {
			found = append(found, e.Name()+" "+args)
		}
	}
	return found, nil
}
