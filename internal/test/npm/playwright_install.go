package npm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Version is playwright-core's, AgentBrowserVersion that of agent-browser, as npm has them.
const (
	PlaywrightVersion   = "1.65.1"
	AgentBrowserVersion = "0.41.2"
)

// InstallPlaywright brings playwright-core and agent-browser into cache unless they are there. It returns the folder
// in which node finds the one, and the program of the other.
func InstallPlaywright(ctx context.Context, cache string) (dir, agent string, err error) {
	cache, err = filepath.Abs(cache)
	if err != nil {
		return "", "", err
	}
	name := "agent-browser-" + runtime.GOOS + "-" + map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	agent = filepath.Join(cache, "node_modules", "agent-browser", "bin", name)
	stamp := filepath.Join(cache, PlaywrightVersion+"-"+AgentBrowserVersion)
	if _, err := os.Stat(stamp); err == nil {
		return cache, agent, nil
	}
	if err := Install(ctx, cache, "playwright-core@"+PlaywrightVersion, "agent-browser@"+AgentBrowserVersion); err != nil {
		return "", "", err
	}
	if err := os.Chmod(agent, 0o755); err != nil {
		return "", "", fmt.Errorf("install the peers: %w", err)
	}
	return cache, agent, os.WriteFile(stamp, nil, 0o644)
}
