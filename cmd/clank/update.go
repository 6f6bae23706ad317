//go:build !browseronly

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/mod/semver"
)

const updateHelp = `Asks for the newest release, and says how to get it. It installs nothing. The address is
that of a release in the form of GitHub's API, and must begin with https.

  clank update --check --from https://api.github.com/repos/OWNER/clank/releases/latest

Exit codes: 0 this is the newest release, 4 there is a newer one, 124 timed out.`

// updateCheck is information about the newest release.
type updateCheck struct {
	Current  string `json:"current"`
	Newest   string `json:"newest"`
	Newer    bool   `json:"newer"`    // than this program; false if this is not a release
	Release  bool   `json:"release"`  // this program is a release
	Page     string `json:"page"`     // URL of its release notes
	Download string `json:"download"` // URL of the file for this platform; "" if there is none
}

// exitNewer is the exit code of "update --check" if there is a newer release.
const exitNewer = 4

func newUpdateCommand(e *commandEnv) *cobra.Command {
	var check bool
	var from string
	var timeout time.Duration
	c := newJSONCommand("update", "", updateHelp, func(ctx context.Context, asJSON bool, _ []string) error {
		if !check {
			return usagef("clank does not replace itself; use --check to learn of the newest release")
		}
		from = cmp.Or(from, e.Getenv("CLANK_RELEASES"), releasesOfModule())
		if from == "" {
			return usagef("this build knows no address of releases; name one with --from or in CLANK_RELEASES")
		}
		if timeout <= 0 {
			return usagef("--timeout must be longer than 0s, not %s", timeout)
		}
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		found, err := checkUpdate(ctx, e.Transport, from)
		if errors.Is(err, context.DeadlineExceeded) {
			return &exitError{Code: exitTimeout, Err: fmt.Errorf("no answer from %s within %s", from, timeout)}
		}
		if err != nil {
			return err
		}
		if err := e.printResult(asJSON, found, func(w io.Writer) { writeUpdate(w, found) }); err != nil {
			return err
		}
		if found.Newer {
			return &exitError{Code: exitNewer}
		}
		return nil
	})
	fs := c.Flags()
	fs.BoolVar(&check, "check", false, "check, and install nothing")
	fs.StringVar(&from, "from", "", "`ADDRESS` of the newest release (default CLANK_RELEASES, or GitHub's of the "+
		"repository that this was built from)")
	fs.DurationVar(&timeout, "timeout", 10*time.Second, "`TIME` to wait for an answer")
	return c
}

// releasesOfModule returns the address of the module's releases, if it is hosted on GitHub.
func releasesOfModule() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	name, ok := strings.CutPrefix(info.Main.Path, "github.com/")
	if !ok {
		return ""
	}
	return "https://api.github.com/repos/" + name + "/releases/latest"
}

var errNotHTTPS = errors.New("releases are asked for by https alone")

// checkUpdate requests the newest release from an address.
func checkUpdate(ctx context.Context, transport http.RoundTripper, from string) (updateCheck, error) {
	if u, err := url.Parse(from); err != nil || u.Scheme != "https" || u.Host == "" {
		return updateCheck{}, usagef("%w: %q", errNotHTTPS, from)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return updateCheck{}, usagef("%w", err)
	}
	req.Header.Set("Accept", "application/vnd.github+json, application/json")
	req.Header.Set("User-Agent", "clank/"+version)
	client := http.Client{Transport: transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if r.URL.Scheme != "https" || len(via) > 5 {
			return errNotHTTPS
		}
		return nil
	}}
	resp, err := client.Do(req)
	if err != nil {
		return updateCheck{}, fmt.Errorf("ask for the newest release: %w (check this machine's network, or name another "+
			"address with --from)", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return updateCheck{}, fmt.Errorf("ask %s for the newest release: it answers %s", from, resp.Status)
	}
	const longest = 1 << 20
	var release struct {
		Tag    string `json:"tag_name"`
		Page   string `json:"html_url"`
		Assets []struct {
			Name string `json:"name"`
			URL  string `json:"browser_download_url"`
		} `json:"assets"`
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, longest)).Decode(&release)
	if ctx.Err() != nil {
		return updateCheck{}, ctx.Err()
	}
	if err != nil || !semver.IsValid(asSemver(release.Tag)) {
		return updateCheck{}, fmt.Errorf("%s names no release", from)
	}
	found := updateCheck{
		Current: version, Newest: cleanLine(release.Tag), Page: cleanLine(release.Page), Release: isRelease(version),
		Newer: isRelease(version) && semver.Compare(asSemver(version), asSemver(release.Tag)) < 0,
	}
	for _, a := range release.Assets {
		if strings.HasPrefix(a.Name, "clank_") && strings.Contains(a.Name, "_"+runtime.GOOS+"_"+runtime.GOARCH+".") {
			found.Download = cleanLine(a.URL)
		}
	}
	return found, nil
}

// asSemver returns a version in the form of package semver.
func asSemver(v string) string { return "v" + strings.TrimPrefix(v, "v") }

// isRelease reports whether a version is a release, and not a later commit as described by git describe.
func isRelease(v string) bool {
	return semver.IsValid(asSemver(v)) && semver.Prerelease(asSemver(v)) == ""
}

func writeUpdate(w io.Writer, u updateCheck) {
	switch {
	case u.Newer:
		fmt.Fprintf(w, "clank %s is out; this is %s\n", u.Newest, u.Current)
	case u.Release:
		fmt.Fprintf(w, "this is clank %s, the newest release\n", u.Current)
	default:
		fmt.Fprintf(w, "the newest release is clank %s; this is %s, which is no release\n", u.Newest, u.Current)
	}
	if u.Newer || !u.Release {
		fmt.Fprintf(w, "get it:   %s\ncheck it: with the SHA256SUMS beside it\nread:     %s\n",
			cmp.Or(u.Download, "nothing is made for "+runtime.GOOS+" on "+runtime.GOARCH), u.Page)
	}
}
