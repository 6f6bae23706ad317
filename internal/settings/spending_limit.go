package settings

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// SpendingLimit is how much may be spent; a field that is zero does not limit.
type SpendingLimit struct {
	USD                  float64
	Calls, Steps, Tokens int64
	Time                 time.Duration
}

// The most that a number can be.
const (
	maxUSD   = 1e6
	maxCount = 1e12
)

// ParseLimit reads how much may be spent: numbers with what they count (USD,
// calls, steps, tokens, minutes), divided by commas or spaces, each at most once.
func ParseLimit(text string) (SpendingLimit, error) {
	var l SpendingLimit
	words := strings.Fields(strings.ReplaceAll(text, ",", " "))
	if len(words)%2 != 0 {
		return l, errors.New(`must be pairs such as "1 USD, 100 calls, 1000000 tokens, 50 steps, 20 minutes"`)
	}
	seen := make(map[string]bool)
	for i := 0; i < len(words); i += 2 {
		unit := strings.TrimSuffix(strings.ToLower(words[i+1]), "s")
		if seen[unit] {
			return SpendingLimit{}, fmt.Errorf("must name %q once", words[i+1])
		}
		seen[unit] = true
		if err := l.addPair(unit, words[i], words[i+1]); err != nil {
			return SpendingLimit{}, err
		}
	}
	return l, nil
}

// addPair takes in one pair.
func (l *SpendingLimit) addPair(unit, number, as string) error {
	switch unit {
	case "usd":
		n, err := parseCount(number, maxUSD)
		l.USD = n
		return err
	case "minute":
		n, err := parseCount(number, 60*24*366)
		l.Time = time.Duration(n * float64(time.Minute))
		return err
	case "call", "step", "token":
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 0 || n > maxCount {
			return fmt.Errorf("must have a whole number before %q, unlike %q", as, number)
		}
		*map[string]*int64{"call": &l.Calls, "step": &l.Steps, "token": &l.Tokens}[unit] = n
		return nil
	default:
		return fmt.Errorf("must count in USD, calls, steps, tokens or minutes, unlike %q", as)
	}
}

// parseCount reads a number that may have decimals.
func parseCount(text string, most float64) (float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || n < 0 || n > most {
		return 0, fmt.Errorf("must have numbers from 0 to %.0f, unlike %q", most, text)
	}
	return n, nil
}
