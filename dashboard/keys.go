package dashboard

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// loginFor is how long a browser stays signed in.
const loginFor = 30 * 24 * time.Hour

// maxCodes is how many unused one-time codes are kept, the newest.
const maxCodes = 16

// keys proves who somebody is: by the installation's token, by a one-time code
// that was printed where its owner reads, or by a cookie signed with a key made
// from the token, so that it outlives a restart.
type keys struct {
	token string
	sign  []byte

	codes *codes
}

type codes struct {
	mu     sync.Mutex
	unused []string // oldest first
}

// ReadToken reads the secret of an installation from the file that [Server.Open]
// made.
func ReadToken(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the page's token: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if len(token) < 32 {
		return "", fmt.Errorf("read the page's token: %s holds none; delete it and start again", path)
	}
	return token, nil
}

// openKeys reads the token, making it at the first start.
func openKeys(path string) (keys, error) {
	token, err := ReadToken(path)
	if errors.Is(err, fs.ErrNotExist) {
		token, err = makeToken(path)
	}
	if err != nil {
		return keys{}, err
	}
	sum := sha256.Sum256([]byte("clank page cookie\x00" + token))
	return keys{token: token, sign: sum[:], codes: new(codes)}, nil
}

// makeToken writes a new token for the owner's eyes only. It is there whole or
// not at all, also when two programs make it at once.
func makeToken(path string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("make the page's token: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".token-*") // made with mode 0600
	if err != nil {
		return "", fmt.Errorf("make the page's token: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already if it was linked away
	_, err = f.WriteString(random() + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("make the page's token: %w", err)
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("make the page's token: %w", err)
	}
	return ReadToken(path)
}

func random() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// isToken reports whether given is the token.
func (k keys) isToken(given string) bool { return same(given, k.token) }

// newCode returns a code that signs in once.
func (k keys) newCode() string {
	code := random()
	k.codes.mu.Lock()
	defer k.codes.mu.Unlock()
	k.codes.unused = append(k.codes.unused, code)
	if n := len(k.codes.unused); n > maxCodes {
		k.codes.unused = k.codes.unused[n-maxCodes:]
	}
	return code
}

// useCode reports whether given is an unused code, which it then no more is.
func (k keys) useCode(given string) bool {
	k.codes.mu.Lock()
	defer k.codes.mu.Unlock()
	found := -1
	for i, c := range k.codes.unused {
		if same(given, c) {
			found = i
		}
	}
	if found < 0 {
		return false
	}
	k.codes.unused = append(k.codes.unused[:found:found], k.codes.unused[found+1:]...)
	return true
}

// cookie returns a value that says "signed in until then".
func (k keys) cookie(until time.Time) string {
	text := strconv.FormatInt(until.Unix(), 10)
	return text + "." + k.mac(text)
}

// isCookie reports whether value is one of ours and still holds.
func (k keys) isCookie(value string, now time.Time) bool {
	text, mac, ok := strings.Cut(value, ".")
	if !ok || !same(mac, k.mac(text)) {
		return false
	}
	until, err := strconv.ParseInt(text, 10, 64)
	return err == nil && now.Unix() < until
}

func (k keys) mac(text string) string {
	m := hmac.New(sha256.New, k.sign)
	m.Write([]byte(text))
	return hex.EncodeToString(m.Sum(nil))
}

// same compares in a time that tells nothing about want.
func same(given, want string) bool {
	g, w := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(g[:], w[:]) == 1
}
