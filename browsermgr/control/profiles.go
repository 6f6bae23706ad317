package control

import (
	"context"
	"errors"

	"clank/browsermgr"
	"clank/browsermgr/fault"
)

func profileRoutes() []route {
	return []route{
		on("GET", "/", "Tells what is known of the profile and its browser. Starts nothing.", status),
		on("GET", "/doctor", "Looks for what keeps the browser from working. Starts nothing.", doctor).
			params(may("deep", "boolean", "look at a page, too"), may("live", "boolean", "the same")),
		on("GET", "/profiles", "Lists the profiles.", listProfiles),
		on("POST", "/start", "Starts the browser, if it does not run.", start).
			params(may("headless", "boolean", "without or with a window, for this start")),
		on("POST", "/stop", "Ends the browser.", stop),
		on("POST", "/reset-profile", "Moves the profile's data to the trash.", reset),
		on("POST", "/profiles/create", "Makes a profile.", createProfile).takes(
			need("name", "string", "lower-case letters, digits and dashes"), may("color", "string", "#RRGGBB"),
			may("cdpUrl", "string", "address of a browser that runs elsewhere"), may("userDataDir", "string", "with driver existing-session"),
			oneOf("driver", "how the browser is reached", "clank", "openclaw", "clawd", "existing-session"),
		),
		on("DELETE", "/profiles/{name}", "Ends the browser of a profile, moves its data to the trash and forgets the profile.", deleteProfile),
	}
}

// owner is the profile that the request means.
func (c *call) owner() (*browsermgr.Profile, error) { return c.server.Manager.FindProfile(c.profile()) }

func status(ctx context.Context, c *call) (browsermgr.ProfileStatus, error) {
	p, err := c.owner()
	if err != nil {
		return browsermgr.ProfileStatus{}, err
	}
	return p.Status(ctx)
}

func doctor(ctx context.Context, c *call) (browsermgr.Report, error) {
	deep := c.query.Flag("deep", false)
	live := c.query.Flag("live", false)
	p, err := c.owner()
	if err != nil {
		return browsermgr.Report{}, err
	}
	return p.Doctor(ctx, deep || live)
}

type profilesAnswer struct {
	done

	Profiles []browsermgr.ProfileInfo `json:"profiles"`
}

func listProfiles(ctx context.Context, c *call) (profilesAnswer, error) {
	if _, err := c.owner(); err != nil {
		return profilesAnswer{}, err
	}
	list, err := c.server.Manager.Profiles(ctx)
	return profilesAnswer{done{true}, some(list)}, err
}

type profileAnswer struct {
	done

	Profile string `json:"profile"`
}

func start(ctx context.Context, c *call) (profileAnswer, error) {
	var opts browsermgr.StartOptions
	if text := c.query.String("headless"); text != "" {
		headless, ok := c.query.Bool("headless")
		if !ok {
			return profileAnswer{}, fault.Invalidf("headless must be true or false")
		}
		opts.Headless = &headless
	}
	p, err := c.owner()
	if err != nil {
		return profileAnswer{}, err
	}
	return profileAnswer{done{true}, p.Name()}, p.Start(ctx, opts)
}

type stopAnswer struct {
	profileAnswer

	Stopped bool `json:"stopped"`
}

func stop(ctx context.Context, c *call) (stopAnswer, error) {
	p, err := c.owner()
	if err != nil {
		return stopAnswer{}, err
	}
	stopped, err := p.Stop(ctx)
	return stopAnswer{profileAnswer{done{true}, p.Name()}, stopped}, err
}

type resetAnswer struct {
	profileAnswer
	browsermgr.Moved
}

func reset(ctx context.Context, c *call) (resetAnswer, error) {
	p, err := c.owner()
	if err != nil {
		return resetAnswer{}, err
	}
	moved, err := p.Reset(ctx)
	return resetAnswer{profileAnswer{done{true}, p.Name()}, moved}, err
}

type createdAnswer struct {
	done
	browsermgr.Created
}

func createProfile(ctx context.Context, c *call) (createdAnswer, error) {
	opts := browsermgr.CreateOptions{
		Name: c.body.Required("name"), Driver: c.body.String("driver"), Color: c.body.String("color"),
		CDPURL: c.body.String("cdpUrl"), UserDataDir: c.body.String("userDataDir"),
	}
	if err := c.err(); err != nil {
		return createdAnswer{}, err
	}
	if _, err := c.owner(); err != nil {
		return createdAnswer{}, err
	}
	created, err := c.server.Manager.Create(ctx, opts)
	return createdAnswer{done{true}, created}, err
}

type deletedAnswer struct {
	profileAnswer

	Deleted bool `json:"deleted"`
}

func deleteProfile(ctx context.Context, c *call) (deletedAnswer, error) {
	name := c.r.PathValue("name")
	deleted, err := c.server.Manager.Delete(ctx, name)
	return deletedAnswer{profileAnswer{done{true}, name}, deleted}, err
}

// noDisplay tells why a browser with a window cannot be started here.
func noDisplay(err error) (failure, bool) {
	e, ok := errors.AsType[*browsermgr.NoDisplayError](err)
	if !ok {
		return failure{}, false
	}
	return failure{status: 409, reason: "no_display_for_headed_profile", err: err, details: map[string]any{
		"profile": e.Profile, "requestedHeadless": false, "headlessSource": e.HeadlessSource, "displayPresent": false,
	}}, true
}
