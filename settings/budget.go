package settings

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Budget is how much may be spent; see [ParseLimit].
type Budget struct {
	Task, Session, User, Guild, Day string

	Zone   string // in which a day begins at midnight; empty = that of the machine
	Prices string // one "model input cached output" a line, see [Budget.PriceList]
}

// Limit is how much may be spent; a field that is zero does not limit.
type Limit struct {
	USD                  float64
	Calls, Steps, Tokens int64
	Time                 time.Duration
}

// Price is what a model costs, in US dollars per million tokens.
type Price struct{ Input, Cached, Output float64 }

const (
	groupBudget = "Budgets"
	budgetKeys  = "agentStack.runtimeConfig.budget."
	limitMaxLen = 200
	mostUSD     = 1e6
	mostCount   = 1e12
)

// budgetFields are the part of the table that is about what may be spent.
var budgetFields = []Field{
	{
		Key: budgetKeys + "task", Group: groupBudget, Label: "One task", Effect: "The most that one task may spend, such as \"1 USD, 100 calls, 50 steps, 1000000 tokens, 20 minutes\". What is not named, or is 0, does not limit.",
		Kind: Text, Default: "1 USD, 100 calls, 1000000 tokens", MaxLen: limitMaxLen, check: checkLimit, at: func(s *Settings) any { return &s.Budget.Task },
	},
	{
		Key: budgetKeys + "session", Group: groupBudget, Label: "One session", Effect: "The most that all tasks of one session may spend together.",
		Kind: Text, Default: "", MaxLen: limitMaxLen, check: checkLimit, at: func(s *Settings) any { return &s.Budget.Session },
	},
	{
		Key: budgetKeys + "user", Group: groupBudget, Label: "One person", Effect: "The most that one person may spend in a day.",
		Kind: Text, Default: "5 USD, 5000000 tokens", MaxLen: limitMaxLen, check: checkLimit, at: func(s *Settings) any { return &s.Budget.User },
	},
	{
		Key: budgetKeys + "guild", Group: groupBudget, Label: "One server", Effect: "The most that all people of one Discord server may spend in a day.",
		Kind: Text, Default: "10 USD, 10000000 tokens", MaxLen: limitMaxLen, check: checkLimit, at: func(s *Settings) any { return &s.Budget.Guild },
	},
	{
		Key: budgetKeys + "day", Group: groupBudget, Label: "One day", Effect: "The most that everybody may spend in a day.",
		Kind: Text, Default: "20 USD, 20000000 tokens", MaxLen: limitMaxLen, check: checkLimit, at: func(s *Settings) any { return &s.Budget.Day },
	},
	{
		Key: budgetKeys + "timeZone", Group: groupBudget, Label: "Time zone of a day", Effect: "Days begin at midnight in this time zone, such as \"Europe/Berlin\". Leave it empty for that of the machine.",
		Kind: Text, Default: "", MaxLen: limitMaxLen, check: checkZone, at: func(s *Settings) any { return &s.Budget.Zone },
	},
	{
		Key: "agentStack.runtimeConfig.models.prices", Group: groupBudget, Label: "Prices of models",
		Effect: "Prices that clank does not know, or gets wrong, one model a line: its name, and what a million tokens cost in USD: input, cached input, output. For example \"openai:my-model 1.25 0.125 10\". 0 0 0 is free.",
		Kind:   LongText, Default: "", MaxLen: longTextMax, check: checkPrices, at: func(s *Settings) any { return &s.Budget.Prices },
	},
}

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
		n, err := amount(number, mostUSD)
		l.USD = n
		return err
	case "minute":
		n, err := amount(number, 60*24*366)
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

// amount reads a number that may have decimals.
func amount(text string, most float64) (float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || n < 0 || n > most {
		return 0, fmt.Errorf("must have numbers from 0 to %.0f, unlike %q", most, text)
	}
	return n, nil
}

func checkLimit(text string) error {
	_, err := ParseLimit(text)
	return err
}

func checkZone(name string) error {
	if _, err := time.LoadLocation(name); err != nil {
		return fmt.Errorf("must be a time zone that this machine knows, such as Europe/Berlin or UTC, unlike %q", name)
	}
	return nil
}

// Location is where a day begins at midnight.
func (b Budget) Location() *time.Location {
	if b.Zone == "" {
		return time.Local
	}
	if at, err := time.LoadLocation(b.Zone); err == nil {
		return at
	}
	return time.Local
}

// PriceList reads Prices. Lines that are no price are left out: they were refused
// when they were set.
func (b Budget) PriceList() map[string]Price {
	prices := make(map[string]Price)
	for line := range strings.Lines(b.Prices) {
		if model, p, err := parsePrice(line); err == nil && model != "" {
			prices[model] = p
		}
	}
	return prices
}

func checkPrices(text string) error {
	for line := range strings.Lines(text) {
		if _, _, err := parsePrice(line); err != nil {
			return err
		}
	}
	return nil
}

// parsePrice reads one line; the model of an empty one is "".
func parsePrice(line string) (model string, p Price, err error) {
	f := strings.Fields(line)
	if len(f) == 0 {
		return "", p, nil
	}
	if len(f) != 4 {
		return "", p, fmt.Errorf("must have a model and three prices on each line (input, cached input, output), unlike %q", strings.TrimSpace(line))
	}
	for i, into := range []*float64{&p.Input, &p.Cached, &p.Output} {
		if *into, err = amount(f[i+1], mostUSD); err != nil {
			return "", Price{}, err
		}
	}
	return f[0], p, nil
}
