// Package amount reads how much may be spent, and what models cost, as people write it in the settings. It counts nothing and
// knows no price by itself.
package amount

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Limit is how much may be spent; a field that is zero does not limit.
type Limit struct {
	USD                  float64
	Calls, Steps, Tokens int64
	Time                 time.Duration
}

// The most that a number can be.
const (
	mostUSD   = 1e6
	mostCount = 1e12
)

// ParseLimit reads how much may be spent: numbers with what they count (USD,
// calls, steps, tokens, minutes), divided by commas or spaces, each at most once.
func ParseLimit(text string) (Limit, error) {
	var l Limit
	words := strings.Fields(strings.ReplaceAll(text, ",", " "))
	if len(words)%2 != 0 {
		return l, errors.New(`must be pairs such as "1 USD, 100 calls, 1000000 tokens, 50 steps, 20 minutes"`)
	}
	seen := make(map[string]bool)
	for i := 0; i < len(words); i += 2 {
		unit := strings.TrimSuffix(strings.ToLower(words[i+1]), "s")
		if seen[unit] {
			return Limit{}, fmt.Errorf("must name %q once", words[i+1])
		}
		seen[unit] = true
		if err := l.set(unit, words[i], words[i+1]); err != nil {
			return Limit{}, err
		}
	}
	return l, nil
}

// set takes in one pair.
func (l *Limit) set(unit, number, as string) error {
	switch unit {
	case "usd":
		n, err := count(number, mostUSD)
		l.USD = n
		return err
	case "minute":
		n, err := count(number, 60*24*366)
		l.Time = time.Duration(n * float64(time.Minute))
		return err
	case "call", "step", "token":
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 0 || n > mostCount {
			return fmt.Errorf("must have a whole number before %q, unlike %q", as, number)
		}
		*map[string]*int64{"call": &l.Calls, "step": &l.Steps, "token": &l.Tokens}[unit] = n
		return nil
	default:
		return fmt.Errorf("must count in USD, calls, steps, tokens or minutes, unlike %q", as)
	}
}

// count reads a number that may have decimals.
func count(text string, most float64) (float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || n < 0 || n > most {
		return 0, fmt.Errorf("must have numbers from 0 to %.0f, unlike %q", most, text)
	}
	return n, nil
}
