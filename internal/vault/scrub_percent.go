package vault

import (
	"bytes"
	"encoding/hex"
	"strings"
)

// maxPercentLayers is the number of nested percent-encodings that are decoded.
const maxPercentLayers = 3

// decodedText is a text after removing percent-encoding or separators, with the position of each byte in the
// original.
type decodedText struct {
	text       []byte
	start, end []int
}

func undecodedText(t string) decodedText {
	d := decodedText{text: []byte(t), start: make([]int, len(t)), end: make([]int, len(t))}
	for i := range len(t) {
		d.start[i], d.end[i] = i, i+1
	}
	return d
}

// unescape removes one layer of percent-encoding. With plus, a plus sign is decoded as a space, as in forms.
func (d decodedText) unescape(plus bool) decodedText {
	out := decodedText{
		text: make([]byte, 0, len(d.text)), start: make([]int, 0, len(d.text)),
		end: make([]int, 0, len(d.text)),
	}
	for i := 0; i < len(d.text); i++ {
		c, last := d.text[i], i
		if c == '%' && i+2 < len(d.text) {
			var b [1]byte
			if _, err := hex.Decode(b[:], d.text[i+1:i+3]); err == nil {
				c, last = b[0], i+2
			}
		} else if c == '+' && plus {
			c = ' '
		}
		out.text, out.start, out.end = append(out.text, c), append(out.start, d.start[i]), append(out.end, d.end[last])
		i = last
	}
	return out
}

// replacePercentEncoded replaces secrets with any percent-encoding: which characters are encoded depends on the part
// of the URL and on the program.
func (k *secretReplacer) replacePercentEncoded(t string) string {
	if strings.IndexByte(t, '%') < 0 {
		return t
	}
	for _, plus := range []bool{false, true} {
		d := undecodedText(t)
		for range maxPercentLayers {
			if bytes.IndexByte(d.text, '%') < 0 && (!plus || bytes.IndexByte(d.text, '+') < 0) {
				break
			}
			d = d.unescape(plus)
			if clean, found := k.replaceDecoded(t, d, k.raw); found {
				return k.replacePercentEncoded(clean) // there may be more in another encoding
			}
		}
	}
	return t
}

// replaceDecoded replaces the encoded secrets in t that are found in d, its decoded form.
func (k *secretReplacer) replaceDecoded(t string, d decodedText, words []namedSecret) (clean string, found bool) {
	for _, v := range words {
		var b strings.Builder
		done, at := 0, 0
		for {
			i := bytes.Index(d.text[at:], []byte(v.value))
			if i < 0 {
				break
			}
			first, last := at+i, at+i+len(v.value)-1
			if t[d.start[first]:d.end[last]] == v.value {
				at = last + 1 // not encoded: it is part of a replacement
				continue
			}
			b.WriteString(t[done:d.start[first]] + "[secret " + v.name + "]")
			done, at = d.end[last], last+1
		}
		if done > 0 {
			return b.String() + t[done:], true
		}
	}
	return t, false
}
