package watches

import (
	"cmp"
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

// Limits of what may be asked for.
const (
	maxWhatChars    = 300 // characters of What
	maxTextChars    = 200 // characters of Text and Near
	maxAddressChars = 2000

	DefaultInterval = time.Hour
	MaxInterval     = 7 * 24 * time.Hour
	DefaultDuration = 30 * 24 * time.Hour // how long a watch lasts
	MaxDuration     = 180 * 24 * time.Hour
)

// normalizeWatch returns w, requested at now, with its missing values filled in, or [ErrInvalid].
func normalizeWatch(w Watch, least time.Duration, now time.Time) (Watch, error) {
	w.URL, w.What = strings.TrimSpace(w.URL), oneLine(w.What)
	w.Text, w.Near, w.Currency = oneLine(w.Text), oneLine(w.Near), currencyCode(w.Currency)
	w.Kind = cmp.Or(w.Kind, KindChanges)
	w.Every = cmp.Or(w.Every, max(DefaultInterval, least))
	if w.Until.IsZero() {
		w.Until = now.Add(DefaultDuration)
	}
	if !strings.Contains(w.URL, "://") && w.URL != "" {
		w.URL = "https://" + w.URL
	}
	u, err := url.Parse(w.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || len(w.URL) > maxAddressChars:
		return w, invalidWatch("%q is not the address of a web page: enter one such as https://example.com/page", untrusted.Shorten(w.URL, 100))
	case u.User != nil:
		return w, invalidWatch("the address carries a user name")
	case w.Every < least || w.Every > MaxInterval:
		return w, invalidWatch("it can be looked at every %s to every %s", sessions.DurationText(least), sessions.DurationText(MaxInterval))
	case !w.Until.After(now) || w.Until.Sub(now) > MaxDuration:
		return w, invalidWatch("it can last until %s at most, and has to end in the future", now.Add(MaxDuration).Format(time.DateOnly))
	case utf8.RuneCountInString(w.What) > maxWhatChars:
		return w, invalidWatch("say in at most %d characters what you wait for", maxWhatChars)
	case utf8.RuneCountInString(w.Text) > maxTextChars || utf8.RuneCountInString(w.Near) > maxTextChars || len(w.Currency) > 8:
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
		return invalidWatch("there is no kind %q; there are %s, %s, %s, %s, %s and %s", c.Kind, KindChanges, KindBelow, KindAbove, KindContains, KindLacks, KindJudged)
	}
	return nil
}

// Describe say what the condition waits for.
func (c Condition) Describe() string {
	near := ""
	if c.Near != "" {
		near = fmt.Sprintf(" near %q", c.Near)
	}
	amount := strings.TrimSpace(strconv.FormatFloat(c.Number, 'f', -1, 64) + " " + c.Currency)
	switch c.Kind {
	case KindChanges, KindJudged:
	case KindBelow:
		return "the number" + near + " drops below " + amount
	case KindAbove:
		return "the number" + near + " rises above " + amount
	case KindContains:
		return fmt.Sprintf("the page says %q%s", c.Text, near)
	case KindLacks:
		return fmt.Sprintf("the page no longer says %q%s", c.Text, near)
	}
	return "the page changes" + near
}

// findAmount returns the number that the condition is about: with Near the one beside it,
// otherwise the first price on the page.
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
		found = nil // any number could be meant
	}
	if len(found) == 0 {
		return Amount{}, fmt.Errorf("there is no %s on the page", c.wanted())
	}
	return nearestAmount(found, strings.Index(strings.ToLower(text), strings.ToLower(c.Near))), nil
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

func isCrowns(code string) bool { return code == "SEK" || code == "NOK" || code == "DKK" }

// nearestAmount returns the first amount from a place on, or the last before it.
func nearestAmount(found []Amount, from int) Amount {
	for _, a := range found {
		if a.Offset >= from {
			return a
		}
	}
	return found[len(found)-1]
}

// holds reports whether the condition is met, as far as that can be seen without a model and without an earlier look.
// value is the number as the page writes it.
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
