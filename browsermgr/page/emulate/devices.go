package emulate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"clank/browsermgr/fault"

	"github.com/go-rod/rod/lib/proto"
)

// Device is a machine to look like, held upright or turned.
type Device struct {
	deviceModel

	Landscape bool
	// UserAgent is filled in by [Emulator.SetDevice], with the version of the running browser.
	UserAgent string
}

const landscape = " landscape"

// Devices lists the names of all devices, in the order of the list. Those that can be turned are there twice, the
// second time with " landscape".
func Devices() []string {
	var names []string
	for _, m := range deviceModels {
		names = append(names, m.Name)
		if m.lyingWidth > 0 {
			names = append(names, m.Name+landscape)
		}
	}
	return names
}

// FindDevice finds a device by its name, whatever its case and spaces. An unknown name is an error that offers the
// nearest ones; no name at all is one that wraps page.ErrInvalid.
func FindDevice(name string) (Device, error) {
	wanted := foldName(name)
	if wanted == "" {
		return Device{}, fault.Invalidf("device name is required")
	}
	upright, turned := strings.CutSuffix(wanted, landscape)
	for _, m := range deviceModels {
		if turned && m.lyingWidth > 0 && foldName(m.Name) == upright {
			return m.device(true), nil
		}
		if foldName(m.Name) == wanted {
			return m.device(false), nil
		}
	}
	shown := []rune(name)
	return Device{}, fmt.Errorf("unknown device %q; the nearest are %s", string(shown[:min(len(shown), 80)]), strings.Join(nearestNames(wanted), ", "))
}

func foldName(name string) string { return strings.Join(strings.Fields(strings.ToLower(name)), " ") }

// nearestNames returns the three names that resemble wanted most.
func nearestNames(wanted string) []string {
	if len(wanted) > 80 {
		wanted = wanted[:80]
	}
	names := Devices()
	distances := map[string]int{}
	for _, n := range names {
		d := editDistance(wanted, foldName(n))
		if strings.Contains(foldName(n), wanted) {
			d = min(d, 2) // part of the name was given
		}
		distances[n] = d
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(distances[a], distances[b]) })
	var quoted []string
	for _, n := range names[:3] {
		quoted = append(quoted, fmt.Sprintf("%q", n))
	}
	return quoted
}

// editDistance returns the number of bytes to add, drop or replace between two words (Levenshtein).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := before
			if a[i] != b[j] {
				replaced++
			}
			before = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func (m deviceModel) device(turned bool) Device {
	d := Device{deviceModel: m, Landscape: turned}
	if turned {
		d.Name += landscape
		d.Width, d.Height = m.lyingWidth, m.lyingHeight
		d.ScreenWidth, d.ScreenHeight = m.ScreenHeight, m.ScreenWidth
	}
	return d
}

// Mobile reports whether it is a phone or a tablet, which has a touch screen.
func (m deviceModel) Mobile() bool {
	return !slices.Contains([]deviceFamily{windowsChrome, windowsEdge, windowsFirefox, macSafari}, m.family)
}

// orientation returns how the screen is held.
func (d Device) orientation() *proto.EmulationScreenOrientation {
	switch {
	case d.Landscape:
		return &proto.EmulationScreenOrientation{Type: proto.EmulationScreenOrientationTypeLandscapePrimary, Angle: 90}
	case !d.Mobile():
		return &proto.EmulationScreenOrientation{Type: proto.EmulationScreenOrientationTypeLandscapePrimary}
	}
	return &proto.EmulationScreenOrientation{Type: proto.EmulationScreenOrientationTypePortraitPrimary}
}

// userAgent is what a device says of itself: the user agent, navigator.platform and the client hints. Browsers that
// send no hints have none.
type userAgent struct {
	text     string
	platform string
	hints    *proto.EmulationUserAgentMetadata
}

// userAgentFor writes what the device says when its browser has the version of the running one. product is Chromium's
// own, such as Chrome/156.0.8078.79.
func (m deviceModel) userAgentFor(product string) userAgent {
	_, full, _ := strings.Cut(product, "/")
	major, _, _ := strings.Cut(full, ".")
	if major == "" {
		major, full = "0", "0.0.0.0"
	}
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
