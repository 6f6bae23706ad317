package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"clank/browsermgr/chrome"
)

// testedBrowser is one that a pass sends to the pages.
type testedBrowser struct {
	devtools string                                           // WebSocket address
	open     func(ctx context.Context) (id string, err error) // makes a tab, if the browser itself is not to be asked for one
	close    func(ctx context.Context) error
}

// commonFlags returns flags for both passes: reports go out at once, sound needs no click, and the check by
// which Chromium itself holds pages back from local networks is off, since it would hide what the guard lets
// through.
func commonFlags() []string {
	return []string{
		"--short-reporting-delay", "--autoplay-policy=no-user-gesture-required",
		"--enable-features=NetworkErrorLogging,Reporting",
	}
}

// disabledFeatures are the features of Chromium that are off in both passes.
const disabledFeatures = "LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets,LocalNetworkAccessChecksWebTransport,LocalNetworkAccessChecksWebRTC," +
	"BlockInsecurePrivateNetworkRequests,PrivateNetworkAccessSendPreflights,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable"

// startBareChromium starts Chromium as it comes, without anything of clank's around it.
func startBareChromium(ctx context.Context, flags ...string) (*testedBrowser, error) {
	program, err := chrome.Find(ctx, os.Getenv("CLANK_CHROMIUM"))
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "clank")
	if err != nil {
		return nil, err
	}
	args := append([]string{
		"--headless=new", "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-port=0", "--user-data-dir=" + dir,
		"--disable-features=" + disabledFeatures,
	}, append(commonFlags(), flags...)...)
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox")
	}
	cmd := exec.Command(program.Path, append(args, "about:blank")...) //nolint:noctx // ended by close
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", program.Path, err), os.RemoveAll(dir))
	}
	b := &testedBrowser{close: func(context.Context) error {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		return os.RemoveAll(dir)
	}}
	b.devtools, err = awaitDevTools(ctx, dir)
	if err != nil {
		return nil, errors.Join(err, b.close(ctx))
	}
	return b, nil
}

// awaitDevTools waits for the file in which Chromium says where its DevTools are.
func awaitDevTools(ctx context.Context, dir string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 30*time.Second, errors.New("the browser does not say where its DevTools are"))
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-tick.C:
		}
		if session, err := chrome.FindSession(chrome.DataDir{Path: dir}); err == nil {
			return session.WebSocketURL, nil
		}
	}
}
