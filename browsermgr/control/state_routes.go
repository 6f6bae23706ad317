package control

import (
	"context"
	"net/http"
	"slices"

	"clank/browsermgr/fault"
	"clank/browsermgr/page/emulate"
)

func stateRoutes() []Route {
	wipe := OptionalParam("clear", "boolean", "take it back")
	return []Route{
		NewRoute("POST", "/set/offline", "Takes the network away, or gives it back.", settingHandler(forAllTabs(readOffline))).WithBody(RequiredParam("offline", "boolean", "whether"), tabParam()),
		NewRoute("POST", "/set/headers", "Sets the headers sent with every request, in place of those before.", settingHandler(forAllTabs(readHeaders))).
			WithBody(RequiredParam("headers", "object", "names and values"), tabParam()),
		NewRoute("POST", "/set/credentials", "Sets what servers that ask for a name and a password are told.", settingHandler(forAllTabs(readCredentials))).
			WithBody(OptionalParam("username", "string", "name"), OptionalParam("password", "string", "password"), wipe, tabParam()),
		NewRoute("POST", "/set/geolocation", "Sets where the pages believe to be.", settingHandler(forAllTabs(readGeolocation))).WithBody(
			OptionalParam("latitude", "number", "degrees"), OptionalParam("longitude", "number", "degrees"), OptionalParam("accuracy", "number", "metres"),
			OptionalParam("origin", "string", "site that may ask"), wipe, tabParam(),
		),
		NewRoute("POST", "/set/media", "Sets the colour scheme that the page believes to be preferred.", settingHandler(readMedia)).
			WithBody(EnumParam("colorScheme", "which", colorSchemes...), tabParam()),
		NewRoute("POST", "/set/timezone", "Sets the time zone of the tab.", settingHandler(readTimezone)).WithBody(RequiredParam("timezoneId", "string", "such as Europe/Oslo"), tabParam()),
		NewRoute("POST", "/set/locale", "Sets the language of the tab.", settingHandler(readLocale)).WithBody(RequiredParam("locale", "string", "such as de-DE"), tabParam()),
		NewRoute("POST", "/set/device", "Makes the tab look like a device.", settingHandler(readDevice)).WithBody(RequiredParam("name", "string", "such as iPhone 14"), tabParam()),
	}
}

// stateChange is something to be done to the state of a tab.
type stateChange func(ctx context.Context, h *heldTab, s *emulate.Emulator) error

// settingHandler makes a handler: read says what the request wants, or what is wrong with it.
func settingHandler(read func(*Call) stateChange) func(context.Context, *Call) (TargetAnswer, error) {
	return func(ctx context.Context, c *Call) (TargetAnswer, error) {
		do := read(c)
		return withObserver(ctx, c, false, "emulation", func(h *heldTab, s *emulate.Emulator) (TargetAnswer, error) {
			return h.TargetAnswer(), do(ctx, h, s)
		})
	}
}

// forAllTabs wraps a state change that applies to all tabs at once, including a person's own, and refuses it in a
// personal browser.
func forAllTabs(read func(*Call) stateChange) func(*Call) stateChange {
	return func(c *Call) stateChange {
		do := read(c)
		return func(ctx context.Context, h *heldTab, s *emulate.Emulator) error {
			if err := h.RefusePersonalBrowser("what holds for all tabs"); err != nil {
				return err
			}
			return do(ctx, h, s)
		}
	}
}

func readOffline(c *Call) stateChange {
	offline, given := c.Body.Bool("offline")
	if !given {
		c.Body.Fail(fault.Invalidf("offline is required"))
	}
	return func(ctx context.Context, h *heldTab, s *emulate.Emulator) error {
		return s.SetOffline(ctx, h.Tab, offline)
	}
}

func readHeaders(c *Call) stateChange {
	given, ok := c.Body.Map("headers")
	if !ok {
		c.Body.Fail(fault.Invalidf("headers is required"))
	}
	headers := map[string]string{}
	for name, v := range given {
		if text, ok := v.(string); ok {
			headers[name] = text
		}
	}
	return func(ctx context.Context, h *heldTab, s *emulate.Emulator) error {
		return s.SetHeaders(ctx, h.Tab, headers)
	}
}

func readCredentials(c *Call) stateChange {
	var creds *emulate.Credentials
	username := c.Body.String("username")
	password, _ := c.Body.Text("password")
	if !c.Body.Flag("clear", false) {
		if username == "" {
			c.Body.Fail(fault.Invalidf("username is required, or clear=true"))
		}
		creds = &emulate.Credentials{Username: username, Password: password}
	}
	return func(ctx context.Context, h *heldTab, s *emulate.Emulator) error {
		return s.SetCredentials(ctx, h.Tab, creds)
	}
}

func readGeolocation(c *Call) stateChange {
	var place *emulate.Geolocation
	latitude, ok := c.Body.Number("latitude")
	longitude, both := c.Body.Number("longitude")
	accuracy, _ := c.Body.Number("accuracy")
	origin := c.Body.String("origin")
	if !c.Body.Flag("clear", false) {
		if !ok || !both {
			c.Body.Fail(fault.Invalidf("latitude and longitude are required, or clear=true"))
		}
		place = &emulate.Geolocation{Latitude: latitude, Longitude: longitude, Accuracy: accuracy, Origin: origin}
	}
	return func(ctx context.Context, h *heldTab, s *emulate.Emulator) error {
		return s.SetGeolocation(ctx, h.Tab, place)
	}
}

var colorSchemes = []string{"dark", "light", "no-preference", "none"}

func readMedia(c *Call) stateChange {
	scheme := c.Body.String("colorScheme")
	if !slices.Contains(colorSchemes, scheme) {
		c.Body.Fail(fault.Invalidf("colorScheme must be dark, light, no-preference or none"))
	}
	return func(ctx context.Context, h *heldTab, s *emulate.Emulator) error {
		return s.SetColorScheme(ctx, h.Tab, scheme)
	}
}

func readTimezone(c *Call) stateChange {
	id := c.Body.Required("timezoneId")
	return func(ctx context.Context, h *heldTab, s *emulate.Emulator) error {
		return unknownName(s.SetTimezone(ctx, h.Tab, id))
	}
}

func readLocale(c *Call) stateChange {
	locale := c.Body.Required("locale")
	return func(ctx context.Context, h *heldTab, s *emulate.Emulator) error {
		return s.SetLocale(ctx, h.Tab, locale)
	}
}

func readDevice(c *Call) stateChange {
	name := c.Body.Required("name")
	return func(ctx context.Context, h *heldTab, s *emulate.Emulator) error {
		_, err := s.SetDevice(ctx, h.Tab, name)
		return unknownName(err)
	}
}

// unknownName returns how the contract answers names that are well-formed and not known.
func unknownName(err error) error {
	if err == nil {
		return nil
	}
	return &StatusError{Status: http.StatusInternalServerError, Err: err}
}
