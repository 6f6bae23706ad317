package i18n_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"clank/internal/i18n"
	"clank/internal/test/check"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

func TestTextsAreInTheLanguageOfTheLocale(t *testing.T) {
	for locale, want := range map[i18n.Locale]string{
		"en": "Working on it.", "en-GB": "Working on it.", "": "Working on it.", "zh-TW": "Working on it.",
		"?":  "Working on it.",
		"de": "Ich bin dran.", "de-AT": "Ich bin dran.", "es-419": "Estoy en ello.", "es-ES": "Estoy en ello.",
		"pt-BR": "Estou cuidando disso.", "fr": "Je m’en occupe.", "ja": "作業しています。",
	} {
		check.Equal(t, fmt.Sprint(locale), locale.T("Working on it."), want)
	}
	check.Equal(t, "text without a translation", i18n.Locale("de").T("nobody has translated %s", "this"),
		"nobody has translated this")
}

func TestNumbersChooseTheFormAndAreWrittenAsTheLanguageDoes(t *testing.T) {
	for _, c := range []struct {
		locale i18n.Locale
		n      int
		want   string
	}{
		{"en", 1, "1 step"},
		{"en", 2, "2 steps"},
		{"en", 0, "0 steps"},
		{"en", 12345, "12,345 steps"},
		{"de", 1, "1 Schritt"},
		{"de", 12345, "12.345 Schritte"},
		{"fr", 0, "0 étape"},
		{"fr", 2, "2 étapes"},
		{"pt-BR", 0, "0 passo"},
		{"es", 0, "0 pasos"},
		{"ja", 1, "1ステップ"},
		{"ja", 7, "7ステップ"},
	} {
		check.Equal(t, fmt.Sprintf("%s, %d", c.locale, c.n), c.locale.T("%d steps", c.n), c.want)
	}
}

// keys finds what code says: the texts given to T, and all other literals, in which errors have their texts.
func keys(t *testing.T) (said, literals map[string]string) {
	t.Helper()
	root, fset := filepath.Join("..", ".."), token.NewFileSet()
	said, literals = map[string]string{}, map[string]string{}
	consts, wanted := map[string]string{}, map[string]string{} // by folder and name
	visit := func(path string, n ast.Node) {
		dir := filepath.Dir(path) + " "
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if i < len(n.Values) {
					if text, ok := literal(n.Values[i]); ok {
						consts[dir+name.Name] = text
					}
				}
			}
		case *ast.CallExpr:
			f, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || f.Sel.Name != "T" || len(n.Args) == 0 {
				return
			}
			if text, ok := literal(n.Args[0]); ok {
				said[text] = fset.Position(n.Pos()).String()
			} else if name, ok := n.Args[0].(*ast.Ident); ok {
				wanted[dir+name.Name] = fset.Position(n.Pos()).String()
			}
		case ast.Expr:
			if text, ok := literal(n); ok {
				literals[text] = fset.Position(n.Pos()).String()
			}
		}
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasSuffix(path, "internal/test") || strings.HasPrefix(d.Name(), ".") && path != root):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err == nil {
			ast.Inspect(file, func(n ast.Node) bool { visit(path, n); return true })
		}
		return err
	})
	check.Must(t, err)
	for name, at := range wanted {
		if text, ok := consts[name]; ok {
			said[text] = at
		}
	}
	return said, literals
}

// literal returns the value of a literal, or of literals that are added.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, e.Kind == token.STRING && err == nil
	case *ast.BinaryExpr:
		a, left := literal(e.X)
		b, right := literal(e.Y)
		return a + b, left && right && e.Op == token.ADD
	}
	return "", false
}

// text is what a file says for an English text: one form, "", or several.
type text map[string]string

func (f *text) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*f = text{"": one}
		return nil
	}
	return json.Unmarshal(data, (*map[string]string)(f))
}

func texts(t *testing.T, l i18n.Locale) map[string]text {
	t.Helper()
	data, err := os.ReadFile("locales/" + string(l) + ".json")
	check.Must(t, err)
	var all map[string]text
	check.Must(t, json.Unmarshal(data, &all))
	return all
}

func TestEveryLanguageHasEveryText(t *testing.T) {
	said, literals := keys(t)
	if len(said) == 0 || len(literals) < 1000 {
		t.Fatalf("found %d texts in %d literals", len(said), len(literals))
	}
	english := texts(t, "en")
	var missing []string
	known := map[string]text{}
	for _, l := range i18n.Languages()[1:] {
		maps.Copy(known, texts(t, l))
	}
	for key := range known {
		if said[key] == "" && literals[key] == "" && !strings.HasPrefix(key, "name:") {
			t.Errorf("nothing says %q any more", key)
		}
	}
	for key := range english {
		if known[key] == nil {
			t.Errorf("en has %q alone", key)
		}
	}
	for key := range said {
		known[key] = nil
	}
	for _, l := range i18n.Languages()[1:] {
		has := texts(t, l)
		for key := range known {
			if has[key] == nil {
				missing = append(missing, fmt.Sprintf("%s: %q (%s)", l, key, said[key]))
				continue
			}
			checkForms(t, l, key, has[key])
			if _, one := has[key][""]; !one && english[key] == nil {
				t.Errorf("en has no plural forms of %q", key)
			}
		}
	}
	for key, forms := range english {
		checkForms(t, "en", key, forms)
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		t.Errorf("%d texts are missing:\n%s", len(missing), strings.Join(missing, "\n"))
	}
}

// checkForms checks that a translation has the verbs of the English text, and the plural forms of its language.
func checkForms(t *testing.T, l i18n.Locale, key string, forms text) {
	t.Helper()
	if _, one := forms[""]; !one {
		tag := language.MustParse(string(l))
		names := map[plural.Form]string{
			plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many",
			plural.Other: "other",
		}
		for n := range 1000 {
			if form := names[plural.Cardinal.MatchPlural(tag, n, 0, 0, 0, 0)]; forms[form] == "" {
				t.Errorf("%s: %q has no form %q, as for %d", l, key, form, n)
				break
			}
		}
	}
	for form, got := range forms {
		if strings.TrimSpace(got) == "" {
			t.Errorf("%s: %q is empty", l, key)
		}
		have, want := verbs(got), verbs(key)
		if form == "one" || form == "=0" || form == "=1" { // may say the number in words
			for v := range want {
				if strings.HasSuffix(want[v], "d") && have[v] == "" {
					delete(want, v)
				}
			}
		}
		if !maps.Equal(have, want) {
			t.Errorf("%s: %q does not say what %q does: %v, want %v", l, got, key, have, want)
		}
		for _, mark := range []string{"`", "**", "<t:", "<@", "\n"} {
			if strings.Count(got, mark) != strings.Count(key, mark) {
				t.Errorf("%s: %q and %q differ in %q", l, got, key, mark)
			}
		}
	}
}

var verbPattern = regexp.MustCompile(`%([-+# 0]*[0-9.]*)(?:\[(\d+)\])?([a-z%])`)

// verbs returns the verbs of a format by argument.
func verbs(format string) map[int]string {
	found := map[int]string{}
	next := 1
	for _, v := range verbPattern.FindAllStringSubmatch(format, -1) {
		if v[3] == "%" {
			continue
		}
		if n, err := strconv.Atoi(v[2]); err == nil {
			next = n
		}
		found[next] = v[1] + v[3]
		next++
	}
	return found
}

func TestErrorsAreTranslatedCompletelyOrByTheirFormat(t *testing.T) {
	limit := fmt.Errorf("%w: %d are allowed for each person; end one first", errors.New("there are too many watches"),
		1200)
	for english, want := range map[string]string{
		"browsing is switched off in the settings": "das Surfen ist in den Einstellungen abgeschaltet",
		limit.Error(): "es gibt zu viele Beobachtungen: je Person sind 1.200 erlaubt; beende zuerst eine",
		fmt.Sprintf("the words %q are not on the page", `a "b" c`): `die Wörter "a \"b\" c" stehen nicht auf der Seite`,
		"refused: nobody answered within 1 minute": "abgelehnt: niemand hat innerhalb von 1 Minute " +
			"geantwortet",
		"you have had the maximum of 1200 tasks within an hour; the next one can start in 50 minutes": "" +
			"du hast in " +
			"einer Stunde so viele Aufgaben gestellt, wie eine Person darf (1.200); die nächste kann in 50 Minuten beginnen",
		"Ada shares a browser page. It cannot be shown by Go Live: its account is not connected to Discord yet. " +
			"It is shown behind a link, for 30 minutes at most: whoever has it can watch.": "Ada teilt eine Browser-Seite. " +
			"Über Go Live geht es nicht: das Konto dafür ist noch nicht mit Discord verbunden. Man sieht sie hinter " +
			"einem Link, höchstens 30 Minuten lang: wer ihn hat, kann zusehen.",
		"0.80 of 1.00 USD, 12 of 1200 calls, 3 steps": "0.80 von 1.00 USD, 12 von 1.200 Aufrufen, 3 Schritte",
		"2.00 USD, 1 calls (no limit)":                "2.00 USD, 1 Aufruf (ohne Grenze)",
		"budget spent: 2 of 2 minutes of talk for this server today; whoever runs clank can allow more: setting x.y; " +
			"it begins anew at midnight in UTC": "das Budget ist aufgebraucht: 2 von 2 Minuten Gespräch für diesen Server " +
			"heute; wer clank betreibt, kann mehr erlauben: Einstellung x.y; es beginnt neu um Mitternacht in UTC",
		"Send or publish something at a.example, and hand over personal data (e-mail address, name) at a.example": "" +
			"Bei a.example " +
			"etwas senden oder veröffentlichen und bei a.example persönliche Daten (E-Mail-Adresse, Name) angeben",
		"the words \"b, and c\" are not on the page": `die Wörter "b, and c" stehen nicht auf der Seite`,
		"the watch is not possible: choose an interval between 15 minutes and 7 days": "diese Beobachtung ist nicht " +
			"möglich: wähle einen Abstand zwischen 15 Minuten und 7 Tagen",
		"the watch is not possible: it can last 180 days at most, and has to end in the future": "diese Beobachtung ist " +
			"nicht möglich: sie muss in der Zukunft enden, nach höchstens 180 Tagen",
		"The page changes, and something else": "The page changes, and something else",
		"in 3 hours":                           "in 3 hours",
		"something that nobody foresaw":        "something that nobody foresaw",
		"":                                     "",
	} {
		check.Equal(t, english, i18n.Locale("de").Text(english), want)
		want = strings.NewReplacer("1 calls", "1 call", "1200 calls", "1,200 calls").Replace(english)
		check.Equal(t, english+": in English", i18n.Locale("en").Text(english), want)
	}
}

func TestReasonsBecomeSentences(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "élan!": "Élan!", "  why? ": "Why?", "done (1)": "Done (1)", "some_setting is off": "some_setting is off.",
	} {
		check.Equal(t, in, i18n.Locale("").Sentence(in), want)
	}
	for reason, want := range map[string]string{
		"stopped by Ada":                             "Ada が停止しました。",
		"stopped: the session was closed":            "停止しました: セッションが閉じられました。",
		"stopped by Ada: the session was closed":     "Ada が停止しました: セッションが閉じられました。",
		"ran out of time: nobody can translate this": "時間切れです: nobody can translate this.",
	} {
		check.Equal(t, reason, i18n.Locale("ja").Sentence(reason), want)
	}
}
