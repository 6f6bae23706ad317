package vault

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"clank/internal/pageorigin"

	"golang.org/x/net/idna"
)

// ParseOrigin parses an origin entered by a person and returns it in the form of location.origin: scheme, host in
// lower-case ASCII, and the port unless it is the default. The scheme must be https, or http for a loopback host.
// Paths, user names, wildcards and addresses without a host are refused.
func ParseOrigin(text string) (string, error) {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "://") {
		return "", fmt.Errorf("origin %q: write it with its scheme, such as https://shop.example", text)
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", fmt.Errorf("origin %q is no address", text)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" || u.Opaque != "" {
		return "", fmt.Errorf("origin %q: write scheme, host and port only, such as https://shop.example", text)
	}
	host, err := asciiHost(u.Hostname())
	if err != nil {
		return "", fmt.Errorf("origin %q: %w", text, err)
	}
	switch {
	case u.Scheme == "https":
	case u.Scheme != "http":
		return "", fmt.Errorf("origin %q: the scheme must be https", text)
	case !isLoopbackHost(host):
		return "", fmt.Errorf("origin %q: a password is not sent over http; only hosts of this machine may do without https",
			text)
	}
	port := u.Port()
	if port == "443" && u.Scheme == "https" || port == "80" && u.Scheme == "http" {
		port = ""
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != "" {
		host += ":" + port
	}
	return u.Scheme + "://" + host, nil
}

// asciiHost returns the ASCII form of a host name.
func asciiHost(host string) (string, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" {
			return "", fmt.Errorf("host %q has a zone", host)
		}
		return addr.String(), nil
	}
	ascii, err := idna.Lookup.ToASCII(host)
	if err != nil || ascii == "" {
		return "", fmt.Errorf("host %q is no host name (wildcards are not possible: list each host)", host)
	}
	return ascii, nil
}

func isLoopbackHost(host string) bool {
	return pageorigin.IsLoopback(host) || strings.HasSuffix(host, ".localhost")
}

// DisplayOrigins returns origins for people; see [DisplayOrigin].
func DisplayOrigins(origins []string) (shown []string) {
	for _, o := range origins {
		shown = append(shown, DisplayOrigin(o))
	}
	return shown
}

// DisplayOrigin returns an origin for people. One with non-ASCII letters is shown in both forms, because some letters
// look alike.
func DisplayOrigin(origin string) string {
	u, err := url.Parse(origin)
	if err != nil || !strings.Contains(u.Host, "xn--") {
		return origin
	}
	plain, err := idna.Lookup.ToUnicode(u.Hostname())
	if err != nil || plain == u.Hostname() {
		return origin
	}
	return fmt.Sprintf("%s (%s)", origin, plain)
}
