package discordtest

import (
	"bytes"
	"compress/zlib"
)

// zlibPack makes one complete zlib stream of a payload (payload compression).
// Writing to a buffer cannot fail.
func zlibPack(p []byte) []byte {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	_, _ = z.Write(p)
	_ = z.Close()
	return out.Bytes()
}

// zlibStream is one stream for the whole connection, flushed after each payload
// (transport compression, compress=zlib-stream).
type zlibStream struct {
	out bytes.Buffer
	z   *zlib.Writer
}

func newZlibStream() *zlibStream {
	s := &zlibStream{}
	s.z = zlib.NewWriter(&s.out)
	return s
}

// pack returns the bytes that carry the payload, ending in 00 00 ff ff. Writing
// to a buffer cannot fail.
func (s *zlibStream) pack(p []byte) []byte {
	s.out.Reset()
	_, _ = s.z.Write(p)
	_ = s.z.Flush()
	return bytes.Clone(s.out.Bytes())
}
