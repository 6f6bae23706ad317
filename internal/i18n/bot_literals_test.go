package i18n_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"clank/internal/test/check"
)

// What the bot says is said in the language of who reads it: a sentence in its code is one that the catalogue has, an
// error, a record of the log, or for a model. So are those of watches, their errors, too, and of questions.
func TestTheBotSaysNothingInEnglishAlone(t *testing.T) {
	known := texts(t, "de")
	for files, errorsToo := range map[string]bool{
		"bot/*.go": false, "internal/watches/[cmrw]*.go": true, "browsermgr/page/intent/[jr]*.go": false,
		"sessions/notes.go":           true,
		"internal/budget/overview.go": true,
	} {
		paths, err := filepath.Glob("../../" + files)
		check.Must(t, err)
		if len(paths) == 0 {
			t.Errorf("there is no %s", files)
		}
		for _, path := range paths {
			if !strings.HasSuffix(path, "_test.go") {
				checkSentences(t, path, errorsToo, known)
			}
		}
	}
}

func checkSentences(t *testing.T, path string, errorsToo bool, known map[string]text) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
	check.Must(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && isForPrograms(call, errorsToo) {
			return false
		}
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		text, ok := literal(e)
		if !ok || len(sentenceWords.FindAllString(text, 3)) < 3 || slices.Contains(forOthers, text) ||
			strings.HasSuffix(text, ": %w") { // says what failed, before why
			return !ok
		}
		if known[text] == nil && known["name:"+text] == nil {
			t.Errorf("%s says %q, which has no translation", fset.Position(n.Pos()), text)
		}
		return false
	})
}

// forOthers are what models are told, and programs and people elsewhere than in Discord.
var forOthers = []string{
	"its time was over", "there is no kind %q; there are %s, %s, %s, %s, %s and %s",
	"of the quoted message: ", "$1(only for those who watch)", "read what the page says",
	"somebody, forwarded by ", "forwarded the message above, without a word of their own",
}

// sentenceWords are words between spaces, of which a sentence has several.
var sentenceWords = regexp.MustCompile(`(?:^| )[A-Za-z]{2,}[,.:]?`)

// isForPrograms reports whether a call writes to the log, or makes an error where those are none for people.
func isForPrograms(call *ast.CallExpr, errorsToo bool) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	name := strings.TrimSuffix(f.Sel.Name, "Context")
	return slices.Contains([]string{"Debug", "Info", "Warn", "Error", "Log"}, name) ||
		!errorsToo && slices.Contains([]string{"New", "Errorf"}, name)
}
