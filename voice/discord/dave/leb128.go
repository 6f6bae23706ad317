package dave

// appendLEB appends v as unsigned LEB128.
func appendLEB(to []byte, v uint32) []byte {
	for v >= 0x80 {
		to = append(to, byte(v&0x7f)|0x80)
		v >>= 7
	}
	return append(to, byte(v&0x7f))
}

// readLEB takes an unsigned LEB128 number off data. What does not fit 32 bits is refused: nothing in a frame is larger.
func readLEB(data []byte) (v uint32, rest []byte, ok bool) {
	for i, b := range data {
		if i == 5 || i == 4 && b > 0x0f {
			return 0, nil, false
		}
		v |= uint32(b&0x7f) << (7 * i)
		if b < 0x80 {
			return v, data[i+1:], true
		}
	}
	return 0, nil, false
}
