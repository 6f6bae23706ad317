package vault

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // required by RFC 6238; nearly all sites use it
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// totp generates time-based one-time codes (RFC 6238).
type totp struct {
	key    []byte
	hash   func() hash.Hash
	digits int
	period int64 // seconds
}

// parseTOTP parses an otpauth:// URI (the key URI format of authenticator apps) or a bare base32 secret. No error
// contains the secret.
func parseTOTP(text string) (totp, error) {
	t := totp{hash: sha1.New, digits: 6, period: 30}
	text = strings.TrimSpace(text)
	secret := text
	if strings.Contains(text, "://") {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "otpauth" {
			return t, errors.New("the one-time code must be an otpauth:// address or a secret in base32")
		}
		if u.Host != "totp" {
			return t, errors.New("only one-time codes that go by the time are known (otpauth://totp/…)")
		}
		q := u.Query()
		secret = q.Get("secret")
		if err := t.options(q); err != nil {
			return t, err
		}
	}
	secret = strings.ToUpper(strings.TrimRight(strings.NewReplacer(" ", "", "-", "").Replace(secret), "="))
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	if err != nil || len(key) < 5 {
		return t, errors.New("the secret of the one-time code is not base32 of at least 8 characters")
	}
	t.key = key
	return t, nil
}

// options parses the parameters of an otpauth:// URI other than the secret.
func (t *totp) options(q url.Values) error {
	switch strings.ToUpper(q.Get("algorithm")) {
	case "", "SHA1":
	case "SHA256":
		t.hash = sha256.New
	case "SHA512":
		t.hash = sha512.New
	default:
		return errors.New("the one-time code has an unknown algorithm (known: SHA1, SHA256, SHA512)")
	}
	if s := q.Get("digits"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 6 || n > 8 {
			return errors.New("a one-time code has 6 to 8 digits")
		}
		t.digits = n
	}
	if s := q.Get("period"); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 5 || n > 300 {
			return errors.New("the period of a one-time code is 5 to 300 seconds")
		}
		t.period = n
	}
	return nil
}

// code returns the code that is valid at a time (RFC 4226, section 5.3).
func (t totp) code(at time.Time) string {
	var counter [8]byte
	binary.BigEndian.PutUint64(counter[:], uint64(at.Unix()/t.period)) //nolint:gosec // times before 1970 do not occur
	mac := hmac.New(t.hash, t.key)
	mac.Write(counter[:])
	sum := mac.Sum(nil)
	offset := sum[len(sum)-1] & 0xf
	number := binary.BigEndian.Uint32(sum[offset:]) & 0x7fffffff
	modulo := uint32(1)
	for range t.digits {
		modulo *= 10
	}
	return fmt.Sprintf("%0*d", t.digits, number%modulo)
}
