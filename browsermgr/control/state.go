package control

import (
	"context"
	"net/http"

	"clank/browsermgr/emulate"
	"clank/browsermgr/fault"
)

func stateRoutes() []route {
	to := func(name string, from field) field { from.name = name; return from }
	wipe := may("clear", "boolean", "take it back")
	return []route{
		on("POST", "/set/offline", "Takes the network away, or gives it back.", setting(everywhere(readOffline))).takes(need("offline", "boolean", "whether"), targetField),
		on("POST", "/set/headers", "Sets the headers sent with every request, in place of those before.", setting(everywhere(readHeaders))).
			takes(need("headers", "object", "names and values"), targetField),
		on("POST", "/set/credentials", "Sets what servers that ask for a name and a password are told.", setting(everywhere(readCredentials))).
			takes(may("username", "string", "name"), may("password", "string", "password"), wipe, targetField),
		on("POST", "/set/geolocation", "Sets where the pages believe to be.", setting(everywhere(readGeolocation))).takes(
			may("latitude", "number", "degrees"), may("longitude", "number", "degrees"), may("accuracy", "number", "metres"),
			may("origin", "string", "site that may ask"), wipe, targetField,
		),
		on("POST", "/set/media", "Sets the colour scheme that the page believes to be preferred.", setting(readMedia)).
			takes(to("colorScheme", oneOf("", "which", colorSchemes...)), targetField),
		on("POST", "/set/timezone", "Sets the time zone of the tab.", setting(readTimezone)).takes(need("timezoneId", "string", "such as Europe/Oslo"), targetField),
		on("POST", "/set/locale", "Sets the language of the tab.", setting(readLocale)).takes(need("locale", "string", "such as de-DE"), targetField),
		on("POST", "/set/device", "Makes the tab look like a device.", setting(readDevice)).takes(need("name", "string", "such as iPhone 14"), targetField),
	}
}

// change is something to be done to the state of a tab.
type change func(ctx context.Context, h *held, s *emulate.State) error

// setting makes a handler: read says what the request wants, or what is wrong with it.
func setting(read func(*call) change) func(context.Context, *call) (targetAnswer, error) {
	return func(ctx context.Context, c *call) (targetAnswer, error) {
		do := read(c)
		return emulated(ctx, c, func(h *held, s *emulate.State) (targetAnswer, error) { return h.answer(), do(ctx, h, s) })
	}
}

// everywhere is for what changes all tabs at once, a person's own among them.
func everywhere(read func(*call) change) func(*call) change {
	return func(c *call) change {
		do := read(c)
		return func(ctx context.Context, h *held, s *emulate.State) error {
			if err := h.ours("what holds for all tabs"); err != nil {
				return err
			}
			return do(ctx, h, s)
		}
	}
}

// emulated works the state of the tab that the request means.
func emulated[R any](ctx context.Context, c *call, work func(*held, *emulate.State) (R, error)) (out R, err error) {
	h, err := c.target(ctx)
	if err != nil {
		return out, err
	}
	defer h.release()
	state, err := feature[*emulate.State](h, "emulation")
	if err != nil {
		return out, err
	}
	return work(h, state)
}

func readOffline(c *call) change {
	offline, given := c.body.Bool("offline")
	if !given {
		c.body.Fail(fault.Invalidf("offline is required"))
	}
	return func(ctx context.Context, h *held, s *emulate.State) error { return s.Offline(ctx, h.tab, offline) }
}

func readHeaders(c *call) change {
	given, ok := c.body.Map("headers")
	if !ok {
		c.body.Fail(fault.Invalidf("headers is required"))
	}
	headers := map[string]string{}
	for name, v := range given {
		if text, ok := v.(string); ok {
			headers[name] = text
		}
	}
	return func(ctx context.Context, h *held, s *emulate.State) error { return s.Headers(ctx, h.tab, headers) }
}

func readCredentials(c *call) change {
	var creds *emulate.Credentials
	username := c.body.String("username")
	password, _ := c.body.Text("password")
	if !c.body.Flag("clear", false) {
		if username == "" {
			c.body.Fail(fault.Invalidf("username is required, or clear=true"))
		}
		creds = &emulate.Credentials{Username: username, Password: password}
	}
	return func(ctx context.Context, h *held, s *emulate.State) error { return s.Credentials(ctx, h.tab, creds) }
}

func readGeolocation(c *call) change {
	var place *emulate.Geolocation
	latitude, ok := c.body.Number("latitude")
	longitude, both := c.body.Number("longitude")
	accuracy, _ := c.body.Number("accuracy")
	origin := c.body.String("origin")
	if !c.body.Flag("clear", false) {
		if !ok || !both {
			c.body.Fail(fault.Invalidf("latitude and longitude are required, or clear=true"))
		}
		place = &emulate.Geolocation{Latitude: latitude, Longitude: longitude, Accuracy: accuracy, Origin: origin}
	}
	return func(ctx context.Context, h *held, s *emulate.State) error { return s.Geolocation(ctx, h.tab, place) }
}

var colorSchemes = []string{"dark", "light", "no-preference", "none"}

func readMedia(c *call) change {
	scheme := c.body.String("colorScheme")
	switch scheme {
	case "dark", "light", "no-preference", "none":
	default:
		c.body.Fail(fault.Invalidf("colorScheme must be dark, light, no-preference or none"))
	}
	return func(ctx context.Context, h *held, s *emulate.State) error { return s.ColorScheme(ctx, h.tab, scheme) }
}

func readTimezone(c *call) change {
	id := c.body.Required("timezoneId")
	return func(ctx context.Context, h *held, s *emulate.State) error { return unknown(s.Timezone(ctx, h.tab, id)) }
}

func readLocale(c *call) change {
	locale := c.body.Required("locale")
	return func(ctx context.Context, h *held, s *emulate.State) error { return s.Locale(ctx, h.tab, locale) }
}

func readDevice(c *call) change {
	name := c.body.Required("name")
	return func(ctx context.Context, h *held, s *emulate.State) error {
		_, err := s.Device(ctx, h.tab, name)
		return unknown(err)
	}
}

// unknown is how the contract answers names that are well-formed and not known.
func unknown(err error) error {
	if err == nil {
		return nil
	}
	return &failure{status: http.StatusInternalServerError, err: err}
}
