package emulate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"clank/browsermgr/fault"

	"github.com/go-rod/rod/lib/proto"
)

// Device is a device to emulate, in portrait or landscape orientation.
type Device struct {
	deviceModel

	Landscape bool
	// UserAgent is set by [Emulator.SetDevice], with the version of the running browser.
	UserAgent string
}

const landscape = " landscape"

// Devices lists the names of all devices in table order. Those that can be rotated appear twice, the second time with "
// landscape".
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

// FindDevice finds a device by its name, ignoring case and extra spaces. The error for an unknown name suggests the
// nearest ones; the error for an empty name wraps page.ErrInvalid.
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
	return Device{}, fmt.Errorf("unknown device %q; the nearest are %s", string(shown[:min(len(shown), 80)]),
		strings.Join(nearestNames(wanted), ", "))
}

func foldName(name string) string { return strings.Join(strings.Fields(strings.ToLower(name)), " ") }

// nearestNames returns the three names most similar to wanted.
func nearestNames(wanted string) []string {
	if len(wanted) > 80 {
		wanted = wanted[:80]
	}
	names := Devices()
	distances := map[string]int{}
	for _, n := range names {
		d := editDistance(wanted, foldName(n))
		if strings.Contains(foldName(n), wanted) {
			d = min(d, 2) // a part of the name was given
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

// editDistance returns the Levenshtein distance between two words, in bytes.
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

// Mobile reports whether it is a phone or tablet, which has a touch screen.
func (m deviceModel) Mobile() bool {
	return !slices.Contains([]deviceFamily{windowsChrome, windowsEdge, windowsFirefox, macSafari}, m.family)
}

// orientation returns the screen orientation.
func (d Device) orientation() *proto.EmulationScreenOrientation {
	switch {
	case d.Landscape:
		return &proto.EmulationScreenOrientation{Type: proto.EmulationScreenOrientationTypeLandscapePrimary, Angle: 90}
	case !d.Mobile():
		return &proto.EmulationScreenOrientation{Type: proto.EmulationScreenOrientationTypeLandscapePrimary}
	}
	return &proto.EmulationScreenOrientation{Type: proto.EmulationScreenOrientationTypePortraitPrimary}
}

// userAgent holds the user agent string, navigator.platform and the client hints, if the device's browser sends them.
type userAgent struct {
	text     string
	platform string
	hints    *proto.EmulationUserAgentMetadata
}

// userAgentFor returns the device's user agent with the version of the running browser. product is Chromium's, such as
// Chrome/156.0.8078.79.
func (m deviceModel) userAgentFor(product string) userAgent {
	_, full, _ := strings.Cut(product, "/")
	major, _, _ := strings.Cut(full, ".")
	if major == "" {
		major, full = "0", "0.0.0.0"
	}
	chrome := func(system, mobile string) string {
		return fmt.Sprintf("Mozilla/5.0 (%s) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%s.0.0.0%s Safari/537.36", system,
			major, mobile)
	}
	const windows = "Windows NT 10.0; Win64; x64"
	switch m.family {
	case iPhone, iPad:
		return m.safariAgent()
	case androidPhone:
		return userAgent{
			chrome("Linux; Android "+m.system+"; "+m.code, " Mobile"), "Linux armv8l",
			m.clientHints("Google Chrome", major, full),
		}
	case androidTablet:
		return userAgent{
			chrome("Linux; Android "+m.system+"; "+m.code, ""), "Linux armv8l",
			m.clientHints("Google Chrome", major, full),
		}
	case windowsChrome:
		return userAgent{chrome(windows, ""), "Win32", m.clientHints("Google Chrome", major, full)}
	case windowsEdge:
		return userAgent{
			chrome(windows, "") + " Edg/" + major + ".0.0.0", "Win32",
			m.clientHints("Microsoft Edge", major, full),
		}
	case windowsFirefox:
		return userAgent{
			text:     fmt.Sprintf("Mozilla/5.0 (%s; rv:%[2]s.0) Gecko/20100101 Firefox/%[2]s.0", windows, major),
			platform: "Win32",
		}
	case macSafari:
		return userAgent{
			text: "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 " +
				"Safari/605.1.15",
			platform: "MacIntel",
		}
	case otherFamily:
		return userAgent{text: m.code}
	}
	return userAgent{text: m.code}
}

// safariAgent returns the user agent of Safari on a phone or tablet, which has no client hints.
func (m deviceModel) safariAgent() userAgent {
	name, cpu := "iPhone", "CPU iPhone OS"
	if m.family == iPad {
		name, cpu = "iPad", "CPU OS"
	}
	return userAgent{
		text: fmt.Sprintf("Mozilla/5.0 (%s; %s %s like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/%s "+
			"Mobile/15E148 Safari/604.1",
			name, cpu, strings.ReplaceAll(m.system, ".", "_"), m.system),
		platform: name,
	}
}

// clientHints returns the matching user agent client hints.
func (m deviceModel) clientHints(brand, major, full string) *proto.EmulationUserAgentMetadata {
	brands := func(version, filler string) []*proto.EmulationUserAgentBrandVersion {
		return []*proto.EmulationUserAgentBrandVersion{
			{Brand: "Not:A-Brand", Version: filler}, {Brand: "Chromium", Version: version}, {Brand: brand, Version: version},
		}
	}
	h := &proto.EmulationUserAgentMetadata{
		Brands: brands(major, "8"), FullVersionList: brands(full, "8.0.0.0"),
		FullVersion: full,
	}
	switch m.family {
	case androidPhone, androidTablet:
		h.Platform, h.PlatformVersion, h.Model, h.Mobile = "Android", threePartVersion(m.system), m.code,
			m.family == androidPhone
	default:
		h.Platform, h.PlatformVersion, h.Architecture, h.Bitness = "Windows", "10.0.0", "x86", "64"
	}
	return h
}

// threePartVersion returns a version with three parts, as in client hints.
func threePartVersion(version string) string {
	for strings.Count(version, ".") < 2 {
		version += ".0"
	}
	return version
}

// deviceFamily determines the user agent of a model.
type deviceFamily int

const (
	iPhone deviceFamily = iota
	iPad
	androidPhone  // Android
	androidTablet // Android
	windowsChrome
	windowsEdge
	windowsFirefox
	macSafari
	otherFamily // with a fixed user agent
)

// deviceModel is a row of the table. Sizes are in CSS pixels: the viewport in portrait and landscape (zero if it cannot
// be rotated), and the screen in portrait.
type deviceModel struct {
	Name          string
	family        deviceFamily
	system        string // version of the operating system
	code          string // model name of the manufacturer; for otherFamily, the user agent
	Width, Height int
	lyingWidth    int
	lyingHeight   int
	ScreenWidth   int
	ScreenHeight  int
	Scale         float64 // device pixels per CSS pixel
}

// deviceModels are the devices, with the names used by common testing tools. The sizes are those published by the
// manufacturers, less the browser's own bars where known.
var deviceModels = []deviceModel{
	{"iPad (gen 5)", iPad, "12.2", "iPad", 768, 1024, 1024, 768, 768, 1024, 2},
	{"iPad (gen 6)", iPad, "12.2", "iPad", 768, 1024, 1024, 768, 768, 1024, 2},
	{"iPad (gen 7)", iPad, "12.2", "iPad", 810, 1080, 1080, 810, 810, 1080, 2},
	{"iPad (gen 11)", iPad, "18.5", "iPad", 656, 944, 944, 656, 656, 944, 2.5},
	{"iPad Mini", iPad, "12.2", "iPad", 768, 1024, 1024, 768, 768, 1024, 2},
	{"iPad Pro 11", iPad, "12.2", "iPad", 834, 1194, 1194, 834, 834, 1194, 2},
	{"iPhone 6", iPhone, "11.0", "iPhone", 375, 667, 667, 375, 375, 667, 2},
	{"iPhone 6 Plus", iPhone, "11.0", "iPhone", 414, 736, 736, 414, 414, 736, 3},
	{"iPhone 7", iPhone, "11.0", "iPhone", 375, 667, 667, 375, 375, 667, 2},
	{"iPhone 7 Plus", iPhone, "11.0", "iPhone", 414, 736, 736, 414, 414, 736, 3},
	{"iPhone 8", iPhone, "11.0", "iPhone", 375, 667, 667, 375, 375, 667, 2},
	{"iPhone 8 Plus", iPhone, "11.0", "iPhone", 414, 736, 736, 414, 414, 736, 3},
	{"iPhone SE", iPhone, "10.3", "iPhone", 320, 568, 568, 320, 320, 568, 2},
	{"iPhone SE (3rd gen)", iPhone, "18.5", "iPhone", 375, 667, 667, 375, 375, 667, 2},
	{"iPhone X", iPhone, "11.0", "iPhone", 375, 812, 812, 375, 375, 812, 3},
	{"iPhone XR", iPhone, "12.0", "iPhone", 414, 896, 896, 414, 414, 896, 3},
	{"iPhone 11", iPhone, "12.2", "iPhone", 414, 715, 800, 364, 414, 896, 2},
	{"iPhone 11 Pro", iPhone, "12.2", "iPhone", 375, 635, 724, 325, 375, 812, 3},
	{"iPhone 11 Pro Max", iPhone, "12.2", "iPhone", 414, 715, 808, 364, 414, 896, 3},
	{"iPhone 12", iPhone, "14.4", "iPhone", 390, 664, 750, 340, 390, 844, 3},
	{"iPhone 12 Pro", iPhone, "14.4", "iPhone", 390, 664, 750, 340, 390, 844, 3},
	{"iPhone 12 Pro Max", iPhone, "14.4", "iPhone", 428, 746, 832, 378, 428, 926, 3},
	{"iPhone 12 Mini", iPhone, "14.4", "iPhone", 375, 629, 712, 325, 375, 812, 3},
	{"iPhone 13", iPhone, "15.0", "iPhone", 390, 664, 750, 342, 390, 844, 3},
	{"iPhone 13 Pro", iPhone, "15.0", "iPhone", 390, 664, 750, 342, 390, 844, 3},
	{"iPhone 13 Pro Max", iPhone, "15.0", "iPhone", 428, 746, 832, 380, 428, 926, 3},
	{"iPhone 13 Mini", iPhone, "15.0", "iPhone", 375, 629, 712, 327, 375, 812, 3},
	{"iPhone 14", iPhone, "16.0", "iPhone", 390, 664, 750, 340, 390, 844, 3},
	{"iPhone 14 Plus", iPhone, "16.0", "iPhone", 428, 746, 832, 378, 428, 926, 3},
	{"iPhone 14 Pro", iPhone, "16.0", "iPhone", 393, 660, 734, 343, 393, 852, 3},
	{"iPhone 14 Pro Max", iPhone, "16.0", "iPhone", 430, 740, 814, 380, 430, 932, 3},
	{"iPhone 15", iPhone, "17.5", "iPhone", 393, 659, 734, 343, 393, 852, 3},
	{"iPhone 15 Plus", iPhone, "17.5", "iPhone", 430, 739, 814, 380, 430, 932, 3},
	{"iPhone 15 Pro", iPhone, "17.5", "iPhone", 393, 659, 734, 343, 393, 852, 3},
	{"iPhone 15 Pro Max", iPhone, "17.5", "iPhone", 430, 739, 814, 380, 430, 932, 3},
	{"iPhone 16", iPhone, "18.7", "iPhone", 393, 659, 734, 343, 393, 852, 3},
	{"iPhone 16 Plus", iPhone, "18.7", "iPhone", 430, 739, 814, 380, 430, 932, 3},
	{"iPhone 16 Pro", iPhone, "18.7", "iPhone", 402, 681, 756, 352, 402, 874, 3},
	{"iPhone 16 Pro Max", iPhone, "18.7", "iPhone", 440, 763, 838, 390, 440, 956, 3},
	{"iPhone 16e", iPhone, "18.7", "iPhone", 390, 651, 726, 340, 390, 844, 3},
	{"iPhone 17", iPhone, "18.7", "iPhone", 402, 681, 756, 352, 402, 874, 3},
	{"iPhone Air", iPhone, "18.7", "iPhone", 420, 719, 794, 370, 420, 912, 3},
	{"iPhone 17 Pro", iPhone, "18.7", "iPhone", 402, 681, 756, 352, 402, 874, 3},
	{"iPhone 17 Pro Max", iPhone, "18.7", "iPhone", 440, 763, 838, 390, 440, 956, 3},
	{"iPhone 17e", iPhone, "18.7", "iPhone", 390, 651, 726, 340, 390, 844, 3},
	{"Galaxy S5", androidPhone, "5.0", "SM-G900P", 360, 640, 640, 360, 360, 640, 3},
	{"Galaxy S8", androidPhone, "7.0", "SM-G950U", 360, 740, 740, 360, 360, 740, 3},
	{"Galaxy S9+", androidPhone, "8.0.0", "SM-G965U", 320, 658, 658, 320, 320, 658, 4.5},
	{"Galaxy S24", androidPhone, "14", "SM-S921U", 360, 780, 780, 360, 360, 780, 3},
	{"Galaxy A55", androidPhone, "14", "SM-A556B", 480, 1040, 1040, 480, 480, 1040, 2.25},
	{"Galaxy Tab S4", androidTablet, "8.1.0", "SM-T837A", 712, 1138, 1138, 712, 712, 1138, 2.25},
	{"Galaxy Tab S9", androidTablet, "14", "SM-X710", 640, 1024, 1024, 640, 640, 1024, 2.5},
	{"Galaxy Z Fold 6", androidPhone, "10", "SM-F956U", 928, 1004, 1028, 876, 928, 1080, 2},
	{"Galaxy Z Fold 6 Cover", androidPhone, "10", "SM-F956U", 484, 1112, 1136, 432, 484, 1188, 2},
	{"Galaxy Z Fold 7", androidPhone, "10", "SM-F966U", 984, 1016, 1040, 932, 984, 1092, 2},
	{"Galaxy Z Fold 7 Cover", androidPhone, "10", "SM-F966U", 360, 764, 788, 308, 360, 840, 3},
	{"Galaxy Z Flip 6", androidPhone, "10", "SM-F741U", 360, 804, 828, 308, 360, 880, 3},
	{"Galaxy Z Flip 6 Cover", androidPhone, "10", "SM-F741U", 360, 298, 322, 308, 360, 374, 2},
	{"Galaxy Z Flip 7", androidPhone, "10", "SM-F761U", 360, 764, 788, 308, 360, 840, 3},
	{"Galaxy Z Flip 7 Cover", androidPhone, "10", "SM-F761U", 474, 448, 472, 422, 474, 524, 2},
	{"Nexus 10", androidTablet, "6.0.1", "Nexus 10", 800, 1280, 1280, 800, 800, 1280, 2},
	{"Nexus 4", androidPhone, "4.4.2", "Nexus 4", 384, 640, 640, 384, 384, 640, 2},
	{"Nexus 5", androidPhone, "6.0", "Nexus 5", 360, 640, 640, 360, 360, 640, 3},
	{"Nexus 5X", androidPhone, "8.0.0", "Nexus 5X", 412, 732, 732, 412, 412, 732, 2.625},
	{"Nexus 6", androidPhone, "7.1.1", "Nexus 6", 412, 732, 732, 412, 412, 732, 3.5},
	{"Nexus 6P", androidPhone, "8.0.0", "Nexus 6P", 412, 732, 732, 412, 412, 732, 3.5},
	{"Nexus 7", androidTablet, "6.0.1", "Nexus 7", 600, 960, 960, 600, 600, 960, 2},
	{"Pixel 2", androidPhone, "8.0", "Pixel 2", 411, 731, 731, 411, 411, 731, 2.625},
	{"Pixel 2 XL", androidPhone, "8.0.0", "Pixel 2 XL", 411, 823, 823, 411, 411, 823, 3.5},
	{"Pixel 3", androidPhone, "9", "Pixel 3", 393, 786, 786, 393, 393, 786, 2.75},
	{"Pixel 4", androidPhone, "10", "Pixel 4", 353, 745, 745, 353, 353, 745, 3},
	{"Pixel 4a (5G)", androidPhone, "11", "Pixel 4a (5G)", 412, 765, 840, 312, 412, 892, 2.63},
	{"Pixel 5", androidPhone, "11", "Pixel 5", 393, 727, 802, 293, 393, 851, 2.75},
	{"Pixel 6", androidPhone, "12", "Pixel 6", 412, 839, 863, 360, 412, 915, 2.625},
	{"Pixel 6 Pro", androidPhone, "12", "Pixel 6 Pro", 412, 816, 840, 360, 412, 892, 3.5},
	{"Pixel 6a", androidPhone, "12", "Pixel 6a", 412, 839, 863, 360, 412, 915, 2.625},
	{"Pixel 7", androidPhone, "14", "Pixel 7", 412, 839, 863, 360, 412, 915, 2.625},
	{"Pixel 7 Pro", androidPhone, "13", "Pixel 7 Pro", 412, 816, 840, 360, 412, 892, 3.5},
	{"Pixel 7a", androidPhone, "13", "Pixel 7a", 412, 839, 863, 360, 412, 915, 2.625},
	{"Pixel 8", androidPhone, "14", "Pixel 8", 412, 839, 863, 360, 412, 915, 2.625},
	{"Pixel 8 Pro", androidPhone, "14", "Pixel 8 Pro", 448, 921, 945, 396, 448, 997, 3},
	{"Pixel 8a", androidPhone, "14", "Pixel 8a", 412, 839, 863, 360, 412, 915, 2.625},
	{"Pixel 9", androidPhone, "14", "Pixel 9", 360, 732, 756, 308, 360, 808, 3},
	{"Pixel 9 Pro", androidPhone, "14", "Pixel 9 Pro", 427, 876, 900, 375, 427, 952, 3},
	{"Pixel 9 Pro XL", androidPhone, "14", "Pixel 9 Pro XL", 448, 921, 945, 396, 448, 997, 3},
	{"Pixel 10", androidPhone, "16", "Pixel 10", 360, 732, 756, 308, 360, 808, 3},
	{"Pixel 10 Pro", androidPhone, "16", "Pixel 10 Pro", 427, 876, 900, 375, 427, 952, 3},
	{"Pixel 10 Pro XL", androidPhone, "16", "Pixel 10 Pro XL", 448, 921, 945, 396, 448, 997, 3},
	{"Moto G4", androidPhone, "7.0", "Moto G (4)", 360, 640, 640, 360, 360, 640, 3},
	{"Blackberry PlayBook", otherFamily, "", "Mozilla/5.0 (PlayBook; U; RIM Tablet OS 2.1.0; en-US) AppleWebKit/536.2+ " +
		"(KHTML like Gecko) Version/7.2.1.0 Safari/536.2+", 600, 1024, 1024, 600, 600, 1024, 1},
	{"BlackBerry Z30", otherFamily, "", "Mozilla/5.0 (BB10; Touch) AppleWebKit/537.10+ (KHTML, like Gecko) " +
		"Version/10.0.9.2372 Mobile Safari/537.10+", 360, 640, 640, 360, 360, 640, 2},
	{"Galaxy Note 3", androidPhone, "4.3", "SM-N900T", 360, 640, 640, 360, 360, 640, 3},
	{"Galaxy Note II", androidPhone, "4.1", "GT-N7100", 360, 640, 640, 360, 360, 640, 2},
	{"Galaxy S III", androidPhone, "4.0", "GT-I9300", 360, 640, 640, 360, 360, 640, 2},
	{"Kindle Fire HDX", androidTablet, "4.4.3", "KFAPWI", 800, 1280, 1280, 800, 800, 1280, 2},
	{"LG Optimus L70", androidPhone, "4.4.2", "LGMS323", 384, 640, 640, 384, 384, 640, 1.25},
	{
		"Microsoft Lumia 550", otherFamily, "", "Mozilla/5.0 (Windows Phone 10.0; Android 4.2.1; Microsoft; Lumia 550) " +
			"AppleWebKit/537.36 (KHTML, like Gecko) Chrome/46.0.2486.0 Mobile Safari/537.36 Edge/14.14263", 360, 640, 640, 360,
		360, 640, 2,
	},
	{
		"Microsoft Lumia 950", otherFamily, "", "Mozilla/5.0 (Windows Phone 10.0; Android 4.2.1; Microsoft; Lumia 950) " +
			"AppleWebKit/537.36 (KHTML, like Gecko) Chrome/46.0.2486.0 Mobile Safari/537.36 Edge/14.14263", 360, 640, 640, 360,
		360, 640, 4,
	},
	{"Nokia Lumia 520", otherFamily, "", "Mozilla/5.0 (compatible; MSIE 10.0; Windows Phone 8.0; Trident/6.0; " +
		"IEMobile/10.0; ARM; Touch; NOKIA; Lumia 520)", 320, 533, 533, 320, 320, 533, 1.5},
	{"Nokia N9", otherFamily, "", "Mozilla/5.0 (MeeGo; NokiaN9) AppleWebKit/534.13 (KHTML, like Gecko) " +
		"NokiaBrowser/8.5.0 Mobile Safari/534.13", 480, 854, 854, 480, 480, 854, 1},
	{"Desktop Chrome HiDPI", windowsChrome, "", "", 1280, 720, 0, 0, 1792, 1120, 2},
	{"Desktop Edge HiDPI", windowsEdge, "", "", 1280, 720, 0, 0, 1792, 1120, 2},
	{"Desktop Firefox HiDPI", windowsFirefox, "", "", 1280, 720, 0, 0, 1792, 1120, 2},
	{"Desktop Safari", macSafari, "", "", 1280, 720, 0, 0, 1792, 1120, 2},
	{"Desktop Chrome", windowsChrome, "", "", 1280, 720, 0, 0, 1920, 1080, 1},
	{"Desktop Edge", windowsEdge, "", "", 1280, 720, 0, 0, 1920, 1080, 1},
	{"Desktop Firefox", windowsFirefox, "", "", 1280, 720, 0, 0, 1920, 1080, 1},
}
