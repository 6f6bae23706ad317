package webrtc

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/pion/sdp/v3"
)

// MaxOffer is the maximum length of an offer in bytes. Browsers send about 6,000.
const MaxOffer = 48 << 10

const (
	maxMedia      = 4
	maxAttributes = 400
	maxCandidates = 16
)

// blockedPrefixes are public networks that lead to private ones, or nowhere (RFC 6890).
var blockedPrefixes = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2001::/32"), netip.MustParsePrefix("2002::/16"),
}

// readOffer checks an offer (RFC 8866, RFC 8829) before others parse it, and removes the addresses that we must not
// send to.
//
// Without ICE servers it removes all of them: the page can reach us, so it sends first, and its message, which has the
// connection's password, reveals its address (RFC 8445, peer reflexive). So nobody can make us send anything to an
// address of their choosing. With servers, a few public addresses stay, because a router or relay may only let answers
// through; those of private networks and of this machine are removed anyway, because clients there can reach us.
func readOffer(offer string, servers bool) (string, error) {
	if len(offer) > MaxOffer {
		return "", fmt.Errorf("%w: it has %d bytes, and %d are taken", ErrBadOffer, len(offer), MaxOffer)
	}
	var desc sdp.SessionDescription
	if err := desc.UnmarshalString(offer); err != nil {
		return "", fmt.Errorf("%w: %w", ErrBadOffer, err)
	}
	if n := len(desc.MediaDescriptions); n == 0 || n > maxMedia {
		return "", fmt.Errorf("%w: it has %d parts, and 1 to %d are taken", ErrBadOffer, n, maxMedia)
	}
	kept := 0
	drop := func(a sdp.Attribute) bool {
		if a.Key == "candidate" {
			if !servers || kept == maxCandidates || !reachable(a.Value) {
				return true
			}
			kept++
			return false
		}
		return a.Key == "end-of-candidates"
	}
	desc.Attributes = slices.DeleteFunc(desc.Attributes, drop)
	attributes := len(desc.Attributes)
	for _, m := range desc.MediaDescriptions {
		if kind := m.MediaName.Media; kind != "audio" && kind != "video" && kind != "application" {
			return "", fmt.Errorf("%w: it has a part %q", ErrBadOffer, kind)
		}
		m.Attributes = slices.DeleteFunc(m.Attributes, drop)
		attributes += len(m.Attributes)
	}
	if attributes > maxAttributes {
		return "", fmt.Errorf("%w: it has more than %d attributes", ErrBadOffer, maxAttributes)
	}
	clean, err := desc.Marshal()
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrBadOffer, err)
	}
	return string(clean), nil
}

// reachable reports whether a candidate (RFC 8839 §5.1) has an address that we may send to: a public one, and no host
// name.
func reachable(candidate string) bool {
	fields := strings.Fields(candidate)
	if len(fields) < 6 {
		return false
	}
	ip, err := netip.ParseAddr(fields[4])
	if err != nil {
		return false
	}
	ip = ip.Unmap()
	inside := func(p netip.Prefix) bool { return p.Contains(ip) }
	return ip.IsGlobalUnicast() && !ip.IsPrivate() && ip.Zone() == "" && !slices.ContainsFunc(blockedPrefixes, inside)
}
