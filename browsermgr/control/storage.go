package control

import (
	"context"
	"encoding/json"
	"time"

	"clank/browsermgr/emulate"
	"clank/browsermgr/fault"
)

func storageRoutes() []route {
	return []route{
		on("GET", "/cookies", "Lists the cookies of all sites.", cookies).params(targetField),
		on("POST", "/cookies/set", "Sets a cookie.", setCookie).
			takes(need("cookie", "object", "name, value, url or domain and path, expires, httpOnly, secure, sameSite"), targetField),
		on("POST", "/cookies/clear", "Removes all cookies.", clearCookies).takes(targetField),
		on("GET", "/storage/{kind}", "Reads the local or session storage of the site.", readStorage).
			params(targetField, may("key", "string", "only this entry")),
		on("POST", "/storage/{kind}/set", "Writes an entry of the storage.", setStorage).
			takes(need("key", "string", "as it is, spaces included"), may("value", "string", "text"), targetField),
		on("POST", "/storage/{kind}/clear", "Removes all entries of the storage.", clearStorage).takes(targetField),
		on("POST", "/permissions/grant", "Lets a site do without asking what permissions name.", grant).takes(
			need("origin", "string", "http or https address of the site"), need("permissions", "array", "such as geolocation or audioCapture"),
			may("optionalPermissions", "array", "left out where the browser does not know them"), targetField, timeoutField,
		),
	}
}

type cookiesAnswer struct {
	targetAnswer

	Cookies []emulate.Cookie `json:"cookies"`
}

// inState is emulated for what shows or takes what the page holds: the policy is asked about where it is.
func inState[R any](ctx context.Context, c *call, work func(*held, *emulate.State) (R, error)) (R, error) {
	return emulated(ctx, c, func(h *held, s *emulate.State) (R, error) {
		if err := c.server.permitted(ctx, h); err != nil {
			var none R
			return none, err
		}
		return work(h, s)
	})
}

func cookies(ctx context.Context, c *call) (cookiesAnswer, error) {
	return inState(ctx, c, func(h *held, s *emulate.State) (cookiesAnswer, error) {
		list, err := s.Cookies(ctx, h.tab)
		return cookiesAnswer{h.answer(), some(list)}, err
	})
}

func setCookie(ctx context.Context, c *call) (targetAnswer, error) {
	given, ok := c.body.Map("cookie")
	if !ok {
		return targetAnswer{}, fault.Invalidf("cookie is required")
	}
	data, err := json.Marshal(given)
	if err != nil {
		return targetAnswer{}, fault.Invalidf("cookie: %v", err)
	}
	var cookie emulate.NewCookie
	if err := cookie.UnmarshalJSON(data); err != nil {
		return targetAnswer{}, err
	}
	if err := cookie.Validate(); err != nil {
		return targetAnswer{}, err
	}
	return inState(ctx, c, func(h *held, s *emulate.State) (targetAnswer, error) {
		return h.answer(), s.SetCookie(ctx, h.tab, &cookie)
	})
}

func clearCookies(ctx context.Context, c *call) (targetAnswer, error) {
	return inState(ctx, c, func(h *held, s *emulate.State) (targetAnswer, error) {
		if err := h.ours("removing all cookies"); err != nil {
			return targetAnswer{}, err
		}
		return h.answer(), s.ClearCookies(ctx, h.tab)
	})
}

// storageKind reads which of the two storages is meant.
func (c *call) storageKind() (emulate.Kind, error) {
	switch kind := emulate.Kind(c.r.PathValue("kind")); kind {
	case emulate.Local, emulate.Session:
		return kind, nil
	default:
		return "", fault.Invalidf("storage kind must be local or session")
	}
}

type storageAnswer struct {
	targetAnswer

	Values map[string]string `json:"values"`
}

func readStorage(ctx context.Context, c *call) (storageAnswer, error) {
	kind, err := c.storageKind()
	if err != nil {
		return storageAnswer{}, err
	}
	var key *string
	if text, ok := c.query.Text("key"); ok && text != "" {
		key = &text
	}
	return inState(ctx, c, func(h *held, s *emulate.State) (storageAnswer, error) {
		values, err := s.Storage(ctx, h.tab, kind, key)
		if values == nil {
			values = map[string]string{}
		}
		return storageAnswer{h.answer(), values}, err
	})
}

func setStorage(ctx context.Context, c *call) (targetAnswer, error) {
	kind, err := c.storageKind()
	if err != nil {
		return targetAnswer{}, err
	}
	key, _ := c.body.Text("key")
	value, _ := c.body.Raw("value").(string)
	if key == "" {
		return targetAnswer{}, fault.Invalidf("key is required")
	}
	return inState(ctx, c, func(h *held, s *emulate.State) (targetAnswer, error) {
		return h.answer(), s.SetStorage(ctx, h.tab, kind, key, value)
	})
}

func clearStorage(ctx context.Context, c *call) (targetAnswer, error) {
	kind, err := c.storageKind()
	if err != nil {
		return targetAnswer{}, err
	}
	return inState(ctx, c, func(h *held, s *emulate.State) (targetAnswer, error) {
		return h.answer(), s.ClearStorage(ctx, h.tab, kind)
	})
}

type grantAnswer struct {
	targetAnswer
	emulate.Grant
}

func grant(ctx context.Context, c *call) (grantAnswer, error) {
	origin := c.body.Required("origin")
	wanted, optional := c.body.Strings("permissions"), c.body.Strings("optionalPermissions")
	if len(wanted) == 0 {
		c.body.Fail(fault.Invalidf("permissions is required"))
	}
	limit := c.timeout(5*time.Second, time.Second)
	name := c.body.String("targetId")
	if err := c.err(); err != nil {
		return grantAnswer{}, err
	}
	origin, err := emulate.Origin(origin)
	if err != nil {
		return grantAnswer{}, err
	}
	h, err := c.existing(ctx, named(name))
	if err != nil {
		return grantAnswer{}, err
	}
	defer h.release()
	if err := c.server.allow(ctx, h.desk.name, origin); err != nil {
		return grantAnswer{}, err
	}
	state, err := feature[*emulate.State](h, "emulation")
	if err != nil {
		return grantAnswer{}, err
	}
	given, err := state.Grant(ctx, h.tab, origin, wanted, optional, limit)
	given.Granted, given.Unsupported = some(given.Granted), some(given.Unsupported)
	return grantAnswer{h.answer(), given}, err
}
