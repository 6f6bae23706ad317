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

// Dollars converts a price in US dollars, rounded up so that spending is never reported too low. Values out of range
// become the nearest valid amount.
func Dollars(usd float64) Money {
	const most = float64(math.MaxInt64 / 4)
	n := math.Ceil(usd*float64(dollar) - 1e-6) // values that are exact in decimals stay exact
	if !(n > 0) {
		return 0
	}
	return Money(min(n, most))
}

// USD returns the amount in US dollars.
func (m Money) USD() float64 { return float64(m) / float64(dollar) }

// String returns the amount for people: "0.98", or "0.0004" for amounts below a cent.
func (m Money) String() string {
	if m != 0 && m.USD() < 0.1 {
		m = max(m, dollar/10_000)
		return strconv.FormatFloat(m.USD(), 'f', 4, 64)
	}
	return strconv.FormatFloat(m.USD(), 'f', 2, 64)
}

// Amount is an amount of spending or a limit; in a limit, a zero field does not limit.
type Amount struct {
	Calls  int64         `json:"calls"`  // of models
	Steps  int64         `json:"steps"`  // actions of tasks
	Tokens int64         `json:"tokens"` // input and output
	Money  Money         `json:"nano_usd"`
	Time   time.Duration `json:"nanoseconds"`      // of running tasks, including Talk
	Talk   time.Duration `json:"talk_nanoseconds"` // of speech heard and spoken in calls
}

// Sub returns a without b.
func (a Amount) Sub(b Amount) Amount {
	return Amount{
		a.Calls - b.Calls, a.Steps - b.Steps, a.Tokens - b.Tokens, a.Money - b.Money, a.Time - b.Time,
		a.Talk - b.Talk,
	}
}

// dimension is one field of an [Amount].
type dimension struct {
	spent, against string // formats for an amount alone, and beside its limit
	of             func(Amount) int64
	format         func(int64) any
	// estimated means that the usage of a call is known only approximately in advance.
	estimated bool
	// apart means that only calls that use this dimension require that some of it is left.
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
	{
		spent: "%s minutes", against: "%s of %s minutes", of: func(a Amount) int64 { return int64(a.Time) },
		format: formatMinutes,
	},
	{
		spent: "%s minutes of talk", against: "%s of %s minutes of talk", of: func(a Amount) int64 { return int64(a.Talk) },
		format: formatMinutes, apart: true,
	},
}

// amount formats n with its unit.
func (u dimension) amount(n int64) string { return fmt.Sprintf(u.spent, u.format(n)) }

// beside formats an amount beside its limit.
func (u dimension) beside(spent, most int64) string {
	return fmt.Sprintf(u.against, u.format(spent), u.format(most))
}

// String formats spending for people: "0.80 USD, 12 calls".
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

// Against formats spending beside its limit: "0.80 of 1.00 USD, 12 of 100 calls". Dimensions without a limit are left
// out, unless none has one.
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

// tokenCount returns the number of tokens in u, counting each once.
func tokenCount(u llm.Usage) int64 { return int64(u.InputTokens) + int64(u.OutputTokens) }

// priceExample returns an example for the setting of prices.
func priceExample(model string) string { return model + " 1.25 0.125 10" }
