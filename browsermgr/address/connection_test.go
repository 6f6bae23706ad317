package address_test

import (
	"net"
	"testing"
	"time"

	"clank/browsermgr/address"
	"clank/internal/test/check"
)

func TestWhatTheSystemSaysIsUnderstood(t *testing.T) {
	ln, err := address.Listen(t.Context(), "127.0.0.1:0")
	check.Must(t, err)
	at := ln.Addr().String()
	_, err = address.Listen(t.Context(), at)
	check.Fails(t, err, nil, "another program uses "+at+"; end it or choose another address")
	if !address.Taken(err) || address.Refused(err) {
		t.Errorf("a second listener got %v", err)
	}

	client, err := net.Dial("tcp", at)
	check.Must(t, err)
	server, err := ln.Accept()
	check.Must(t, err)
	check.Must(t, server.(*net.TCPConn).SetLinger(0))
	check.Must(t, server.Close())
	check.Must(t, client.SetDeadline(time.Now().Add(10*time.Second)))
	if _, err := client.Read(make([]byte, 1)); !address.Broken(err) || address.TimedOut(err) {
		t.Errorf("the other end of a reset connection got %v", err)
	}
	check.Must(t, client.Close())

	check.Must(t, ln.Close())
	if _, err := net.Dial("tcp", at); !address.Refused(err) || address.Broken(err) {
		t.Errorf("a call to nobody got %v", err)
	}
}
