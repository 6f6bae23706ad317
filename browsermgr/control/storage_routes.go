package control

import (
	"context"
	"encoding/json"
	"time"

	"clank/browsermgr/fault"
	"clank/browsermgr/page/emulate"
)

func storageRoutes() []Route {
	return []Route{
		NewRoute("GET", "/cookies", "Lists the cookies of all sites.", readCookies).WithQuery(tabParam()),
		NewRoute("POST", "/cookies/set", "Sets a cookie.", setCookie).
			WithBody(RequiredParam("cookie", "object", "name, value, url or domain and path, expires, httpOnly, secure, sameSite"), tabParam()),
		NewRoute("POST", "/cookies/clear", "Removes all cookies.", clearCookies).WithBody(tabParam()),
		NewRoute("GET", "/storage/{kind}", "Reads the local or session storage of the site.", readStorage).
			WithQuery(tabParam(), OptionalParam("key", "string", "only this entry")),
		NewRoute("POST", "/storage/{kind}/set", "Writes an entry of the storage.", setStorage).
			WithBody(RequiredParam("key", "string", "as it is, spaces included"), OptionalParam("value", "string", "text"), tabParam()),
		NewRoute("POST", "/storage/{kind}/clear", "Removes all entries of the storage.", clearStorage).WithBody(tabParam()),
		NewRoute("POST", "/permissions/grant", "Lets a site do without asking what permissions name.", grantPermissions).WithBody(
			RequiredParam("origin", "string", "http or https address of the site"), RequiredParam("permissions", "array", "such as geolocation or audioCapture"),
			OptionalParam("optionalPermissions", "array", "left out where the browser does not know them"), tabParam(), timeoutParam(),
		),
	}
}

type cookiesAnswer struct {
	TargetAnswer

	Cookies []emulate.Cookie `json:"cookies"`
}

func withPermittedState[R any](ctx context.Context, c *Call, work func(*heldTab, *emulate.Emulator) (R, error)) (R, error) {
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

// storageKind reads which of the two storages is meant.
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
