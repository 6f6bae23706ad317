package sessions

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
)

// idLetters are the letters and digits of ids: none that look alike, and no vowels, so that no id is a word.
const idLetters = "bcdfghjkmnpqrstvwxz23456789"

const (
	sessionIDLen = 6
	taskIDLen    = 10
)

// newID returns an id of n letters for which taken does not find anything.
func newID(ctx context.Context, n int, taken func(context.Context, string) error) (string, error) {
	for range 20 {
		id := RandomID(n)
		switch err := taken(ctx, id); {
		case errors.Is(err, ErrNotFound):
			return id, nil
		case err != nil:
			return "", fmt.Errorf("choose an id: %w", err)
		}
	}
	return "", errors.New("choose an id: twenty in a row were taken")
}

// RandomID returns n random letters and digits.
func RandomID(n int) string {
	id := make([]byte, 0, n)
	var b [1]byte
	for len(id) < n {
		rand.Read(b[:]) // never fails
		// Bytes beyond the last whole multiple would favour the first letters.
		if int(b[0]) < 256-256%len(idLetters) {
			id = append(id, idLetters[int(b[0])%len(idLetters)])
		}
	}
	return string(id)
}
