package watches

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Amount is a number in a text.
type Amount struct {
	Value    float64
	Currency string // ISO 4217 if unambiguous, "KR" for the crowns of any country; empty if there is none
	Text     string // as written, with its currency
	Offset   int    // of its start, in bytes
}

// currencyCodes maps the notations of prices to currency codes.
var currencyCodes = map[string]string{
	"€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR", "$": "USD", "us$": "USD", "usd": "USD", "ca$": "CAD",
	"c$": "CAD", "cad": "CAD",
	"a$": "AUD", "au$": "AUD", "aud": "AUD", "nz$": "NZD", "nzd": "NZD", "hk$": "HKD", "hkd": "HKD", "s$": "SGD",
	"sgd": "SGD", "mx$": "MXN", "mxn": "MXN",
	"£": "GBP", "gbp": "GBP", "¥": "JPY", "￥": "JPY", "jpy": "JPY", "円": "JPY", "cny": "CNY", "rmb": "CNY", "元": "CNY",
	"₹": "INR", "rs": "INR", "rs.": "INR",
	"inr": "INR", "chf": "CHF", "fr.": "CHF", "sfr.": "CHF", "kr": "KR", "kr.": "KR", "sek": "SEK", "nok": "NOK",
	"dkk": "DKK", "zł": "PLN", "pln": "PLN",
	"kč": "CZK", "czk": "CZK", "ft": "HUF", "huf": "HUF", "r$": "BRL", "brl": "BRL", "₽": "RUB", "руб": "RUB",
	"руб.": "RUB", "rub": "RUB", "₩": "KRW",
	"krw": "KRW", "원": "KRW", "₺": "TRY", "tl": "TRY", "try": "TRY", "₴": "UAH", "uah": "UAH", "₪": "ILS", "ils": "ILS",
	"฿": "THB", "thb": "THB", "₫": "VND",
	"đ": "VND", "vnd": "VND", "₱": "PHP", "php": "PHP", "zar": "ZAR", "lei": "RON", "ron": "RON", "лв": "BGN",
	"bgn": "BGN", "btc": "BTC", "₿": "BTC", "eth": "ETH",
}

// currencyCode returns the code of a currency; an unknown one is returned in upper case.
func currencyCode(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if code, ok := currencyCodes[s]; ok {
		return code
	}
	return strings.ToUpper(s)
}

// groupSpaces are the spaces used between groups of three digits.
const groupSpaces = " \u00a0\u2009\u202f"

var numberPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\d{1,3}(?:[` + groupSpaces + `'’]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d+)*`)
})

// FindAmounts returns the numbers in a text, in order, in the notations of shops: 1,234.56, 1.234,56, 1 234,56,
// 1'234.50 and 1,23,456, with the currency before or after, and with ",-" or ".-" for no cents.
func FindAmounts(text string) []Amount {
	var out []Amount
	for _, at := range numberPattern().FindAllStringIndex(text, -1) {
		from, to := at[0], at[1]
		if isInsideWord(text[:from]) {
			continue
		}
		value, ok := parseNumber(text[from:to])
		if !ok {
			continue
		}
		a := Amount{Value: value, Offset: from}
		begin, end := from, to
		if n := currencyBefore(text[:from], &a); n > 0 {
			begin = from - n
		} else if n := currencyAfter(text[to:], &a); n > 0 {
			end = to + n
		}
		if isNegative(text[:begin]) {
			a.Value = -a.Value
			_, n := utf8.DecodeLastRuneInString(text[:begin])
			begin -= n
		}
		a.Text, a.Offset = strings.TrimSpace(text[begin:end]), begin
		out = append(out, a)
	}
	return out
}

// isInsideWord reports whether a number continues the text before it ("B12", "1.2.3").
func isInsideWord(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	if !unicode.IsLetter(r) && r != '_' {
		return false
	}
	_, known := currencyCodes[strings.ToLower(wordBefore(before))]
	return !known
}

// wordBefore returns the word directly before a number.
func wordBefore(before string) string {
	i := strings.LastIndexFunc(before, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("([|*_:;,/+-−–", r) || unicode.IsDigit(r)
	})
	if i < 0 {
		return before
	}
	_, n := utf8.DecodeRuneInString(before[i:])
	return before[i+n:]
}

// currencyBefore sets the currency from the text before a number, and returns its length in bytes.
func currencyBefore(before string, a *Amount) int {
	bare := strings.TrimRight(before, groupSpaces)
	word := wordBefore(bare)
	code, ok := currencyCodes[strings.ToLower(word)]
	if !ok || len(before)-len(bare) > 4 {
		return 0
	}
	a.Currency = code
	return len(before) - len(bare) + len(word)
}

// currencyAfter is like currencyBefore for the text after a number.
func currencyAfter(after string, a *Amount) int {
	rest := after
	for _, none := range []string{",-", ".-", ",–", ",—", ".–", ".—", ":-"} { // no cents
		rest = strings.TrimPrefix(rest, none)
	}
	dash := len(after) - len(rest)
	bare := strings.TrimLeft(rest, groupSpaces)
	end := strings.IndexFunc(bare, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsDigit(r) || strings.ContainsRune(")]|*_:;,/+!?<(", r)
	})
	if end < 0 {
		end = len(bare)
	}
	word := bare[:end]
	code, ok := currencyCodes[strings.ToLower(word)]
	if !ok {
		word = strings.TrimRight(word, ".")
		code, ok = currencyCodes[strings.ToLower(word)]
	}
	if !ok || len(rest)-len(bare) > 4 {
		if strings.HasPrefix(after, ":-") {
			a.Currency = "KR" // as written in Sweden
			return dash
		}
		return 0
	}
	a.Currency = code
	return dash + len(rest) - len(bare) + len(word)
}

// isNegative reports whether a minus sign, rather than a range, stands before a number.
func isNegative(before string) bool {
	r, n := utf8.DecodeLastRuneInString(before)
	if r != '-' && r != '−' {
		return false
	}
	prev, _ := utf8.DecodeLastRuneInString(before[:len(before)-n])
	return len(before) == n || unicode.IsSpace(prev) || prev == '(' || prev == '|'
}

// parseNumber parses a number with separators.
func parseNumber(s string) (float64, bool) {
	s = strings.NewReplacer(" ", "", "\u00a0", "", "\u2009", "", "\u202f", "", "'", "", "’", "").Replace(s)
	dot, comma := strings.LastIndexByte(s, '.'), strings.LastIndexByte(s, ',')
	decimal := -1
	switch {
	case dot >= 0 && comma >= 0:
		decimal = max(dot, comma)
	case dot >= 0 || comma >= 0:
		if only := max(dot, comma); strings.Count(s, s[only:only+1]) == 1 && (len(s)-only-1 != 3 || only == 0 || only > 3 ||
			s[0] == '0') {
			decimal = only
		}
	}
	whole, cents := s, ""
	if decimal >= 0 {
		whole, cents = s[:decimal], s[decimal+1:]
	}
	groups := strings.FieldsFunc(whole, func(r rune) bool { return r == '.' || r == ',' })
	for _, g := range groups[min(1, len(groups)):] {
		if len(g) < 2 || len(g) > 3 {
			return 0, false // a date or a version
		}
	}
	if len(groups) > 1 && len(groups[len(groups)-1]) != 3 {
		return 0, false
	}
	v, err := strconv.ParseFloat(strings.Join(groups, "")+"."+cents+"0", 64)
	return v, err == nil
}
