package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// foreignBrowserCases are browsers that somebody else started: they are joined, worked in and left alone.
func foreignBrowserCases() []testCase {
	joined := func(name string, work func(context.Context, *controlSuite, *foreignBrowser) error) testCase {
		return testCase{Name: name, Run: func(ctx context.Context, s *controlSuite) error {
			b, err := launchForeignBrowser(ctx, s)
			if err != nil {
				return err
			}
			defer b.end()
			return work(ctx, s, b)
		}}
	}
	return []testCase{
		joined("every form of its address", everyForm),
		joined("an address on this machine where one answers", answeringHere),
		joined("its downloads stay in its own folder", ownDownloads),
		joined("by the directory of its profile", attachByDirectory),
		joined("what is not done in a person's browser", personsLimits),
		joined("a frozen tab in a browser that was just joined", coldConnect),
		joined("what only our own browsers can do", ownOnly),
		joined("secrets in its address", secretAddress),
		joined("it ends while we are in it", endsMeanwhile),
	}
}

// foreignBrowser is a Chromium of our own, which clank knows nothing of.
type foreignBrowser struct {
	cmd  *exec.Cmd
	done chan struct{}
	// data is its profile's directory, saves its downloads folder; base and socket its DevTools addresses.
	dir, data, saves, base, socket string
}

// launchForeignBrowser starts the browser that clank has found.
func launchForeignBrowser(ctx context.Context, s *controlSuite) (b *foreignBrowser, err error) {
	var status struct{ DetectedExecutablePath string }
	if err := s.Call(ctx, "GET", "/", nil, &status); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "clank")
	if err != nil {
		return nil, err
	}
	b = &foreignBrowser{dir: dir, data: filepath.Join(dir, "data"), saves: filepath.Join(dir, "saves"), done: make(chan struct{})}
	prefs, _ := json.Marshal(map[string]any{"download": map[string]any{"default_directory": b.saves, "prompt_for_download": false}})
	if err := errors.Join(
		os.MkdirAll(filepath.Join(b.data, "Default"), 0o700), os.Mkdir(b.saves, 0o700),
		os.WriteFile(filepath.Join(b.data, "Default", "Preferences"), prefs, 0o600),
	); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	args := []string{"--headless=new", "--remote-debugging-port=0", "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir=" + b.data}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox")
	}
	b.cmd = exec.Command(status.DetectedExecutablePath, append(args, "about:blank")...) //nolint:noctx // ended by end
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := b.cmd.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	go func() {
		defer close(b.done)
		_ = b.cmd.Wait() // how it ended does not matter
	}()
	err = s.waitUntil(ctx, "the other browser", func() (bool, error) {
		data, _ := os.ReadFile(filepath.Join(b.data, "DevToolsActivePort"))
		port, path, ok := strings.Cut(strings.TrimSpace(string(data)), "\n")
		b.base, b.socket = "http://127.0.0.1:"+port, "ws://127.0.0.1:"+port+path
		return ok, nil
	})
	if err != nil {
		b.end()
		return nil, err
	}
	return b, nil
}

func (b *foreignBrowser) end() {
	_ = syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL)
	<-b.done
	_ = os.RemoveAll(b.dir)
}

// pages asks the browser itself for its pages.
func (b *foreignBrowser) pages(ctx context.Context) (list []struct{ ID, URL, Type string }, err error) {
	data, err := b.ask(ctx, http.MethodGet, "/json/list")
	if err != nil {
		return nil, err
	}
	return list, json.Unmarshal(data, &list)
}

func (b *foreignBrowser) ask(ctx context.Context, method, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, b.base+path, nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return io.ReadAll(res.Body)
}

// joinAs makes a profile for a browser that runs, has work done with it and takes it away.
func joinAs(ctx context.Context, s *controlSuite, name string, more map[string]any, work func() error) error {
	body := map[string]any{"name": name}
	maps.Copy(body, more)
	if err := s.Call(ctx, "POST", "/profiles/create", body, nil); err != nil {
		return err
	}
	err := attachOnly(s, name)
	if err == nil {
		err = work()
	}
	if gone := s.Call(context.WithoutCancel(ctx), "DELETE", "/profiles/"+name, nil, nil); err == nil {
		err = gone
	}
	return err
}

// attachOnly writes into the file of profiles that this one's browser is never started. No request can say so.
func attachOnly(s *controlSuite, name string) error {
	path := filepath.Join(s.Home, "browser", "profiles.json")
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var file map[string]map[string]map[string]any
	if err := json.Unmarshal(data, &file); err != nil {
		return err
	}
	file["profiles"][name]["attachOnly"] = true
	if data, err = json.Marshal(file); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

// answeringHere gives a profile the address of a browser on this machine and says no more: as long as it answers it is used.
func answeringHere(ctx context.Context, s *controlSuite, b *foreignBrowser) error {
	for i, address := range []string{b.base, b.socket} {
		name := fmt.Sprintf("here-%d", i)
		if err := s.Call(ctx, "POST", "/profiles/create", map[string]any{"name": name, "cdpUrl": address}, nil); err != nil {
			return err
		}
		err := requestCase{Path: "/tabs/open?profile=" + name, Body: map[string]any{"url": "SITE/form"}}.Run(ctx, s)
		if gone := s.Call(ctx, "DELETE", "/profiles/"+name, nil, nil); err == nil {
			err = gone
		}
		if err != nil {
			return fmt.Errorf("%s: %w", address, err)
		}
	}
	_, err := b.pages(ctx)
	return err
}

// worksForeignBrowser opens a page there, acts in it and reads it, then stops, which leaves the browser alone, and a
// page of it as it was.
func worksForeignBrowser(ctx context.Context, s *controlSuite, b *foreignBrowser, name, stays string) error {
	if err := s.Call(ctx, "POST", "/tabs/open?profile="+name, map[string]any{"url": s.Site.URL + "/form", "label": "joined"}, nil); err != nil {
		return err
	}
	var snap snapshotAnswer
	if err := s.Call(ctx, "GET", "/snapshot?profile="+name, nil, &snap); err != nil {
		return err
	}
	save, err := snap.Ref("button", "Save")
	if err != nil {
		return err
	}
	for _, x := range []requestCase{
		{Path: "/act?profile=" + name, Body: map[string]any{"kind": "click", "ref": save}},
		{Path: "/snapshot?profile=" + name, Contains: []string{`button \"Save\"`, "saved"}},
		{Path: "/?profile=" + name, Contains: []string{`"running":true`, `"cdpReady":true`, `"pid":null`}},
		{Path: "/tabs?profile=" + name, Contains: []string{`"running":true`, `"label":"joined"`}},
		{Path: "/profiles", Contains: []string{`"` + name + `"`}},
		{Path: "/stop?profile=" + name, Method: "POST", Contains: []string{`"stopped":true`}},
	} {
		if err := x.Run(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", x.Path, err)
		}
	}
	list, err := b.pages(ctx)
	if err != nil {
		return fmt.Errorf("after the stop: %w", err)
	}
	for _, p := range list {
		if p.URL == stays {
			return nil
		}
	}
	return fmt.Errorf("the stop closed a tab: %+v", list)
}

func everyForm(ctx context.Context, s *controlSuite, b *foreignBrowser) error {
	bare := strings.Replace(b.base, "http", "ws", 1)
	for form, address := range map[string]string{
		"http": b.base, "http-slash": b.base + "/", "direct": b.socket, "bare": bare, "local": strings.Replace(b.base, "127.0.0.1", "localhost", 1),
		"bare-slash": bare + "/",
	} {
		err := joinAs(ctx, s, "joined-"+form, map[string]any{"cdpUrl": address}, func() error { return worksForeignBrowser(ctx, s, b, "joined-"+form, s.Site.URL+"/form") })
		if err != nil {
			return fmt.Errorf("%s: %w", address, err)
		}
	}
	return nil
}

func ownDownloads(ctx context.Context, s *controlSuite, b *foreignBrowser) error {
	return joinAs(ctx, s, "joined", map[string]any{"cdpUrl": b.base}, func() error {
		if err := s.Call(ctx, "POST", "/tabs/open?profile=joined", map[string]any{"url": s.Site.URL + "/files"}, nil); err != nil {
			return err
		}
		for _, x := range []requestCase{
			{Path: "/wait/download?profile=joined", Body: map[string]any{"timeoutMs": 500}, Status: 501},
			{Path: "/download?profile=joined", Body: map[string]any{"ref": "e1", "path": "x.txt"}, Status: 501},
			{Path: "/act?profile=joined", Body: map[string]any{"kind": "click", "selector": "#get"}, Excludes: []string{"downloads"}},
		} {
			if err := x.Run(ctx, s); err != nil {
				return fmt.Errorf("%s: %w", x.Path, err)
			}
		}
		return s.waitUntil(ctx, "the file in the folder of that browser", func() (bool, error) {
			data, err := os.ReadFile(filepath.Join(b.saves, "report.txt"))
			if errors.Is(err, os.ErrNotExist) {
				return false, nil
			}
			return bytes.Equal(data, []byte("the report")), err
		})
	})
}

func coldConnect(ctx context.Context, s *controlSuite, b *foreignBrowser) error {
	if _, err := b.ask(ctx, http.MethodPut, "/json/new?"+url.QueryEscape(s.Site.URL+"/freeze")); err != nil {
		return err
	}
	err := s.waitUntil(ctx, "the page that freezes", func() (bool, error) { return s.Site.Hits("/frozen") > 0, nil })
	if err != nil {
		return err
	}
	return joinAs(ctx, s, "cold", map[string]any{"cdpUrl": b.base}, func() error {
		begin := time.Now()
		if err := s.Call(ctx, "POST", "/tabs/open?profile=cold", map[string]any{"url": s.Site.URL + "/form", "label": "warm"}, nil); err != nil {
			return err
		}
		if err := (requestCase{Path: "/tabs?profile=cold", Contains: []string{"/freeze", "warm"}}).Run(ctx, s); err != nil {
			return err
		}
		if err := (requestCase{Path: "/snapshot?profile=cold&targetId=warm", Contains: []string{`button \"Save\"`}}).Run(ctx, s); err != nil {
			return err
		}
		if took := time.Since(begin); took > 10*time.Second {
			return fmt.Errorf("beside a frozen tab it took %v", took)
		}
		return nil
	})
}

func ownOnly(ctx context.Context, s *controlSuite, b *foreignBrowser) error {
	return joinAs(ctx, s, "joined", map[string]any{"cdpUrl": b.socket}, func() error {
		for _, x := range []requestCase{
			{Path: "/start?profile=joined", Method: "POST"},
			{Path: "/start?profile=joined&headless=true", Method: "POST", Status: 400},
			{Path: "/reset-profile?profile=joined", Method: "POST", Status: 400},
			{Path: "/doctor?profile=joined", Contains: []string{`"attach-target"`, `"ok":true`}},
			{Path: "/doctor?profile=joined&live=1", Contains: []string{`"live-snapshot"`, `"ok":true`}},
		} {
			if err := x.Run(ctx, s); err != nil {
				return fmt.Errorf("%s: %w", x.Path, err)
			}
		}
		return nil
	})
}

func secretAddress(ctx context.Context, s *controlSuite, b *foreignBrowser) error {
	address := strings.Replace(b.base, "http://", "http://ada:hunter2@", 1) + "/?token=hunter3"
	for _, x := range []requestCase{
		{Path: "/profiles/create", Body: map[string]any{"name": "secret", "cdpUrl": address}},
		{Path: "/?profile=secret"},
		{Path: "/tabs?profile=secret"},
		{Path: "/profiles"},
		{Path: "/doctor?profile=secret"},
		{Path: "/profiles/secret", Method: "DELETE"},
	} {
		x.Excludes = []string{"hunter2", "hunter3"}
		if err := x.Run(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", x.Path, err)
		}
	}
	return nil
}

func endsMeanwhile(ctx context.Context, s *controlSuite, b *foreignBrowser) error {
	return joinAs(ctx, s, "mortal", map[string]any{"cdpUrl": b.base}, func() error {
		if err := s.Call(ctx, "POST", "/tabs/open?profile=mortal", map[string]any{"url": s.Site.URL + "/plain"}, nil); err != nil {
			return err
		}
		_ = syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL)
		<-b.done
		err := s.waitUntil(ctx, "the profile to be told as not running", func() (bool, error) {
			var list struct{ Running bool }
			err := s.Call(ctx, "GET", "/tabs?profile=mortal", nil, &list)
			return !list.Running, err
		})
		if err != nil {
			return err
		}
		return requestCase{Path: "/tabs/open?profile=mortal", Body: map[string]any{"url": "SITE/plain"}, Status: 409, Excludes: []string{"restart"}}.Run(ctx, s)
	})
}
