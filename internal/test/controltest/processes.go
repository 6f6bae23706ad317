package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// foreignProcess listens on a port, accepts, and says nothing.
func foreignProcess(ctx context.Context, addr string) (net.Listener, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	go func() {
		var held []net.Conn
		for {
			conn, err := ln.Accept()
			if err != nil {
				for _, c := range held {
					_ = c.Close()
				}
				return
			}
			held = append(held, conn)
		}
	}()
	return ln, nil
}

func silentEndpoint(ctx context.Context, s *controlSuite) error {
	ln, err := foreignProcess(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer ln.Close()
	if err := s.Call(ctx, "POST", "/profiles/create", map[string]any{"name": "silent", "cdpUrl": "ws://" + ln.Addr().String()}, nil); err != nil {
		return err
	}
	begin := time.Now()
	if err := (requestCase{Path: "/?profile=silent", Contains: []string{`"running":false`}}).Run(ctx, s); err != nil {
		return err
	}
	if took := time.Since(begin); took > 5*time.Second {
		return fmt.Errorf("the status took %v", took)
	}
	if err := (requestCase{Path: "/?profile=clank"}).Run(ctx, s); err != nil {
		return err
	}
	return s.Call(ctx, "DELETE", "/profiles/silent", nil, nil)
}

func occupiedPort(ctx context.Context, s *controlSuite) error {
	var made struct{ CDPPort int }
	if err := s.Call(ctx, "POST", "/profiles/create", map[string]any{"name": "crowded"}, &made); err != nil {
		return err
	}
	ln, err := foreignProcess(ctx, "127.0.0.1:"+strconv.Itoa(made.CDPPort))
	if err != nil {
		return err
	}
	defer ln.Close()
	a, err := s.Request(ctx, "POST", "/start?profile=crowded", nil)
	if err != nil {
		return err
	}
	if a.Status == http.StatusOK {
		return errors.New("it started on a port that is taken")
	}
	var told struct{ Error string }
	if err := a.Into(&told); err != nil {
		return err
	}
	for _, want := range []string{strconv.Itoa(made.CDPPort), "in use", strconv.Itoa(os.Getpid())} {
		if !strings.Contains(told.Error, want) {
			return fmt.Errorf("%d %q does not say %q", a.Status, told.Error, want)
		}
	}
	if err := wantEqualJSON("status", a.Status, http.StatusConflict); err != nil {
		return err
	}
	_ = ln.Close()
	if err := s.Call(ctx, "POST", "/start?profile=crowded", nil, nil); err != nil {
		return fmt.Errorf("after the port was free again: %w", err)
	}
	return s.Call(ctx, "DELETE", "/profiles/crowded", nil, nil)
}

func staleLock(ctx context.Context, s *controlSuite) error {
	if err := s.Call(ctx, "POST", "/stop", nil, nil); err != nil {
		return err
	}
	lock := filepath.Join(s.Home, "browser", "clank", "user-data", "SingletonLock")
	_ = os.Remove(lock)
	if err := os.Symlink("another-host-999999", lock); err != nil {
		return err
	}
	return s.Call(ctx, "POST", "/start", nil, nil)
}

func orphanedBrowser(ctx context.Context, s *controlSuite) error {
	status := func() (pid int, err error) {
		var got struct{ PID *int }
		if err := s.Call(ctx, "GET", "/", nil, &got); err != nil || got.PID == nil {
			return 0, errors.Join(err, errors.New("no process is told"))
		}
		return *got.PID, nil
	}
	if err := s.openPage(ctx, "/plain"); err != nil {
		return err
	}
	first, err := status()
	if err != nil {
		return err
	}
	s.Kill()
	gone := func() (bool, error) { return errors.Is(syscall.Kill(first, 0), syscall.ESRCH), nil }
	if err := s.waitUntil(ctx, "the browser of the dead server to end", gone); err != nil {
		return err
	}
	if err := s.Restart(ctx); err != nil {
		return err
	}
	return s.openPage(ctx, "/plain")
}
