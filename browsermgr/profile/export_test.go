package profile

import "net/url"

// RewriteWebSocketURL returns the URL that Discover derives from an advertised one.
func RewriteWebSocketURL(asked, advertised string) (string, error) {
	u, err := url.Parse(asked)
	if err != nil {
		return "", err
	}
	found, err := rewriteWebSocketURL(u, advertised)
	if err != nil {
		return "", err
	}
	return found.String(), nil
}

// VersionURL returns the URL for discovery.
func VersionURL(e Endpoint) string { return versionURL(e.url).String() }

// Unpack extracts a decrypted pack.
var Unpack = unpack

// DetectAcceleration is detectAcceleration.
var DetectAcceleration = detectAcceleration
