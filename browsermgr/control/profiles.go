package control

import (
	"context"

	"clank/browsermgr"
	"clank/browsermgr/control/reply"
	"clank/browsermgr/control/route"
	"clank/browsermgr/fault"
)

func profileRoutes() []route.Route {
	return []route.Route{
		route.On("GET", "/", "Tells what is known of the profile and its browser. Starts nothing.", status),
		route.On("GET", "/doctor", "Looks for what keeps the browser from working. Starts nothing.", doctor).
			Params(route.May("deep", "boolean", "look at a page, too"), route.May("live", "boolean", "the same")),
		route.On("GET", "/profiles", "Lists the profiles.", listProfiles),
		route.On("POST", "/start", "Starts the browser, if it does not run.", start).
			Params(route.May("headless", "boolean", "without or with a window, for this start")),
		route.On("POST", "/stop", "Ends the browser.", stop),
		route.On("POST", "/reset-profile", "Moves the profile's data to the trash.", reset),
		route.On("POST", "/profiles/create", "Makes a profile.", createProfile).Takes(
			route.Need("name", "string", "lower-case letters, digits and dashes"), route.May("color", "string", "#RRGGBB"),
			route.May("cdpUrl", "string", "address of a browser that runs elsewhere"), route.May("userDataDir", "string", "with driver existing-session"),
			route.OneOf("driver", "how the browser is reached", "clank", "openclaw", "clawd", "existing-session"),
		),
		route.On("DELETE", "/profiles/{name}", "Ends the browser of a profile, moves its data to the trash and forgets the profile.", deleteProfile),
	}
}

// owner is the profile that the request means.
func owner(c *route.Call) (*browsermgr.Profile, error) {
	return c.Desks.Manager.FindProfile(c.Profile())
}

func status(ctx context.Context, c *route.Call) (browsermgr.ProfileStatus, error) {
	p, err := owner(c)
	if err != nil {
		return browsermgr.ProfileStatus{}, err
	}
	return p.Status(ctx)
}

func doctor(ctx context.Context, c *route.Call) (browsermgr.Report, error) {
	deep := c.Query.Flag("deep", false)
	live := c.Query.Flag("live", false)
	p, err := owner(c)
	if err != nil {
		return browsermgr.Report{}, err
	}
	return p.Doctor(ctx, deep || live)
}

type profilesAnswer struct {
	reply.Done

	Profiles []browsermgr.ProfileInfo `json:"profiles"`
}

func listProfiles(ctx context.Context, c *route.Call) (profilesAnswer, error) {
	if _, err := owner(c); err != nil {
		return profilesAnswer{}, err
	}
	list, err := c.Desks.Manager.Profiles(ctx)
	return profilesAnswer{reply.Done{OK: true}, reply.List(list)}, err
}

type profileAnswer struct {
	reply.Done

	Profile string `json:"profile"`
}

func start(ctx context.Context, c *route.Call) (profileAnswer, error) {
	var opts browsermgr.StartOptions
	if text := c.Query.String("headless"); text != "" {
		headless, ok := c.Query.Bool("headless")
		if !ok {
			return profileAnswer{}, fault.Invalidf("headless must be true or false")
		}
		opts.Headless = &headless
	}
	p, err := owner(c)
	if err != nil {
		return profileAnswer{}, err
	}
	return profileAnswer{reply.Done{OK: true}, p.Name()}, p.Start(ctx, opts)
}

type stopAnswer struct {
	profileAnswer

	Stopped bool `json:"stopped"`
}

func stop(ctx context.Context, c *route.Call) (stopAnswer, error) {
	p, err := owner(c)
	if err != nil {
		return stopAnswer{}, err
	}
	stopped, err := p.Stop(ctx)
	return stopAnswer{profileAnswer{reply.Done{OK: true}, p.Name()}, stopped}, err
}

type resetAnswer struct {
	profileAnswer
	browsermgr.Moved
}

func reset(ctx context.Context, c *route.Call) (resetAnswer, error) {
	p, err := owner(c)
	if err != nil {
		return resetAnswer{}, err
	}
	moved, err := p.Reset(ctx)
	return resetAnswer{profileAnswer{reply.Done{OK: true}, p.Name()}, moved}, err
}

type createdAnswer struct {
	reply.Done
	browsermgr.Created
}

func createProfile(ctx context.Context, c *route.Call) (createdAnswer, error) {
	opts := browsermgr.CreateOptions{
		Name: c.Body.Required("name"), Driver: c.Body.String("driver"), Color: c.Body.String("color"),
		CDPURL: c.Body.String("cdpUrl"), UserDataDir: c.Body.String("userDataDir"),
	}
	if err := c.Err(); err != nil {
		return createdAnswer{}, err
	}
	if _, err := owner(c); err != nil {
		return createdAnswer{}, err
	}
	created, err := c.Desks.Manager.Create(ctx, opts)
	return createdAnswer{reply.Done{OK: true}, created}, err
}

type deletedAnswer struct {
	profileAnswer

	Deleted bool `json:"deleted"`
}

func deleteProfile(ctx context.Context, c *route.Call) (deletedAnswer, error) {
	name := c.Request.PathValue("name")
	deleted, err := c.Desks.Manager.Delete(ctx, name)
	return deletedAnswer{profileAnswer{reply.Done{OK: true}, name}, deleted}, err
}
