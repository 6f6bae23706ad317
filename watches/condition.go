package watches

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of what may be asked for.
const (
	maxWords   = 300 // characters of What
	maxPhrase  = 200 // characters of Text and Near
	maxAddress = 2000

	DefaultEvery = time.Hour
	MostEvery    = 7 * 24 * time.Hour
	DefaultFor   = 30 * 24 * time.Hour // how long a watch lasts
	MostFor      = 180 * 24 * time.Hour
)

// normal is w with its gaps filled, as it was asked for at now, or
// [ErrInvalid].
func normal(w Watch, least time.Duration, now time.Time) (Watch, error) {
	w.URL, w.What = strings.TrimSpace(w.URL), line(w.What)
	w.Text, w.Near, w.Currency = line(w.Text), line(w.Near), CurrencyOf(w.Currency)
	if w.Kind == "" {
		w.Kind = Changes
	}
	if w.Every == 0 {
		w.Every = max(DefaultEvery, least)
	}
	if w.Until.IsZero() {
		w.Until = now.Add(DefaultFor)
	}
	if !strings.Contains(w.URL, "://") && w.URL != "" {
		w.URL = "https://" + w.URL
	}
	u, err := url.Parse(w.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || len(w.URL) > maxAddress:
		return w, invalid("%q is no address of a web page", clip(w.URL, 100))
	case u.User != nil:
		return w, invalid("the address carries a user name")
	case w.Every < least || w.Every > MostEvery:
		return w, invalid("it can be looked at every %s to every %s", words(least), words(MostEvery))
	case !w.Until.After(now) || w.Until.Sub(now) > MostFor:
		return w, invalid("it can last until %s at most, and has to end in the future", now.Add(MostFor).Format(time.DateOnly))
	case utf8.RuneCountInString(w.What) > maxWords:
		return w, invalid("say in at most %d characters what you wait for", maxWords)
	case utf8.RuneCountInString(w.Text) > maxPhrase || utf8.RuneCountInString(w.Near) > maxPhrase || len(w.Currency) > 8:
		return w, invalid("the words to look for can have %d characters", maxPhrase)
	}
	if err := w.check(w.What); err != nil {
		return w, err
	}
	if w.What == "" {
		w.What = w.Words()
	}
	return w, nil
}

func (c Condition) check(what string) error {
	switch c.Kind {
	case Changes:
	case Below, Above:
		if math.IsNaN(c.Number) || math.IsInf(c.Number, 0) {
			return invalid("the number to compare with is none")
		}
	case Contains, Lacks:
		if c.Text == "" {
			return invalid("it is not said which text to look for")
		}
	case Judged:
		if what == "" {
			return invalid("it is not said what to wait for")
		}
	default:
		return invalid("there is no kind %q; there are %s, %s, %s, %s, %s and %s", c.Kind, Changes, Below, Above, Contains, Lacks, Judged)
	}
	return nil
}

// Words say what the condition waits for.
func (c Condition) Words() string {
	near := ""
	if c.Near != "" {
		near = fmt.Sprintf(" near %q", c.Near)
	}
	amount := strings.TrimSpace(strconv.FormatFloat(c.Number, 'f', -1, 64) + " " + c.Currency)
	switch c.Kind {
	case Changes, Judged:
	case Below:
		return "the number" + near + " drops below " + amount
	case Above:
		return "the number" + near + " rises above " + amount
	case Contains:
		return fmt.Sprintf("the page says %q%s", c.Text, near)
	case Lacks:
		return fmt.Sprintf("the page no longer says %q%s", c.Text, near)
	}
	return "the page changes" + near
}

// find is the number that the condition is about: with Near the one beside it,
// otherwise the first price on the page.
func (c Condition) find(all []string) (Amount, error) {
	part := beside(all, c.Near)
	if part == nil {
		return Amount{}, fmt.Errorf("the words %q are not on the page", c.Near)
	}
	text := strings.Join(part, "\n")
	found := slices.DeleteFunc(Amounts(text), func(a Amount) bool {
		return c.Currency != "" && a.Currency != c.Currency && (a.Currency != "KR" || !crowns(c.Currency))
	})
	priced := slices.DeleteFunc(slices.Clone(found), func(a Amount) bool { return a.Currency == "" })
	if len(priced) > 0 {
		found = priced
	} else if c.Near == "" {
		found = nil // any number could be meant
	}
	if len(found) == 0 {
		return Amount{}, fmt.Errorf("there is no %s on the page", c.wanted())
	}
	return nearest(found, strings.Index(strings.ToLower(text), strings.ToLower(c.Near))), nil
}

func (c Condition) wanted() string {
	switch {
	case c.Currency != "":
		return "amount in " + c.Currency
	case c.Near == "":
		return "price"
	}
	return fmt.Sprintf("number near %q", c.Near)
}

func crowns(code string) bool { return code == "SEK" || code == "NOK" || code == "DKK" }

// nearest is the first amount from a place on, or the last before it.
func nearest(found []Amount, from int) Amount {
	for _, a := range found {
		if a.At >= from {
			return a
		}
	}
	return found[len(found)-1]
}

// holds reports whether the condition is met, as far as that can be seen
// without a model and without an earlier look. value is the number as the page
// writes it.
func (c Condition) holds(all []string) (met bool, value string, err error) {
	switch c.Kind {
	case Below, Above:
		a, err := c.find(all)
		if err != nil {
			return false, "", err
		}
		return c.Kind == Below && a.Value < c.Number || c.Kind == Above && a.Value > c.Number, a.Text, nil
	case Contains, Lacks:
		part := beside(all, c.Near)
		if part == nil {
			return false, "", fmt.Errorf("the words %q are not on the page", c.Near)
		}
		found := strings.Contains(strings.ToLower(strings.Join(part, " ")), strings.ToLower(c.Text))
		return found == (c.Kind == Contains), "", nil
	case Changes, Judged:
	}
	return false, "", nil
}

func line(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " ")
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
}

// words is a duration as people say it, in the largest unit that fits.
func words(d time.Duration) string {
	for _, u := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "days"}, {time.Hour, "hours"}, {time.Minute, "minutes"}} {
		if d >= u.of && d%u.of == 0 {
			return fmt.Sprintf("%d %s", d/u.of, u.name)
		}
	}
	return d.String()
}
