package i18n

import (
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/message/catalog"
)

// Locale is a language tag as used by Discord and BCP 47 ("de", "es-419"). An unsupported or empty one means English.
type Locale string

// Languages returns the supported languages, English first.
func Languages() []Locale { return []Locale{"en", "de", "fr", "es", "pt-BR", "ja"} }

// Spoken returns the one of [Languages] to use for l.
func (l Locale) Spoken() Locale {
	if tag, err := language.Parse(string(l)); err == nil {
		_, at, _ := matcher().Match(tag)
		return Languages()[at]
	}
	return Languages()[0]
}

// T returns a text in the language of l. args are as for [fmt.Sprintf].
func (l Locale) T(english string, args ...any) string {
	if false {
		_ = fmt.Sprintf(english, args...) // lets go vet check the verbs and args
	}
	return l.dictionary().printer.Sprintf(english, args...)
}

// Text translates a text composed in English elsewhere, such as an error: as a whole, as a list, or by the format it
// was made with. An unknown text is returned unchanged.
func (l Locale) Text(english string) string {
	if text, known := l.find(english); known {
		return text
	}
	// within a sentence it starts with a lower-case letter
	if r, n := utf8.DecodeRuneInString(english); unicode.IsUpper(r) {
		if text, known := l.find(string(unicode.ToLower(r)) + english[n:]); known {
			return capital(text)
		}
	}
	return english
}

func (l Locale) find(english string) (text string, known bool) {
	d := l.dictionary()
	if d.known[english] {
		return d.printer.Sprintf(english), true
	}
	// An error often wraps a known text in known words: "stopped: the session was closed".
	act, why, wraps := strings.Cut(english, ": ")
	wraps = wraps && d.known[act]
	if wraps {
		if why, known := l.find(why); known {
			return d.printer.Sprintf(act) + ": " + why, true
		}
	}
	for _, between := range []string{"; ", ", and ", ", "} {
		if text, known := l.findAll(english, between); known {
			return text, true
		}
	}
	for _, f := range d.formats() {
		if got := f.pattern.FindStringSubmatch(english); got != nil {
			return d.printer.Sprintf(f.key, f.args(l, got[1:])...), true
		}
	}
	if wraps {
		return d.printer.Sprintf(act) + ": " + why, true
	}
	return "", false
}

// findAll translates a list if all its items are known or contain no words.
func (l Locale) findAll(english, between string) (text string, known bool) {
	parts := strings.Split(english, between)
	if len(parts) == 1 {
		return "", false
	}
	for i, part := range parts {
		if parts[i], known = l.find(part); !known {
			if strings.ContainsFunc(part, unicode.IsLower) {
				return "", false
			}
			parts[i] = part
		}
	}
	return strings.Join(parts, l.dictionary().printer.Sprintf(between)), true
}

func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return strings.ToUpper(string(r)) + s[n:]
}

// Sentence is like Text and returns a sentence: capitalized, unless it starts with an identifier such as
// some_setting, and with a full stop in its script.
func (l Locale) Sentence(english string) string {
	s := strings.TrimSpace(l.Text(english))
	if s == "" {
		return ""
	}
	if first, _, _ := strings.Cut(s, " "); !strings.Contains(first, "_") {
		s = capital(s)
	}
	switch last, _ := utf8.DecodeLastRuneInString(s); {
	case strings.ContainsRune(".!?)。！？）", last):
	case unicode.In(last, unicode.Han, unicode.Hiragana, unicode.Katakana):
		s += "。"
	default:
		s += "."
	}
	return s
}

// Translations returns the translations of a text without verbs, by language other than English.
func Translations(english string) map[Locale]string {
	by := make(map[Locale]string)
	for _, l := range Languages()[1:] {
		if d := l.dictionary(); d.known[english] {
			by[l] = d.printer.Sprintf(english)
		}
	}
	return by
}

// dictionary is the dictionary of one language.
type dictionary struct {
	printer *message.Printer
	known   map[string]bool // English texts without verbs
	keys    []string        // English texts with verbs
	formats func() []format
}

func (l Locale) dictionary() *dictionary {
	if d, ok := dictionaries()[l]; ok {
		return d()
	}
	return dictionaries()[l.Spoken()]()
}

var matcher = sync.OnceValue(func() language.Matcher {
	var tags []language.Tag
	for _, l := range Languages() {
		tags = append(tags, language.MustParse(string(l)))
	}
	return language.NewMatcher(tags)
})

// dictionaries are parsed on first use.
var dictionaries = sync.OnceValue(func() map[Locale]func() *dictionary {
	all := make(map[Locale]func() *dictionary)
	for _, l := range Languages() {
		all[l] = sync.OnceValue(func() *dictionary {
			d, err := read(l)
			if err != nil {
				panic(err) // the files are embedded, and tests parse all of them
			}
			return d
		})
	}
	return all
})

//go:embed locales
var files embed.FS

// read parses the file of a language: translations by their English text, each a string, or an object with the plural
// forms selected by the first whole number in the text.
func read(l Locale) (*dictionary, error) {
	data, err := files.ReadFile("locales/" + string(l) + ".json")
	if err != nil {
		return nil, err
	}
	var texts map[string]json.RawMessage
	if err := json.Unmarshal(data, &texts); err != nil {
		return nil, fmt.Errorf("%s: %w", l, err)
	}
	tag, b, d := language.MustParse(string(l)), catalog.NewBuilder(), &dictionary{known: make(map[string]bool)}
	for english, raw := range texts {
		key := strings.ReplaceAll(english, "%w", "%v")
		msg, err := readMessage(key, raw)
		if err == nil {
			err = b.Set(tag, key, msg)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", l, english, err)
		}
		if verb().MatchString(key) {
			d.keys = append(d.keys, english)
		} else {
			d.known[english] = true
		}
	}
	d.printer = message.NewPrinter(tag, message.Catalog(b))
	d.formats = sync.OnceValue(d.makeFormats)
	return d, nil
}

// readMessage parses the translation of the text key.
func readMessage(key string, raw json.RawMessage) (catalog.Message, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return catalog.String(strings.ReplaceAll(text, "%w", "%v")), nil
	}
	var forms map[string]string
	if err := json.Unmarshal(raw, &forms); err != nil {
		return nil, err
	}
	at := slices.IndexFunc(verb().FindAllStringSubmatch(key, -1), func(v []string) bool { return v[1] == "d" })
	if at < 0 {
		return nil, errors.New("it has plural forms, and no number")
	}
	var cases []any
	for _, form := range []string{"=0", "=1", "zero", "one", "two", "few", "many", "other"} { // the first match is used
		if forms[form] != "" {
			cases = append(cases, form, forms[form])
		}
	}
	return plural.Selectf(at+1, "%d", cases...), nil
}

// verb matches a verb of a format string; its letter is the first group.
var verb = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`%[-+# 0]*[0-9.]*(?:\[\d+\])?([a-z])`)
})

// format recognizes texts that were made with the format key.
type format struct {
	key     string // with %v instead of %w
	pattern *regexp.Regexp
	verbs   string // letters of the verbs; w for %w, whose argument is translated itself
}

// makeFormats returns the formats with the most literal text first, so that the most specific one matches.
func (d *dictionary) makeFormats() []format {
	list := make([]format, 0, len(d.keys))
	for _, english := range d.keys {
		f, from := format{key: strings.ReplaceAll(english, "%w", "%v")}, 0
		var pattern strings.Builder
		pattern.WriteString("(?s)^")
		for _, at := range verb().FindAllStringSubmatchIndex(english, -1) {
			letter := english[at[2]:at[3]]
			group := map[string]string{"d": `(-?\d+)`, "q": `("(?:[^"\\]|\\.)*")`}[letter]
			pattern.WriteString(regexp.QuoteMeta(english[from:at[0]]) + cmp.Or(group, "(.+?)"))
			f.verbs, from = f.verbs+letter, at[1]
		}
		f.pattern = regexp.MustCompile(pattern.String() + regexp.QuoteMeta(english[from:]) + "$")
		list = append(list, f)
	}
	bare := func(f format) int { return len(verb().ReplaceAllString(f.key, "")) }
	slices.SortFunc(list, func(a, b format) int {
		return cmp.Or(cmp.Compare(bare(b), bare(a)), cmp.Compare(a.key, b.key))
	})
	// A format with hardly any literal text would match anything, unless its verbs are all numbers.
	return slices.DeleteFunc(list, func(f format) bool { return bare(f) < 6 && strings.Trim(f.verbs, "d") != "" })
}

// args converts the parts found in a text to arguments for the translated format.
func (f format) args(l Locale, found []string) []any {
	args := make([]any, len(found))
	for i, s := range found {
		args[i] = s
		switch f.verbs[i] {
		case 'd':
			if n, err := strconv.Atoi(s); err == nil {
				args[i] = n
			}
		case 'q':
			if text, err := strconv.Unquote(s); err == nil {
				args[i] = text
			}
		case 'v', 'w': // an error
			args[i] = l.Text(s)
		}
	}
	return args
}
