package profile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// MoveToTrash puts a file or folder into the person's trash and returns where it is now; to is empty if the system's
// own tool moved it and does not tell. On Linux it follows the freedesktop.org Trash specification 1.0; on Windows it
// is the recycle bin; elsewhere the command "trash" does it, or the folder ~/.Trash takes it.
func MoveToTrash(ctx context.Context, path string) (to string, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("move to the trash: %w", err)
	}
	if _, err := os.Lstat(path); err != nil {
		return "", fmt.Errorf("move to the trash: %w", err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("move to the trash: %w", err)
	}
	to, err = moveToTrash(ctx, path, home)
	if err != nil {
		return "", fmt.Errorf("move %s to the trash: %w", path, err)
	}
	return to, nil
}
