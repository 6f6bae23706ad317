package plain

import (
	"cmp"
	"strconv"
	"strings"
	"time"
)

// date is a day as people name it: "14 March 2026", "March 14", "the 15th". What is not said is 0.
type date struct{ day, month, year int }

// readDate reads the words of a date. others is how many words are none of it.
func readDate(words string) (d date, others int) {
	if t, err := time.Parse(time.DateOnly, words); err == nil {
		return date{t.Day(), int(t.Month()), t.Year()}, 0
	}
	for word := range strings.FieldsSeq(strings.ToLower(words)) {
		word = strings.Trim(word, ",.")
		n, err := strconv.Atoi(word)
		if count := ordinal(word); count > 0 && word[0] >= '0' && word[0] <= '9' {
			n, err = count, nil
		}
		switch month := monthOf(word); {
		case err == nil && n >= 1 && n <= 31 && d.day == 0:
			d.day = n
		case err == nil && n >= 1900 && n <= 2999 && d.year == 0:
			d.year = n
		case month > 0 && d.month == 0:
			d.month = month
		case word != "of" && word != "the":
			others++
		}
	}
	return d, others
}

// monthOf returns the number of a month's name or of three or more of its letters, or 0.
func monthOf(word string) int {
	for m := time.January; m <= time.December && len(word) >= 3; m++ {
		if strings.HasPrefix(strings.ToLower(m.String()), word) {
			return int(m)
		}
	}
	return 0
}

// asDate returns the date that all words of a phrase are.
func (p phrase) asDate() (date, bool) {
	d, others := readDate(p.lower())
	return d, others == 0 && d.day > 0 && (d.month > 0 || ordinal(p.word(len(p)-1)) > 0)
}

// named reports whether a label names the day. in is the month that the page shows, for labels that are only a number.
func (d date) named(label string, in date) bool {
	l, others := readDate(label)
	if l.month == 0 {
		if others > 0 {
			return false
		}
		l.month, l.year = in.month, in.year
	}
	same := func(a, b int) bool { return a == 0 || a == b }
	return d.day > 0 && l.day == d.day && same(d.month, l.month) && (same(d.year, l.year) || l.year == 0)
}

// thisMonth returns those of found that are days of the month that is shown, by their number: before its first days may
// stand the last ones of the month before, and after its last days the first ones of the next.
func (d date) thisMonth(found []int, shown date) []int {
	if d.day == 0 || shown.month == 0 || len(found) != 2 {
		return found
	}
	if d.day <= 15 {
		return found[:1]
	}
	return found[1:]
}

// shownMonth returns the month that a calendar on the page shows, if it says so in one place: "March 2026", or in two
// parts that stand together. Several months are none.
func shownMonth(es []element) (shown date) {
	var last date // the part that stands before
	i, at := 0, 0
	for _, e := range es {
		if e.role == "option" {
			continue // it may be shown some time
		}
		i++
		for _, label := range append(e.labels(), e.text) {
			l, others := readDate(label)
			if others > 0 || l.day > 0 || l == (date{}) {
				continue
			}
			if (l.month == 0) != (last.month == 0) && (l.year == 0) != (last.year == 0) && i-at <= maxApart {
				l = date{month: l.month + last.month, year: l.year + last.year}
			}
			last, at = l, i
			switch {
			case l.month == 0 || l.year == 0 || l == shown:
			case shown.month > 0:
				return date{}
			default:
				shown = l
			}
		}
	}
	return shown
}

// maxApart is how many elements a month and its year may stand apart.
const maxApart = 4

// maxTurns bounds how many months a calendar is turned.
const maxTurns = 24

// turn returns the act that turns the calendar on the page towards the month of the date.
func (d date) turn(p page, es []element) (decision, bool) {
	shown := shownMonth(es)
	ahead := (cmp.Or(d.year, shown.year)-shown.year)*12 + d.month - shown.month
	if d.month == 0 || shown.month == 0 || ahead == 0 || len(p.way) >= maxTurns {
		return decision{}, false
	}
	to := nameOr("next month", "next")
	if ahead < 0 {
		to = nameOr("previous month", "previous", "prev")
	}
	i, _ := findElement(es, to, func(e element) bool { return e.ref != "" && e.acts })
	if i < 0 || len(p.way) > 0 && p.way[len(p.way)-1].body == "" {
		return decision{}, false // there is no way on
	}
	return decision{purpose: "way", tool: "browser_click", input: inputs{"ref": es[i].ref}}, true
}
