package settings

import (
	"fmt"
	"time"

	"clank/llm"
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
var budgetFields = inGroup(groupBudget,
	text(budgetKeys+"task", "One task", `The most one task may use, such as "1 USD, 100 calls, 50 steps, 1000000 `+
		`tokens, 20 minutes". Anything omitted or 0 is unlimited.`, "1 USD, 100 calls, 1000000 tokens", limitMaxLen,
		&at.Budget.Task).checked(parses(ParseLimit)),
	text(budgetKeys+"session", "One session", "The most that all tasks of one session may use together.", "",
		limitMaxLen, &at.Budget.Session).checked(parses(ParseLimit)),
	text(budgetKeys+"user", "One person", "The most one person may use in a day.", "5 USD, 5000000 tokens", limitMaxLen,
		&at.Budget.User).checked(parses(ParseLimit)),
	text(budgetKeys+"guild", "One server", "The most that everyone in one Discord server may use in a day.",
		"10 USD, 10000000 tokens", limitMaxLen, &at.Budget.Guild).checked(parses(ParseLimit)),
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

// Location returns where a day begins at midnight.
func (b Budget) Location() *time.Location {
	if at, err := time.LoadLocation(b.Zone); b.Zone != "" && err == nil {
		return at
	}
	return time.Local
}

// PriceList reads Prices. Lines that are no price are left out: they were refused when they were set.
func (b Budget) PriceList() map[string]llm.Price {
	prices, _ := ParsePrices(b.Prices)
	return prices
}
