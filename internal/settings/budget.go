package settings

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"clank/llm"
)

// Budget configures spending limits; see [ParseLimit].
type Budget struct {
	Task, Session, User, Guild, Day string

	Zone   string // time zone in which days begin; empty means that of the machine
	Prices string // one "model input cached output" per line, see [Budget.PriceList]
}

const (
	groupBudget = "Budgets"
	budgetKeys  = "agentStack.runtimeConfig.budget."
	limitMaxLen = 200
)

// budgetFields are the settings of spending limits.
var budgetFields = inGroup(groupBudget,
	text(budgetKeys+"task", "One task", `The most one task may use, such as "1 USD, 100 calls, 50 steps, 1000000 `+
		`tokens, 20 minutes". Anything omitted or 0 is unlimited.`, "1 USD, 100 calls, 1000000 tokens", limitMaxLen,
		&at.Budget.Task).checked(parses(ParseLimit)),
	text(budgetKeys+"session", "One session", "The most that all tasks of one session may use together.", "",
		limitMaxLen, &at.Budget.Session).checked(parses(ParseLimit)),
	text(budgetKeys+"user", "One person", "The most one person may use in a day. Talk-minutes are those heard and "+
		"said in calls.", "5 USD, 5000000 tokens, 120 talk-minutes", limitMaxLen,
		&at.Budget.User).checked(parses(ParseLimit)),
	text(budgetKeys+"guild", "One server", "The most that everyone in one Discord server may use in a day.",
		"10 USD, 10000000 tokens, 600 talk-minutes", limitMaxLen, &at.Budget.Guild).checked(parses(ParseLimit)),
	text(budgetKeys+"day", "One day", "The most that everyone may use in a day.", "20 USD, 20000000 tokens",
		limitMaxLen, &at.Budget.Day).checked(parses(ParseLimit)),
	text(budgetKeys+"timeZone", "Time zone", `A day starts at midnight in this time zone, such as "Europe/Berlin". `+
		`Leave empty for the machine's.`, "", limitMaxLen, &at.Budget.Zone).checked(checkZone),
	longText("agentStack.runtimeConfig.models.prices", "Model prices", `Prices that clank does not know or gets `+
		`wrong, one model per line: name, then USD per million input, cached input and output tokens. For example `+
		`"openai:my-model 1.25 0.125 10". 0 0 0 is free.`, &at.Budget.Prices).checked(parses(ParsePrices)),
)

func checkZone(name string) error {
	if _, err := time.LoadLocation(name); err != nil {
		return fmt.Errorf("must be a time zone that this machine knows, such as Europe/Berlin or UTC, unlike %q", name)
	}
	return nil
}

// Location returns the time zone in which days begin.
func (b Budget) Location() *time.Location {
	if at, err := time.LoadLocation(b.Zone); b.Zone != "" && err == nil {
		return at
	}
	return time.Local
}

// PriceList parses Prices. Invalid lines, which were refused when they were set, are skipped.
func (b Budget) PriceList() map[string]llm.Price {
	prices, _ := ParsePrices(b.Prices)
	return prices
}

// SpendingLimit is a limit on spending; a zero field does not limit.
type SpendingLimit struct {
	USD                  float64
	Calls, Steps, Tokens int64
	Time, Talk           time.Duration
}

// Upper bounds of the numbers.
const (
	maxUSD   = 1e6
	maxCount = 1e12
)

// ParseLimit parses a spending limit: numbers with units (USD, calls, steps, tokens, minutes, talk-minutes),
// separated by commas or spaces, each unit at most once.
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

// addPair adds one number with its unit.
func (l *SpendingLimit) addPair(unit, number, as string) error {
	switch unit {
	case "usd":
		n, err := parseCount(number, maxUSD)
		l.USD = n
		return err
	case "minute", "talk-minute":
		n, err := parseCount(number, 60*24*366)
		*map[string]*time.Duration{"minute": &l.Time, "talk-minute": &l.Talk}[unit] = time.Duration(n * float64(time.Minute))
		return err
	case "call", "step", "token":
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 0 || n > maxCount {
			return fmt.Errorf("must have a whole number before %q, unlike %q", as, number)
		}
		*map[string]*int64{"call": &l.Calls, "step": &l.Steps, "token": &l.Tokens}[unit] = n
		return nil
	default:
		return fmt.Errorf("must count in USD, calls, steps, tokens, minutes or talk-minutes, unlike %q", as)
	}
}

// parseCount parses a number that may have decimals.
func parseCount(text string, most float64) (float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || n < 0 || n > most {
		return 0, fmt.Errorf("must have numbers from 0 to %.0f, unlike %q", most, text)
	}
	return n, nil
}
