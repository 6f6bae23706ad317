package widgets_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/internal/test/npm"
)

var browser browsertest.Shared

func TestMain(m *testing.M) { os.Exit(browser.Run(m)) }

// cache holds what npm installed and esbuild made.
const cache = "../../../.cache/widgets"

// task is a page and what is to be done with it.
type task struct {
	name, is string
	say      string // what a person would write
	steps    []string
}

// library is what a file of testdata says.
type library struct {
	name     string
	packages []string
	tasks    []task
	script   strings.Builder
}

func readLibrary(path string) (*library, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	l := &library{name: strings.TrimSuffix(filepath.Base(path), ".jsx")}
	head, bodies, _ := strings.Cut(string(text), "\n//== ")
	for line := range strings.Lines(head) {
		if list, ok := strings.CutPrefix(line, "// npm: "); ok {
			l.packages = append(l.packages, strings.Fields(list)...)
		}
	}
	fmt.Fprintf(&l.script, "%s\nconst root = document.getElementById('root');\nwindow.done = v => { window.result = v "+
		"};\nconst pages = {\n", head)
	for body := range strings.SplitSeq(bodies, "\n//== ") {
		name, body, _ := strings.Cut(body, "\n")
		t := task{name: strings.TrimSpace(name)}
		fmt.Fprintf(&l.script, "%q: () => {\n", t.name)
		for line := range strings.Lines(body) {
			if say, ok := strings.CutPrefix(line, "//say "); ok {
				t.say = strings.TrimSpace(say)
				continue
			}
			l.script.WriteString(line)
			line = strings.TrimSpace(line)
			if step, ok := strings.CutPrefix(line, "//do "); ok {
				t.steps = append(t.steps, step)
			} else if is, ok := strings.CutPrefix(line, "//is "); ok {
				t.is = is
			}
		}
		l.script.WriteString("\n},\n")
		if t.is != "" {
			l.tasks = append(l.tasks, t)
		}
	}
	l.script.WriteString("};\nconst out = pages[location.pathname.split('/').pop()]();\nif (out !== undefined) " +
		"mount(out, root);\n")
	return l, nil
}

// bundle has esbuild make one script and one style sheet of the library's pages.
func (l *library) bundle(ctx context.Context, dir string) error {
	entry, out := filepath.Join(dir, l.name+".jsx"), filepath.Join(dir, "out", l.name+".js")
	script := []byte(l.script.String())
	old, _ := os.ReadFile(entry)
	if _, err := os.Stat(out); err == nil && bytes.Equal(old, script) {
		return nil
	}
	if err := os.WriteFile(entry, script, 0o644); err != nil {
		return err
	}
	args := []string{
		entry, "--bundle", "--outfile=" + out, "--jsx=automatic", "--log-level=error",
		`--define:process.env.NODE_ENV="production"`, "--define:global=globalThis",
	}
	for _, kind := range []string{"png", "gif", "svg", "woff", "woff2", "ttf", "eot"} {
		args = append(args, "--loader:."+kind+"=dataurl")
	}
	esbuild := exec.CommandContext(ctx, filepath.Join(dir, "node_modules/.bin/esbuild"), args...)
	if text, err := esbuild.CombinedOutput(); err != nil {
		_ = os.Remove(entry)
		return fmt.Errorf("bundle %s: %w\n%s", l.name, err, text)
	}
	return nil
}

// libraries installs and bundles all of testdata.
func libraries(t *testing.T, dir string) (all []*library) {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.jsx")
	check.Must(t, err)
	packages := []string{"esbuild@0.28.2"}
	for _, path := range paths {
		l, err := readLibrary(path)
		check.Must(t, err)
		all, packages = append(all, l), append(packages, l.packages...)
	}
	stamp, list := filepath.Join(dir, "installed"), strings.Join(packages, "\n")
	if old, err := os.ReadFile(stamp); err != nil || string(old) != list {
		check.Must(t, npm.Install(t.Context(), dir, packages...))
		check.Must(t, os.WriteFile(stamp, []byte(list), 0o644))
	}
	return all
}

// show answers with the page of a library, or with its script or style sheet.
func show(dir string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		lib, name, isPage := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if !isPage {
			http.ServeFile(w, r, filepath.Join(dir, "out", filepath.Base(r.URL.Path)))
			return
		}
		browsertest.HTML(w, fmt.Sprintf(
			`<!doctype html><html lang=en><meta charset=utf-8><title>%s</title><link rel=icon href=data:,>
<link rel=stylesheet href=/%s.css><body><div id=root></div><script src=/%[2]s.js></script>`, name, lib))
	}
}

func TestWidgets(t *testing.T) {
	if os.Getenv("CLANK_PEERS") == "" {
		t.Skip("component libraries are installed from the network: make widgets does that")
	}
	dir, err := filepath.Abs(cache)
	check.Must(t, err)
	p := newPolicy(t, map[string]string{"photo.txt": "a photo"})
	p.origin = browsertest.Serve(t, show(dir)).URL
	var solved, not int
	for _, l := range libraries(t, dir) {
		t.Run(l.name, func(t *testing.T) {
			check.Must(t, l.bundle(t.Context(), dir))
			for _, task := range l.tasks {
				t.Run(task.name, func(t *testing.T) {
					if err := p.solve(t.Context(), "/"+l.name+"/"+task.name, task); errors.Is(err, errTrueAlready) {
						t.Errorf("%s/%s: %v", l.name, task.name, err)
					} else if err != nil {
						not++
						t.Logf("unsolved: %s/%s: %v", l.name, task.name, err)
						if os.Getenv("CLANK_SHOW") != "" {
							t.Logf("%s", p.seen)
						}
						return
					}
					solved++
				})
			}
		})
	}
	t.Logf("widgets: %d solved, %d not", solved, not)
	if solved*100 < 97*(solved+not) {
		t.Error("too few are solved")
	}
}

// errTrueAlready says that the check of a page shows nothing.
var errTrueAlready = errors.New("the check is true before the first step")

// solve shows a page, does the steps and waits for the end.
func (p *policy) solve(ctx context.Context, path string, w task) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := p.do(ctx, "open "+path); err != nil {
		return err
	}
	var last page.Result
	holds := func() (ok bool, err error) {
		last, err = p.tab.Act(ctx, page.Action{Kind: actiontable.KindEvaluate, Fn: "[!!(" + w.is + "), window.result]"})
		return strings.HasPrefix(string(last.Value), "[true"), err
	}
	err := until(ctx, "anything with a ref", func() (bool, error) {
		nodes, err := p.look(ctx)
		return slices.ContainsFunc(nodes, func(n node) bool { return n.ref != "" }), err
	})
	if err != nil {
		return err
	}
	if ok, _ := holds(); ok { // a check that throws has nothing to look at yet
		return errTrueAlready
	}
	for _, step := range w.steps {
		if err := p.do(ctx, step); err != nil {
			_, lookErr := p.look(ctx)
			return errors.Join(fmt.Errorf("%s: %w", step, err), lookErr)
		}
	}
	if err := until(ctx, w.is, holds); err != nil {
		_, lookErr := p.look(ctx)
		return errors.Join(fmt.Errorf("%w, got %s", err, last.Value), lookErr)
	}
	return nil
}
