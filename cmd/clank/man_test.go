package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra/doc"
)

// manDir is where make man wants the pages. They are made here and not by a command, since what writes them makes each start
// of the program longer.
var manDir = flag.String("man.dir", "", "write the manual pages into this `folder`")

func TestEveryCommandHasAManualPage(t *testing.T) {
	dir := *manDir
	if dir == "" {
		dir = t.TempDir()
	}
	root := newRootCommand(newTestEnv(t, nil), nil)
	if err := doc.GenManTree(root, &doc.GenManHeader{Title: "CLANK", Section: "1", Source: "clank"}, dir); err != nil {
		t.Fatal(err)
	}
	visitCommands(newRootCommand(newTestEnv(t, nil), nil), func(name string) {
		page, err := os.ReadFile(filepath.Join(dir, "clank-"+strings.ReplaceAll(name, " ", "-")+".1"))
		if err != nil || !strings.Contains(string(page), `\fBclank `+name) {
			t.Errorf("%s: %v in %.200q", name, err, page)
		}
	})
}
