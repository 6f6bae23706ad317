package emulate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"clank/browsermgr/fault"

	"github.com/go-rod/rod/lib/proto"
)

// Device is a machine to look like. Sizes are CSS pixels.
type Device struct {
	Name         string
	Width        int // of the viewport
	Height       int
	ScreenWidth  int
	ScreenHeight int
	Scale        float64 // device pixels for each CSS pixel
	Mobile       bool
	Touch        bool
	Landscape    bool
	// UserAgent is filled in by State.Device, with the version of the running browser.
	UserAgent string

	model deviceModel
}

const landscape = " landscape"

// Devices lists the names of all devices, in the order of the list. Those that can be turned are there twice, the second
// time with " landscape".
func Devices() []string {
	var names []string
	for _, m := range deviceModels {
		names = append(names, m.name)
		if m.lyingWidth > 0 {
			names = append(names, m.name+landscape)
		}
	}
	return names
}

// FindDevice finds a device by its name, whatever its case and spaces. An unknown name is an error that
// offers the nearest ones; no name at all is one that wraps page.ErrInvalid.
func FindDevice(name string) (Device, error) {
	wanted := foldName(name)
	if wanted == "" {
		return Device{}, fault.Invalidf("device name is required")
	}
	upright, turned := strings.CutSuffix(wanted, landscape)
	for _, m := range deviceModels {
		if turned && m.lyingWidth > 0 && foldName(m.name) == upright {
			return m.device(true), nil
		}
		if foldName(m.name) == wanted {
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
	d := Device{
		Name: m.name, Width: m.width, Height: m.height, ScreenWidth: m.screenWidth, ScreenHeight: m.screenHeight, Scale: m.scale, model: m,
	}
	switch m.family {
	case windowsChrome, windowsEdge, windowsFirefox, macSafari:
	case iPhone, iPad, androidPhone, androidTablet, otherFamily:
		d.Mobile, d.Touch = true, true
	}
	if turned {
		d.Name, d.Landscape = m.name+landscape, true
		d.Width, d.Height = m.lyingWidth, m.lyingHeight
		d.ScreenWidth, d.ScreenHeight = m.screenHeight, m.screenWidth
	}
	return d
}

// orientation returns how the screen is held.
func (d Device) orientation() *proto.EmulationScreenOrientation {
	switch {
	case d.Landscape:
		return &proto.EmulationScreenOrientation{Type: proto.EmulationScreenOrientationTypeLandscapePrimary, Angle: 90}
	case !d.Mobile:
		return &proto.EmulationScreenOrientation{Type: proto.EmulationScreenOrientationTypeLandscapePrimary}
	}
	return &proto.EmulationScreenOrientation{Type: proto.EmulationScreenOrientationTypePortraitPrimary}
}
