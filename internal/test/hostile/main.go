// Package hostile implements make range, a set of hostile pages: each mechanism by which a page can make a browser
// send something runs in plain Chromium and in clank's browser. A case proves something if plain Chromium reached the
// canary.
//
// It runs in a network namespace in which every private address is its own, with a name server that changes its
// answers.
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"flag"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"

	"clank/browsermgr/chrome"
	"clank/internal/test/check"
)

// wholeLimit bounds the run on the slowest machine. It usually takes two minutes.
const wholeLimit = 15 * time.Minute

func main() { os.Exit(runMain()) }

func runMain() int {
	only := flag.String("run", "", "run only cases whose title matches this `regexp`")
	verbose := flag.Bool("v", false, "print a line for each case")
	hole := flag.String("hole", "", "have the guard let this `host` through: the range must report it")
	every := flag.Int("every", 1, "run only every `nth` case, with another one first each day of the year")
	flag.Parse()
	pattern, err := regexp.Compile(*only)
	if flag.NArg() > 1 || err != nil || *every < 1 {
		fmt.Fprintln(os.Stderr, "usage: hostile [-v] [-run REGEXP] [-every N] [-hole HOST] [CLANK]", err)
		return 2
	}
	if !InsideNamespace() {
		code, err := runInNamespace()
		if err == nil {
			return code
		}
		fmt.Fprintln(os.Stderr, "range: no network namespace can be made here, so only loopback addresses are tried:", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, wholeLimit, fmt.Errorf("the range took longer than %v", wholeLimit))
	defer cancel()
	from := time.Now().YearDay() % *every
	if *every > 1 {
		_, _ = fmt.Fprintf(os.Stdout, "every %d cases one, from number %d on\n", *every, from)
	}
	options := RangeOptions{
		Only: pattern, Every: *every, From: from, Workers: 8, AllowedHost: *hole, Joined: true, Program: flag.Arg(0),
		Out: os.Stdout, Verbose: *verbose,
	}
	if err := runRange(ctx, options); err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		return 1
	}
	return 0
}

// runInNamespace runs this program again in a network namespace, and returns its exit code.
func runInNamespace() (int, error) {
	cmd := ReenterCommand(os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	err := cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, nil
}

func runRange(ctx context.Context, o RangeOptions) error {
	var err error
	if o.Certificate, err = MakeCertificates(); err != nil {
		return err
	}
	o.Ground = LoopbackNetwork()
	if InsideNamespace() {
		dir, err := os.MkdirTemp("", "clank")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		if o.Ground, err = PrepareNamespace(dir, o.Certificate.Certificate[1]); err != nil {
			return err
		}
		defer o.Ground.Recorder.Close()
	}
	report, err := RunPasses(ctx, o)
	if err != nil {
		return err
	}
	if report.Packets != "" {
		_, _ = fmt.Fprintln(o.Out, report.Packets)
	}
	_, _ = fmt.Fprintf(o.Out, "silent by Chromium itself: %d, pages not opened: %d, took %s: %s\n",
		report.Silent, report.Unproven, report.Took.Round(time.Second), strings.Join(report.PassTimes, ", "))
	_, _ = fmt.Fprint(o.Out, report.Passes())
	err = report.Err()
	_, _ = fmt.Fprintln(o.Out, report.Line())
	return err
}

// testedBrowser is the browser of a pass.
type testedBrowser struct {
	devtools string                                           // WebSocket address
	open     func(ctx context.Context) (id string, err error) // opens a tab; nil uses the browser itself
	close    func(ctx context.Context) error
}

// commonFlags returns the flags for both passes: reports are sent at once, sound needs no click, and Chromium's own
// check for local networks is off, because it would hide what the proxy lets through.
func commonFlags() []string {
	return []string{
		"--short-reporting-delay", "--autoplay-policy=no-user-gesture-required",
		"--enable-features=NetworkErrorLogging,Reporting",
	}
}

// disabledFeatures are the features of Chromium that are off in both passes.
const disabledFeatures = "LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets,LocalNetworkAccessChecksWebTransport,LocalNetworkAccessChecksWebRTC," +
	"BlockInsecurePrivateNetworkRequests,PrivateNetworkAccessSendPreflights,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable"

// startBareChromium starts plain Chromium, without any part of clank.
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
		"--headless=new", "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-port=0",
		"--user-data-dir=" + dir,
		"--disable-features=" + disabledFeatures,
	}, append(commonFlags(), flags...)...)
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox")
	}
	cmd := exec.Command(program.Path, append(args, "about:blank")...) //nolint:noctx // ended by close
	check.OwnGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", program.Path, err), os.RemoveAll(dir))
	}
	b := &testedBrowser{close: func(context.Context) error {
		check.KillGroup(cmd)
		_ = cmd.Wait()
		return os.RemoveAll(dir)
	}}
	b.devtools, err = awaitDevTools(ctx, dir)
	if err != nil {
		return nil, errors.Join(err, b.close(ctx))
	}
	return b, nil
}

// awaitDevTools waits for the file in which Chromium announces its DevTools address.
func awaitDevTools(ctx context.Context, dir string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 30*time.Second,
		errors.New("the browser does not say where its DevTools are"))
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

// MakeCertificates creates a certificate authority and the certificate of the hostile site and the canaries.
func MakeCertificates() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make certificate: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		Subject: pkix.Name{CommonName: "hostile range"},
		IsCA:    true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	authority, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make certificate: %w", err)
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: template.NotBefore, NotAfter: template.NotAfter,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"*." + hostileZone, "*." + otherZone, "localhost"},
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der, authority}, PrivateKey: key}, nil
}
