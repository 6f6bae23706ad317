package settings

import (
	"fmt"
	"time"
)

// Budget is how much may be spent; see [ParseLimit].
type Budget struct {
	Task, Session, User, Guild, Day string

	Zone   string // in which a day begins at midnight; empty = that of the machine
	Prices string // one "model input cached output" a line, see [Budget.PriceList]
}

const (
	groupBudget = "Budgets"
	budgetKeys  = "agentStack.runtimeConfig.budget."
	limitMaxLen = 200
)

// budgetFields are the part of the table that is about what may be spent.
var budgetFields = []Field{
	{
		Key: budgetKeys + "task", Group: groupBudget, Label: "One task", Effect: "The most one task may use, such as \"1 USD, 100 calls, 50 steps, 1000000 tokens, 20 minutes\". Anything omitted or 0 is unlimited.",
		Kind: KindText, Default: "1 USD, 100 calls, 1000000 tokens", MaxLen: limitMaxLen, check: checkLimit, target: func(s *Settings) any { return &s.Budget.Task },
	},
	{
		Key: budgetKeys + "session", Group: groupBudget, Label: "One session", Effect: "The most that all tasks of one session may use together.",
		Kind: KindText, Default: "", MaxLen: limitMaxLen, check: checkLimit, target: func(s *Settings) any { return &s.Budget.Session },
	},
	{
		Key: budgetKeys + "user", Group: groupBudget, Label: "One person", Effect: "The most one person may use in a day.",
		Kind: KindText, Default: "5 USD, 5000000 tokens", MaxLen: limitMaxLen, check: checkLimit, target: func(s *Settings) any { return &s.Budget.User },
	},
	{
		Key: budgetKeys + "guild", Group: groupBudget, Label: "One server", Effect: "The most that everyone in one Discord server may use in a day.",
		Kind: KindText, Default: "10 USD, 10000000 tokens", MaxLen: limitMaxLen, check: checkLimit, target: func(s *Settings) any { return &s.Budget.Guild },
	},
	{
		Key: budgetKeys + "day", Group: groupBudget, Label: "One day", Effect: "The most that everyone may use in a day.",
		Kind: KindText, Default: "20 USD, 20000000 tokens", MaxLen: limitMaxLen, check: checkLimit, target: func(s *Settings) any { return &s.Budget.Day },
	},
	{
		Key: budgetKeys + "timeZone", Group: groupBudget, Label: "Time zone", Effect: "A day starts at midnight in this time zone, such as \"Europe/Berlin\". Leave empty for the machine's.",
		Kind: KindText, Default: "", MaxLen: limitMaxLen, check: checkZone, target: func(s *Settings) any { return &s.Budget.Zone },
	},
	{
		Key: "agentStack.runtimeConfig.models.prices", Group: groupBudget, Label: "Model prices",
		Effect: "Prices that clank does not know or gets wrong, one model per line: name, then USD per million input, cached input and output tokens. For example \"openai:my-model 1.25 0.125 10\". 0 0 0 is free.",
		Kind:   KindLongText, Default: "", MaxLen: longTextMax, check: checkPrices, target: func(s *Settings) any { return &s.Budget.Prices },
	},
}

func checkLimit(text string) error {
	_, err := ParseLimit(text)
	return err
}

func checkPrices(text string) error {
	_, err := ParsePrices(text)
	return err
}

func checkZone(name string) error {
	if _, err := time.LoadLocation(name); err != nil {
		return fmt.Errorf("must be a time zone that this machine knows, such as Europe/Berlin or UTC, unlike %q", name)
	}
	return nil
}

// Location returns where a day begins at midnight.
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
func (b Budget) PriceList() map[string]ModelPrice {
	prices, _ := ParsePrices(b.Prices)
	return prices
}
