package dave_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
)

// h264Frame returns a frame in Annex B with parameter sets and slices, as an encoder makes them; the insides are noise that has no start codes.
func h264Frame(seed int) []byte {
	r := rand.New(rand.NewPCG(uint64(seed), 1))
	unit := func(kind byte, size int) []byte {
		b := make([]byte, size)
		for i := range b {
			b[i] = byte(r.IntN(256))
		}
		payload := bytes.ReplaceAll(b, []byte{0, 0}, []byte{0, 0, 3})
		payload = append([]byte{0, 0, 0, 1, kind, 0x88, 0x84}, payload...)
		return append(payload, 0x80)
	}
	return slices.Concat(unit(0x67, 12), unit(0x68, 4), unit(0x65, 200+r.IntN(400)), unit(0x65, 50))
}
