package egress_test

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/egress"
	"clank/internal/test/check"

	"golang.org/x/sys/unix"
)

// asNobody runs do on a thread whose sockets belong to the user nobody.
func asNobody(t *testing.T, do func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can be another account")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never again unlocked: the thread ends with the goroutine
		if _, err := unix.SetfsuidRetUid(65534); err != nil {
			t.Error(err)
			return
		}
		do()
	}()
	<-done
}

func TestOtherAccountsGetNothingThroughTheProxy(t *testing.T) {
	var log bytes.Buffer
	f := open(t, func(p *egress.Proxy) { p.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	reached := false
	s := site(t, func(w http.ResponseWriter, _ *http.Request) {
		reached = true
		_, _ = io.WriteString(w, "inside")
	})
	address := strings.TrimPrefix(s.URL, "http://")
	requests := map[string]string{
		"a request": "GET " + s.URL + "/ HTTP/1.1\r\nHost: " + address + "\r\nConnection: close\r\n\r\n",
		"a tunnel":  "CONNECT " + address + " HTTP/1.1\r\nHost: " + address + "\r\nConnection: close\r\n\r\n",
	}
	for name, request := range requests {
		// A socket that is gone must not pass for one of root, and neither for one of ours.
		for _, leaves := range []bool{false, true} {
			asNobody(t, func() {
				conn, err := net.Dial("tcp", f.proxy.Host)
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				if err := conn.SetDeadline(time.Now().Add(testTimeout)); err != nil {
					t.Error(err)
				}
				if _, err := io.WriteString(conn, request); err != nil {
					t.Error(err)
				}
				if leaves {
					return
				}
				answer, err := io.ReadAll(conn)
				refused := bytes.Contains(answer, []byte("403 Forbidden"))
				if err != nil || !refused || bytes.Contains(answer, []byte("inside")) {
					t.Errorf("%s of another account: %v\n%s", name, err, answer)
				}
			})
		}
	}
	check.Must(t, f.Close(t.Context())) // all requests have ended then
	if reached {
		t.Error("another account reached a page's server")
	}
	if got := strings.Count(log.String(), "rule=peer"); got != 1 {
		t.Errorf("it was logged %d times:\n%s", got, log.String())
	}
}

func TestSocketsAreFoundByBothWays(t *testing.T) {
	f := open(t, nil)
	conn := f.dial(t)
	local, remote := conn.LocalAddr().(*net.TCPAddr).AddrPort(), conn.RemoteAddr().(*net.TCPAddr).AddrPort()
	uid, inode, err := egress.AskSocket(local, remote)
	check.Must(t, err)
	again, same, err := egress.FindSocket(local, remote)
	check.Must(t, err)
	if int(uid) != os.Geteuid() || uid != again || inode == 0 || inode != same {
		t.Errorf("asked: account %d, inode %d; found: account %d, inode %d", uid, inode, again, same)
	}
}

func BenchmarkPeerUser(b *testing.B) {
	f := open(b, nil)
	conn, err := net.Dial("tcp", f.proxy.Host)
	check.Must(b, err)
	defer conn.Close()
	local, remote := conn.LocalAddr().(*net.TCPAddr).AddrPort(), conn.RemoteAddr().(*net.TCPAddr).AddrPort()
	for b.Loop() {
		if _, err := egress.PeerUser(local, remote); err != nil {
			b.Fatal(err)
		}
	}
}
