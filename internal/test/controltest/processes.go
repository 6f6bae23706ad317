package controltest

import (
	"errors"
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
func foreignProcess(s *suite, addr string) net.Listener {
	s.Helper()
	ln, err := new(net.ListenConfig).Listen(s.ctx(), "tcp", addr)
	s.check(err)
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
	return ln
}

func silentEndpoint(s *suite) {
	ln := foreignProcess(s, "127.0.0.1:0")
	defer ln.Close()
	s.call("POST", "/profiles/create", m{"name": "silent", "cdpUrl": "ws://" + ln.Addr().String()}, nil)
	begin := time.Now()
	s.send(requestCase{Path: "/?profile=silent", Contains: []string{`"running":false`}})
	s.wantWithin(5*time.Second, begin)
	s.send(requestCase{Path: "/?profile=clank"})
	s.call("DELETE", "/profiles/silent", nil, nil)
}

func occupiedPort(s *suite) {
	var made struct{ CDPPort int }
	s.call("POST", "/profiles/create", m{"name": "crowded"}, &made)
	ln := foreignProcess(s, "127.0.0.1:"+strconv.Itoa(made.CDPPort))
	defer ln.Close()
	a := s.request("POST", "/start?profile=crowded", nil)
	if a.Status == http.StatusOK {
		s.Fatal("it started on a port that is taken")
	}
	var told struct{ Error string }
	s.check(a.Into(&told))
	for _, want := range []string{strconv.Itoa(made.CDPPort), "in use", strconv.Itoa(os.Getpid())} {
		if !strings.Contains(told.Error, want) {
			s.Fatalf("%d %q does not say %q", a.Status, told.Error, want)
		}
	}
	s.wantEqual("status", a.Status, http.StatusConflict)
	_ = ln.Close()
	s.call("POST", "/start?profile=crowded", nil, nil)
	s.call("DELETE", "/profiles/crowded", nil, nil)
}

func staleLock(s *suite) {
	s.call("POST", "/stop", nil, nil)
	lock := filepath.Join(s.Home, "browser", "clank", "user-data", "SingletonLock")
	_ = os.Remove(lock)
	s.check(os.Symlink("another-host-999999", lock))
	s.call("POST", "/start", nil, nil)
}

func orphanedBrowser(s *suite) {
	var first struct{ PID int }
	s.openPage("/plain")
	s.call("GET", "/", nil, &first)
	if first.PID == 0 {
		s.Fatal("no process is told")
	}
	s.Kill()
	s.waitUntil("the browser of the dead server to end", func() bool { return errors.Is(syscall.Kill(first.PID, 0), syscall.ESRCH) })
	s.check(s.Restart(s.ctx()))
	s.openPage("/plain")
}
