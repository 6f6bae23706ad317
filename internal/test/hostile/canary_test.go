package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// freeAddr returns an address of loopback on which nothing listens.
func freeAddr(t *testing.T) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return netip.MustParseAddrPort(l.Addr().String())
}

func newTestCanaries(t *testing.T) *CanaryListeners {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	a := &CanaryListeners{HitLog: &HitLog{}, Certificate: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}}
	t.Cleanup(a.Close)
	return a
}

func awaitHit(t *testing.T, b *HitLog, id, via string) {
	t.Helper()
	select {
	case <-b.FirstHit(id):
	case <-time.After(20 * time.Second):
		t.Fatalf("nothing of case %s was noted", id)
	}
	if got := b.Hits(id)[0].Via; got != via {
		t.Errorf("case %s came via %q, want %q", id, got, via)
	}
}

func TestConnectionAloneIsAHit(t *testing.T) {
	a, at := newTestCanaries(t), freeAddr(t)
	if err := a.ListenForCase(t.Context(), "b001", at); err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	awaitHit(t, a.HitLog, "b001", "tcp")
	if got := a.HitLog.Hits("b002"); len(got) != 0 {
		t.Errorf("another case has hits: %v", got)
	}
}

func TestDatagramIsAHit(t *testing.T) {
	a, at := newTestCanaries(t), freeAddr(t)
	if err := a.ListenForCase(t.Context(), "b001", at); err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("udp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	awaitHit(t, a.HitLog, "b001", "udp")
}

func TestSharedListenerTellsCasesApartInClearAndOverTLS(t *testing.T) {
	a, at := newTestCanaries(t), freeAddr(t)
	err := a.ListenForCases(t.Context(), at, func(path string) (string, bool) { return strings.CutPrefix(path, "/x/") })
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for id, scheme := range map[string]string{"b001": "http", "b002": "https"} {
		answer, err := client.Get(fmt.Sprintf("%s://%s/x/%s", scheme, at, id))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		if err != nil || !strings.Contains(string(body), "canary") {
			t.Errorf("%s answered %q, %v", scheme, body, err)
		}
		_ = answer.Body.Close()
		awaitHit(t, a.HitLog, id, "http")
	}
	client.CloseIdleConnections()
}

func TestGarbageAndSilenceDoNotKeepTheCanaryFromClosing(t *testing.T) {
	a, at := newTestCanaries(t), freeAddr(t)
	if err := a.ListenForCase(t.Context(), "b001", at); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "\x16\x03\x01garbage", "GET\r\n\r\n", strings.Repeat("a", 1<<16)} {
		conn, err := net.Dial("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, text)
	}
	done := make(chan struct{})
	go func() { a.Close(); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("it does not close")
	}
	if err := a.ListenForCase(context.Background(), "b002", at); err == nil {
		t.Error("a canary can be put up when the range is over")
	}
}
