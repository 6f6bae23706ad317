package control

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/emulate"
)

func stateRoutes() []Route {
	wipe := OptionalParam("clear", "boolean", "take it back")
	return []Route{
		NewRoute("POST", "/set/offline", "Takes the network away, or gives it back.",
			settingHandler(forAllTabs(readOffline))).WithBody(RequiredParam("offline", "boolean", "whether"), tabParam()),
		NewRoute("POST", "/set/headers", "Sets the headers sent with every request, in place of those before.", setHeaders).
			WithBody(RequiredParam("headers", "object", "names and values"),
				OptionalParam("origin", "string", "the only site that gets them"), tabParam()),
		NewRoute("POST", "/set/credentials", "Sets the name and password for HTTP authentication.",
			setCredentials).WithBody(
			OptionalParam("username", "string", "name"), OptionalParam("password", "string", "password"),
			OptionalParam("origin", "string", "the only site that gets them; default: that of the tab"), wipe,
			tabParam(),
		),
		NewRoute("POST", "/set/geolocation", "Sets where the pages believe to be.",
			settingHandler(forAllTabs(readGeolocation))).WithBody(
			OptionalParam("latitude", "number", "degrees"), OptionalParam("longitude", "number", "degrees"),
			OptionalParam("accuracy", "number", "metres"),
			OptionalParam("origin", "string", "site that may ask"), wipe, tabParam(),
		),
		NewRoute("POST", "/set/media", "Sets the colour scheme that the page believes to be preferred.",
			settingHandler(readMedia)).
			WithBody(EnumParam("colorScheme", "which", colorSchemes...), tabParam()),
		NewRoute("POST", "/set/timezone", "Sets the time zone of the tab.", settingHandler(readTimezone)).WithBody(
			RequiredParam("timezoneId", "string", "such as Europe/Oslo"), tabParam()),
		NewRoute("POST", "/set/locale", "Sets the language of the tab.", settingHandler(readLocale)).WithBody(
			RequiredParam("locale", "string", "such as de-DE"), tabParam()),
		NewRoute("POST", "/set/device", "Makes the tab look like a device.", settingHandler(readDevice)).WithBody(
			RequiredParam("name", "string", "such as iPhone 14"), tabParam()),
	}
}

// stateChange changes the emulated state of a tab.
type stateChange func(ctx context.Context, h *heldTab, s *emulate.Emulator) error

// setting returns the change that sets one value.
func setting[V any](set func(*emulate.Emulator, context.Context, *page.Tab, V) error, v V) stateChange {
	return func(ctx context.Context, h *heldTab, s *emulate.Emulator) error { return set(s, ctx, h.Tab, v) }
}

// settingHandler returns a handler. read returns the requested change and records invalid fields.
func settingHandler(read func(*Call) stateChange) func(context.Context, *Call) (TargetAnswer, error) {
	return func(ctx context.Context, c *Call) (TargetAnswer, error) {
		do := read(c)
		return withObserver(ctx, c, false, "emulation", func(h *heldTab, s *emulate.Emulator) (TargetAnswer, error) {
			return h.TargetAnswer(), do(ctx, h, s)
		})
	}
}

// forAllTabs wraps a state change that applies to all tabs, including a person's own, and refuses it in a person's own
// browser.
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
	return setting((*emulate.Emulator).SetOffline, offline)
}

// siteAnswer says which site a setting applies to.
type siteAnswer struct {
	TargetAnswer

	Origin  string `json:"origin,omitempty"`  // "" means all sites
	Warning string `json:"warning,omitempty"` // a possible mistake of the caller
}

// forSite applies a change to all tabs, for one site if the body names one.
func forSite(ctx context.Context, c *Call, change stateChange, answer *siteAnswer) (siteAnswer, error) {
	if answer.Origin != "" {
		origin, err := emulate.ParseOrigin(answer.Origin)
		if err != nil {
			c.Body.Fail(err)
		}
		answer.Origin = origin
	}
	target, err := settingHandler(forAllTabs(func(*Call) stateChange { return change }))(ctx, c)
	answer.TargetAnswer = target
	return *answer, err
}

func setHeaders(ctx context.Context, c *Call) (siteAnswer, error) {
	given, ok := c.Body.Map("headers")
	if !ok {
		c.Body.Fail(fault.Invalidf("headers is required"))
	}
	answer := siteAnswer{Origin: c.Body.String("origin")}
	headers := map[string]string{}
	for name, v := range given {
		if text, ok := v.(string); ok {
			headers[name] = text
		}
		if secret := http.CanonicalHeaderKey(name); answer.Origin == "" && (secret == "Authorization" || secret == "Cookie") {
			answer.Warning = secret + " is sent to every site that a page asks for something: give origin to send it to one only"
		}
	}
	return forSite(ctx, c, func(ctx context.Context, h *heldTab, s *emulate.Emulator) error {
		return s.SetHeaders(ctx, h.Tab, emulate.Headers{Values: headers, Origin: answer.Origin})
	}, &answer)
}

func setCredentials(ctx context.Context, c *Call) (siteAnswer, error) {
	username := c.Body.String("username")
	password, _ := c.Body.Text("password")
	forget := c.Body.Flag("clear", false)
	if username == "" && !forget {
		c.Body.Fail(fault.Invalidf("username is required, or clear=true"))
	}
	answer := siteAnswer{Origin: c.Body.String("origin")}
	return forSite(ctx, c, func(ctx context.Context, h *heldTab, s *emulate.Emulator) error {
		if forget {
			answer.Origin = ""
			return s.SetCredentials(ctx, h.Tab, nil)
		}
		if origin, err := emulate.ParseOrigin(h.Tab.URL()); answer.Origin == "" && err == nil {
			answer.Origin = origin
		}
		return s.SetCredentials(ctx, h.Tab, &emulate.Credentials{
			Username: username, Password: password,
			Origin: answer.Origin,
		})
	}, &answer)
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
	return setting((*emulate.Emulator).SetGeolocation, place)
}

var colorSchemes = []string{"dark", "light", "no-preference", "none"}

func readMedia(c *Call) stateChange {
	scheme := c.Body.String("colorScheme")
	if !slices.Contains(colorSchemes, scheme) {
		c.Body.Fail(fault.Invalidf("colorScheme must be dark, light, no-preference or none"))
	}
	return setting((*emulate.Emulator).SetColorScheme, scheme)
}

func readTimezone(c *Call) stateChange {
	id := c.Body.Required("timezoneId")
	return func(ctx context.Context, h *heldTab, s *emulate.Emulator) error {
		return unknownName(s.SetTimezone(ctx, h.Tab, id))
	}
}

func readLocale(c *Call) stateChange {
	locale := c.Body.Required("locale")
	return setting((*emulate.Emulator).SetLocale, locale)
}

func readDevice(c *Call) stateChange {
	name := c.Body.Required("name")
	return func(ctx context.Context, h *heldTab, s *emulate.Emulator) error {
		_, err := s.SetDevice(ctx, h.Tab, name)
		return unknownName(err)
	}
}

// unknownName returns the contract's answer for a well-formed but unknown name.
func unknownName(err error) error {
	if err == nil {
		return nil
	}
	return &StatusError{Status: http.StatusInternalServerError, Err: err}
}

func storageRoutes() []Route {
	return []Route{
		NewRoute("GET", "/cookies", "Lists the cookies of all sites.", readCookies).WithQuery(tabParam()),
		NewRoute("POST", "/cookies/set", "Sets a cookie.", setCookie).
			WithBody(RequiredParam("cookie", "object", "name, value, url or domain and path, expires, httpOnly, secure, "+
				"sameSite"), tabParam()),
		NewRoute("POST", "/cookies/clear", "Removes all cookies.", clearCookies).WithBody(tabParam()),
		NewRoute("GET", "/storage/{kind}", "Reads the local or session storage of the site.", readStorage).
			WithQuery(tabParam(), OptionalParam("key", "string", "only this entry")),
		NewRoute("POST", "/storage/{kind}/set", "Writes an entry of the storage.", setStorage).
			WithBody(RequiredParam("key", "string", "as it is, spaces included"), OptionalParam("value", "string", "text"),
				tabParam()),
		NewRoute("POST", "/storage/{kind}/clear", "Removes all entries of the storage.", clearStorage).WithBody(tabParam()),
		NewRoute("POST", "/permissions/grant", "Lets a site do without asking what permissions name.",
			grantPermissions).WithBody(
			RequiredParam("origin", "string", "http or https address of the site"),
			RequiredParam("permissions", "array", "such as geolocation or audioCapture"),
			OptionalParam("optionalPermissions", "array", "left out where the browser does not know them"), tabParam(),
			timeoutParam(),
		),
	}
}

type cookiesAnswer struct {
	TargetAnswer

	Cookies []emulate.Cookie `json:"cookies"`
}

func withPermittedState[R any](ctx context.Context, c *Call,
	work func(*heldTab, *emulate.Emulator) (R, error),
) (R, error) {
	return withObserver(ctx, c, true, "emulation", work)
}

func readCookies(ctx context.Context, c *Call) (cookiesAnswer, error) {
	return withPermittedState(ctx, c, func(h *heldTab, s *emulate.Emulator) (cookiesAnswer, error) {
		const question = "Show the model the cookies of all sites, which are as good as logins"
		if err := c.Approver.ApproveReading(ctx, h.Profile.Name, classLogin, question); err != nil {
			return cookiesAnswer{}, err
		}
		list, err := s.Cookies(ctx, h.Tab)
		return cookiesAnswer{h.TargetAnswer(), NonNilList(list)}, err
	})
}

func setCookie(ctx context.Context, c *Call) (TargetAnswer, error) {
	given, ok := c.Body.Map("cookie")
	if !ok {
		return TargetAnswer{}, fault.Invalidf("cookie is required")
	}
	data, err := json.Marshal(given)
	if err != nil {
		return TargetAnswer{}, fault.Invalidf("cookie: %v", err)
	}
	cookie, err := emulate.ParseCookie(data)
	if err != nil {
		return TargetAnswer{}, err
	}
	return withPermittedState(ctx, c, func(h *heldTab, s *emulate.Emulator) (TargetAnswer, error) {
		return h.TargetAnswer(), s.SetCookie(ctx, h.Tab, cookie)
	})
}

func clearCookies(ctx context.Context, c *Call) (TargetAnswer, error) {
	return withPermittedState(ctx, c, func(h *heldTab, s *emulate.Emulator) (TargetAnswer, error) {
		if err := h.RefusePersonalBrowser("removing all cookies"); err != nil {
			return TargetAnswer{}, err
		}
		return h.TargetAnswer(), s.ClearCookies(ctx, h.Tab)
	})
}

// storageKind reads whether local or session storage is meant.
func storageKind(c *Call) (emulate.StorageKind, error) {
	switch kind := emulate.StorageKind(c.Request.PathValue("kind")); kind {
	case emulate.LocalStorage, emulate.SessionStorage:
		return kind, nil
	default:
		return "", fault.Invalidf("storage kind must be local or session")
	}
}

type storageAnswer struct {
	TargetAnswer

	Values map[string]string `json:"values"`
}

func readStorage(ctx context.Context, c *Call) (storageAnswer, error) {
	kind, err := storageKind(c)
	if err != nil {
		return storageAnswer{}, err
	}
	var key *string
	if text, ok := c.Query.Text("key"); ok && text != "" {
		key = &text
	}
	return withPermittedState(ctx, c, func(h *heldTab, s *emulate.Emulator) (storageAnswer, error) {
		values, err := s.Storage(ctx, h.Tab, kind, key)
		if values == nil {
			values = map[string]string{}
		}
		return storageAnswer{h.TargetAnswer(), values}, err
	})
}

func setStorage(ctx context.Context, c *Call) (TargetAnswer, error) {
	kind, err := storageKind(c)
	if err != nil {
		return TargetAnswer{}, err
	}
	key, _ := c.Body.Text("key")
	value, _ := c.Body.Raw("value").(string)
	if key == "" {
		return TargetAnswer{}, fault.Invalidf("key is required")
	}
	return withPermittedState(ctx, c, func(h *heldTab, s *emulate.Emulator) (TargetAnswer, error) {
		return h.TargetAnswer(), s.SetStorage(ctx, h.Tab, kind, key, value)
	})
}

func clearStorage(ctx context.Context, c *Call) (TargetAnswer, error) {
	kind, err := storageKind(c)
	if err != nil {
		return TargetAnswer{}, err
	}
	return withPermittedState(ctx, c, func(h *heldTab, s *emulate.Emulator) (TargetAnswer, error) {
		return h.TargetAnswer(), s.ClearStorage(ctx, h.Tab, kind)
	})
}

type grantAnswer struct {
	TargetAnswer
	emulate.GrantResult
}

func grantPermissions(ctx context.Context, c *Call) (grantAnswer, error) {
	origin := c.Body.Required("origin")
	wanted, optional := c.Body.Strings("permissions"), c.Body.Strings("optionalPermissions")
	if len(wanted) == 0 {
		c.Body.Fail(fault.Invalidf("permissions is required"))
	}
	limit := c.Timeout(5*time.Second, time.Second)
	name := c.Body.String("targetId")
	if err := c.Err(); err != nil {
		return grantAnswer{}, err
	}
	origin, err := emulate.ParseOrigin(origin)
	if err != nil {
		return grantAnswer{}, err
	}
	h, err := c.ExistingTab(ctx, pickNamed(name))
	if err != nil {
		return grantAnswer{}, err
	}
	defer h.Release()
	if err := h.Profile.Allow(ctx, origin); err != nil {
		return grantAnswer{}, err
	}
	state, err := requireObserver[*emulate.Emulator](h, "emulation")
	if err != nil {
		return grantAnswer{}, err
	}
	given, err := state.GrantPermissions(ctx, h.Tab, origin, wanted, optional, limit)
	given.Granted, given.Unsupported = NonNilList(given.Granted), NonNilList(given.Unsupported)
	return grantAnswer{h.TargetAnswer(), given}, err
}
