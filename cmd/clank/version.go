//go:build !browseronly

package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"clank/internal/sqlite"

	"github.com/spf13/cobra"
)

// version is set at build time.
var version = "dev"

// build describes the binary.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"` // "" if built outside a repository
	Date     string `json:"date"`   // of the commit, RFC 3339
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	Schema   int    `json:"schema"` // newest database schema that it reads
}

func thisBuild() build {
	b := build{
		Version: version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Schema: sqlite.SchemaVersion(),
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = s.Value
			case "vcs.time":
				b.Date = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	return b
}

const versionHelp = `Prints the version; with --json also the commit and its date, whether the sources had
changes, the Go release, the system, and the schema of the database.`

func newVersionCommand(e *commandEnv) *cobra.Command {
	return newJSONCommand("version", "", versionHelp, func(_ context.Context, asJSON bool, _ []string) error {
		return e.printResult(asJSON, thisBuild(), func(w io.Writer) { fmt.Fprintln(w, "clank", version) })
	})
}
