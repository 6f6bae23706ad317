package untrusted

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// skeleton of the marker's name: what is left when only letters count. Nothing
// in it repeats its own beginning, so two of them never overlap.
const skeletonName = "externaluntrustedcontent"

const maxTail = 80 // runes between the name and the brackets that close a marker

// folded is a text brought to what it looks like, rune by rune.
type folded struct {
	runes  []rune
	from   []int // byte offset in the text of the character that each rune comes from
	length int   // of the text, in bytes
}

// at is the byte offset in the text of rune i; its length if there is none.
func (f folded) at(i int) int {
	if i < len(f.from) {
		return f.from[i]
	}
	return f.length
}

// replaceMarkers replaces what looks like a marker in s, whatever alphabet,
// width, case, punctuation or digits it is written with.
func replaceMarkers(s string) string {
	if !named(s) {
		return s
	}
	f := fold(s)
	letters, where := f.skeleton()
	var b strings.Builder
	last := 0
	for next := 0; ; {
		i := strings.Index(letters[next:], skeletonName)
		if i < 0 {
			break
		}
		first := next + i
		next = first + len(skeletonName)
		from, isEnd := f.open(letters, where, first)
		to := f.closing(where[next-1] + 1)
		if f.at(from) < last {
			from = where[first]
		}
		b.WriteString(s[last:f.at(from)])
		b.WriteString(fake(isEnd))
		last = f.at(to)
	}
	if last == 0 {
		return s
	}
	b.WriteString(s[last:])
	return b.String()
}

func fake(isEnd bool) string {
	if isEnd {
		return endFake
	}
	return startFake
}

// skeleton is the letters of f as one string of single bytes: a letter of the
// English alphabet (or a digit that resembles one) stands for itself, any other
// letter or digit for a space, all else is left out. where[i] is the rune of f
// that byte i stands for.
func (f folded) skeleton() (letters string, where []int) {
	var b strings.Builder
	b.Grow(len(f.runes))
	where = make([]int, 0, len(f.runes))
	for i, r := range f.runes {
		if c := bone(r); c != 0 {
			b.WriteByte(c)
			where = append(where, i)
		}
	}
	return b.String(), where
}

// bone is the byte of a skeleton that a folded rune stands for; 0 if none.
func bone(r rune) byte {
	switch {
	case r == 'i':
		return 'l' // a capital I is an l to the eye; the name has no i of its own
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

// named reports whether the skeleton of s holds the marker's name, without
// making it.
func named(s string) bool {
	state := 0
	step := func(c byte) bool {
		for state > 0 && skeletonName[state] != c {
			state = borders[state-1]
		}
		if skeletonName[state] == c {
			state++
		}
		return state == len(skeletonName)
	}
	var like []rune
	for _, r := range s {
		if r < utf8.RuneSelf {
			if c := asciiBones[r]; c != 0 && step(c) {
				return true
			}
			continue
		}
		like = appendLike(like[:0], r)
		for _, l := range like {
			if c := bone(l); c != 0 && step(c) {
				return true
			}
		}
	}
	return false
}

// asciiBones is [bone] of each ASCII character in lower case.
var asciiBones = func() (t [utf8.RuneSelf]byte) {
	for r := range t {
		t[r] = bone(unicode.ToLower(rune(r)))
	}
	return t
}()

// borders are how much of the marker's name is still matched after its first
// letters, one more each, were not followed by the next (Knuth, Morris, Pratt).
var borders = func() []int {
	t := make([]int, len(skeletonName))
	for i, k := 1, 0; i < len(skeletonName); i++ {
		for k > 0 && skeletonName[k] != skeletonName[i] {
			k = t[k-1]
		}
		if skeletonName[k] == skeletonName[i] {
			k++
		}
		t[i] = k
	}
	return t
}()

// digitLetters are the letters that digits are written for.
var digitLetters = [10]byte{'o', 'l', ' ', 'e', 'a', 's', ' ', 't', ' ', ' '}

// open returns the rune of f where the marker whose name begins at letter first
// starts: before its END and its brackets.
func (f folded) open(letters string, where []int, first int) (from int, isEnd bool) {
	from = where[first]
	if strings.HasSuffix(letters[:first], "end") {
		end := where[first-3]
		if end == 0 || !unicode.IsLetter(f.runes[end-1]) {
			from, isEnd = end, true
		}
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

// closing returns the rune of f after the marker whose name ends before rune
// at: behind its brackets, if they come soon, on the same line.
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
