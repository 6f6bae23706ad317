package voicetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"
)

// tlsIdentity is a certificate for 127.0.0.1 that nobody else has signed.
type tlsIdentity struct {
	pem    []byte
	config *tls.Config
}

func newTLSIdentity() (*tlsIdentity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "voice server of a test"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	return &tlsIdentity{
		pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		config: &tls.Config{
			MinVersion:   tls.VersionTLS12,
			Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		},
	}, nil
}

// listener takes both TLS and plain connections.
func (i *tlsIdentity) listener(ln net.Listener) net.Listener { return &eitherListener{ln, i.config} }

type eitherListener struct {
	net.Listener
	config *tls.Config
}

func (l *eitherListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &eitherConn{Conn: c, config: l.config}, nil
}

// eitherConn decides by the first byte that comes. The server reads before it writes.
type eitherConn struct {
	net.Conn
	config *tls.Config
	once   sync.Once
	spoken net.Conn // TLS or what was there
	err    error
}

// handshake is the type of the first record of TLS.
const handshake = 22

func (c *eitherConn) decide() {
	c.once.Do(func() {
		first := make([]byte, 1)
		if _, c.err = c.Conn.Read(first); c.err != nil {
			return
		}
		c.spoken = &begunConn{Conn: c.Conn, first: first}
		if first[0] == handshake {
			c.spoken = tls.Server(c.spoken, c.config)
		}
	})
}

func (c *eitherConn) Read(p []byte) (int, error) {
	if c.decide(); c.err != nil {
		return 0, c.err
	}
	return c.spoken.Read(p)
}

func (c *eitherConn) Write(p []byte) (int, error) {
	if c.decide(); c.err != nil {
		return 0, c.err
	}
	return c.spoken.Write(p)
}

// begunConn gives back what was read to decide.
type begunConn struct {
	net.Conn
	first []byte
}

func (c *begunConn) Read(p []byte) (int, error) {
	if len(c.first) > 0 && len(p) > 0 {
		n := copy(p, c.first)
		c.first = c.first[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}
