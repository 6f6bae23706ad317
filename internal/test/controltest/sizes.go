package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func manyLabels(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/many"); err != nil {
		return err
	}
	var got struct {
		screenshotAnswer

		Truncated bool
	}
	if err := s.Call(ctx, "POST", "/screenshot", map[string]any{"labels": true, "fullPage": true}, &got); err != nil {
		return err
	}
	if got.LabelsCount != 150 || !got.Truncated {
		return fmt.Errorf("%d labels, truncated = %v", got.LabelsCount, got.Truncated)
	}
	return nil
}

func noisyPicture(ctx context.Context, s *controlSuite) error {
	return inTab(ctx, s, false, func(ctx context.Context, s *controlSuite) error {
		if _, err := s.Act(ctx, map[string]any{"kind": "resize", "width": 1900, "height": 1700}); err != nil {
			return err
		}
		got, img, err := takeScreenshot(ctx, s, "/noise", map[string]any{})
		if err != nil {
			return err
		}
		if ext := filepath.Ext(got.Path); ext != ".jpg" && ext != ".jpeg" {
			return fmt.Errorf("saved as %s", got.Path)
		}
		return wantEqualJSON("size", []int{img.Bounds().Dx(), img.Bounds().Dy()}, []int{1900, 1700})
	})
}

func longPicture(ctx context.Context, s *controlSuite) error {
	got, img, err := takeScreenshot(ctx, s, "/form", map[string]any{"fullPage": true})
	if err != nil {
		return err
	}
	if err := wantEqualJSON("longest side", img.Bounds().Dy(), 2000); err != nil {
		return err
	}
	if ext := filepath.Ext(got.Path); ext != ".jpg" && ext != ".jpeg" {
		return fmt.Errorf("saved as %s", got.Path)
	}
	return nil
}

func fittingPicture(ctx context.Context, s *controlSuite) error {
	for body, magic := range map[string]string{"png": "\x89PNG", "jpeg": "\xff\xd8"} {
		got, _, err := takeScreenshot(ctx, s, "/marks", map[string]any{"type": body})
		if err != nil {
			return err
		}
		data, err := os.ReadFile(got.Path)
		if err != nil {
			return err
		}
		if !strings.HasPrefix(string(data), magic) || !filepath.IsAbs(got.Path) {
			return fmt.Errorf("%s was saved as %s, %q…", body, got.Path, data[:4])
		}
	}
	return nil
}

func labelsAfterError(ctx context.Context, s *controlSuite) error {
	if err := s.closeOtherTabs(ctx); err != nil { // without the tabs of the pictures before
		return err
	}
	if err := s.openPage(ctx, "/marks"); err != nil {
		return err
	}
	for _, body := range []map[string]any{{"labels": true, "element": "#nosuch", "timeoutMs": 800}, {"labels": true, "ref": "e999"}} {
		if err := (requestCase{Path: "/screenshot", Body: body, Status: 500}).Run(ctx, s); err != nil {
			return err
		}
	}
	var left int
	if err := s.Evaluate(ctx, "document.querySelectorAll('[data-openclaw-labels]').length", &left); err != nil {
		return err
	}
	return wantEqualJSON("overlays left", left, 0)
}
