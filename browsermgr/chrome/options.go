package chrome

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"clank/internal/hardening"
)

// DefaultLaunchTimeout bounds starting a browser until DevTools listens, DefaultReadyTimeout the time from then until
// it answers a first command.
const (
	DefaultLaunchTimeout = 15 * time.Second
	DefaultReadyTimeout  = 8 * time.Second
)

// LaunchOptions configures a launch. Executable is required.
type LaunchOptions struct {
	// Executable is the path of the program; see [Find].
	Executable string
	// UserDataDir is the browser's directory, created if missing and kept afterwards. Empty means a temporary one below
	// TempDir, which is removed when the browser has ended.
	UserDataDir string
	// TempDir holds temporary directories; empty means the system's.
	TempDir string
	// Headless runs without a window.
	Headless bool
	// NoSandbox disables Chromium's sandbox. Otherwise a launch where it is unavailable, such as by root, fails with
	// [ErrNoSandbox].
	NoSandbox bool
	// Pipe makes DevTools use a pipe to this program instead of a port, so that no other program on this machine has
	// access. Without it DevTools listens on a port without authentication.
	Pipe bool
	// Ports lists the DevTools ports to try; the first free one is used. Empty lets the system choose. It cannot be
	// combined with Pipe.
	Ports []int
	// ProfileName and Color (#RRGGBB) appear in the browser's window; empty keeps them as they were.
	ProfileName, Color string
	// Proxy, if set, is the proxy for all traffic, including loopback, as http://host:port. Chromium then resolves no
	// names itself. Args that would bypass it are refused; see [ProxyBypassFlag].
	Proxy string
	// OneProcessor makes the browser, where the system can, believe that the machine has one processor, so that its
	// codecs use one thread. See [Process.UseAllProcessors].
	OneProcessor bool
	// Sound captures what pages play as [Process.Sound], on Linux, instead of playing it on this machine.
	Sound bool
	// Args are added after our own flags. Those that [DevToolsExposingFlag] finds are refused.
	Args []string
	// Env is the environment; nil means [hardening.Environ]. Proxy variables are removed in any case, since flags
	// configure the network.
	Env []string
	// Timeout bounds the launch until DevTools listens; zero means [DefaultLaunchTimeout].
	Timeout time.Duration
	// ReadyTimeout bounds the time from then until the first answer; zero means [DefaultReadyTimeout]. With Pipe, the
	// sum bounds both, and a browser that has got less than half of that time from the processors may take longer: up
	// to three times the sum, but not over two minutes.
	ReadyTimeout time.Duration
	// Logger receives events that no caller sees; nil discards them.
	Logger *slog.Logger
}

// longestTimeout returns how long a launch may take on a busy machine.
func (o LaunchOptions) longestTimeout() time.Duration {
	limit := o.Timeout + o.ReadyTimeout
	return max(limit, min(3*limit, 2*time.Minute))
}

func (o LaunchOptions) validate() error {
	if o.Executable == "" {
		return errors.New("launch browser: no executable given")
	}
	for _, port := range o.Ports {
		if port < 1 || port > 65535 {
			return fmt.Errorf("launch browser: %d is not a port", port)
		}
	}
	if flag := ProxyBypassFlag(o.Args); o.Proxy != "" && flag != "" {
		return fmt.Errorf("launch browser: %w: %s", ErrProxyBypass, flag)
	}
	if flag := DevToolsExposingFlag(o.Args); flag != "" {
		return fmt.Errorf("launch browser: %w: %s", ErrDevToolsExposed, flag)
	}
	if o.Color != "" {
		if _, err := parseColor(o.Color); err != nil {
			return fmt.Errorf("launch browser: %w", err)
		}
	}
	if !o.Headless && runtime.GOOS == "linux" && !hasDisplay(o.environ()) {
		return ErrNoDisplay
	}
	return o.checkSnap()
}

// ErrNoDisplay is returned if a visible browser is requested without a display.
var ErrNoDisplay = errors.New("launch browser: a window needs a display, and neither DISPLAY nor WAYLAND_DISPLAY " +
	"is set: run it headless, or start the program with xvfb-run")

func hasDisplay(env []string) bool {
	return slices.ContainsFunc(env, func(kv string) bool {
		key, value, _ := strings.Cut(kv, "=")
		return value != "" && (key == "DISPLAY" || key == "WAYLAND_DISPLAY")
	})
}

// checkSnap refuses directories that a snap cannot see, or sees elsewhere.
func (o LaunchOptions) checkSnap() error {
	if !IsSnap(o.Executable) {
		return nil
	}
	dir := cmp.Or(o.UserDataDir, o.TempDir)
	home, err := os.UserHomeDir()
	if err != nil {
		return fmt.Errorf("launch browser: %w", err)
	}
	rest, err := filepath.Rel(home, dir)
	if err == nil && dir != "" && !strings.HasPrefix(rest, ".") && !strings.Contains(rest, "/.") {
		return nil
	}
	if dir == "" {
		dir = os.TempDir()
	}
	return fmt.Errorf("launch browser: %s is a snap, which may not use %s: install a browser that is none (%s), "+
		"or set a home that is not hidden", o.Executable, dir, "https://www.google.com/chrome")
}

func (o LaunchOptions) environ() []string {
	if o.Env != nil {
		return o.Env
	}
	return hardening.Environ()
}

// browserEnv returns the environment without proxy variables, and with HOME, which Chromium requires.
func (o LaunchOptions) browserEnv() []string {
	var env []string
	home := false
	for _, kv := range o.environ() {
		key, _, _ := strings.Cut(kv, "=")
		switch strings.ToLower(key) {
		case "http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy", "auto_proxy", "socks_server", "socks_version":
			continue
		case "home":
			home = true
		}
		env = append(env, kv)
	}
	if !home {
		if dir, err := os.UserHomeDir(); err == nil {
			env = append(env, "HOME="+dir)
		}
	}
	return env
}

// headlessFrameHeight is the height of the tab strip and address bar that Chromium draws above the page, in pixels.
const headlessFrameHeight = 87

// flags returns the command-line flags. Site isolation stays enabled, as by default.
func (o LaunchOptions) flags(dir string, port int, sandbox bool) []string {
	const width, height = 1280, 720 // of pages in pixels, or of a visible window
	features, args := mergeDisabledFeatures(o.Args)
	devTools := fmt.Sprintf("--remote-debugging-port=%d", port)
	if o.Pipe {
		devTools = "--remote-debugging-pipe"
	}
	flags := []string{
		devTools,
		"--user-data-dir=" + dir,
		"--no-first-run",
		"--no-default-browser-check",
		"--disable-sync",
		"--disable-background-networking",
		"--disable-component-update",
		"--disable-features=" + features,
		"--disable-session-crashed-bubble",
		"--hide-crash-restore-bubble",
		"--disable-quic",
		"--password-store=basic",
	}
	if o.Headless {
		flags = append(flags, "--headless=new", "--disable-gpu",
			// Without a real screen the window's frame still counts, and a screen smaller than the window would clip
			// it.
			fmt.Sprintf("--window-size=%d,%d", width, height+headlessFrameHeight),
			fmt.Sprintf("--screen-info={%dx%d}", max(1920, width), max(1080, height+headlessFrameHeight)),
			// In pictures of whole pages, classic scroll bars vanish and change the page's layout.
			"--hide-scrollbars")
	} else {
		flags = append(flags, fmt.Sprintf("--window-size=%d,%d", width, height))
	}
	switch runtime.GOOS {
	case "linux":
		flags = append(flags, "--disable-dev-shm-usage")
	case "darwin":
		if o.Headless {
			flags = append(flags, "--use-mock-keychain")
		}
	}
	if !sandbox {
		flags = append(flags, "--no-sandbox")
	}
	flags = append(flags, o.networkFlags()...)
	return append(append(flags, args...), "about:blank")
}

// disabledFeatures are features of Chromium that we do not need. Among them: holding back timers and messages after
// input until the next frame, which would delay every action; asking the local network for the mDNS names of WebRTC
// peers that a page makes up; for each window without a screen, starting a renderer for two address bar suggestion
// pages, which costs more than the rest of a launch; and a new frame with a compositor for each document, which the
// last two ask for, and which costs a quarter of a navigation.
const disabledFeatures = "Translate,MediaRouter,DeferRendererTasksAfterInput,WebRtcHideLocalIpsWithMdns," +
	"OptimizationHints,OptimizationGuideModelDownloading,AutofillServerCommunication,CertificateTransparencyComponentUpdater," +
	"NetworkTimeServiceQuerying,WebUIOmniboxPopup,WebUIOmniboxAimPopup," +
	"RenderDocument,BackForwardCache"

// mergeDisabledFeatures joins the features that args disable with our own but those that args enable, since Chromium
// uses only the last such flag, which overrides --enable-features. rest holds the other args.
func mergeDisabledFeatures(args []string) (features string, rest []string) {
	all := strings.Split(disabledFeatures, ",")
	for _, arg := range args {
		if enabled, ok := strings.CutPrefix(arg, "--enable-features="); ok {
			all = slices.DeleteFunc(all, func(f string) bool { return slices.Contains(strings.Split(enabled, ","), f) })
		}
	}
	for _, arg := range args {
		if more, ok := strings.CutPrefix(arg, "--disable-features="); ok {
			all = append(all, more)
		} else {
			rest = append(rest, arg)
		}
	}
	return strings.Join(all, ","), rest
}

// networkFlags returns the flags that configure the network.
func (o LaunchOptions) networkFlags() []string {
	if o.Proxy == "" {
		if firstFlagAmong(o.Args, []string{
			"--proxy-server", "--proxy-pac-url", "--proxy-auto-detect",
			"--no-proxy-server",
		}) != "" {
			return nil
		}
		return []string{"--no-proxy-server"}
	}
	host := "127.0.0.1"
	if u, err := url.Parse(o.Proxy); err == nil && u.Hostname() != "" {
		host = u.Hostname()
	}
	if ip := net.ParseIP(host); ip != nil && ip.To4() == nil {
		host = "[" + host + "]"
	}
	return []string{
		"--proxy-server=" + o.Proxy,
		// Without this rule Chromium would connect to loopback directly.
		"--proxy-bypass-list=<-loopback>",
		// As a second barrier, requests that bypass the proxy resolve no address.
		"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE " + host,
		"--webrtc-ip-handling-policy=disable_non_proxied_udp",
		"--dns-prefetch-disable",
		// The proxy would only refuse Chromium's own reports.
		"--disable-domain-reliability",
		"--disable-breakpad",
		"--disable-client-side-phishing-detection",
		"--disable-default-apps",
		"--disable-component-extensions-with-background-pages",
		"--safebrowsing-disable-auto-update",
		// Chromium requests these at each start regardless of other flags. Send them to no real host.
		"--component-updater=url-source=https://updates." + invalidDomain + "/",
		"--gaia-url=https://accounts." + invalidDomain,
	}
}

// invalidDomain is a domain that does not exist (RFC 6761, section 6.4), for the vendor services that a browser would
// contact at each start.
const invalidDomain = "chromium.invalid"

// ErrProxyBypass is returned if a flag of the operator would bypass the proxy.
var ErrProxyBypass = errors.New("a flag would let pages bypass the proxy that checks their traffic: remove it from " +
	"the flags for the browser, or allow pages to reach every address")

// proxyBypassFlags are flags that let traffic bypass the proxy.
var proxyBypassFlags = []string{
	"--proxy-server", "--proxy-bypass-list", "--proxy-pac-url", "--proxy-auto-detect", "--no-proxy-server",
	"--host-resolver-rules",
	"--host-rules", "--webrtc-ip-handling-policy", "--force-webrtc-ip-handling-policy", "--enable-quic",
	"--origin-to-force-quic-on",
	"--webtransport-developer-mode",
	// Extensions may configure another proxy.
	"--load-extension", "--disable-extensions-except",
}

// ErrDevToolsExposed is returned if a flag of the operator would open DevTools to others, or close it to us.
var ErrDevToolsExposed = errors.New("a flag would open the browser's DevTools to other programs, or close it to " +
	"clank: remove it from the flags for the browser")

// devToolsFlags are flags that open DevTools to others, or use another directory with other logins.
var devToolsFlags = []string{
	"--remote-debugging-address", "--remote-allow-origins", "--remote-debugging-port", "--remote-debugging-pipe",
	"--remote-debugging-socket-name", "--user-data-dir",
}

// DevToolsExposingFlag returns the first flag that would open DevTools to others, or close it to us; "" for none.
func DevToolsExposingFlag(args []string) string { return firstFlagAmong(args, devToolsFlags) }

// ErrProtectionWeakened is returned if a flag of the operator would weaken the protection of pages or of this machine.
var ErrProtectionWeakened = errors.New("a flag would weaken the protection of pages and of this " +
	"machine: remove it from the flags for the browser (the sandbox has its own setting)")

// weakeningWords are parts of the names of flags that let pages read each other or files, weaken the sandbox, grant
// permissions without asking, or log traffic and its keys. Matching parts of names also finds flags of later versions.
var weakeningWords = []string{
	"sandbox", "disable-site-isolation", "web-security", "certificate-errors", "insecure-", "unsafely-", "file-access",
	"single-process", "zygote", "subprocess-path", "cmd-prefix", "-launcher", "key-log", "net-log", "fake-ui-for",
	"auto-accept-", "auto-grant-", "auto-select-",
}

// ProtectionWeakeningFlag returns the first flag that weakens the protection of pages or of this machine; "" for none.
func ProtectionWeakeningFlag(args []string) string {
	i := slices.IndexFunc(args, func(arg string) bool {
		name, value, _ := strings.Cut(strings.ToLower(arg), "=")
		if strings.TrimLeft(name, "-") == "disable-features" {
			parts := []string{"isolat", "siteperprocess", "sandbox"}
			return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(value, part) })
		}
		return slices.ContainsFunc(weakeningWords, func(word string) bool { return strings.Contains(name, word) })
	})
	if i < 0 {
		return ""
	}
	return args[i]
}

// ProxyBypassFlag returns the first flag that would let traffic bypass a proxy; "" for none.
func ProxyBypassFlag(args []string) string { return firstFlagAmong(args, proxyBypassFlags) }

func firstFlagAmong(args, flags []string) string {
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		if slices.Contains(flags, "--"+strings.ToLower(strings.TrimLeft(name, "-"))) {
			return arg
		}
	}
	return ""
}

// restrictNetworkPrefs sets preferences of a profile for which there are no flags: no DNS over HTTPS, no prefetching,
// and no WebRTC over UDP except through a proxy.
func restrictNetworkPrefs(dir string) error {
	err := editJSON(filepath.Join(dir, "Default", "Preferences"), func(prefs map[string]any) {
		setNested(prefs, 2, "net", "network_prediction_options") // never predict
		setNested(prefs, "disable_non_proxied_udp", "webrtc", "ip_handling_policy")
		setNested(prefs, false, "search", "suggest_enabled")
		setNested(prefs, false, "signin", "allowed")
		setNested(prefs, false, "signin", "allowed_on_next_startup")
		setNested(prefs, false, "safebrowsing", "enabled")
		setNested(prefs, false, "alternate_error_pages", "enabled")
	})
	if err != nil {
		return err
	}
	return editJSON(filepath.Join(dir, "Local State"), func(state map[string]any) {
		setNested(state, "off", "dns_over_https", "mode")
		// Otherwise the default avatar is downloaded.
		setNested(state, "chrome://theme/IDR_PROFILE_AVATAR_26", "profile", "info_cache", "Default", "avatar_icon")
		setNested(state, true, "profile", "info_cache", "Default", "is_using_default_avatar")
	})
}
