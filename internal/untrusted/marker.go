package untrusted

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// markerLetters is the marker's name without separators. No prefix of it occurs again inside, so two of them never
// overlap.
const markerLetters = "externaluntrustedcontent"

const maxTail = 80 // runes between the name and the closing brackets of a marker

// folded is a text converted to its ASCII look-alikes, rune by rune.
type folded struct {
	runes  []rune
	from   []int // byte offset in the text from which each rune comes
	length int   // of the text, in bytes
}

// at returns the byte offset of rune i in the text; its length if there is no such rune.
func (f folded) at(i int) int {
	if i < len(f.from) {
		return f.from[i]
	}
	return f.length
}

// replaceMarkers replaces everything in s that looks like a marker, in any alphabet, width, case, punctuation or
// digits.
func replaceMarkers(s string) string {
	if !hasMarkerName(s) {
		return s
	}
	f := fold(s)
	var b strings.Builder
	last := 0
	var read nameProgress
	for i, r := range f.runes {
		if !read.next(&forward, r) {
			continue
		}
		read = 0
		from, isEnd := f.open(f.first(i))
		begin := max(f.at(from), last) // up to here belongs to the marker before
		b.WriteString(s[last:begin])
		b.WriteString(fakeMarker(isEnd))
		last = max(f.at(f.closing(i+1)), begin)
	}
	b.WriteString(s[last:])
	return b.String()
}

func fakeMarker(isEnd bool) string {
	if isEnd {
		return endFake
	}
	return startFake
}

// baseLetter returns the letter that a folded rune stands for: an ASCII letter, or the one that a digit or sign
// resembles; a space for any other letter or digit, 0 for everything else.
func baseLetter(r rune) byte {
	r = max(r, -r)
	switch {
	case r == 'i':
		return 'l' // a capital I looks like an l; the name contains no i
	case r >= 'a' && r <= 'z':
		return byte(r)
	case r >= '0' && r <= '9':
		return digitLetters[r-'0']
	case r == '|' || r == '!':
		return 'l'
	case r == '$':
		return 's'
	case r == '@':
		return 'a'
	case r < utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsDigit(r):
		return 0
	}
	return ' '
}

// nameProgress is the state of the search for the marker's name, for all readings of the text so far: bit n is set if
// its first n+1 letters were just read (the shift-and algorithm of Baeza-Yates and Gonnet).
type nameProgress uint32

const wholeName nameProgress = 1 << (len(markerLetters) - 1)

// namePlaces has, for each letter, a bit for each of its positions in the name.
type namePlaces [utf8.RuneSelf]nameProgress

var forward, backward = placesOf(markerLetters), placesOf(reversed(markerLetters))

func placesOf(name string) (t namePlaces) {
	for i := range len(name) {
		t[name[i]] |= 1 << i
	}
	return t
}

func reversed(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// next reads a rune and reports whether the name ends with it. A sign that resembles a letter is read both as that
// letter and as punctuation to be ignored.
func (d *nameProgress) next(name *namePlaces, folded rune) bool {
	c := baseLetter(folded)
	if c == 0 {
		return false
	}
	with := (*d<<1 | 1) & name[c]
	if isSign(folded) {
		with |= *d &^ wholeName
	}
	*d = with
	return with&wholeName != 0
}

// isSign reports whether a folded rune is not a letter but resembles one.
func isSign(r rune) bool { return r < 0 || r == '|' || r == '!' || r == '$' || r == '@' }

// first returns the index of the first rune of the name whose last rune is at index last.
func (f folded) first(last int) int {
	var read nameProgress
	for i := last; i >= 0; i-- {
		if read.next(&backward, f.runes[i]) {
			return i
		}
	}
	return 0
}

// hasMarkerName reports whether s contains the marker's name, without folding s.
func hasMarkerName(s string) bool {
	var read nameProgress
	var like []rune
	for _, r := range s {
		if r < utf8.RuneSelf {
			if l := asciiFolded[r]; l != 0 && read.next(&forward, l) {
				return true
			}
			continue
		}
		like = appendLike(like[:0], r)
		for _, l := range like {
			if read.next(&forward, l) {
				return true
			}
		}
	}
	return false
}

// asciiFolded maps relevant ASCII characters to lower case, and the others to 0.
var asciiFolded = func() (t [utf8.RuneSelf]rune) {
	for r := range t {
		if l := unicode.ToLower(rune(r)); baseLetter(l) != 0 {
			t[r] = l
		}
	}
	return t
}()

// digitLetters are the letters that digits are used for.
var digitLetters = [10]byte{'o', 'l', ' ', 'e', 'a', 's', ' ', 't', ' ', ' '}

// open returns the index of the first rune of a marker, including END and its brackets, whose name begins at rune
// first.
func (f folded) open(first int) (from int, isEnd bool) {
	from = first
	if end := f.before(first, "end"); end == 0 || end > 0 && !unicode.IsLetter(f.runes[end-1]) {
		from, isEnd = end, true
	}
	start := from
	for i := from - 1; i >= 0; i-- {
		switch r := f.runes[i]; {
		case r == '<' || r == '/':
			start = i
		case r != ' ' && r != '\t':
			return start, isEnd
		}
	}
	return start, isEnd
}

// before returns the index of the first rune of word if its letters end directly before rune at; otherwise -1.
func (f folded) before(at int, word string) int {
	for left := len(word); left > 0; left-- {
		for at--; at >= 0 && (baseLetter(f.runes[at]) == 0 || isSign(f.runes[at])); {
			at--
		}
		if at < 0 || baseLetter(f.runes[at]) != word[left-1] {
			return -1
		}
	}
	return at
}

// closing returns the index after the marker whose name ends before rune at: after its closing brackets if they
// follow soon on the same line.
func (f folded) closing(at int) int {
	for i := at; i < len(f.runes) && i < at+maxTail; i++ {
		switch f.runes[i] {
		case '\n', '<':
			return at
		case '>':
			end := i
			for ; i < len(f.runes); i++ {
				if r := f.runes[i]; r == '>' {
					end = i
				} else if r != ' ' && r != '\t' {
					break
				}
			}
			return end + 1
		}
	}
	return at
}
