package layout_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/scanner"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"clank/internal/test/check"
)

// layers are the rules between our packages. A path stands for itself and everything below it.
var layers = []struct {
	rule  string
	from  []string // these
	never []string // do not import these; empty: anything of ours
	but   []string // except these
}{
	{rule: "the leaves import nothing of ours", from: []string{
		"cancel", "llm", "videosource", "internal/untrusted",
		"internal/i18n", "internal/atomicfile", "internal/pageorigin",
	}, but: []string{"llm"}},
	{
		rule: "the vocabulary knows the leaves only", from: []string{"sessions"},
		but: []string{
			"sessions", "cancel", "llm", "videosource", "internal/untrusted", "internal/i18n",
			"internal/atomicfile", "internal/pageorigin",
		},
	},
	{
		rule: "engines do not know front ends", from: []string{"browsermgr", "llm", "voice"},
		never: []string{"bot", "dashboard", "cmd", "internal/server"},
	},
	{
		rule: "backends do not know front ends", from: []string{"browseagent", "computeruse"},
		never: []string{"bot", "dashboard", "cmd", "internal/server"},
	},
	{
		rule: "backends do not know engines", from: []string{"browseagent", "computeruse"},
		never: []string{"browsermgr", "voice"}, but: []string{"browsermgr/page/action/actiontable"},
	},
	{rule: "front ends do not know each other", from: []string{"bot"}, never: []string{"dashboard", "cmd"}},
	{rule: "front ends do not know each other", from: []string{"dashboard"}, never: []string{"bot", "cmd"}},
	{rule: "browsers and calls do not know each other", from: []string{"browsermgr"}, never: []string{"voice"}},
	{rule: "browsers and calls do not know each other", from: []string{"voice"}, never: []string{"browsermgr"}},
	{rule: "only the command starts the server", from: []string{
		"bot", "browseagent", "browsermgr", "cancel",
		"computeruse", "dashboard", "llm", "sessions", "videosource", "voice",
	}, never: []string{"internal/server"}},
	{
		rule: "a command's start has none of the browser's side", from: []string{"browsermgr/control/client"},
		but: []string{
			"browsermgr/page/action/actiontable", "internal/atomicfile", "internal/pageorigin",
			"internal/untrusted",
		},
	},
	{rule: "the egress policy stands alone", from: []string{"browsermgr/egress/policy"}},
}

// libraries are in which of our packages, and those below them, an outside library may be imported. Those with no place
// are imported by tests with the tag peers only.
var libraries = map[string][]string{
	"github.com/bwmarrin/discordgo":     {"bot", "voice/discord", "internal/server", "internal/test"},
	"github.com/go-rod/rod":             {"browsermgr", "internal/test"},
	"github.com/pion":                   {"videosource", "voice", "internal/test"},
	"github.com/sashabaranov/go-openai": {"llm", "computeruse", "internal/test"},
	"github.com/modelcontextprotocol":   {"browseagent/browsertool"},
	"database/sql":                      {"internal/sqlite"},
	"modernc.org/sqlite":                {"internal/sqlite"},
	"github.com/anthropics":             {},
	"google.golang.org/genai":           {},
}

// topLevel are the folders that may hold Go.
var topLevel = []string{
	"bot", "browseagent", "browsermgr", "cancel", "cmd", "computeruse", "dashboard", "internal",
	"llm", "sessions", "videosource", "voice",
}

const maxDepth = 10

func TestPackagesKeepToTheirLayer(t *testing.T) {
	for _, p := range packages(t) {
		for _, l := range layers {
			if !slices.ContainsFunc(l.from, func(root string) bool { return within(p.name, root) }) {
				continue
			}
			for _, imp := range p.ours {
				in := func(root string) bool { return within(imp, root) }
				forbidden := len(l.never) == 0 || slices.ContainsFunc(l.never, in)
				if forbidden && !slices.ContainsFunc(l.but, in) {
					t.Errorf("%s imports %s: %s", p.name, imp, l.rule)
				}
			}
		}
	}
}

func TestOnlyTestsImportTheHarness(t *testing.T) {
	for _, p := range packages(t) {
		for _, imp := range p.ours {
			if within(imp, "internal/test") && !within(p.name, "internal/test") {
				t.Errorf("%s imports %s, which only tests may", p.name, imp)
			}
		}
	}
}

func TestNobodyImportsACommand(t *testing.T) {
	for _, p := range packages(t) {
		for _, imp := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if within(imp, "clank/cmd") {
				t.Errorf("%s imports %s", p.name, imp)
			}
		}
	}
}

func TestFoldersDoNotImportEachOther(t *testing.T) {
	edges := map[[2]string]string{}
	for _, p := range packages(t) {
		if !slices.Contains(topLevel, strings.Split(p.name, "/")[0]) {
			t.Errorf("%s lies in a new top-level folder", p.name)
		}
		for _, imp := range p.ours {
			if from, to := folder(p.name), folder(imp); from != to && !within(p.name, "internal/test") {
				edges[[2]string{from, to}] = p.name + " imports " + imp
			}
		}
	}
	for e, why := range edges {
		if back, ok := edges[[2]string{e[1], e[0]}]; ok && e[0] < e[1] {
			t.Errorf("%s and %s import each other: %s, and %s", e[0], e[1], why, back)
		}
	}
}

func TestChainsOfImportsAreShort(t *testing.T) {
	imports := map[string][]string{}
	for _, p := range packages(t) {
		imports[p.name] = p.ours
	}
	chains := map[string][]string{}
	var longest func(name string) []string
	longest = func(name string) []string {
		if c, ok := chains[name]; ok {
			return c
		}
		var below []string
		for _, imp := range imports[name] {
			if c := longest(imp); len(c) > len(below) {
				below = c
			}
		}
		chains[name] = append([]string{name}, below...)
		return chains[name]
	}
	if c := longest("cmd/clank"); len(c) > maxDepth {
		t.Errorf("a chain of %d imports, over %d: %s", len(c), maxDepth, strings.Join(c, " → "))
	}
}

func TestLibrariesStayInTheirPlace(t *testing.T) {
	for _, p := range packages(t) {
		for lib, places := range libraries {
			imports := p.Imports
			if len(places) == 0 {
				imports = slices.Concat(p.Imports, p.TestImports, p.XTestImports)
			}
			for _, imp := range imports {
				if within(imp, lib) && !slices.ContainsFunc(places, func(place string) bool { return within(p.name, place) }) {
					t.Errorf("%s imports %s, which belongs in %s", p.name, imp, strings.Join(places, ", "))
				}
			}
		}
	}
}

func TestPackagesThatStartGoroutinesLookForLeaks(t *testing.T) {
	starts := regexp.MustCompile(`(?m)^\s*go (func\b|[\w.]+\()|\b\w+\.Go\(func`)
	looks := regexp.MustCompile(`\bcheck\.Main\(m|\.Run\(m[,)]`)
	for _, p := range packages(t) {
		if within(p.name, "internal/test") || !anyFile(t, p.Dir, p.GoFiles, starts) {
			continue
		}
		if !anyFile(t, p.Dir, slices.Concat(p.TestGoFiles, p.XTestGoFiles), looks) {
			t.Errorf("%s starts goroutines; its tests do not look for those that stay: have a TestMain call check.Main", p.name)
		}
	}
}

// anyFile reports whether something in one of the files is as pattern says.
func anyFile(t *testing.T, dir string, names []string, pattern *regexp.Regexp) bool {
	t.Helper()
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		check.Must(t, err)
		if pattern.Match(text) {
			return true
		}
	}
	return false
}

// folder returns the top-level folder of a package; each package of internal counts as one.
func folder(name string) string {
	parts := strings.Split(name, "/")
	if parts[0] == "internal" {
		return strings.Join(parts[:2], "/")
	}
	return parts[0]
}

// within reports whether path is root or below it.
func within(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

// pkg is a package as go list describes it. ours are its imports of this module, without the module's name.
type pkg struct {
	ImportPath, Dir, name              string
	Imports, TestImports, XTestImports []string
	GoFiles, TestGoFiles, XTestGoFiles []string
	ours                               []string
}

var listed = sync.OnceValues(func() ([]pkg, error) {
	cmd := exec.Command("go", "list",
		"-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports", "clank/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, errors.New(err.Error() + ": " + stderr.String())
	}
	var list []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		p.name = strings.TrimPrefix(p.ImportPath, "clank/")
		for _, imp := range p.Imports {
			if name, ok := strings.CutPrefix(imp, "clank/"); ok {
				p.ours = append(p.ours, name)
			}
		}
		list = append(list, p)
	}
})

func packages(t *testing.T) []pkg {
	t.Helper()
	list, err := listed()
	if err != nil {
		t.Fatalf("list the packages: %v", err)
	}
	if len(list) < 50 {
		t.Fatalf("go list names %d packages only", len(list))
	}
	return list
}

const maxLine = 120

func TestLinesAreShort(t *testing.T) {
	for _, p := range packages(t) {
		for _, name := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			check.Must(t, err)
			whole := unbreakable(text)
			n := 0
			for line := range bytes.Lines(text) {
				if n++; utf8.RuneCount(bytes.TrimSuffix(line, []byte("\n"))) > maxLine && !whole[n] {
					t.Errorf("%s/%s:%d has more than %d characters", p.name, name, n, maxLine)
				}
			}
		}
	}
}

// unbreakable returns the numbers of the lines with a part of a raw string, or with a long one without a space.
func unbreakable(text []byte) map[int]bool {
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	lines := map[int]bool{}
	for {
		at, kind, literal := s.Scan()
		switch {
		case kind == token.EOF:
			return lines
		case kind != token.STRING:
		case literal[0] == '`' || len(literal) > maxLine/3 && !strings.Contains(literal, " "):
			for n := range 1 + strings.Count(literal, "\n") {
				lines[file.Line(at)+n] = true
			}
		}
	}
}
