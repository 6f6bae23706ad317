package npm

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// installTimeout bounds one installation.
const installTimeout = 10 * time.Minute

// Install installs packages, each a name with its version, into folder/node_modules.
func Install(ctx context.Context, folder string, packages ...string) error {
	for _, tool := range []string{"npm", "node"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("install %v: %s is missing: install Node.js 20 or newer (Debian: apt-get install nodejs npm)",
				packages, tool)
		}
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("install %v: %w", packages, err)
	}
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	args := []string{
		"install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", "--fetch-retries=0",
		"--prefix", folder,
	}
	cmd := exec.CommandContext(ctx, "npm", append(args, packages...)...)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		_ = os.RemoveAll(filepath.Join(folder, "node_modules")) // npm would take what is half there for whole
		return fmt.Errorf("install %v with npm: %w\n%s", packages, err, out)
	}
	return nil
}

// Process is a node process that reads requests from its input and writes results to its output.
type Process struct {
	In  io.Writer
	Out *bufio.Reader

	end func() error
}

// StartProcess runs a module, given as text, in node until ctx ends or [Process.Close]. Its args start at
// process.argv[1]. Its errors go to stderr.
func StartProcess(ctx context.Context, stderr io.Writer, module string, args ...string) (*Process, error) {
	cmd := exec.CommandContext(ctx, "node", append([]string{"--input-type=module", "-e", module}, args...)...)
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("run a module: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("run a module: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("run a module: %w", err)
	}
	end := func() error {
		_ = in.Close()
		return cmd.Wait()
	}
	return &Process{In: in, Out: bufio.NewReaderSize(out, 1<<20), end: end}, nil
}

// Close closes the module's input, and waits for the process to end.
func (p *Process) Close() error { return p.end() }
