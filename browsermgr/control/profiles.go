package control

import (
	"context"

	"clank/browsermgr"
	"clank/browsermgr/fault"
	"clank/browsermgr/profile"
)

func profileRoutes() []Route {
	return []Route{
		NewRoute("GET", "/", "Tells what is known of the profile and its browser. Starts nothing.", profileStatus),
		NewRoute("GET", "/doctor", "Looks for what keeps the browser from working. Starts nothing.", runDoctor).
			WithQuery(OptionalParam("deep", "boolean", "look at a page, too"), OptionalParam("live", "boolean", "the same")),
		NewRoute("GET", "/profiles", "Lists the profiles.", listProfiles),
		NewRoute("POST", "/start", "Starts the browser, if it does not run.", startProfile).
			WithQuery(OptionalParam("headless", "boolean", "without or with a window, for this start")),
		NewRoute("POST", "/stop", "Ends the browser.", stopProfile),
		NewRoute("POST", "/reset-profile", "Moves the profile's data to the trash.", resetProfile),
		NewRoute("POST", "/profiles/create", "Makes a profile.", createProfile).WithBody(
			RequiredParam("name", "string", "lower-case letters, digits and dashes"), OptionalParam("color", "string", "#RRGGBB"),
			OptionalParam("cdpUrl", "string", "address of a browser that runs elsewhere"), OptionalParam("userDataDir", "string", "with driver existing-session"),
			EnumParam("driver", "how the browser is reached", "clank", "openclaw", "clawd", "existing-session"),
		),
		NewRoute("DELETE", "/profiles/{name}", "Ends the browser of a profile, moves its data to the trash and forgets the profile.", deleteProfile),
	}
}

// requestProfile returns the profile that the request means.
func requestProfile(c *Call) (*browsermgr.Profile, error) {
	return c.Tabs.Manager.FindProfile(c.Profile())
}

func profileStatus(ctx context.Context, c *Call) (profile.Status, error) {
	p, err := requestProfile(c)
	if err != nil {
		return profile.Status{}, err
	}
	return p.Status(ctx)
}

func runDoctor(ctx context.Context, c *Call) (profile.DoctorReport, error) {
	deep := c.Query.Flag("deep", false)
	live := c.Query.Flag("live", false)
	p, err := requestProfile(c)
	if err != nil {
		return profile.DoctorReport{}, err
	}
	return p.Doctor(ctx, deep || live)
}

type profilesAnswer struct {
	OKAnswer

	Profiles []profile.Info `json:"profiles"`
}

func listProfiles(ctx context.Context, c *Call) (profilesAnswer, error) {
	if _, err := requestProfile(c); err != nil {
		return profilesAnswer{}, err
	}
	list, err := c.Tabs.Manager.Profiles(ctx)
	return profilesAnswer{OKAnswer{OK: true}, NonNilList(list)}, err
}

type profileAnswer struct {
	OKAnswer

	Profile string `json:"profile"`
}

func startProfile(ctx context.Context, c *Call) (profileAnswer, error) {
	var opts browsermgr.StartOptions
	if text := c.Query.String("headless"); text != "" {
		headless, ok := c.Query.Bool("headless")
		if !ok {
			return profileAnswer{}, fault.Invalidf("headless must be true or false")
		}
		opts.Headless = &headless
	}
	p, err := requestProfile(c)
	if err != nil {
		return profileAnswer{}, err
	}
	return profileAnswer{OKAnswer{OK: true}, p.Name()}, p.Start(ctx, opts)
}

type stopAnswer struct {
	profileAnswer

	Stopped bool `json:"stopped"`
}

func stopProfile(ctx context.Context, c *Call) (stopAnswer, error) {
	p, err := requestProfile(c)
	if err != nil {
		return stopAnswer{}, err
	}
	stopped, err := p.Stop(ctx)
	return stopAnswer{profileAnswer{OKAnswer{OK: true}, p.Name()}, stopped}, err
}

type resetAnswer struct {
	profileAnswer
	browsermgr.TrashResult
}

func resetProfile(ctx context.Context, c *Call) (resetAnswer, error) {
	p, err := requestProfile(c)
	if err != nil {
		return resetAnswer{}, err
	}
	moved, err := p.Reset(ctx)
	return resetAnswer{profileAnswer{OKAnswer{OK: true}, p.Name()}, moved}, err
}

type createdAnswer struct {
	OKAnswer
	browsermgr.CreatedProfile
}

func createProfile(ctx context.Context, c *Call) (createdAnswer, error) {
	opts := browsermgr.CreateProfileOptions{
		Name: c.Body.Required("name"), Driver: c.Body.String("driver"), Color: c.Body.String("color"),
		CDPURL: c.Body.String("cdpUrl"), UserDataDir: c.Body.String("userDataDir"),
	}
	if err := c.Err(); err != nil {
		return createdAnswer{}, err
	}
	if _, err := requestProfile(c); err != nil {
		return createdAnswer{}, err
	}
	created, err := c.Tabs.Manager.CreateProfile(ctx, opts)
	return createdAnswer{OKAnswer{OK: true}, created}, err
}

type deletedAnswer struct {
	profileAnswer

	Deleted bool `json:"deleted"`
}

func deleteProfile(ctx context.Context, c *Call) (deletedAnswer, error) {
	name := c.Request.PathValue("name")
	deleted, err := c.Tabs.Manager.DeleteProfile(ctx, name)
	return deletedAnswer{profileAnswer{OKAnswer{OK: true}, name}, deleted}, err
}
