package playwright

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"clank/internal/npm"
)

// Version is playwright-core's, AgentVersion that of agent-browser, as npm has them.
const (
	Version      = "1.65.1"
	AgentVersion = "0.41.2"
)

// Install brings playwright-core and agent-browser into cache unless they are there. It returns the folder in which node
// finds the one, and the program of the other.
func Install(ctx context.Context, cache string) (dir, agent string, err error) {
	cache, err = filepath.Abs(cache)
	if err != nil {
		return "", "", err
	}
	name := "agent-browser-" + runtime.GOOS + "-" + map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	agent = filepath.Join(cache, "node_modules", "agent-browser", "bin", name)
	stamp := filepath.Join(cache, Version+"-"+AgentVersion)
	if _, err := os.Stat(stamp); err == nil {
		return cache, agent, nil
	}
	if err := npm.Install(ctx, cache, "playwright-core@"+Version, "agent-browser@"+AgentVersion); err != nil {
		return "", "", err
	}
	if err := os.Chmod(agent, 0o755); err != nil {
		return "", "", fmt.Errorf("install the peers: %w", err)
	}
	return cache, agent, os.WriteFile(stamp, nil, 0o644)
}
