package profile

import "net/url"

// RewriteWebSocketURL returns what Discover makes of an advertised address.
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

// VersionURL returns where discovery asks.
func VersionURL(e Endpoint) string { return versionURL(e.url).String() }

// Unpack is what is done with a pack that was decrypted.
var Unpack = unpack

// DetectAcceleration is what the tests look at from inside.
var DetectAcceleration = detectAcceleration
