//go:build !windows

package atomicfile

import (
	"path/filepath"

	"github.com/google/renameio/v2"
)

// File is a file that takes its place with CloseAtomicallyReplace, and of which Cleanup leaves nothing otherwise.
type File = renameio.PendingFile

// Create makes a file, its owner's alone, that is to replace the one at path.
func Create(path string) (*File, error) { return renameio.TempFile(filepath.Dir(path), path) }

// Write replaces what is at path, or makes a file that is its owner's alone.
func Write(path string, data []byte) error {
	return renameio.WriteFile(path, data, 0o600, renameio.WithTempDir(filepath.Dir(path)))
}
