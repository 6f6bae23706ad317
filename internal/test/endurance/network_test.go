package endurance_test

import (
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"clank/internal/test/endurance"
)

func TestDatagramsGoBothWays(t *testing.T) {
	n := endurance.NewNetwork()
	server, err := n.ListenPacket()
	if err != nil {
		t.Fatal(err)
	}
	client, err := n.Dial(t.Context(), "udp", server.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Write([]byte("ask")); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 10)
	got, from, err := server.ReadFrom(buf)
	if err != nil || string(buf[:got]) != "ask" || from.String() != client.LocalAddr().String() {
		t.Errorf("got %q from %v (%v)", buf[:got], from, err)
	}
	if _, err := server.WriteTo([]byte("answer"), from); err != nil {
		t.Fatal(err)
	}
	if got, err := client.Read(buf); err != nil || string(buf[:got]) != "answer" {
		t.Errorf("got %q (%v)", buf[:got], err)
	}
	if err := errors.Join(client.Close(), server.Close()); err != nil || n.OpenSockets() != 0 {
		t.Errorf("after closing %d ends are left (%v)", n.OpenSockets(), err)
	}
	if _, err := client.Read(buf); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a closed socket reads: %v", err)
	}
}

func TestReadingEndsAtItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := endurance.NewNetwork().ListenPacket()
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := s.SetReadDeadline(began.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.ReadFrom(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Minute {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

func TestWhatNobodyReadsIsLostAndCounted(t *testing.T) {
	n := endurance.NewNetwork()
	server, _ := n.ListenPacket() // never fails
	client, err := n.Dial(t.Context(), "udp", server.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	for range 5000 {
		if _, err := client.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := n.DroppedDatagrams(), 5000-4096; got != want {
		t.Errorf("%d datagrams were lost, want %d", got, want)
	}
}

func TestStreamsNeedSomebodyWhoListens(t *testing.T) {
	n := endurance.NewNetwork()
	l, _ := n.Listen() // never fails
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Dial(t.Context(), "tcp", l.Addr().String()); err == nil {
		t.Error("dialed a port that is closed")
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a closed listener accepts: %v", err)
	}
}
