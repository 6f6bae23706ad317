package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"clank/browsermgr"
	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/profile"
)

func profileRoutes() []Route {
	return []Route{
		NewRoute("GET", "/", "Returns the state of the profile and its browser. Starts nothing.", profileStatus),
		NewRoute("GET", "/doctor", "Looks for what keeps the browser from working. Starts nothing.", runDoctor).
			WithQuery(OptionalParam("deep", "boolean", "look at a page, too"), OptionalParam("live", "boolean", "the same")),
		NewRoute("GET", "/profiles", "Lists the profiles.", listProfiles),
		NewRoute("POST", "/start", "Starts the browser, if it does not run.", startProfile).
			WithQuery(OptionalParam("headless", "boolean", "without or with a window, for this start")),
		NewRoute("POST", "/stop", "Ends the browser.", stopProfile),
		NewRoute("POST", "/reset-profile", "Moves the profile's data to the trash.", resetProfile),
		NewRoute("POST", "/profiles/create", "Makes a profile.", createProfile).WithBody(
			RequiredParam("name", "string", "lower-case letters, digits and dashes"),
			OptionalParam("color", "string", "#RRGGBB"),
			OptionalParam("cdpUrl", "string", "address of a browser that runs elsewhere"),
			OptionalParam("userDataDir", "string", "with driver existing-session"),
			EnumParam("driver", "how the browser is reached", "clank", "openclaw", "clawd", "existing-session"),
		),
		NewRoute("POST", "/profiles/{name}/rename", "Gives a profile, which runs nowhere, another name.", renameProfile).
			WithBody(RequiredParam("name", "string", "the new one: lower-case letters, digits and dashes")),
		NewRoute("DELETE", "/profiles/{name}", "Ends the browser of a profile, moves its data to the trash and forgets the "+
			"profile.", deleteProfile),
	}
}

// requestProfile returns the request's profile.
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

	Profiles   []profile.Info `json:"profiles"`
	MaxRunning int            `json:"maxRunning,omitempty"` // limit of running browsers started here
}

func listProfiles(ctx context.Context, c *Call) (profilesAnswer, error) {
	if _, err := requestProfile(c); err != nil {
		return profilesAnswer{}, err
	}
	list, err := c.Tabs.Manager.Profiles(ctx)
	own, refused := c.Approver.profile("")
	if err = errors.Join(err, refused); err == nil && own != "" { // a model sees only its requester's profile
		list = slices.DeleteFunc(list, func(info profile.Info) bool { return info.Name != own })
	}
	return profilesAnswer{OKAnswer{OK: true}, NonNilList(list), c.Tabs.Manager.MaxRunning()}, err
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

type renamedAnswer struct {
	profileAnswer

	From string `json:"from"`
}

func renameProfile(ctx context.Context, c *Call) (renamedAnswer, error) {
	from, to := c.Request.PathValue("name"), c.Body.Required("name")
	if err := c.Err(); err != nil {
		return renamedAnswer{}, err
	}
	return renamedAnswer{profileAnswer{OKAnswer{OK: true}, to}, from}, c.Tabs.Manager.RenameProfile(ctx, from, to)
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

// profileTabs holds the tab names, quarantines and turns of one profile.
type profileTabs struct {
	// Name is the profile's name.
	Name string
	// TabNames holds the names of the profile's tabs.
	TabNames profile.TabNames

	registry   *TabRegistry
	mu         sync.Mutex
	conn       *page.Browser
	quarantine map[string]error         // reason by target id
	turns      map[string]chan struct{} // by target id; holds a token while a request acts in the tab
}

// sync updates the state to the browser's present tabs. It does not query the browser.
func (d *profileTabs) sync(b *page.Browser) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conn != b {
		d.conn, d.quarantine, d.turns = b, map[string]error{}, map[string]chan struct{}{}
		d.TabNames.Reset()
	}
	tabs := b.Tabs()
	pages := make([]profile.OpenTab, len(tabs))
	here := map[string]bool{}
	for i, t := range tabs {
		pages[i] = profile.OpenTab{Target: t.TargetID(), ID: t.ID(), URL: t.URL(), Title: t.Title(), Popup: t.Opener() != nil}
		here[t.TargetID()] = true
	}
	for target := range d.turns {
		if !here[target] {
			delete(d.turns, target)
			delete(d.quarantine, target)
		}
	}
	d.TabNames.Sync(pages)
}

func (d *profileTabs) setQuarantine(target string, why error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.turnOf(target)
	d.quarantine[target] = why
}

func (d *profileTabs) clearQuarantine(target string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.quarantine, target)
}

func (d *profileTabs) quarantineError(target string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.quarantine[target]
}

// turnOf returns the channel that serializes actions in a tab. The caller holds d.mu.
func (d *profileTabs) turnOf(target string) chan struct{} {
	seat := d.turns[target]
	if seat == nil {
		seat = make(chan struct{}, 1)
		d.turns[target] = seat
	}
	return seat
}

// TabRegistry keeps a [profileTabs] for each profile. Set its exported fields before the first use. It is safe for
// concurrent use.
type TabRegistry struct {
	// Manager owns the browsers. Required.
	Manager *browsermgr.Manager
	// Policy decides which addresses pages may have; nil allows http, https and about:blank.
	Policy Policy

	mu       sync.Mutex
	profiles map[string]*profileTabs
}

func (s *TabRegistry) profileTabs(name string) *profileTabs {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.profiles[name]
	if d == nil {
		if s.profiles == nil {
			s.profiles = map[string]*profileTabs{}
		}
		d = &profileTabs{Name: name, registry: s}
		s.profiles[name] = d
	}
	return d
}

// Browser returns the browser of a profile; "" means the default one. With launch it is started if necessary; otherwise
// the error wraps [browsermgr.ErrNotRunning]. The caller calls Release on the lease.
func (s *TabRegistry) Browser(ctx context.Context, profile string,
	launch bool,
) (*profileTabs, *browsermgr.Lease, error) {
	p, err := s.Manager.FindProfile(profile)
	if err != nil {
		return nil, nil, err
	}
	use, err := p.Acquire(ctx, launch)
	if err != nil {
		return nil, nil, err
	}
	d := s.profileTabs(p.Name())
	d.sync(use.Browser)
	return d, use, nil
}

// tabPicker finds a tab of a profile. Its error wraps [profile.ErrTabNotFound] if there is none.
type tabPicker func(*profileTabs) (profile.NamedTab, error)

// pickNamed picks a tab by name or, for "", the one used last.
func pickNamed(name string) tabPicker {
	return func(d *profileTabs) (profile.NamedTab, error) {
		if name != "" {
			return d.TabNames.Resolve(name)
		}
		if names, ok := d.TabNames.Default(); ok {
			return names, nil
		}
		return profile.NamedTab{}, fmt.Errorf("%w: none is open", profile.ErrTabNotFound)
	}
}
