package plain

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a word, a quoted text, or a break between two steps.
type token struct {
	text       string // without its quotes
	quoted     bool
	pause      bool // a comma, a semicolon or the end of a line
	start, end int  // where it stands in the instruction
}

// closers are for each opening quotation mark those that may close it, the most fitting first.
var closers = map[rune]string{
	'"': `"”`, '“': `”"“`, '„': `“”"`, '”': `”"`, '«': "»", '»': "«", '‹': "›", '›': "‹", '`': "`", '「': "」",
	'\'': "'’", '‘': "’'", '‚': "‘’'",
}

const (
	pauses  = ",;\n，、；"
	singles = "'’‘" // also used as apostrophes: they close only at the end of a word
)

var errOpenQuote = errors.New("a quotation mark is not closed")

// tokenize splits an instruction into tokens.
func tokenize(s string) ([]token, error) {
	var ts []token
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case strings.ContainsRune(pauses, r):
			ts = append(ts, token{pause: true, start: i, end: i + n})
			i += n
			continue
		case unicode.IsSpace(r):
			i += n
			continue
		}
		if marks, ok := closers[r]; ok {
			if end, width := closingQuote(s, i+n, marks); end >= 0 {
				ts = append(ts, token{text: strings.ReplaceAll(s[i+n:end], `\"`, `"`), quoted: true, start: i, end: end + width})
				i = end + width
				continue
			}
			if r == '"' || r == '“' || r == '„' || r == '«' {
				return nil, errOpenQuote
			}
		}
		end := wordEnd(s, i+n)
		ts = append(ts, token{text: s[i:end], start: i, end: end})
		i = end
	}
	return ts, nil
}

// closingQuote finds where a quoted text that begins at from is closed by one of marks; -1 if it is not.
func closingQuote(s string, from int, marks string) (at, width int) {
	for _, mark := range marks {
		for i, r := range s[from:] {
			i += from
			if r != mark || s[i-1] == '\\' {
				continue
			}
			after := i + utf8.RuneLen(r)
			next, _ := utf8.DecodeRuneInString(s[after:])
			if strings.ContainsRune(singles, mark) && (unicode.IsLetter(next) || unicode.IsDigit(next)) {
				continue
			}
			return i, utf8.RuneLen(r)
		}
	}
	return -1, 0
}

// wordEnd returns where the word that contains from ends: at a space, at a
// semicolon, or at a comma that is followed by a space.
func wordEnd(s string, from int) int {
	for i, r := range s[from:] {
		i += from
		if unicode.IsSpace(r) || strings.ContainsRune("；，、", r) {
			return i
		}
		if r != ',' && r != ';' {
			continue
		}
		next, n := utf8.DecodeRuneInString(s[i+1:])
		if _, quote := closers[next]; n == 0 || unicode.IsSpace(next) || quote || (r == ';' && unicode.IsLetter(next)) {
			return i
		}
	}
	return len(s)
}

// phrase is the tokens of one step.
type phrase []token

// word returns token i in lower case, "" if it is quoted or not there.
func (p phrase) word(i int) string {
	if i < 0 || i >= len(p) || p[i].quoted || p[i].pause {
		return ""
	}
	return strings.ToLower(p[i].text)
}

// is reports whether token i is one of the words.
func (p phrase) is(i int, words ...string) bool {
	w := p.word(i)
	return w != "" && slices.Contains(words, w)
}

// without returns the phrase without the given words.
func (p phrase) without(words ...string) phrase {
	var rest phrase
	for i := range p {
		if !p.is(i, words...) {
			rest = append(rest, p[i])
		}
	}
	return rest
}

// after returns the phrase without its first n tokens, and without the given words that then lead it.
func (p phrase) after(n int, words ...string) phrase {
	p = p[min(n, len(p)):]
	for p.is(0, words...) {
		p = p[1:]
	}
	return p
}

// last returns the position of the last of the words in the phrase, or -1.
func (p phrase) last(words ...string) int {
	for i := range slices.Backward(p) {
		if p.is(i, words...) {
			return i
		}
	}
	return -1
}

// text joins the tokens with spaces.
func (p phrase) text() string {
	parts := make([]string, len(p))
	for i, t := range p {
		parts[i] = t.text
	}
	return strings.Join(parts, " ")
}

// lower returns the text in lower case, or "" if any of it is quoted.
func (p phrase) lower() string {
	if p.quoted() {
		return ""
	}
	return strings.ToLower(p.text())
}

// quoted reports whether a token is quoted.
func (p phrase) quoted() bool {
	return slices.ContainsFunc(p, func(t token) bool { return t.quoted })
}
