package dave

import (
	"encoding/binary"
	"fmt"
	"strings"
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
