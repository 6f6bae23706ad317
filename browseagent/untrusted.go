package browseagent

import (
	"crypto/rand"
	"encoding/hex"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// What a page says is put between two markers whose id the page cannot guess,
// and everything in it that looks like a marker is replaced, so that no page can
// pretend its text has ended and the operator speaks.
const (
	markerName  = "EXTERNAL_UNTRUSTED_CONTENT"
	startFake   = "[[MARKER_SANITIZED]]"
	endFake     = "[[END_MARKER_SANITIZED]]"
	boundarySrc = "Source: Browser"
)

// untrusted returns content between fresh markers.
func untrusted(content string) string {
	var raw [8]byte
	_, _ = rand.Read(raw[:]) // never fails, see crypto/rand
	return enclose(content, hex.EncodeToString(raw[:]))
}

// enclose returns content between the markers with this id.
func enclose(content, id string) string {
	var b strings.Builder
	b.WriteString("<<<" + markerName + ` id="` + id + "\">>>\n" + boundarySrc + "\n---\n")
	b.WriteString(strings.TrimRight(replaceMarkers(strings.ToValidUTF8(content, "\ufffd")), "\n"))
	b.WriteString("\n<<<END_" + markerName + ` id="` + id + `">>>`)
	return b.String()
}

// fakeMarker matches what a reader could take for a marker, in folded text.
var fakeMarker = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:<[\s<]*)?(/?\s*end[\s_-]*)?external[\s_-]*untrusted[\s_-]*content(?:[^<>\n]{0,80}>[\s>]*)?`)
})

// replaceMarkers replaces what looks like a marker in s.
func replaceMarkers(s string) string {
	folded, origin := fold(s)
	hits := fakeMarker().FindAllStringSubmatchIndex(folded, -1)
	if hits == nil {
		return s
	}
	var b strings.Builder
	last := 0
	for _, h := range hits {
		from, to := origin[h[0]], origin[h[1]]
		b.WriteString(s[last:from])
		if h[2] >= 0 {
			b.WriteString(endFake)
		} else {
			b.WriteString(startFake)
		}
		if strings.HasSuffix(folded[h[0]:h[1]], "\n") {
			b.WriteByte('\n')
		}
		last = to
	}
	b.WriteString(s[last:])
	return b.String()
}

// fold brings s to lower-case ASCII as far as letters and brackets look like it,
// and drops what cannot be seen. origin[i] is where in s the byte i of folded
// comes from; it has one element more than folded has bytes.
func fold(s string) (folded string, origin []int) {
	var b strings.Builder
	b.Grow(len(s))
	origin = make([]int, 0, len(s)+1)
	for i, r := range s {
		for _, c := range foldRune(r) {
			n, _ := b.WriteRune(c)
			for range n {
				origin = append(origin, i)
			}
		}
	}
	return b.String(), append(origin, len(s))
}

// foldRune returns what r looks like; nothing if it cannot be seen.
func foldRune(r rune) string {
	if r < utf8.RuneSelf {
		return string(unicode.ToLower(r))
	}
	if c, ok := lookAlikes[r]; ok {
		return string(c)
	}
	var b strings.Builder
	for _, c := range norm.NFKD.String(string(r)) {
		if d, ok := lookAlikes[c]; ok {
			c = d
		}
		if c != 0 && !unicode.In(c, unicode.Mn, unicode.Me, unicode.Cf) {
			b.WriteRune(unicode.ToLower(c))
		}
	}
	return b.String()
}

// lookAlikes are characters that compatibility decomposition leaves alone and
// people (and models) read as the ASCII character beside them; 0 is invisible.
var lookAlikes = map[rune]rune{
	// Angle brackets, quotes, arrows and comparison signs.
	'\u2039': '<', '\u00ab': '<', '\u2329': '<', '\u3008': '<', '\u27e8': '<', '\u300a': '<', '\u27ea': '<', '\u276e': '<',
	'\u276c': '<', '\u2770': '<', '\u02c2': '<', '\u1438': '<', '\u169c': '<', '\u29fc': '<', '\u227a': '<', '\u22d6': '<',
	'\u226a': '<', '\u22d8': '<', '\u2991': '<', '\u2993': '<', '\u2aa1': '<',
	'\u203a': '>', '\u00bb': '>', '\u232a': '>', '\u3009': '>', '\u27e9': '>', '\u300b': '>', '\u27eb': '>', '\u276f': '>',
	'\u276d': '>', '\u2771': '>', '\u02c3': '>', '\u1433': '>', '\u169b': '>', '\u29fd': '>', '\u227b': '>', '\u22d7': '>',
	'\u226b': '>', '\u22d9': '>', '\u2992': '>', '\u2994': '>', '\u2aa2': '>',
	// Fillers that take space and show nothing.
	'\u115f': 0, '\u1160': 0, '\u3164': 0, '\uffa0': 0, '\u2800': 0,
	// Lines.
	'\u2017': '_', '\u02cd': '_', '\u2010': '-', '\u2011': '-', '\u2012': '-', '\u2013': '-', '\u2014': '-',
	// Cyrillic, Greek and Armenian letters, small and capital.
	'а': 'a', 'А': 'a', 'α': 'a', 'Α': 'a', 'е': 'e', 'Е': 'e', 'ε': 'e', 'Ε': 'e', 'х': 'x', 'Х': 'x', 'χ': 'x', 'Χ': 'x',
	'т': 't', 'Т': 't', 'τ': 't', 'Τ': 't', 'г': 'r', 'п': 'n', 'Ν': 'n', 'ո': 'n', 'ӏ': 'l', 'Ӏ': 'l',
	'υ': 'u', 'ս': 'u', 'Ս': 'u', 'ѕ': 's', 'Ѕ': 's', 'ԁ': 'd', 'с': 'c', 'С': 'c', 'ϲ': 'c', 'Ϲ': 'c',
	'о': 'o', 'О': 'o', 'ο': 'o', 'Ο': 'o', 'і': 'i', 'І': 'i', 'ι': 'i', 'Ι': 'i', 'ı': 'i',
}
