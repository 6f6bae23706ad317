//go:build !windows

package atomicfile

import (
	"path/filepath"

	"github.com/google/renameio/v2"
)

// File is a temporary file that replaces another with CloseAtomicallyReplace; otherwise Cleanup removes it.
type File = renameio.PendingFile

// Create creates a file, accessible only to its owner, that is to replace the one at path.
func Create(path string) (*File, error) { return renameio.TempFile(filepath.Dir(path), path) }

// Write replaces the file at path, or creates one that only its owner can access.
func Write(path string, data []byte) error {
	return renameio.WriteFile(path, data, 0o600, renameio.WithTempDir(filepath.Dir(path)))
}
