package profile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"clank/browsermgr/fault"
	"clank/internal/atomicfile"

	"github.com/gofrs/flock"
)

// Errors for use with [errors.Is].
var (
	ErrNotFound = errors.New("profile not found")
	ErrExists   = errors.New("already exists")
	ErrNoPort   = errors.New("no DevTools port is left")
)

// reservedPort is the usual port of people's own browsers and debuggers. It is never assigned.
const reservedPort = 9222

// Store is the list of profiles. Set its fields before the first use. It is safe for concurrent use, also by several
// processes.
type Store struct {
	// Path is the file; it and its directory are created by the first change.
	Path string
	// FirstPort and LastPort bound the ports to assign.
	FirstPort, LastPort int
	// DefaultName is the name of the default profile, which always exists; empty means [DefaultName].
	DefaultName string
	// PortInUse reports whether something listens on a port now; such a port is not assigned. Nil skips the check.
	PortInUse func(port int) bool

	mu sync.Mutex
}

// storedProfiles is the contents of the file.
type storedProfiles struct {
	Profiles map[string]*Profile `json:"profiles"`
}

// List returns the profiles, sorted by name, the default one first.
func (f *Store) List() ([]Profile, error) {
	stored, err := f.readFile()
	if err != nil {
		return nil, err
	}
	return f.withBuiltIn(stored), nil
}

// Find returns the profile of that name; empty means the default one. An instance exists if its base does. The error
// wraps [ErrNotFound] and lists the existing profiles.
func (f *Store) Find(name string) (Profile, error) {
	if base, _, ok := SplitInstance(name); ok {
		p, err := f.Find(base)
		if err != nil {
			return Profile{}, err
		}
		return p.instance(name)
	}
	list, err := f.List()
	if err != nil {
		return Profile{}, err
	}
	if name == "" {
		return list[0], nil
	}
	names := make([]string, 0, len(list))
	for _, p := range list {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	if name == defaultAlias {
		return list[0], nil
	}
	return Profile{}, fmt.Errorf("profile %q: %w; there are: %s", name, ErrNotFound, strings.Join(names, ", "))
}

// withBuiltIn adds built-in profiles that are not stored, and colours where none is set.
func (f *Store) withBuiltIn(stored storedProfiles) []Profile {
	var list []Profile
	for name, p := range stored.Profiles {
		p.Name, p.Stored = name, true
		list = append(list, *p)
	}
	add := func(p Profile) {
		if _, ok := stored.Profiles[p.Name]; !ok {
			list = append(list, p)
		}
	}
	attach := true
	for _, name := range slices.Compact([]string{f.defaultName(), DefaultName}) {
		add(Profile{Name: name, Driver: DriverManaged, Color: DefaultColor})
	}
	if f.defaultName() != builtInUserName {
		add(Profile{Name: builtInUserName, Driver: DriverExistingSession, AttachOnly: &attach, Color: builtInUserColor})
	}
	slices.SortFunc(list, func(a, b Profile) int { return strings.Compare(a.Name, b.Name) })
	i := slices.IndexFunc(list, func(p Profile) bool { return p.Name == f.defaultName() })
	first := list[i]
	list = slices.Insert(slices.Delete(list, i, i+1), 0, first)
	for i := range list {
		if list[i].Color == "" {
			list[i].Color = nextColor(list)
		}
	}
	return list
}

func (f *Store) defaultName() string {
	return cmp.Or(f.DefaultName, DefaultName)
}

// nextColor returns the first unused colour of the palette, or reuses them in turn.
func nextColor(list []Profile) string {
	coloured := 0
	used := map[string]bool{}
	for _, p := range list {
		if p.Color != "" {
			used[p.Color] = true
			coloured++
		}
	}
	if i := slices.IndexFunc(profileColors, func(c string) bool { return !used[c] }); i >= 0 {
		return profileColors[i]
	}
	return profileColors[coloured%len(profileColors)]
}

// Create adds a profile, choosing a port and a colour if it needs them and names none. The error wraps
// [fault.ErrInvalid], [ErrExists] or [ErrNoPort].
func (f *Store) Create(p Profile) (Profile, error) {
	if p.Name == "" {
		return Profile{}, fault.Invalidf("name is required")
	}
	p.UserDataDir = expandHome(p.UserDataDir)
	if err := p.normalize(); err != nil {
		return Profile{}, err
	}
	if info, err := os.Stat(p.UserDataDir); p.UserDataDir != "" && (err != nil || !info.IsDir()) {
		return Profile{}, fault.Invalidf("userDataDir %s is not there, or no directory", p.UserDataDir)
	}
	err := f.update(func(c storedProfiles) error {
		list := f.withBuiltIn(c)
		if slices.ContainsFunc(list, func(other Profile) bool { return other.Name == p.Name }) {
			return fmt.Errorf("profile %q %w", p.Name, ErrExists)
		}
		if p.Color == "" {
			p.Color = nextColor(list)
		}
		if p.CDPPort == 0 && !p.needsNoPort() {
			ports := f.freePorts(list, "")
			i := slices.IndexFunc(ports, func(port int) bool { return f.PortInUse == nil || !f.PortInUse(port) })
			if i < 0 {
				return fmt.Errorf("%w between %d and %d: delete a profile, or widen the range", ErrNoPort, f.FirstPort, f.LastPort)
			}
			p.CDPPort = ports[i]
		}
		p.Stored = true
		c.Profiles[p.Name] = &p
		return nil
	})
	return p, err
}

// expandHome replaces a leading ~ with the home directory.
func expandHome(path string) string {
	home, err := os.UserHomeDir()
	if err == nil && (path == "~" || strings.HasPrefix(path, "~/")) {
		return filepath.Join(home, path[1:])
	}
	return path
}

// instance returns the instance of p with that name. It is not stored, since it is derived from p.
func (p Profile) instance(name string) (Profile, error) {
	if p.needsNoPort() || p.AttachOnly != nil && *p.AttachOnly {
		return Profile{}, fault.Invalidf("the browser of profile %q is not started here, so it has one state for all who "+
			"use it; the operator can share it with people (setting “Shared profiles”), or choose another default profile",
			p.Name)
	}
	p.Name, p.CDPPort, p.Stored = name, 0, false
	return p, nil
}

// Ensure returns the profile of that name, creating a managed one, or the base of an instance, if there is none.
func (f *Store) Ensure(name string) (Profile, error) {
	if base, _, ok := SplitInstance(name); ok {
		p, err := f.Ensure(base)
		if err != nil {
			return Profile{}, err
		}
		return p.instance(name)
	}
	p, err := f.Find(name)
	if !errors.Is(err, ErrNotFound) {
		return p, err
	}
	p, err = f.Create(Profile{Name: name})
	if errors.Is(err, ErrExists) { // another process was faster
		return f.Find(name)
	}
	return p, err
}

// CheckDeletable returns nil if the profile may be deleted. The error wraps [fault.ErrInvalid] or [ErrNotFound].
func (f *Store) CheckDeletable(name string) error {
	c, err := f.readFile()
	if err != nil {
		return err
	}
	return f.checkDeletable(c, name)
}

func (f *Store) checkDeletable(c storedProfiles, name string) error {
	if _, _, ok := SplitInstance(name); ok { // only its folder exists
		return nil
	}
	if err := CheckName(name); err != nil {
		return err
	}
	_, stored := c.Profiles[name]
	switch {
	case name == f.defaultName(), name == defaultAlias && !stored:
		return fault.Invalidf("cannot delete the default profile %q", name)
	case !stored && (name == DefaultName || name == builtInUserName):
		return fault.Invalidf("profile %q is built in and cannot be deleted", name)
	case !stored:
		return fmt.Errorf("profile %q: %w", name, ErrNotFound)
	default:
		return nil
	}
}

// Delete removes a profile from the list. The error is that of CheckDeletable.
func (f *Store) Delete(name string) error {
	return f.update(func(c storedProfiles) error {
		if err := f.checkDeletable(c, name); err != nil {
			return err
		}
		delete(c.Profiles, name) // an instance is not in the map
		return nil
	})
}

// Rename renames a profile. The error is that of [Store.CheckDeletable] or [Store.Create].
func (f *Store) Rename(name, to string) error {
	if err := CheckName(to); err != nil {
		return err
	}
	return f.update(func(c storedProfiles) error {
		if _, stored := c.Profiles[name]; !stored || name == f.defaultName() {
			if _, err := f.Find(name); err != nil {
				return err
			}
			return fault.Invalidf("profile %q is built in, or the default one, and keeps its name", name)
		}
		if slices.ContainsFunc(f.withBuiltIn(c), func(p Profile) bool { return p.Name == to }) || to == defaultAlias {
			return fmt.Errorf("profile %q %w", to, ErrExists)
		}
		c.Profiles[to] = c.Profiles[name]
		delete(c.Profiles, name)
		return nil
	})
}

// Ports returns the ports that the profile's browser may listen on, in order: its own, if it has one, and then every
// unassigned one, since another program may use its own. The error wraps [ErrNoPort].
func (f *Store) Ports(p Profile) ([]int, error) {
	list, err := f.List()
	if err != nil {
		return nil, err
	}
	ports := f.freePorts(list, p.Name)
	if p.CDPPort != 0 {
		ports = append([]int{p.CDPPort}, slices.DeleteFunc(ports, func(n int) bool { return n == p.CDPPort })...)
	}
	if len(ports) == 0 {
		return nil, fmt.Errorf("%w between %d and %d", ErrNoPort, f.FirstPort, f.LastPort)
	}
	return ports, nil
}

// AssignPort stores the port that a profile without one was started on. Instances, of which there may be more than
// ports, use any free port at each start.
func (f *Store) AssignPort(p Profile, port int) error {
	if _, _, instance := SplitInstance(p.Name); instance || p.CDPPort != 0 || port == 0 {
		return nil
	}
	return f.update(func(c storedProfiles) error {
		stored, ok := c.Profiles[p.Name]
		if !ok {
			stored = &Profile{Driver: p.Driver, Color: p.Color, AttachOnly: p.AttachOnly}
			c.Profiles[p.Name] = stored
		}
		stored.CDPPort = port
		return nil
	})
}

// freePorts lists the ports not assigned to a profile other than name. A default profile without a port counts as
// having the first.
func (f *Store) freePorts(list []Profile, name string) []int {
	used := map[int]bool{reservedPort: true}
	for _, p := range list {
		if p.Name == name {
			continue
		}
		if e, err := p.Endpoint(); err == nil && !e.IsZero() {
			used[e.Port()] = true
		}
		used[p.CDPPort] = true
		if p.Name == f.defaultName() && p.CDPPort == 0 && !p.needsNoPort() {
			used[f.FirstPort] = true
		}
	}
	var ports []int
	for port := f.FirstPort; port <= f.LastPort; port++ {
		if !used[port] {
			ports = append(ports, port)
		}
	}
	return ports
}

// readFile returns the stored profiles. A missing file has none.
func (f *Store) readFile() (storedProfiles, error) {
	c := storedProfiles{}
	data, err := os.ReadFile(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		data = []byte("{}")
	case err != nil:
		return c, fmt.Errorf("read profiles: %w", err)
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return c, fmt.Errorf("read profiles: %s is damaged (%w): mend it, or move it away and all but the built-in ones "+
			"are forgotten", f.Path, err)
	}
	if c.Profiles == nil {
		c.Profiles = map[string]*Profile{}
	}
	for name, p := range c.Profiles {
		if p == nil {
			p = &Profile{}
			c.Profiles[name] = p
		}
		p.Name = name
		if err := p.normalize(); err != nil {
			return c, fmt.Errorf("read profiles: %s: %w", f.Path, err)
		}
	}
	return c, nil
}

// update reads, edits and replaces the file under a lock.
func (f *Store) update(edit func(storedProfiles) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return fmt.Errorf("save profiles: %w", err)
	}
	lock := flock.New(f.Path + ".lock")
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("save profiles: %w", err)
	}
	defer func() { _ = lock.Unlock() }()
	c, err := f.readFile()
	if err != nil {
		return err
	}
	if err := edit(c); err != nil {
		return err
	}
	return f.writeFile(c)
}

// writeFile replaces the file atomically: a reader sees the old or the new list, also after a power failure.
func (f *Store) writeFile(c storedProfiles) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return fmt.Errorf("save profiles: %w", err)
	}
	file, err := atomicfile.Create(f.Path)
	if err != nil {
		return fmt.Errorf("save profiles: %w", err)
	}
	defer func() { _ = file.Cleanup() }()
	_, err = file.Write(append(data, '\n'))
	if err == nil {
		err = file.CloseAtomicallyReplace()
	}
	if err != nil {
		return fmt.Errorf("save profiles: %w", err)
	}
	return nil
}
