package watches

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"clank/internal/untrusted"
	"clank/sessions"
)

// Limits of watches.
const (
	maxWhatChars    = 300 // characters of What
	maxTextChars    = 200 // characters of Text and Near
	maxAddressChars = 2000

	defaultInterval = time.Hour
	maxInterval     = 7 * 24 * time.Hour
	defaultDuration = 30 * 24 * time.Hour // lifetime of a watch
	maxDuration     = 180 * 24 * time.Hour
)

// normalizeWatch returns w, requested at now, with its missing values filled in, or [ErrInvalid].
func normalizeWatch(w Watch, least time.Duration, now time.Time) (Watch, error) {
	w.URL, w.What = strings.TrimSpace(w.URL), oneLine(w.What)
	w.Text, w.Near, w.Currency = oneLine(w.Text), oneLine(w.Near), currencyCode(w.Currency)
	w.Kind = cmp.Or(w.Kind, KindChanges)
	w.Every = cmp.Or(w.Every, max(defaultInterval, least))
	if w.Until.IsZero() {
		w.Until = now.Add(defaultDuration)
	}
	if !strings.Contains(w.URL, "://") && w.URL != "" {
		w.URL = "https://" + w.URL
	}
	u, err := url.Parse(w.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || len(w.URL) > maxAddressChars:
		return w, invalidWatch("%q is not the address of a web page: enter one such as https://example.com/page",
			untrusted.Shorten(w.URL, 100))
	case u.User != nil:
		return w, invalidWatch("the address carries a user name")
	case w.Every < least || w.Every > maxInterval:
		return w, invalidWatch("choose an interval between %v and %v", sessions.DurationText(least),
			sessions.DurationText(maxInterval))
	case !w.Until.After(now) || w.Until.Sub(now) > maxDuration:
		return w, invalidWatch("it can last %v at most, and has to end in the future",
			sessions.DurationText(maxDuration))
	case utf8.RuneCountInString(w.What) > maxWhatChars:
		return w, invalidWatch("say in at most %d characters what you wait for", maxWhatChars)
	case utf8.RuneCountInString(w.Text) > maxTextChars || utf8.RuneCountInString(w.Near) > maxTextChars ||
		len(w.Currency) > 8:
		return w, invalidWatch("the words to look for can have %d characters", maxTextChars)
	}
	if err := w.validate(w.What); err != nil {
		return w, err
	}
	w.What = cmp.Or(w.What, w.Describe())
	return w, nil
}

func (c Condition) validate(what string) error {
	switch c.Kind {
	case KindChanges:
	case KindBelow, KindAbove:
		if math.IsNaN(c.Number) || math.IsInf(c.Number, 0) {
			return invalidWatch("the number to compare with is none")
		}
	case KindContains, KindLacks:
		if c.Text == "" {
			return invalidWatch("it is not said which text to look for")
		}
	case KindJudged:
		if what == "" {
			return invalidWatch("it is not said what to wait for")
		}
	default:
		return invalidWatch("there is no kind %q; there are %s, %s, %s, %s, %s and %s", c.Kind, KindChanges, KindBelow,
			KindAbove, KindContains, KindLacks, KindJudged)
	}
	return nil
}

// Describe returns the condition in words.
func (c Condition) Describe() string {
	amount := strings.TrimSpace(strconv.FormatFloat(c.Number, 'f', -1, 64) + " " + c.Currency)
	drops, rises, near := "the number drops below %s", "the number rises above %s", c.Near != ""
	switch {
	case c.Kind == KindBelow && near:
		return fmt.Sprintf("the number near %q drops below %s", c.Near, amount)
	case c.Kind == KindBelow:
		return fmt.Sprintf(drops, amount)
	case c.Kind == KindAbove && near:
		return fmt.Sprintf("the number near %q rises above %s", c.Near, amount)
	case c.Kind == KindAbove:
		return fmt.Sprintf(rises, amount)
	case c.Kind == KindContains && near:
		return fmt.Sprintf("the page says %q near %q", c.Text, c.Near)
	case c.Kind == KindContains:
		return fmt.Sprintf("the page says %q", c.Text)
	case c.Kind == KindLacks && near:
		return fmt.Sprintf("the page no longer says %q near %q", c.Text, c.Near)
	case c.Kind == KindLacks:
		return fmt.Sprintf("the page no longer says %q", c.Text)
	case near:
		return fmt.Sprintf("the page changes near %q", c.Near)
	}
	return "the page changes"
}

// findAmount returns the number to which the condition refers: the one nearest to Near, or else the first price on
// the page.
func (c Condition) findAmount(all []string) (Amount, error) {
	part := linesNear(all, c.Near)
	if part == nil {
		return Amount{}, fmt.Errorf("the words %q are not on the page", c.Near)
	}
	text := strings.Join(part, "\n")
	found := slices.DeleteFunc(FindAmounts(text), func(a Amount) bool {
		return c.Currency != "" && a.Currency != c.Currency && (a.Currency != "KR" || !isCrowns(c.Currency))
	})
	priced := slices.DeleteFunc(slices.Clone(found), func(a Amount) bool { return a.Currency == "" })
	if len(priced) > 0 {
		found = priced
	} else if c.Near == "" {
		found = nil // several numbers are possible
	}
	if len(found) == 0 {
		return Amount{}, c.missingAmount()
	}
	return nearestAmount(found, indexFold(text, c.Near)), nil
}

// indexFold returns where words begin in text, in bytes, whatever the case; -1 if they are not there. Letters may be
// longer or shorter in the other case.
func indexFold(text, words string) int {
	lower := strings.ToLower(text) // letter by letter
	at := strings.Index(lower, strings.ToLower(words))
	if at < 0 {
		return at
	}
	before := utf8.RuneCountInString(lower[:at])
	for i := range text {
		if before == 0 {
			return i
		}
		before--
	}
	return len(text)
}

func (c Condition) missingAmount() error {
	switch {
	case c.Currency != "":
		return fmt.Errorf("there is no amount in %s on the page", c.Currency)
	case c.Near == "":
		return errors.New("there is no price on the page")
	}
	return fmt.Errorf("there is no number near %q on the page", c.Near)
}

func isCrowns(code string) bool { return code == "SEK" || code == "NOK" || code == "DKK" }

// nearestAmount returns the first amount at or after a position, or else the last one before it.
func nearestAmount(found []Amount, from int) Amount {
	for _, a := range found {
		if a.Offset >= from {
			return a
		}
	}
	return found[len(found)-1]
}

// holds reports whether the condition is met, if that can be decided without a model or an earlier check. value is
// the number as written on the page.
func (c Condition) holds(all []string) (met bool, value string, err error) {
	switch c.Kind {
	case KindBelow, KindAbove:
		a, err := c.findAmount(all)
		if err != nil {
			return false, "", err
		}
		return c.Kind == KindBelow && a.Value < c.Number || c.Kind == KindAbove && a.Value > c.Number, a.Text, nil
	case KindContains, KindLacks:
		part := linesNear(all, c.Near)
		if part == nil {
			return false, "", fmt.Errorf("the words %q are not on the page", c.Near)
		}
		found := strings.Contains(strings.ToLower(strings.Join(part, " ")), strings.ToLower(c.Text))
		return found == (c.Kind == KindContains), "", nil
	case KindChanges, KindJudged:
	}
	return false, "", nil
}

func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " ")
}

func invalidWatch(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
}
