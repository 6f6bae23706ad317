package rtc

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/pion/sdp/v3"
)

// MaxOffer is how long an offer may be, in bytes. Those of browsers have about 6,000.
const MaxOffer = 48 << 10

const (
	maxMedia      = 4
	maxAttributes = 400
)

// readOffer checks an offer (RFC 8866, RFC 8829) as far as it must be before others read it, and takes the addresses out that we
// shall not write to.
//
// Without servers of ours all of them go: the page can reach us, so it speaks first, and the proper password of the connection in
// what it says shows its address (RFC 8445, peer reflexive). So nobody can make us send anything to an address of their
// choosing. With servers, addresses stay, for a relay must be told of them.
func readOffer(offer string, servers, loopback bool) (string, error) {
	if len(offer) > MaxOffer {
		return "", fmt.Errorf("%w: it has %d bytes, and %d are taken", ErrOffer, len(offer), MaxOffer)
	}
	var desc sdp.SessionDescription
	if err := desc.UnmarshalString(offer); err != nil {
		return "", fmt.Errorf("%w: %w", ErrOffer, err)
	}
	if n := len(desc.MediaDescriptions); n == 0 || n > maxMedia {
		return "", fmt.Errorf("%w: it has %d parts, and 1 to %d are taken", ErrOffer, n, maxMedia)
	}
	drop := func(a sdp.Attribute) bool {
		if a.Key == "candidate" {
			return !servers || !reachable(a.Value, loopback)
		}
		return a.Key == "end-of-candidates"
	}
	desc.Attributes = slices.DeleteFunc(desc.Attributes, drop)
	attributes := len(desc.Attributes)
	for _, m := range desc.MediaDescriptions {
		if kind := m.MediaName.Media; kind != "audio" && kind != "video" && kind != "application" {
			return "", fmt.Errorf("%w: it has a part %q", ErrOffer, kind)
		}
		m.Attributes = slices.DeleteFunc(m.Attributes, drop)
		attributes += len(m.Attributes)
	}
	if attributes > maxAttributes {
		return "", fmt.Errorf("%w: it has more than %d attributes", ErrOffer, maxAttributes)
	}
	clean, err := desc.Marshal()
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrOffer, err)
	}
	return string(clean), nil
}

// reachable reports whether a candidate (RFC 8839 §5.1) has an address that may be written to: no name, and none of this machine or
// this link.
func reachable(candidate string, loopback bool) bool {
	fields := strings.Fields(candidate)
	if len(fields) < 6 {
		return false
	}
	ip, err := netip.ParseAddr(fields[4])
	if err != nil {
		return false
	}
	ip = ip.Unmap()
	return loopback && ip.IsLoopback() || ip.IsGlobalUnicast()
}
