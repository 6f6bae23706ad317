package words

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxSpoken   = 700 // characters of an answer that are said; the rest is to be read
	maxSentence = 240 // bytes; what is longer is cut at a comma or a space
	longestOpen = 600 // bytes of a sentence in which the end of a link or of code is waited for
)

// Reader cuts an answer that is being written into sentences that can be said, each as soon as it is whole. In which pieces the answer
// comes changes nothing. What can only be read (links, code, tables, data) is left out, and so are the thoughts and calls of
// tools that some models write into their answers. The zero value is ready.
type Reader struct {
	rest   string // is not settled yet
	middle bool   // of a line, where no list, table or heading begins
	skips  skip   // what rest begins inside of; nil: nothing
	said   int    // characters of the sentences so far
	over   bool   // no more of it is said
	more   bool
	hid    bool // thoughts or calls
}

// Write takes the next piece and returns the sentences that are whole with it.
func (r *Reader) Write(piece string) []string {
	r.rest += piece
	return r.read(false)
}

// Drop forgets a sentence that is not whole, because the answer breaks off.
func (r *Reader) Drop() { r.rest, r.skips, r.middle = "", nil, false }

// More reports whether there is something in the answer so far that can only be read.
func (r *Reader) More() bool { return r.more || r.over }

// End returns what is left to be said, as nothing more is written. more is set if there is something else to be read; where there is
// anything, that it is in the chat is said last.
func (r *Reader) End(more bool) []string {
	out := r.read(true)
	r.more = r.more || more || r.hid && r.said == 0
	switch {
	case r.over:
		return append(out, RestChat)
	case r.more:
		return append(out, InChat)
	}
	return out
}

// Spoken is the part of an answer that can be said, sentence by sentence. more is set if there is something that can only
// be read: a link, code, a table, or what is too long to be listened to.
func Spoken(answer string) (sentences []string, more bool) {
	var r Reader
	sentences = r.Write(answer)
	sentences = append(sentences, r.End(false)...)
	return sentences, r.More()
}

// read takes from the rest what is settled.
func (r *Reader) read(ended bool) (out []string) {
	for r.rest != "" {
		n, sayable := r.next(ended)
		if n == 0 {
			return out
		}
		if sayable {
			out = r.say(out, r.rest[:n])
		}
		r.rest = r.rest[n:]
	}
	return out
}

// say adds a sentence to those that are to be said.
func (r *Reader) say(out []string, raw string) []string {
	text, link := clean(raw, !r.middle)
	r.more, r.middle = r.more || link, true
	if r.over || !Any(text) {
		return out
	}
	length := utf8.RuneCountInString(text)
	if r.over = r.said > 0 && r.said+length > maxSpoken; r.over {
		return out
	}
	r.said += length
	return append(out, text)
}

// next is the length of what comes next in the rest, and whether it can be said; zero if that cannot be known yet.
func (r *Reader) next(ended bool) (n int, sayable bool) {
	if r.skips != nil {
		n, over := r.skips.pass(r.rest, ended)
		if !over {
			return n, false
		}
		if r.skips = nil; n > 0 {
			return n, false
		}
	}
	if r.rest[0] == '\n' {
		r.middle = false
		return 1, false
	}
	s, n, known := opens(r.rest, !r.middle, ended)
	switch {
	case s != nil:
		r.skips = s
		r.more, r.hid = r.more || !s.hidden(), r.hid || s.hidden()
		return n, false
	case !known:
		return 0, false
	}
	return r.sentence(ended), true
}

// sentence is where the first sentence of the rest ends: after a full stop, question or exclamation mark that white space follows, or
// before a line break or what is skipped; not inside of links and code. What is too long for one breath is cut.
func (r *Reader) sentence(ended bool) int {
	var in span
	s := r.rest
	for i, c := range s {
		next := i + max(1, utf8.RuneLen(c))
		if c == utf8.RuneError {
			next = i + 1 // at least
		}
		if i > 0 {
			if c == '\n' {
				return i
			}
			if found, _, known := opens(s[i:], false, ended); found != nil {
				return i
			} else if !known {
				return 0
			}
		}
		in.take(c)
		switch {
		case in.open() && i < longestOpen:
		case strings.ContainsRune("。！？", c):
			return next
		case i > maxSentence && (c == ',' || c == ';' || unicode.IsSpace(c)):
			return next
		case !strings.ContainsRune(".!?…", c) || next >= len(s) || !unicode.IsSpace(rune(s[next])):
		case c == '.' && (abbreviated(s[:i]) || !r.middle && number(s[:i])):
		default:
			return next
		}
	}
	if ended {
		return len(s)
	}
	return 0
}

// number reports whether s is the number of an entry in a list.
func number(s string) bool {
	s = strings.TrimSpace(s)
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// span follows whether a place in a sentence is inside of a link or of code.
type span struct {
	code     bool
	brackets int
	parens   int  // of the address of a link
	closed   bool // a bracket, just now
}

func (p *span) open() bool { return p.code || p.brackets > 0 || p.parens > 0 }

func (p *span) take(c rune) {
	closed := p.closed
	p.closed = false
	switch {
	case c == '`':
		p.code = !p.code
	case p.code:
	case c == '(' && (closed || p.parens > 0):
		p.parens++
	case c == ')' && p.parens > 0:
		p.parens--
	case p.parens > 0:
	case c == '[':
		p.brackets++
	case c == ']' && p.brackets > 0:
		p.brackets--
		p.closed = p.brackets == 0
	}
}
