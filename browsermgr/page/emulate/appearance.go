package emulate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"clank/browsermgr/fault"
	"clank/browsermgr/page"

	"github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/proto"
)

// SetColorScheme emulates a preferred colour scheme for the tab's pages: dark, light or no-preference; none ends that.
func (s *Emulator) SetColorScheme(ctx context.Context, t *page.Tab, scheme string) error {
	if !slices.Contains([]string{"dark", "light", "no-preference", "none"}, scheme) {
		return fault.Invalidf("colorScheme must be dark, light, no-preference or none")
	}
	if scheme == "none" {
		scheme = ""
	}
	return s.changeTab(ctx, t, "set color scheme", func(o *tabSettings) { o.scheme = scheme }, &tabSettings{scheme: "any"})
}

// SetTimezone sets the tab's time zone by its IANA name. Chromium has one time zone per process: another tab of the
// same site in the same process is affected, too.
func (s *Emulator) SetTimezone(ctx context.Context, t *page.Tab, id string) error {
	id = strings.TrimSpace(id)
	if id == "" {
		return fault.Invalidf("timezoneId is required")
	}
	req := proto.EmulationSetTimezoneOverride{TimezoneID: id}
	had, err := s.replaceTimezone(ctx, t, req)
	if refusedBecause(err, "Invalid timezone") {
		if had != "" {
			if err := s.askMainFrame(ctx, t, "keep time zone", proto.EmulationSetTimezoneOverride{TimezoneID: had}); err != nil {
				return err
			}
		}
		return fmt.Errorf("Invalid timezone ID: %s", //nolint:staticcheck // clients of the control API match on this spelling
			id)
	}
	if refusedBecause(err, "already in effect") {
		return errors.New("set time zone: another tab that shares this one's process has a time zone of its own; clear " +
			"that one first")
	}
	if err != nil {
		return err
	}
	return s.changeTab(ctx, t, "set time zone", func(o *tabSettings) { o.timezone = id }, &tabSettings{timezone: id})
}

// replaceTimezone tries a time zone in place of the tab's present one, which it returns. It must clear that first,
// since Chromium validates a zone only if none is set.
func (s *Emulator) replaceTimezone(ctx context.Context, t *page.Tab, req proto.Request) (had string, err error) {
	err = s.sendChange(ctx, t, "set time zone", func(calls map[*page.Tab][]frameCall) {
		if had = s.tabSettingsOf(t).timezone; had != "" {
			calls[t] = []frameCall{{t.MainFrame().BeginWithin(tabChangeLimit, proto.EmulationSetTimezoneOverride{}), true}}
		}
		calls[t] = append(calls[t], frameCall{t.MainFrame().BeginWithin(tabChangeLimit, req), true})
	})
	return had, err
}

// SetLocale sets the tab's language: the header Accept-Language, navigator.language, and the format of dates and
// numbers. Like the time zone, the format is set per process.
func (s *Emulator) SetLocale(ctx context.Context, t *page.Tab, locale string) error {
	locale = strings.TrimSpace(locale)
	if locale == "" {
		return fault.Invalidf("locale is required")
	}
	if !validHeader("x", locale) || strings.ContainsAny(locale, ",; ") {
		return fault.Invalidf("Invalid locale name: %s", locale)
	}
	req := proto.EmulationSetLocaleOverride{Locale: locale}
	err := s.askMainFrame(ctx, t, "set locale", req)
	if refusedBecause(err, "Invalid locale") {
		return fault.Invalidf("Invalid locale name: %s", locale)
	}
	if refusedBecause(err, "already in effect") {
		return errors.New("set locale: another tab that shares this one's process has a locale of its own; clear that " +
			"one first")
	}
	if err != nil {
		return err
	}
	return s.changeTab(ctx, t, "set locale", func(o *tabSettings) { o.locale = locale }, &tabSettings{locale: locale})
}

// askMainFrame sends a request to the main frame, to find out whether Chromium accepts a value before it is stored.
func (s *Emulator) askMainFrame(ctx context.Context, t *page.Tab, what string, req proto.Request) error {
	return s.sendChange(ctx, t, what, func(calls map[*page.Tab][]frameCall) {
		calls[t] = []frameCall{{t.MainFrame().BeginWithin(tabChangeLimit, req), true}}
	})
}

// refusedBecause reports whether Chromium's error has this reason.
func refusedBecause(err error, reason string) bool {
	e, ok := errors.AsType[*cdp.Error](err)
	return ok && strings.Contains(strings.ToLower(e.Message), strings.ToLower(reason))
}

// SetDevice emulates a device, see [FindDevice]: viewport, screen, pixel ratio, touch, user agent and client hints. It
// returns the device. A viewport set earlier is cleared.
func (s *Emulator) SetDevice(ctx context.Context, t *page.Tab, name string) (Device, error) {
	model, err := FindDevice(name)
	if err != nil {
		return Device{}, err
	}
	var version proto.BrowserGetVersionResult
	err = t.RunConcurrently(ctx, tabChangeLimit, func(ctx context.Context) error {
		return t.MainFrame().Begin(proto.BrowserGetVersion{}).Wait(ctx, &version)
	})
	if err != nil {
		return Device{}, err
	}
	a := model.userAgentFor(version.Product)
	model.UserAgent = a.text
	err = s.changeTab(ctx, t, "set device", func(o *tabSettings) { o.device, o.agent, o.size = &model, &a, nil },
		&tabSettings{device: &model, agent: &a})
	return model, err
}

// largestSide bounds a viewport, in CSS pixels.
const largestSide = 8192

// SetViewport sets the tab's viewport in CSS pixels and keeps the other properties of its device.
func (s *Emulator) SetViewport(ctx context.Context, t *page.Tab, width, height int) error {
	if width <= 0 || height <= 0 {
		return fault.Invalidf("resize requires positive width and height")
	}
	if width > largestSide || height > largestSide {
		return fault.Invalidf("resize width and height must not exceed %d", largestSide)
	}
	size := &viewportSize{width, height}
	return s.changeTab(ctx, t, "set viewport", func(o *tabSettings) { o.size = size }, &tabSettings{size: size})
}
