package playwright

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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
	for _, tool := range []string{"npm", "node"} {
		if _, err := exec.LookPath(tool); err != nil {
			return "", "", fmt.Errorf("the peers need %s: install Node.js 20 or newer (Debian: apt-get install nodejs npm)", tool)
		}
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", "", err
	}
	npm := exec.CommandContext(ctx, "npm", "install", "--prefix", cache, "--no-audit", "--no-fund", "--ignore-scripts",
		"playwright-core@"+Version, "agent-browser@"+AgentVersion)
	if out, err := npm.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("install the peers: %w\n%s", err, out)
	}
	if err := os.Chmod(agent, 0o755); err != nil {
		return "", "", fmt.Errorf("install the peers: %w", err)
	}
	return cache, agent, os.WriteFile(stamp, nil, 0o644)
}
