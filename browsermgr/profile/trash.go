package profile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// MoveToTrash moves a file or folder to the user's trash and returns its new path; to is empty if a system tool moved
// it, which does not report it. On Linux it follows the freedesktop.org Trash specification 1.0; on Windows it uses the
// recycle bin; elsewhere the command "trash" or, without it, the folder ~/.Trash.
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
