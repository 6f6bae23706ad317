package budget

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"clank/llm"
)

// Money is an amount in billionths of a US dollar, so that sums are exact.
type Money int64

// dollar is one US dollar.
const dollar Money = 1e9

// Dollars returns a price in US dollars, rounded up, as what is spent is never told
// smaller than it is. What is no sensible amount becomes the nearest one.
func Dollars(usd float64) Money {
	const most = float64(math.MaxInt64 / 4)
	n := math.Ceil(usd*float64(dollar) - 1e-6) // what is exact in decimals stays so
	if !(n > 0) {
		return 0
	}
	return Money(min(n, most))
}

// USD returns the amount in US dollars.
func (m Money) USD() float64 { return float64(m) / float64(dollar) }

// String returns the amount as people read it: "0.98", or "0.0004" where cents do not tell it.
func (m Money) String() string {
	if m != 0 && m.USD() < 0.1 {
		m = max(m, dollar/10_000)
		return strconv.FormatFloat(m.USD(), 'f', 4, 64)
	}
	return strconv.FormatFloat(m.USD(), 'f', 2, 64)
}

// Amount measures spending, or bounds it: of a limit, a field that is zero does not limit.
type Amount struct {
	Calls  int64         `json:"calls"`  // of models
	Steps  int64         `json:"steps"`  // acts of browses
	Tokens int64         `json:"tokens"` // in and out
	Money  Money         `json:"nano_usd"`
	Time   time.Duration `json:"nanoseconds"`      // that tasks ran, and Talk
	Talk   time.Duration `json:"talk_nanoseconds"` // that was heard and said in calls
}

// Add returns the sum of a and b.
func (a Amount) Add(b Amount) Amount {
	return Amount{a.Calls + b.Calls, a.Steps + b.Steps, a.Tokens + b.Tokens, a.Money + b.Money, a.Time + b.Time, a.Talk + b.Talk}
}

// Sub returns a without b.
func (a Amount) Sub(b Amount) Amount {
	return Amount{a.Calls - b.Calls, a.Steps - b.Steps, a.Tokens - b.Tokens, a.Money - b.Money, a.Time - b.Time, a.Talk - b.Talk}
}

// dimension is one way in which an [Amount] counts.
type dimension struct {
	spent, against string // formats of what was spent, alone and beside its limit
	of             func(Amount) int64
	format         func(int64) any
	// estimated says that what a call will take is known by estimate only.
	estimated bool
	// apart says that only what takes some of it needs some of it left.
	apart bool
}

func formatCount(n int64) any { return n }

func formatMoney(n int64) any { return Money(n).String() }

func formatMinutes(n int64) any {
	return strconv.FormatFloat(math.Ceil(time.Duration(n).Minutes()*10)/10, 'f', -1, 64)
}

var dimensions = []dimension{
	{
		spent: "%s USD", against: "%s of %s USD", of: func(a Amount) int64 { return int64(a.Money) }, format: formatMoney,
		estimated: true,
	},
	{spent: "%d calls", against: "%d of %d calls", of: func(a Amount) int64 { return a.Calls }, format: formatCount},
	{spent: "%d steps", against: "%d of %d steps", of: func(a Amount) int64 { return a.Steps }, format: formatCount},
	{
		spent: "%d tokens", against: "%d of %d tokens", of: func(a Amount) int64 { return a.Tokens }, format: formatCount,
		estimated: true,
	},
	{spent: "%s minutes", against: "%s of %s minutes", of: func(a Amount) int64 { return int64(a.Time) }, format: formatMinutes},
	{
		spent: "%s minutes of talk", against: "%s of %s minutes of talk", of: func(a Amount) int64 { return int64(a.Talk) },
		format: formatMinutes, apart: true,
	},
}

// amount returns how much n is, as people read it.
func (u dimension) amount(n int64) string { return fmt.Sprintf(u.spent, u.format(n)) }

// beside returns what was spent beside what may be.
func (u dimension) beside(spent, most int64) string {
	return fmt.Sprintf(u.against, u.format(spent), u.format(most))
}

// String writes what was spent as people read it: "0.80 USD, 12 calls".
func (a Amount) String() string {
	var parts []string
	for _, u := range dimensions {
		if n := u.of(a); n > 0 {
			parts = append(parts, u.amount(n))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// Against writes what was spent beside what may be: "0.80 of 1.00 USD, 12 of 100
// calls". What has no limit is left out, unless nothing has one.
func (a Amount) Against(limit Amount) string {
	var parts []string
	for _, u := range dimensions {
		if most := u.of(limit); most > 0 {
			parts = append(parts, u.beside(u.of(a), most))
		}
	}
	if len(parts) == 0 {
		return fmt.Sprintf("%v (no limit)", a)
	}
	return strings.Join(parts, ", ")
}

// tokenCount returns how many tokens u counts, each once.
func tokenCount(u llm.Usage) int64 { return int64(u.InputTokens) + int64(u.OutputTokens) }

// priceExample writes an example of a price as the setting of prices takes it.
func priceExample(model string) string { return model + " 1.25 0.125 10" }
