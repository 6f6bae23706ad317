package emulate

import (
	"fmt"
	"strings"

	"github.com/go-rod/rod/lib/proto"
)

// userAgent is what a device says of itself: the user agent, navigator.platform and the client hints. Browsers that send no
// hints have none.
type userAgent struct {
	text     string
	platform string
	hints    *proto.EmulationUserAgentMetadata
}

// userAgentFor writes what the device says when its browser has the version of the running one. product is Chromium's own, such
// as Chrome/156.0.8078.79.
func (d Device) userAgentFor(product string) userAgent {
	_, full, _ := strings.Cut(product, "/")
	major, _, _ := strings.Cut(full, ".")
	if major == "" {
		major, full = "0", "0.0.0.0"
	}
	m := d.model
	chrome := func(system, mobile string) string {
		return fmt.Sprintf("Mozilla/5.0 (%s) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%s.0.0.0%s Safari/537.36", system, major, mobile)
	}
	const windows = "Windows NT 10.0; Win64; x64"
	switch m.family {
	case iPhone, iPad:
		return m.safariAgent()
	case androidPhone:
		return userAgent{chrome("Linux; Android "+m.system+"; "+m.code, " Mobile"), "Linux armv8l", m.clientHints("Google Chrome", major, full)}
	case androidTablet:
		return userAgent{chrome("Linux; Android "+m.system+"; "+m.code, ""), "Linux armv8l", m.clientHints("Google Chrome", major, full)}
	case windowsChrome:
		return userAgent{chrome(windows, ""), "Win32", m.clientHints("Google Chrome", major, full)}
	case windowsEdge:
		return userAgent{chrome(windows, "") + " Edg/" + major + ".0.0.0", "Win32", m.clientHints("Microsoft Edge", major, full)}
	case windowsFirefox:
		return userAgent{text: fmt.Sprintf("Mozilla/5.0 (%s; rv:%[2]s.0) Gecko/20100101 Firefox/%[2]s.0", windows, major), platform: "Win32"}
	case macSafari:
		return userAgent{
			text:     "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15",
			platform: "MacIntel",
		}
	case otherFamily:
		return userAgent{text: m.code}
	}
	return userAgent{text: m.code}
}

// safariAgent returns the user agent of Safari on a phone or a tablet, which has no client hints.
func (m deviceModel) safariAgent() userAgent {
	name, cpu := "iPhone", "CPU iPhone OS"
	if m.family == iPad {
		name, cpu = "iPad", "CPU OS"
	}
	return userAgent{
		text: fmt.Sprintf("Mozilla/5.0 (%s; %s %s like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/%s Mobile/15E148 Safari/604.1",
			name, cpu, strings.ReplaceAll(m.system, ".", "_"), m.system),
		platform: name,
	}
}

// clientHints returns the user agent client hints that go with the user agent.
func (m deviceModel) clientHints(brand, major, full string) *proto.EmulationUserAgentMetadata {
	brands := func(version, filler string) []*proto.EmulationUserAgentBrandVersion {
		return []*proto.EmulationUserAgentBrandVersion{
			{Brand: "Not:A-Brand", Version: filler}, {Brand: "Chromium", Version: version}, {Brand: brand, Version: version},
		}
	}
	h := &proto.EmulationUserAgentMetadata{Brands: brands(major, "8"), FullVersionList: brands(full, "8.0.0.0"), FullVersion: full}
	switch m.family {
	case androidPhone, androidTablet:
		h.Platform, h.PlatformVersion, h.Model, h.Mobile = "Android", threePartVersion(m.system), m.code, m.family == androidPhone
	default:
		h.Platform, h.PlatformVersion, h.Architecture, h.Bitness = "Windows", "10.0.0", "x86", "64"
	}
	return h
}

// threePartVersion returns a version with three parts, as client hints have it.
func threePartVersion(version string) string {
	for strings.Count(version, ".") < 2 {
		version += ".0"
	}
	return version
}
