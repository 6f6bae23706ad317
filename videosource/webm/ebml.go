package webm

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
)

// Elements of EBML (RFC 8794) and Matroska (RFC 9559) by their ids.
const (
	idEBML, idVersion, idReadVersion, idMaxIDLength, idMaxSizeLength = 0x1a45dfa3, 0x4286, 0x42f7, 0x42f2, 0x42f3
	idDocType, idDocTypeVersion, idDocTypeReadVersion, idVoid        = 0x4282, 0x4287, 0x4285, 0xec

	idSegment, idSeekHead, idSeek, idSeekID, idSeekPosition    = 0x18538067, 0x114d9b74, 0x4dbb, 0x53ab, 0x53ac
	idInfo, idTimestampScale, idDuration, idDate               = 0x1549a966, 0x2ad7b1, 0x4489, 0x4461
	idMuxingApp, idWritingApp                                  = 0x4d80, 0x5741
	idTracks, idTrackEntry, idTrackNumber, idTrackUID          = 0x1654ae6b, 0xae, 0xd7, 0x73c5
	idTrackType, idLacing, idCodec, idVideo, idWidth, idHeight = 0x83, 0x9c, 0x86, 0xe0, 0xb0, 0xba
	idCluster, idTimestamp, idSimpleBlock                      = 0x1f43b675, 0xe7, 0xa3
	idCues, idCuePoint, idCueTime                              = 0x1c53bb6b, 0xbb, 0xb3
	idCueTrackPositions, idCueTrack, idCuePlace                = 0xb7, 0xf7, 0xf1

	idChapters, idEdition, idChapter, idChapterUID, idChapterStart = 0x1043a770, 0x45b9, 0xb6, 0x73c4, 0x91
	idChapterEnd, idChapterDisplay, idChapterTitle, idChapterLang  = 0x92, 0x80, 0x85, 0x437c
)

// unknownSize is the size of an element that extends to the end of its parent.
var unknownSize = []byte{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// element encodes an element.
func element(id uint32, parts ...[]byte) []byte {
	body := bytes.Join(parts, nil)
	return append(append(encodeID(id), encodeSize(uint64(len(body)))...), body...)
}

func encodeID(id uint32) []byte {
	return bytes.TrimLeft(binary.BigEndian.AppendUint32(nil, id), "\x00")
}

// encodeSize encodes a size as the shortest variable-size integer that is not all ones.
func encodeSize(n uint64) []byte {
	length := 1
	for length < 8 && n >= 1<<(7*length)-1 {
		length++
	}
	return binary.BigEndian.AppendUint64(nil, n|1<<(7*length))[8-length:]
}

func number(id uint32, n uint64) []byte {
	b := binary.BigEndian.AppendUint64(nil, n)
	return element(id, b[min(7, bits.LeadingZeros64(n)/8):])
}

func float(id uint32, f float64) []byte {
	return element(id, binary.BigEndian.AppendUint64(nil, math.Float64bits(f)))
}

func text(id uint32, s string) []byte { return element(id, []byte(s)) }

// void encodes a Void element of the given total length, 2 to 128 bytes.
func void(length int) []byte { return element(idVoid, make([]byte, length-2)) }

// readVint decodes a variable-size integer; keep keeps the length marker, as in ids. length is 0 if b is truncated.
func readVint(b []byte, keep bool) (n uint64, length int) {
	if len(b) == 0 || b[0] == 0 {
		return 0, 0
	}
	length = bits.LeadingZeros8(b[0]) + 1
	if len(b) < length {
		return 0, 0
	}
	for _, c := range b[:length] {
		n = n<<8 | uint64(c)
	}
	if !keep {
		n &^= 1 << (7 * length)
	}
	return n, length
}

// children calls visit with each element of b.
func children(b []byte, visit func(id uint32, body []byte)) {
	for len(b) > 0 {
		id, n := readVint(b, true)
		size, m := readVint(b[n:], false)
		if n == 0 || m == 0 || size > uint64(len(b[n+m:])) {
			return
		}
		visit(uint32(id), b[n+m:n+m+int(size)]) //nolint:gosec // no larger than b
		b = b[n+m+int(size):]                   //nolint:gosec // as above
	}
}

func uintOf(b []byte) (n uint64) {
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	return n
}
