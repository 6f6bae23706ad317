package controltest

import (
	"path/filepath"
	"strings"
)

func manyLabels(s *suite) {
	s.openPage("/many")
	var got struct {
		screenshotAnswer

		Truncated bool
	}
	s.call("POST", "/screenshot", m{"labels": true, "fullPage": true}, &got)
	if got.LabelsCount != 150 || !got.Truncated {
		s.Fatalf("%d labels, truncated = %v", got.LabelsCount, got.Truncated)
	}
}

func noisyPicture(s *suite) {
	inTab(s, false, func(s *suite) {
		s.act(m{"kind": "resize", "width": 1900, "height": 1700})
		got, img := takeScreenshot(s, "/noise", m{})
		if ext := filepath.Ext(got.Path); ext != ".jpg" && ext != ".jpeg" {
			s.Fatalf("saved as %s", got.Path)
		}
		s.wantEqual("size", []int{img.Bounds().Dx(), img.Bounds().Dy()}, []int{1900, 1700})
	})
}

func longPicture(s *suite) {
	got, img := takeScreenshot(s, "/form", m{"fullPage": true})
	s.wantEqual("longest side", img.Bounds().Dy(), 2000)
	if ext := filepath.Ext(got.Path); ext != ".jpg" && ext != ".jpeg" {
		s.Fatalf("saved as %s", got.Path)
	}
}

func fittingPicture(s *suite) {
	for body, magic := range map[string]string{"png": "\x89PNG", "jpeg": "\xff\xd8"} {
		got, _ := takeScreenshot(s, "/marks", m{"type": body})
		data := s.read(got.Path)
		if !strings.HasPrefix(string(data), magic) || !filepath.IsAbs(got.Path) {
			s.Fatalf("%s was saved as %s, %q…", body, got.Path, data[:4])
		}
	}
}

func labelsAfterError(s *suite) {
	s.closeOtherTabs()
	s.openPage("/marks")
	for _, body := range []m{{"labels": true, "element": "#nosuch", "timeoutMs": 800}, {"labels": true, "ref": "e999"}} {
		s.send(requestCase{Path: "/screenshot", Body: body, Status: 500})
	}
	s.wantPage("document.querySelectorAll('[data-openclaw-labels]').length", 0)
}
