package npm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Versions of playwright-core and agent-browser on npm.
const (
	PlaywrightVersion   = "1.65.1"
	AgentBrowserVersion = "0.41.2"
)

// InstallPlaywright installs playwright-core and agent-browser into cache unless they are there. It returns the
// folder of node's modules, and the path of the agent-browser program.
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
