package chrome

import (
	"errors"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

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

// ProtectionWeakeningFlag returns the first of a browser's flags that take from pages what they trust in: that other
// pages cannot read them; "" if there is none.
func ProtectionWeakeningFlag(args []string) string {
	return firstFlagAmong(args, []string{
		"--disable-web-security", "--disable-site-isolation-trials", "--ignore-certificate-errors", "--allow-running-insecure-content",
	})
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
