package agent

import (
	"net/url"
	"strings"
)

// URLCredentials returns what precedes the host of a URL, or of an address as people write it, including the @:
// a name, and often a password. It returns "" if there is nothing.
func URLCredentials(u string) string {
	rest := strings.ReplaceAll(u, `\`, "/") // as browsers read it
	if scheme, after, found := strings.Cut(rest, ":"); found && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")) {
		rest = after // which browsers take without slashes, and with more than two
	} else if _, after, found := strings.Cut(rest, "//"); found {
		rest = after
	}
	rest = strings.TrimLeft(rest, "/")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return rest[:strings.LastIndex(rest, "@")+1]
}

// WithoutCredentials returns a URL without credentials.
func WithoutCredentials(u string) string {
	if c := URLCredentials(u); c != "" {
		return strings.Replace(u, c, "", 1)
	}
	return u
}

// CompleteURL makes a URL of what people write as one: "shop.example/cart" becomes
// https, a host of this machine http.
func CompleteURL(s string) string {
	s = strings.TrimSpace(s)
	scheme, rest, found := strings.Cut(s, ":")
	port := found && rest != "" && rest[0] >= '0' && rest[0] <= '9'
	if found && !port && !strings.ContainsAny(scheme, "./[") {
		return s
	}
	host := s
	if u, err := url.Parse("http://" + s); err == nil {
		host = u.Hostname()
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.HasPrefix(host, "127.") || host == "::1" {
		return "http://" + s
	}
	return "https://" + s
}
