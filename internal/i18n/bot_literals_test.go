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
// error, a record of the log, or for a model.
func TestTheBotSaysNothingInEnglishAlone(t *testing.T) {
	known := texts(t, "de")
	paths, err := filepath.Glob("../../bot/*.go")
	check.Must(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		check.Must(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && isForPrograms(call) {
				return false
			}
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			text, ok := literal(e)
			if !ok || len(sentenceWords.FindAllString(text, 3)) < 3 || slices.Contains(forModels, text) {
				return !ok
			}
			if known[text] == nil && known["name:"+text] == nil {
				t.Errorf("%s says %q, which has no translation", fset.Position(n.Pos()), text)
			}
			return false
		})
	}
}

// forModels are what models are told with the words of people.
var forModels = []string{
	"of the message that this replies to: ", "$1(only for those who watch)", "read what the page says",
}

// sentenceWords are words between spaces, of which a sentence has several.
var sentenceWords = regexp.MustCompile(`(?:^| )[A-Za-z]{2,}[,.:]?`)

// isForPrograms reports whether a call makes an error or writes to the log.
func isForPrograms(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"New", "Errorf", "Debug", "Info", "Warn", "Error", "Log"}, f.Sel.Name)
}
