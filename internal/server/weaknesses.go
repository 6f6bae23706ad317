package server

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"clank/browsermgr/chrome"
	"clank/browsermgr/profile"
	"clank/dashboard/api"
	"clank/internal/pageorigin"
	"clank/internal/settings"
	"clank/sessions"
	"clank/sessions/approval"
)

// Installation is the state of an installation that is checked for weaknesses.
type Installation struct {
	Settings   settings.Settings
	Getenv     func(string) string
	EUID       int
	Home       string
	HomeMode   os.FileMode
	FileSystem string // type of the network file system that holds the home; "" for a local one
	Free       int64  // free bytes on the disk of the home; negative if unknown
	ViewerAddr string // listen address of the viewer's page; "" while it is not served
	KeyFile    string // key file of the vault, if there is one
	KeyMode    os.FileMode
	Profiles   []profile.Profile
	Damage     error     // of the database, if any is known
	Browser    time.Time // build date of the browser; zero if unknown
	Now        time.Time
}

// InspectInstallation inspects the installation whose state is in h, except for the listeners of a server. program is
// the path of the browser, "" if none was found.
func InspectInstallation(s settings.Settings, getenv func(string) string, h *Home, program string) Installation {
	in := Installation{
		Settings: s, Getenv: getenv, EUID: os.Geteuid(), Home: h.Dir, FileSystem: sharedFileSystem(h.Dir), Free: -1,
		Now: time.Now(),
	}
	if free, err := freeBytes(h.Dir); err == nil {
		in.Free = free
	}
	if info, err := os.Stat(h.Dir); err == nil {
		in.HomeMode = info.Mode().Perm()
	}
	if opts, err := VaultOptions(getenv, h); err == nil {
		if info, err := os.Stat(opts.KeyFile); err == nil {
			in.KeyFile, in.KeyMode = opts.KeyFile, info.Mode().Perm()
		}
	}
	store := &profile.Store{Path: h.Path("browser", "profiles.json")}
	in.Profiles, _ = store.List() // a read error is reported where the profiles are used
	if info, err := os.Stat(program); err == nil {
		in.Browser = info.ModTime()
	}
	return in
}

// Weaknesses returns the weaknesses of the installation, serious ones first.
func (in Installation) Weaknesses() []api.Weakness {
	var list []api.Weakness
	for _, c := range weaknessChecks {
		if what := c.find(in); what != "" {
			list = append(list, api.Weakness{Name: c.name, Serious: c.serious, What: what, Why: c.why, Fix: c.fix})
		}
	}
	slices.SortStableFunc(list, func(a, b api.Weakness) int {
		switch {
		case a.Serious == b.Serious:
			return 0
		case a.Serious:
			return -1
		}
		return 1
	})
	return list
}

// when returns what if so is true, otherwise "".
func when(so bool, what string) string {
	if so {
		return what
	}
	return ""
}

// whenAny returns what, followed by the list, if the list is not empty.
func whenAny(what string, list []string) string {
	return when(len(list) > 0, what+strings.Join(list, ", "))
}

// whenOpen returns a finding if the file mode gives other users access.
func whenOpen(path string, mode os.FileMode) string {
	open := mode&0o077 != 0 && runtime.GOOS != "windows" // Windows has no such bits
	return when(open, fmt.Sprintf("Other accounts of this machine can open %s (%v)", path, mode))
}

func (in Installation) present(secret string) bool { return SecretPresent(in.Getenv, secret) }

// oldBrowser is the age from which a Chromium lacks fixes of known vulnerabilities: there is a release every four
// weeks.
const oldBrowser = 60 * 24 * time.Hour

// weaknessChecks are all checks: the finding, why it matters, and what to do about it.
var weaknessChecks = []struct {
	name    string
	serious bool
	find    func(in Installation) string
	why     string
	fix     string
}{
	{
		"sandbox", true,
		func(in Installation) string {
			off := in.Settings.Browser.NoSandbox || in.Getenv(NoSandboxEnv) == "1"
			return when(off, "Browsers run without Chromium’s sandbox")
		},
		"a page that breaks out of its process can read this machine’s files",
		"Use this in a container only; elsewhere unset " + NoSandboxEnv + ", switch off the setting “Disable the " +
			"Chromium sandbox”, and run clank as a user of its own.",
	},
	{
		"root", true,
		func(in Installation) string { return when(in.EUID == 0, "clank runs as root") },
		"whatever breaks out of a page owns the machine",
		"Run it as a user of its own.",
	},
	{
		"home", true,
		func(in Installation) string { return whenOpen(in.Home, in.HomeMode) },
		"tokens, logins and what pages showed lie there",
		"Run chmod 700 on it.",
	},
	{
		"database", true,
		func(in Installation) string {
			cause := in.Damage
			if fault, ok := errors.AsType[*sessions.StoreError](cause); ok { // its text has the fix, too
				cause = fault.Err
			}
			return when(cause != nil, fmt.Sprintf("The database is damaged (%v)", cause))
		},
		"sessions, settings and watches in it are lost, or come back wrong",
		"End clank, and run clank restore --replace with a backup.",
	},
	{
		"shared disk", false,
		func(in Installation) string {
			return when(in.FileSystem != "", in.Home+" lies on a shared disk ("+in.FileSystem+")")
		},
		"other machines, and whoever runs its server, can read the logins in it",
		"Set CLANK_HOME to a directory on a local disk.",
	},
	{
		"secrets in the environment", false,
		func(in Installation) string { return whenAny("In the environment: ", in.plainSecrets()) },
		"whoever sees how clank was started, or the files of a service manager, has them",
		"Write each into a file of mode 600, and name that in the variable with _FILE at its end.",
	},
	{
		"private networks", true,
		func(in Installation) string {
			open := in.Settings.NetworkAccess.PrivateNetwork == settings.PrivateAllowed
			return when(open, "Pages may reach everything in this network")
		},
		"a hostile page can work your router, printers and unprotected services",
		"Set “Private networks” to public hosts only, and name what pages need under “Allowed hosts”.",
	},
	{
		"allowed hosts", false,
		func(in Installation) string { return whenAny("Pages may reach private networks: ", in.privateHosts()) },
		"any page of any task can reach them, not only yours",
		"Keep the list under “Allowed hosts” short, with ports.",
	},
	{
		"viewer", true,
		func(in Installation) string {
			public := plainHost(in.Settings.Share.PublicURL) != ""
			host, _, err := net.SplitHostPort(in.ViewerAddr) // fails while nothing listens
			open := err == nil && !pageorigin.IsLoopback(host)
			return when(public || open, "Shared browsers are shown without encryption")
		},
		"whoever is on the way sees the pages, and the link",
		"Keep --watch-addr on loopback, put a reverse proxy with TLS before it, and set the public address to https.",
	},
	{
		"unencrypted servers", false,
		func(in Installation) string { return whenAny("Spoken to without encryption: ", in.plainServers()) },
		"whoever is on the way reads keys, pages and speech",
		"Use https addresses, or a tunnel that ends on this machine.",
	},
	{
		"shared profiles", false,
		func(in Installation) string {
			names := strings.Fields(in.Settings.BrowserTool.NodeProfiles)
			for _, g := range in.Settings.Access.Rules().Profiles {
				names = append(names, g.Profile)
			}
			return whenAny("Several people work with the same logins: ", names)
		},
		"each of them can do everything that these sites allow, and sees what others left there",
		"Take the lines out of “Shared profiles” that nobody needs: without one, each server and person has their own.",
	},
	{
		"other browsers", false,
		func(in Installation) string {
			var names []string
			for _, p := range in.Profiles {
				if p.CDPURL != "" || p.Stored && p.Driver == profile.DriverExistingSession {
					names = append(names, p.Name)
				}
			}
			return whenAny("Profiles of browsers that clank does not start: ", names)
		},
		"what their pages reach is checked as far as possible only, and a joined browser has all of its owner’s logins",
		"Delete those that are not needed, and share none of them.",
	},
	{
		"browser flags", true,
		func(in Installation) string {
			flag := chrome.ProtectionWeakeningFlag(in.Settings.Browser.Args())
			return when(flag != "", "The browser is started with "+flag)
		},
		"it takes a protection from pages, or from this machine",
		"Take it out of “Extra browser flags”.",
	},
	{
		"devtools port", false,
		func(in Installation) string {
			return when(in.Settings.Browser.DevToolsPort, "Browsers can be controlled through a port")
		},
		"a program with a token of yours works them without any question",
		"Switch “DevTools port” off when it is not needed.",
	},
	{
		"old browser", true,
		func(in Installation) string {
			age := in.Now.Sub(in.Browser)
			old := !in.Browser.IsZero() && age > oldBrowser
			return when(old, fmt.Sprintf("The browser is %d days old", age/(24*time.Hour)))
		},
		"pages know how to use the holes that were closed since",
		"Update it with your package manager.",
	},
	{
		"vault key", true,
		func(in Installation) string { return when(in.KeyFile != "", whenOpen(in.KeyFile, in.KeyMode)) },
		"it opens the vault",
		"Run chmod 600 on it, and make a new key with “clank vault rekey”.",
	},
	{
		"vault key beside the vault", false,
		func(in Installation) string {
			return when(in.KeyFile != "" && filepath.Dir(in.KeyFile) == in.Home, "The key of the vault lies beside it")
		},
		"a copy or a backup of the home has all passwords",
		"Use a system with a keyring, or keep the key elsewhere and name it in CLANK_VAULT_KEY_FILE.",
	},
	{
		"no budget", false,
		func(in Installation) string {
			return when(in.Settings.Budget.Day == "", "There is no limit for what a day may cost")
		},
		"a loop, or a person who likes to play, can spend everything on the account",
		"Set “One day” under Budgets.",
	},
	{
		"approval", false,
		func(in Installation) string { return whenAny("Done without asking: ", in.unasked()) },
		"a page that talks a model over can do it, too",
		"Set them to “Ask first” under Approval.",
	},
	{
		"everybody", false,
		func(in Installation) string {
			a := in.Settings.Access
			open := in.present("DISCORD_TOKEN") && a.Guilds == "" && a.Channels == "" && a.People == ""
			return when(open, "Everybody on Discord who can reach the bot may use it")
		},
		"strangers work on your machine, and on your budget",
		"List your servers under Access.",
	},
	{
		"unencrypted calls", false,
		func(in Installation) string {
			v := in.Settings.Voice
			stays := v.Enabled && !v.RequireEncryption && in.present("DISCORD_TOKEN")
			return when(stays, "clank stays in calls that are not end-to-end encrypted")
		},
		"Discord can hear them, and speak for anybody in them",
		"Switch “Leave unencrypted calls” on.",
	},
	{
		"transcripts", false,
		func(in Installation) string {
			return when(in.Settings.Voice.KeepTranscripts, "What is said in calls is kept in files")
		},
		"whoever gets the home reads it",
		"Switch “Keep transcripts” off when it is not needed.",
	},
	{
		"go live", false,
		func(in Installation) string {
			on := in.Settings.Share.GoLive && in.present("DISCORD_GOLIVE_TOKEN")
			return when(on, "Go Live uses a person’s account")
		},
		"its token opens the whole account, and Discord may end it",
		"Switch “Go Live” off; links show the same.",
	},
	{
		"disk", true,
		func(in Installation) string {
			full := in.Free >= 0 && in.Free < 2*int64(max(in.Settings.Browser.MinFree, 1))<<30 // or nearly full
			return when(full, fmt.Sprintf("%d MiB are free on the disk of %s", in.Free>>20, in.Home))
		},
		"nothing is downloaded below the setting “Free disk space”, and settings, logins and the vault cannot be written " +
			"when it is full",
		"Make room, or move CLANK_HOME.",
	},
}

// privateHosts returns the private addresses and names that pages may reach.
func (in Installation) privateHosts() []string {
	n := in.Settings.NetworkAccess
	hosts := slices.Concat(settings.SplitHosts(n.AllowedHosts), settings.SplitHosts(in.Getenv(AllowedHostsEnv)))
	if n.AllowBenchmark {
		hosts = append(hosts, "198.18.0.0/15")
	}
	if n.AllowULA {
		hosts = append(hosts, "fc00::/7")
	}
	return hosts
}

// unasked returns the action classes that are allowed without a question.
func (in Installation) unasked() (classes []string) {
	for _, c := range []approval.Class{
		approval.ClassBuy, approval.ClassSubmit, approval.ClassSend, approval.ClassDelete, approval.ClassUnclear,
		approval.ClassExecutable, approval.ClassPermission, approval.ClassLogin, approval.ClassSafety,
	} {
		if in.Settings.Approval.Rule(string(c)) == settings.AskAllow {
			classes = append(classes, string(c))
		}
	}
	return classes
}

// plainSecrets returns the names of secrets that are set in the environment itself rather than in files.
func (in Installation) plainSecrets() []string {
	names := []string{
		"CLANK_VAULT_KEY", "CLANK_NODE_TOKEN", "CLANK_SANDBOX_TOKEN", settings.SecretTURN, settings.CredentialTURN,
	}
	for _, f := range settings.Fields() {
		if f.Kind == settings.KindSecret {
			names = append(names, f.Key)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return in.Getenv(name) == "" })
}

// plainServers returns the addresses of other machines that are contacted without encryption.
func (in Installation) plainServers() []string {
	s := in.Settings
	list := []string{
		s.CompatibleURL, s.Web.SearXNG, s.BrowserTool.SandboxURL, s.Voice.Transcription.URL, s.Voice.Speech.URL,
		s.Voice.Realtime.URL,
	}
	for _, n := range s.BrowserTool.NodeList() {
		list = append(list, n.URL)
	}
	for _, p := range in.Profiles {
		list = append(list, p.CDPURL)
	}
	var hosts []string
	for _, address := range list {
		if host := plainHost(address); host != "" {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// plainHost returns the host of address if it is another machine contacted without encryption, otherwise "".
func plainHost(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "ws" || pageorigin.IsLoopback(u.Hostname()) {
		return ""
	}
	return u.Host
}
