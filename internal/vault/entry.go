package vault

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// MinSecretLength is the minimum length of a secret in characters: a shorter one could not be distinguished from
// other text.
const MinSecretLength = 4

// maxFieldBytes is the maximum length of a user name or secret in bytes.
const maxFieldBytes = 4096

// Entry is the part of a login that is not secret.
type Entry struct {
	Name        string   `json:"name"`
	Origins     []string `json:"origins"` // in the form of [ParseOrigin]
	Username    string   `json:"username"`
	HasPassword bool     `json:"hasPassword"`
	HasTOTP     bool     `json:"hasTOTP"`
	Digits      int      `json:"digits,omitempty"` // of its one-time codes
	// Users and Roles are the ids of those who may use it besides the operator.
	Users []string `json:"users,omitempty"`
	Roles []string `json:"roles,omitempty"`
}

// Allows reports whether a person other than the operator may use the entry, by user id or by one of the roles.
func (e Entry) Allows(user string, roles []string) bool {
	return user != "" && slices.Contains(e.Users, user) ||
		slices.ContainsFunc(roles, func(r string) bool { return slices.Contains(e.Roles, r) })
}

// NewEntry is an entry to store.
type NewEntry struct {
	Name         string
	Origins      []string // as entered by people
	Username     string
	Password     string // may be empty if TOTP is set
	TOTP         string // otpauth:// URI or base32 secret; "" for none
	Users, Roles []string
}

// Errors that callers distinguish. Errors of this package wrap them.
var (
	// ErrInvalidEntry means that an entry cannot be stored as given.
	ErrInvalidEntry = errors.New("the entry is not complete")
	// ErrNotFound means that there is no entry of that name.
	ErrNotFound = errors.New("there is no such entry in the vault")
	// ErrWrongOrigin means that an entry is not for this origin.
	ErrWrongOrigin = errors.New("the entry is not for this page")
	// ErrNoKey means that the vault has entries but its key is missing.
	ErrNoKey = errors.New("the key of the vault is not there")
	// ErrWrongKey means that the configured key belongs to another vault.
	ErrWrongKey = errors.New("this is not the key of the vault")
	// ErrDamaged means that the file is not as it was written. It is never overwritten then.
	ErrDamaged = errors.New("the vault's file is damaged")
)

var nameShape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })

// check validates the entry and normalizes it for storage.
func (n *NewEntry) check() error {
	if !nameShape().MatchString(n.Name) {
		return fmt.Errorf("%w: name %q: use letters, digits, dot, dash and underscore, 64 at most", ErrInvalidEntry, n.Name)
	}
	if len(n.Origins) == 0 {
		return fmt.Errorf("%w: it needs an origin, such as https://shop.example", ErrInvalidEntry)
	}
	for i, o := range n.Origins {
		origin, err := ParseOrigin(o)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrInvalidEntry, err)
		}
		n.Origins[i] = origin
	}
	slices.Sort(n.Origins)
	n.Origins = slices.Compact(n.Origins)
	if n.Password == "" && n.TOTP == "" {
		return fmt.Errorf("%w: it holds neither a password nor a one-time code", ErrInvalidEntry)
	}
	if n.Password != "" {
		if err := checkSecret(n.Password); err != nil {
			return err
		}
	}
	if n.TOTP != "" {
		if _, err := parseTOTP(n.TOTP); err != nil {
			return fmt.Errorf("%w: %w", ErrInvalidEntry, err)
		}
	}
	if len(n.Username) > maxFieldBytes || !utf8.ValidString(n.Username) || strings.ContainsAny(n.Username, "\r\n\x00") {
		return fmt.Errorf("%w: the user name must be one line of at most %d bytes", ErrInvalidEntry, maxFieldBytes)
	}
	return nil
}

func checkSecret(s string) error {
	switch {
	case utf8.RuneCountInString(s) < MinSecretLength:
		return fmt.Errorf("%w: a password of fewer than %d characters cannot be kept out of texts", ErrInvalidEntry,
			MinSecretLength)
	case len(s) > maxFieldBytes || !utf8.ValidString(s) || strings.ContainsAny(s, "\r\n\x00"):
		return fmt.Errorf("%w: the password must be one line of at most %d bytes", ErrInvalidEntry, maxFieldBytes)
	}
	return nil
}
