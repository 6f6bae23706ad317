package client

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	defaultControlPort = 18791
	controlPortOffset  = 2 // from the gateway's port
)

// HomeDir returns the directory of clank's state, which may not exist.
func HomeDir(getenv func(string) string) (string, error) {
	dir := getenv("CLANK_HOME")
	if dir == "" {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the home directory: %w (set CLANK_HOME to a directory for clank's state)", err)
		}
		dir = filepath.Join(user, ".clank")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("open home %s: %w", dir, err)
	}
	return abs, nil
}

// Secret holds the credentials for a control server.
type Secret struct {
	Token    string // sent as a bearer token
	Password string // sent in its own header, if there is no token
	AnyHost  bool   // given for this server: send it even if the server is on another machine
}

func (s Secret) empty() bool { return s.Token == "" && s.Password == "" }

func (s Secret) attach(h http.Header) {
	switch {
	case s.Token != "":
		h.Set("Authorization", "Bearer "+s.Token)
	case s.Password != "":
		h.Set("X-Openclaw-Password", s.Password)
	}
}

// LocateHints tells Locate where to look.
type LocateHints struct {
	URL    string              // given by the user; "" for none
	Token  string              // given by the user; "" for none
	Home   string              // directory of clank's state, see [Discover]; "" for none
	Getenv func(string) string // reads environment variables
}

// Locate returns the address and the secret of the server. The address is the first of h.URL, CLANK_BROWSER_URL, the
// server announced in h.Home, and the well-known port. The secret is the first of h.Token, CLANK_BROWSER_TOKEN,
// OPENCLAW_GATEWAY_TOKEN, OPENCLAW_GATEWAY_PASSWORD, and the announced one, which is used for that server only. A token
// from the environment is sent to another machine only if CLANK_BROWSER_URL names the server. Locate does not check
// whether something listens.
func Locate(h LocateHints) (address string, secret Secret, err error) {
	fromEnv := h.Getenv("CLANK_BROWSER_URL")
	announced, err := Discover(h.Home)
	if named := h.URL != "" || fromEnv != ""; err != nil && !named && !errors.Is(err, ErrNotAnnounced) {
		return "", Secret{}, err
	}
	switch {
	case h.URL != "":
		address = h.URL
	case fromEnv != "":
		address = fromEnv
	case announced.URL != "":
		address = announced.URL
	default:
		if address, err = defaultAddress(h.Getenv); err != nil {
			return "", Secret{}, err
		}
	}
	base, err := parseURL(address)
	if err != nil {
		return "", Secret{}, err
	}
	paired := h.URL == "" && fromEnv != ""
	switch token := strings.TrimSpace(h.Getenv("CLANK_BROWSER_TOKEN")); {
	case h.Token != "":
		secret = Secret{Token: strings.TrimSpace(h.Token), AnyHost: true}
	case token != "":
		secret = Secret{Token: token, AnyHost: paired}
	default:
		secret = legacySecret(h.Getenv)
	}
	if secret.empty() && sameHost(base, announced.URL) {
		secret = Secret{Token: announced.Token}
	}
	return address, secret, nil
}

// legacySecret reads the variables used by scripts for the contract's first implementation.
func legacySecret(getenv func(string) string) Secret {
	return Secret{
		Token:    strings.TrimSpace(getenv("OPENCLAW_GATEWAY_TOKEN")),
		Password: strings.TrimSpace(getenv("OPENCLAW_GATEWAY_PASSWORD")),
	}
}

// defaultAddress returns the default address of a server.
func defaultAddress(getenv func(string) string) (string, error) {
	port := defaultControlPort
	if text := strings.TrimSpace(getenv("OPENCLAW_GATEWAY_PORT")); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 65535-controlPortOffset {
			return "", fmt.Errorf("OPENCLAW_GATEWAY_PORT is %q: set a port from 1 to %d", text, 65535-controlPortOffset)
		}
		port = n + controlPortOffset
	}
	return "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), nil
}

func sameHost(base *url.URL, address string) bool {
	other, err := parseURL(address)
	return err == nil && strings.EqualFold(base.Host, other.Host) && base.Scheme == other.Scheme
}

// parseURL parses the address of a control server.
func parseURL(address string) (*url.URL, error) {
	address = strings.TrimSpace(address)
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the server's address is not a URL; it looks like http://127.0.0.1:18791")
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return nil, fmt.Errorf("the server's address %q is not an http address; it looks like http://127.0.0.1:18791",
			u.Redacted())
	}
	u.RawQuery, u.Fragment = "", ""
	return u, nil
}
