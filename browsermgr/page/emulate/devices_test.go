package emulate_test

import (
	"strings"
	"testing"

	"clank/browsermgr/page/emulate"
)

func TestDevicesMakeSense(t *testing.T) {
	names := emulate.Devices()
	if len(names) < 100 {
		t.Errorf("got %d devices", len(names))
	}
	seen := map[string]bool{}
	for _, name := range names {
		d, err := emulate.FindDevice(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		turned := strings.HasSuffix(name, " landscape")
		switch {
		case seen[name], d.Name != name, d.Landscape != turned, d.Mobile != d.Touch:
			t.Errorf("%s: got %+v", name, d)
		case d.Width < 280 || d.Height < 250 || d.Width > 2000 || d.Height > 2000 || d.Scale < 1 || d.Scale > 5:
			t.Errorf("%s has a viewport of %dx%d at %g", name, d.Width, d.Height, d.Scale)
		case turned && d.Width <= d.Height:
			t.Errorf("%s is higher than wide", name)
		case d.Width > max(d.ScreenWidth, d.ScreenHeight) || d.Height > max(d.ScreenWidth, d.ScreenHeight):
			t.Errorf("%s shows more than its screen has", name)
		}
		seen[name] = true
	}
	for _, name := range []string{"iPhone 15 Pro Max", "Pixel 9 Pro XL landscape", "Galaxy S24", "iPad Mini", "Desktop Edge"} {
		if !seen[name] {
			t.Errorf("%s is missing", name)
		}
	}
	if seen["Desktop Chrome landscape"] {
		t.Error("a desktop was turned")
	}
}

func TestUnknownDevicesOfferTheNearest(t *testing.T) {
	for given, want := range map[string]string{
		"iphone15": `"iPhone 15"`, "Pixel 99": `"Pixel 9"`, "Galaxy": `"Galaxy S`, "Deskto Chrome": `"Desktop Chrome"`, "": "required",
		strings.Repeat("x", 10000): "nearest",
	} {
		_, err := emulate.FindDevice(given)
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 300 {
			t.Errorf("%.20q: got %v, want it to offer %s", given, err, want)
		}
	}
}

func FuzzFindDevice(f *testing.F) {
	for _, s := range []string{"iPhone 12", "pixel 7 LANDSCAPE", "\xff\x00", " landscape"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		d, err := emulate.FindDevice(name)
		if (err == nil) != (d.Name != "") {
			t.Errorf("%q: got %+v, %v", name, d, err)
		}
	})
}

func FuzzOrigin(f *testing.F) {
	for _, s := range []string{"https://a.example/x?y", "http://[::1]:80", "http://u:p@h", "javascript:1", "https://"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, address string) {
		origin, err := emulate.ParseOrigin(address)
		if err != nil {
			return
		}
		again, err := emulate.ParseOrigin(origin)
		if err != nil || again != origin || strings.Contains(strings.TrimPrefix(strings.TrimPrefix(origin, "http://"), "https://"), "/") {
			t.Errorf("%q gives %q, which gives %q, %v", address, origin, again, err)
		}
	})
}
