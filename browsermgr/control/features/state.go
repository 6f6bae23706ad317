package features

import (
	"context"
	"net/http"

	"clank/browsermgr/control/desk"
	"clank/browsermgr/control/reply"
	"clank/browsermgr/control/route"
	"clank/browsermgr/emulate"
	"clank/browsermgr/fault"
)

func stateRoutes() []route.Route {
	to := func(name string, from route.Field) route.Field { from.Name = name; return from }
	wipe := route.May("clear", "boolean", "take it back")
	return []route.Route{
		route.On("POST", "/set/offline", "Takes the network away, or gives it back.", setting(everywhere(readOffline))).Takes(route.Need("offline", "boolean", "whether"), route.Tab()),
		route.On("POST", "/set/headers", "Sets the headers sent with every request, in place of those before.", setting(everywhere(readHeaders))).
			Takes(route.Need("headers", "object", "names and values"), route.Tab()),
		route.On("POST", "/set/credentials", "Sets what servers that ask for a name and a password are told.", setting(everywhere(readCredentials))).
			Takes(route.May("username", "string", "name"), route.May("password", "string", "password"), wipe, route.Tab()),
		route.On("POST", "/set/geolocation", "Sets where the pages believe to be.", setting(everywhere(readGeolocation))).Takes(
			route.May("latitude", "number", "degrees"), route.May("longitude", "number", "degrees"), route.May("accuracy", "number", "metres"),
			route.May("origin", "string", "site that may ask"), wipe, route.Tab(),
		),
		route.On("POST", "/set/media", "Sets the colour scheme that the page believes to be preferred.", setting(readMedia)).
			Takes(to("colorScheme", route.OneOf("", "which", colorSchemes...)), route.Tab()),
		route.On("POST", "/set/timezone", "Sets the time zone of the tab.", setting(readTimezone)).Takes(route.Need("timezoneId", "string", "such as Europe/Oslo"), route.Tab()),
		route.On("POST", "/set/locale", "Sets the language of the tab.", setting(readLocale)).Takes(route.Need("locale", "string", "such as de-DE"), route.Tab()),
		route.On("POST", "/set/device", "Makes the tab look like a device.", setting(readDevice)).Takes(route.Need("name", "string", "such as iPhone 14"), route.Tab()),
	}
}

// change is something to be done to the state of a tab.
type change func(ctx context.Context, h *desk.Held, s *emulate.State) error

// setting makes a handler: read says what the request wants, or what is wrong with it.
func setting(read func(*route.Call) change) func(context.Context, *route.Call) (reply.Target, error) {
	return func(ctx context.Context, c *route.Call) (reply.Target, error) {
		do := read(c)
		return emulated(ctx, c, func(h *desk.Held, s *emulate.State) (reply.Target, error) { return h.Answer(), do(ctx, h, s) })
	}
}

// everywhere is for what changes all tabs at once, a person's own among them.
func everywhere(read func(*route.Call) change) func(*route.Call) change {
	return func(c *route.Call) change {
		do := read(c)
		return func(ctx context.Context, h *desk.Held, s *emulate.State) error {
			if err := h.Ours("what holds for all tabs"); err != nil {
				return err
			}
			return do(ctx, h, s)
		}
	}
}

// emulated works the state of the tab that the request means.
func emulated[R any](ctx context.Context, c *route.Call, work func(*desk.Held, *emulate.State) (R, error)) (out R, err error) {
	h, err := c.Target(ctx)
	if err != nil {
		return out, err
	}
	defer h.Release()
	state, err := desk.Feature[*emulate.State](h, "emulation")
	if err != nil {
		return out, err
	}
	return work(h, state)
}

func readOffline(c *route.Call) change {
	offline, given := c.Body.Bool("offline")
	if !given {
		c.Body.Fail(fault.Invalidf("offline is required"))
	}
	return func(ctx context.Context, h *desk.Held, s *emulate.State) error { return s.Offline(ctx, h.Tab, offline) }
}

func readHeaders(c *route.Call) change {
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
	return func(ctx context.Context, h *desk.Held, s *emulate.State) error { return s.Headers(ctx, h.Tab, headers) }
}

func readCredentials(c *route.Call) change {
	var creds *emulate.Credentials
	username := c.Body.String("username")
	password, _ := c.Body.Text("password")
	if !c.Body.Flag("clear", false) {
		if username == "" {
			c.Body.Fail(fault.Invalidf("username is required, or clear=true"))
		}
		creds = &emulate.Credentials{Username: username, Password: password}
	}
	return func(ctx context.Context, h *desk.Held, s *emulate.State) error {
		return s.Credentials(ctx, h.Tab, creds)
	}
}

func readGeolocation(c *route.Call) change {
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
	return func(ctx context.Context, h *desk.Held, s *emulate.State) error {
		return s.Geolocation(ctx, h.Tab, place)
	}
}

var colorSchemes = []string{"dark", "light", "no-preference", "none"}

func readMedia(c *route.Call) change {
	scheme := c.Body.String("colorScheme")
	switch scheme {
	case "dark", "light", "no-preference", "none":
	default:
		c.Body.Fail(fault.Invalidf("colorScheme must be dark, light, no-preference or none"))
	}
	return func(ctx context.Context, h *desk.Held, s *emulate.State) error {
		return s.ColorScheme(ctx, h.Tab, scheme)
	}
}

func readTimezone(c *route.Call) change {
	id := c.Body.Required("timezoneId")
	return func(ctx context.Context, h *desk.Held, s *emulate.State) error {
		return unknown(s.Timezone(ctx, h.Tab, id))
	}
}

func readLocale(c *route.Call) change {
	locale := c.Body.Required("locale")
	return func(ctx context.Context, h *desk.Held, s *emulate.State) error { return s.Locale(ctx, h.Tab, locale) }
}

func readDevice(c *route.Call) change {
	name := c.Body.Required("name")
	return func(ctx context.Context, h *desk.Held, s *emulate.State) error {
		_, err := s.Device(ctx, h.Tab, name)
		return unknown(err)
	}
}

// unknown is how the contract answers names that are well-formed and not known.
func unknown(err error) error {
	if err == nil {
		return nil
	}
	return &reply.StatusError{Status: http.StatusInternalServerError, Err: err}
}
