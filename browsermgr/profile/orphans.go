package profile

import (
	"context"
	"log/slog"
	"path/filepath"

	"clank/browsermgr/chrome"
)

// ReapOrphans ends and removes what a former run that died has left, in the directories that the pattern matches and in the
// temporary ones. What cannot be cleared is told when it is needed.
func ReapOrphans(ctx context.Context, pattern string, logger *slog.Logger) {
	dirs, err := filepath.Glob(pattern)
	if err != nil {
		logger.Warn("look for browsers of a former run", "error", err)
	}
	for _, dir := range dirs {
		if err := chrome.Reap(ctx, dir); err != nil {
			logger.Warn("reap browser of a former run", "dir", dir, "error", err)
		}
	}
	removed, err := chrome.ReapTemp(ctx, "")
	if err != nil {
		logger.Warn("reap temporary browser directories", "error", err)
	}
	if len(removed) > 0 {
		logger.Info("removed temporary browser directories of a former run", "dirs", removed)
	}
}
