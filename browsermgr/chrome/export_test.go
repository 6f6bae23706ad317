package chrome

import (
	"context"
	"os/exec"
	"path/filepath"
)

// FinderMachine is a fake machine for Find: its files are below Root, and Says maps programs to their output.
type FinderMachine struct {
	OS, Home, Root string
	Path           []string // names on PATH; they are below Root/usr/bin
	Env            map[string]string
	Says           map[string]string
}

// Find finds a browser on that machine, like [Find].
func (m FinderMachine) Find(ctx context.Context, configured string) (Executable, error) {
	f := finder{
		goos: m.OS, home: m.Home, root: m.Root,
		getenv: func(key string) string { return m.Env[key] },
		lookPath: func(name string) (string, error) {
			for _, known := range m.Path {
				if name == known || name == filepath.Join("/usr/bin", known) {
					return filepath.Join(m.Root, "usr/bin", known), nil
				}
			}
			return "", exec.ErrNotFound
		},
		output: func(_ context.Context, name string, _ ...string) (string, error) {
			if out, ok := m.Says[filepath.Base(name)]; ok {
				return out, nil
			}
			return "", exec.ErrNotFound
		},
	}
	return f.find(ctx, configured)
}

// Unexported identifiers for tests.
var (
	EndpointInLine    = endpointInLine
	EndpointInFile    = endpointInFile
	WriteProfilePrefs = writeProfilePrefs
	ParseColor        = parseColor
	SandboxLine       = sandboxLine
	Flags             = LaunchOptions.flags
)

// DataDirsOf returns the [DataDirs] of another machine.
var DataDirsOf = dataDirs

// MergeDisabledFeatures is mergeDisabledFeatures.
var MergeDisabledFeatures = mergeDisabledFeatures
