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

// DefaultLaunchTimeout is how long a browser may take until its DevTools listen, and DefaultReadyTimeout from then to
// its answer to a first command.
const (
	DefaultLaunchTimeout = 15 * time.Second
	DefaultReadyTimeout  = 8 * time.Second
)

// LaunchOptions says what to launch and how. Executable is required.
type LaunchOptions struct {
	// Executable is the program, see [Find].
	Executable string
	// UserDataDir is the browser's directory, made if it is missing and kept afterwards. Empty means a temporary one
	// below TempDir, which is removed when the browser has ended.
	UserDataDir string
	// TempDir is where temporary directories are made; empty means the system's.
	TempDir string
	// Headless runs without a window.
	Headless bool
	// NoSandbox does without Chromium's sandbox. Otherwise a launch that cannot have it, such as one as root, fails with
	// [ErrNoSandbox].
	NoSandbox bool
	// Pipe has the browser speak over a pipe, which only this program has: no port is opened, so that nobody else on
	// this machine gets in. Without it the browser listens for everybody, as one that somebody else has started.
	Pipe bool
	// Ports are those that the DevTools may listen on: the first that is free is taken. None lets the system choose.
	// They do not go with Pipe.
	Ports []int
	// ProfileName and Color (#RRGGBB) are how the browser's window shows whose it is; empty leaves it as it was.
	ProfileName, Color string
	// Proxy, if set, is where all traffic goes, as http://host:port: nothing goes around it, not to this machine
	// either, and Chromium looks up no names. Args that would lead around it are refused; see [ProxyBypassFlag].
	Proxy string
	// OneProcessor starts the browser, where the system can, so that it takes this machine to have one processor: its
	// codecs then use one thread. See [Process.UseAllProcessors].
	OneProcessor bool
	// Sound keeps what pages play for [Process.Sound], on Linux. Nobody hears it on this machine then.
	Sound bool
	// Args are added after the flags of our own. Those that [DevToolsExposingFlag] finds are refused.
	Args []string
	// Env is the environment; nil means [hardening.Environ]. Proxy variables are taken out either way: what pages may
	// reach is settled with flags.
	Env []string
	// Timeout bounds the launch until the DevTools listen; zero means [DefaultLaunchTimeout].
	Timeout time.Duration
	// ReadyTimeout bounds the time from then to the answer to a first command; zero means [DefaultReadyTimeout].
	ReadyTimeout time.Duration
	// Logger receives what happens out of sight; nil discards it.
	Logger *slog.Logger
}

func (o LaunchOptions) validate() error {
	if o.Executable == "" {
		return errors.New("launch browser: no executable given")
	}
	for _, port := range o.Ports {
		if port < 1 || port > 65535 {
			return fmt.Errorf("launch browser: %d is no port", port)
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

// ErrNoDisplay says that a window was wanted where none can be shown.
var ErrNoDisplay = errors.New("launch browser: a window needs a display, and neither DISPLAY nor WAYLAND_DISPLAY is set: " +
	"run it headless, or start the program with xvfb-run")

func hasDisplay(env []string) bool {
	return slices.ContainsFunc(env, func(kv string) bool {
		key, value, _ := strings.Cut(kv, "=")
		return value != "" && (key == "DISPLAY" || key == "WAYLAND_DISPLAY")
	})
}

// checkSnap refuses directories that a snap would not see, or see elsewhere.
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

// browserEnv returns the environment without proxy variables, and with the HOME that Chromium insists on.
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

// headlessFrameHeight is the height of what Chromium draws above the page, tabs and address, in pixels.
const headlessFrameHeight = 87

// flags returns the command line without the program. Site isolation stays as Chromium has it: on.
func (o LaunchOptions) flags(dir string, port int, sandbox bool) []string {
	const width, height = 1280, 720 // of pages in pixels, or of the window if it is not headless
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
			// Without a real screen the window's own frame still counts, and a screen smaller than the window would
			// clip it.
			fmt.Sprintf("--window-size=%d,%d", width, height+headlessFrameHeight),
			fmt.Sprintf("--screen-info={%dx%d}", max(1920, width), max(1080, height+headlessFrameHeight)),
			// Pictures of whole pages lose classic scroll bars, and the page's layout with them.
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

// disabledFeatures are parts of Chromium that nobody here needs. After a click it would hold timers and messages back
// until the next frame: every action would wait for that. For a call it would ask the local network for the names of
// peers that a page makes up. For each window without a screen it would start a renderer of its own and load two pages
// into it, suggestions for an address field in which nobody types: more work than all the rest of a launch.
const disabledFeatures = "Translate,MediaRouter,DeferRendererTasksAfterInput,WebRtcHideLocalIpsWithMdns," +
	"OptimizationHints,OptimizationGuideModelDownloading,AutofillServerCommunication,CertificateTransparencyComponentUpdater," +
	"NetworkTimeServiceQuerying,WebUIOmniboxPopup,WebUIOmniboxAimPopup"

// mergeDisabledFeatures joins the features that args switch off with our own, since of several such flags Chromium
// takes the last alone. rest are the other args.
func mergeDisabledFeatures(args []string) (features string, rest []string) {
	all := []string{disabledFeatures}
	for _, arg := range args {
		if more, ok := strings.CutPrefix(arg, "--disable-features="); ok {
			all = append(all, more)
		} else {
			rest = append(rest, arg)
		}
	}
	return strings.Join(all, ","), rest
}

// networkFlags returns the flags that say which way traffic goes.
func (o LaunchOptions) networkFlags() []string {
	if o.Proxy == "" {
		if firstFlagAmong(o.Args, []string{"--proxy-server", "--proxy-pac-url", "--proxy-auto-detect", "--no-proxy-server"}) != "" {
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
		// Without this rule Chromium would reach this machine itself.
		"--proxy-bypass-list=<-loopback>",
		// A second wall: what does not ask the proxy finds no address.
		"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE " + host,
		"--webrtc-ip-handling-policy=disable_non_proxied_udp",
		"--dns-prefetch-disable",
		// Chromium's own reports would only be refused.
		"--disable-domain-reliability",
		"--disable-breakpad",
		"--disable-client-side-phishing-detection",
		"--disable-default-apps",
		"--disable-component-extensions-with-background-pages",
		"--safebrowsing-disable-auto-update",
		// What Chromium asks for at each start whatever it is told. Nobody is to be asked about that.
		"--component-updater=url-source=https://updates." + invalidDomain + "/",
		"--gaia-url=https://accounts." + invalidDomain,
	}
}

// invalidDomain is a domain that is nobody's (RFC 6761, section 6.4). Below it a browser with a proxy looks for the
// services of its maker that it would ask at each start.
const invalidDomain = "chromium.invalid"

// ErrProxyBypass says that a flag of the operator's would lead traffic around the proxy.
var ErrProxyBypass = errors.New("a flag would lead pages around what checks where they may go; take it out of the flags for the " +
	"browser, or allow pages to reach everything")

// proxyBypassFlags are the flags by which traffic finds another way than the proxy.
var proxyBypassFlags = []string{
	"--proxy-server", "--proxy-bypass-list", "--proxy-pac-url", "--proxy-auto-detect", "--no-proxy-server", "--host-resolver-rules",
	"--host-rules", "--webrtc-ip-handling-policy", "--force-webrtc-ip-handling-policy", "--enable-quic", "--origin-to-force-quic-on",
	"--webtransport-developer-mode",
	// Extensions may set another proxy.
	"--load-extension", "--disable-extensions-except",
}

// ErrDevToolsExposed says that a flag of the operator's would let others into the browser, or lose it for us.
var ErrDevToolsExposed = errors.New("a flag would open the browser's DevTools to others, or keep us from them; take it out of the flags for " +
	"the browser")

// devToolsFlags are the flags by which others reach the DevTools, or another directory with other logins is used.
var devToolsFlags = []string{
	"--remote-debugging-address", "--remote-allow-origins", "--remote-debugging-port", "--remote-debugging-pipe",
	"--remote-debugging-socket-name", "--user-data-dir",
}

// DevToolsExposingFlag returns the first of a browser's flags that would open its DevTools to others than us, or keep
// us from them; "" if there is none.
func DevToolsExposingFlag(args []string) string { return firstFlagAmong(args, devToolsFlags) }

// ErrProtectionWeakened says that a flag of the operator's would leave pages, and this machine, less protected.
var ErrProtectionWeakened = errors.New("a flag would take away what keeps pages from each other and from this " +
	"machine; take it out of the flags for the browser (the sandbox has a setting of its own)")

// weakeningWords are parts of the names of flags by which pages read each other or files, break out more easily, are
// granted what nobody was asked about, or connections and their keys are written down. With parts of names, flags of
// later versions are found, too.
var weakeningWords = []string{
	"sandbox", "disable-site-isolation", "web-security", "certificate-errors", "insecure-", "unsafely-", "file-access",
	"single-process", "zygote", "subprocess-path", "cmd-prefix", "-launcher", "key-log", "net-log", "fake-ui-for",
	"auto-accept-", "auto-grant-", "auto-select-",
}

// ProtectionWeakeningFlag returns the first of a browser's flags that take from pages, or from this machine, what
// protects them; "" if there is none.
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

// ProxyBypassFlag returns the first of a browser's flags by which traffic would find a way around a proxy; "" if there
// is none.
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

// restrictNetworkPrefs writes into a profile's files what no flag says: no names looked up by other means than ours,
// nothing loaded because somebody might want it, and no datagrams of calls but through a proxy.
func restrictNetworkPrefs(dir string) error {
	err := editJSON(filepath.Join(dir, "Default", "Preferences"), func(prefs map[string]any) {
		setNested(prefs, 2, "net", "network_prediction_options") // never
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
		// Otherwise a picture of nobody is loaded from the web.
		setNested(state, "chrome://theme/IDR_PROFILE_AVATAR_26", "profile", "info_cache", "Default", "avatar_icon")
		setNested(state, true, "profile", "info_cache", "Default", "is_using_default_avatar")
	})
}
