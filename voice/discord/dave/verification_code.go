package dave

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/scrypt"
)

// displayCode makes digits of data as Discord shows them: each five bytes, as a number modulo 100000. Groups stand apart.
func displayCode(data []byte, groups int) string {
	const size = 5
	if len(data) < groups*size {
		return ""
	}
	shown := make([]string, groups)
	for i := range shown {
		var wide [8]byte
		copy(wide[8-size:], data[i*size:])
		shown[i] = fmt.Sprintf("%05d", binary.BigEndian.Uint64(wide[:])%100000)
	}
	return strings.Join(shown, " ")
}

// fingerprintSalt is the protocol's, the same for everybody.
var fingerprintSalt = []byte{0x24, 0xca, 0xb1, 0x7a, 0x7a, 0xf8, 0xec, 0x2b, 0x82, 0xb4, 0x12, 0xb9, 0x2d, 0xab, 0x19, 0x2e}

// fingerprint returns what two people have in common: the same 64 bytes on both sides if each has the other's
// true key. It takes tens of milliseconds on purpose.
func fingerprint(user uint64, key []byte, other uint64, otherKey []byte) ([]byte, error) {
	pair := [][]byte{identityBytes(user, key), identityBytes(other, otherKey)}
	slices.SortFunc(pair, bytes.Compare)
	return scrypt.Key(slices.Concat(pair...), fingerprintSalt, 16384, 8, 2, 64)
}

func identityBytes(user uint64, key []byte) []byte {
	const version = 0
	b := binary.BigEndian.AppendUint16(nil, version)
	b = append(b, key...)
	return binary.BigEndian.AppendUint64(b, user)
}
