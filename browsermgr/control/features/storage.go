package features

import (
	"context"
	"encoding/json"
	"time"

	"clank/browsermgr/control/desk"
	"clank/browsermgr/control/reply"
	"clank/browsermgr/control/route"
	"clank/browsermgr/emulate"
	"clank/browsermgr/fault"
)

func storageRoutes() []route.Route {
	return []route.Route{
		route.On("GET", "/cookies", "Lists the cookies of all sites.", cookies).Params(route.Tab()),
		route.On("POST", "/cookies/set", "Sets a cookie.", setCookie).
			Takes(route.Need("cookie", "object", "name, value, url or domain and path, expires, httpOnly, secure, sameSite"), route.Tab()),
		route.On("POST", "/cookies/clear", "Removes all cookies.", clearCookies).Takes(route.Tab()),
		route.On("GET", "/storage/{kind}", "Reads the local or session storage of the site.", readStorage).
			Params(route.Tab(), route.May("key", "string", "only this entry")),
		route.On("POST", "/storage/{kind}/set", "Writes an entry of the storage.", setStorage).
			Takes(route.Need("key", "string", "as it is, spaces included"), route.May("value", "string", "text"), route.Tab()),
		route.On("POST", "/storage/{kind}/clear", "Removes all entries of the storage.", clearStorage).Takes(route.Tab()),
		route.On("POST", "/permissions/grant", "Lets a site do without asking what permissions name.", grant).Takes(
			route.Need("origin", "string", "http or https address of the site"), route.Need("permissions", "array", "such as geolocation or audioCapture"),
			route.May("optionalPermissions", "array", "left out where the browser does not know them"), route.Tab(), route.Limit(),
		),
	}
}

type cookiesAnswer struct {
	reply.Target

	Cookies []emulate.Cookie `json:"cookies"`
}

// inState is emulated for what shows or takes what the page holds: the policy is asked about where it is.
func inState[R any](ctx context.Context, c *route.Call, work func(*desk.Held, *emulate.State) (R, error)) (R, error) {
	return emulated(ctx, c, func(h *desk.Held, s *emulate.State) (R, error) {
		if err := h.Permitted(ctx); err != nil {
			var none R
			return none, err
		}
		return work(h, s)
	})
}

func cookies(ctx context.Context, c *route.Call) (cookiesAnswer, error) {
	return inState(ctx, c, func(h *desk.Held, s *emulate.State) (cookiesAnswer, error) {
		list, err := s.Cookies(ctx, h.Tab)
		return cookiesAnswer{h.Answer(), reply.List(list)}, err
	})
}

func setCookie(ctx context.Context, c *route.Call) (reply.Target, error) {
	given, ok := c.Body.Map("cookie")
	if !ok {
		return reply.Target{}, fault.Invalidf("cookie is required")
	}
	data, err := json.Marshal(given)
	if err != nil {
		return reply.Target{}, fault.Invalidf("cookie: %v", err)
	}
	var cookie emulate.NewCookie
	if err := cookie.UnmarshalJSON(data); err != nil {
		return reply.Target{}, err
	}
	if err := cookie.Validate(); err != nil {
		return reply.Target{}, err
	}
	return inState(ctx, c, func(h *desk.Held, s *emulate.State) (reply.Target, error) {
		return h.Answer(), s.SetCookie(ctx, h.Tab, &cookie)
	})
}

func clearCookies(ctx context.Context, c *route.Call) (reply.Target, error) {
	return inState(ctx, c, func(h *desk.Held, s *emulate.State) (reply.Target, error) {
		if err := h.Ours("removing all cookies"); err != nil {
			return reply.Target{}, err
		}
		return h.Answer(), s.ClearCookies(ctx, h.Tab)
	})
}

// storageKind reads which of the two storages is meant.
func storageKind(c *route.Call) (emulate.Kind, error) {
	switch kind := emulate.Kind(c.Request.PathValue("kind")); kind {
	case emulate.Local, emulate.Session:
		return kind, nil
	default:
		return "", fault.Invalidf("storage kind must be local or session")
	}
}

type storageAnswer struct {
	reply.Target

	Values map[string]string `json:"values"`
}

func readStorage(ctx context.Context, c *route.Call) (storageAnswer, error) {
	kind, err := storageKind(c)
	if err != nil {
		return storageAnswer{}, err
	}
	var key *string
	if text, ok := c.Query.Text("key"); ok && text != "" {
		key = &text
	}
	return inState(ctx, c, func(h *desk.Held, s *emulate.State) (storageAnswer, error) {
		values, err := s.Storage(ctx, h.Tab, kind, key)
		if values == nil {
			values = map[string]string{}
		}
		return storageAnswer{h.Answer(), values}, err
	})
}

func setStorage(ctx context.Context, c *route.Call) (reply.Target, error) {
	kind, err := storageKind(c)
	if err != nil {
		return reply.Target{}, err
	}
	key, _ := c.Body.Text("key")
	value, _ := c.Body.Raw("value").(string)
	if key == "" {
		return reply.Target{}, fault.Invalidf("key is required")
	}
	return inState(ctx, c, func(h *desk.Held, s *emulate.State) (reply.Target, error) {
		return h.Answer(), s.SetStorage(ctx, h.Tab, kind, key, value)
	})
}

func clearStorage(ctx context.Context, c *route.Call) (reply.Target, error) {
	kind, err := storageKind(c)
	if err != nil {
		return reply.Target{}, err
	}
	return inState(ctx, c, func(h *desk.Held, s *emulate.State) (reply.Target, error) {
		return h.Answer(), s.ClearStorage(ctx, h.Tab, kind)
	})
}

type grantAnswer struct {
	reply.Target
	emulate.Grant
}

func grant(ctx context.Context, c *route.Call) (grantAnswer, error) {
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
	origin, err := emulate.Origin(origin)
	if err != nil {
		return grantAnswer{}, err
	}
	h, err := c.Existing(ctx, desk.Named(name))
	if err != nil {
		return grantAnswer{}, err
	}
	defer h.Release()
	if err := h.Desk.Allow(ctx, origin); err != nil {
		return grantAnswer{}, err
	}
	state, err := desk.Feature[*emulate.State](h, "emulation")
	if err != nil {
		return grantAnswer{}, err
	}
	given, err := state.Grant(ctx, h.Tab, origin, wanted, optional, limit)
	given.Granted, given.Unsupported = reply.List(given.Granted), reply.List(given.Unsupported)
	return grantAnswer{h.Answer(), given}, err
}
