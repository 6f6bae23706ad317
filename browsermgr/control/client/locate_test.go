package client_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"clank/browsermgr/control/client"

	"github.com/google/go-cmp/cmp"
)

func TestLocate(t *testing.T) {
	const announced = "http://127.0.0.1:4321"
	home := t.TempDir()
	if _, err := client.Announce(home, announced, "from file"); err != nil {
		t.Fatal(err)
	}
	type found struct {
		URL    string
		Secret client.Secret
	}
	for name, tc := range map[string]struct {
		hints client.LocateHints
		env   map[string]string
		want  found
	}{
		"nothing":   {want: found{URL: "http://127.0.0.1:18791"}},
		"gateway":   {env: map[string]string{"OPENCLAW_GATEWAY_PORT": " 20000 "}, want: found{URL: "http://127.0.0.1:20002"}},
		"announced": {hints: client.LocateHints{Home: home}, want: found{announced, client.Secret{Token: "from file"}}},
		"announced before gateway": {
			hints: client.LocateHints{Home: home}, env: map[string]string{"OPENCLAW_GATEWAY_PORT": "20000"},
			want: found{announced, client.Secret{Token: "from file"}},
		},
		"environment": {
			hints: client.LocateHints{Home: home}, env: map[string]string{"CLANK_BROWSER_URL": "http://127.0.0.1:5"},
			want: found{URL: "http://127.0.0.1:5"},
		},
		"flag": {
			hints: client.LocateHints{Home: home, URL: "http://127.0.0.1:6"}, env: map[string]string{"CLANK_BROWSER_URL": "http://127.0.0.1:5"},
			want: found{URL: "http://127.0.0.1:6"},
		},
		"flag that names the announced one": {
			hints: client.LocateHints{Home: home, URL: "127.0.0.1:4321/"},
			want:  found{"127.0.0.1:4321/", client.Secret{Token: "from file"}},
		},
		"token flag": {
			hints: client.LocateHints{Home: home, Token: "given"}, env: map[string]string{"CLANK_BROWSER_TOKEN": "env"},
			want: found{announced, client.Secret{Token: "given", AnyHost: true}},
		},
		"token of the environment": {
			hints: client.LocateHints{Home: home}, env: map[string]string{"CLANK_BROWSER_TOKEN": " env ", "OPENCLAW_GATEWAY_TOKEN": "old"},
			want: found{announced, client.Secret{Token: "env"}},
		},
		"token of the environment for another server": {
			hints: client.LocateHints{URL: "https://control.example"}, env: map[string]string{"CLANK_BROWSER_TOKEN": "env", "CLANK_BROWSER_URL": "http://a.example"},
			want: found{"https://control.example", client.Secret{Token: "env"}},
		},
		"token and server of the environment": {
			env:  map[string]string{"CLANK_BROWSER_TOKEN": "env", "CLANK_BROWSER_URL": "https://control.example"},
			want: found{"https://control.example", client.Secret{Token: "env", AnyHost: true}},
		},
		"gateway's secrets": {
			env:  map[string]string{"OPENCLAW_GATEWAY_TOKEN": "old", "OPENCLAW_GATEWAY_PASSWORD": "pw"},
			want: found{"http://127.0.0.1:18791", client.Secret{Token: "old", Password: "pw"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.hints.Getenv = func(name string) string { return tc.env[name] }
			var got found
			var err error
			if got.URL, got.Secret, err = client.Locate(tc.hints); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLocateRefusesWhatItCannotUse(t *testing.T) {
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "control.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		hints client.LocateHints
		env   map[string]string
	}{
		"gateway's port": {env: map[string]string{"OPENCLAW_GATEWAY_PORT": "65534"}},
		"no port":        {env: map[string]string{"OPENCLAW_GATEWAY_PORT": "tcp://1"}},
		"address":        {hints: client.LocateHints{URL: "ws://127.0.0.1:18789"}},
		"broken file":    {hints: client.LocateHints{Home: broken}},
	} {
		t.Run(name, func(t *testing.T) {
			tc.hints.Getenv = func(name string) string { return tc.env[name] }
			if address, _, err := client.Locate(tc.hints); err == nil {
				t.Errorf("got %s, want an error", address)
			}
		})
	}
	named := client.LocateHints{Home: broken, URL: "http://127.0.0.1:6", Getenv: func(string) string { return "" }}
	if _, _, err := client.Locate(named); err != nil {
		t.Errorf("a broken file stands in the way of a named server: %v", err)
	}
}

func TestAnnounceAndDiscover(t *testing.T) {
	home := t.TempDir()
	if _, err := client.Discover(home); !errors.Is(err, client.ErrNotAnnounced) {
		t.Errorf("before: got %v, want ErrNotAnnounced", err)
	}
	removeFirst, err := client.Announce(home, "http://127.0.0.1:1", "one")
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(home, "control.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v %v, want mode 0600", info.Mode(), err)
	}
	removeSecond, err := client.Announce(home, "http://127.0.0.1:2", "two")
	if err != nil {
		t.Fatal(err)
	}
	removeFirst() // must leave what the second said
	got, err := client.Discover(home)
	if want := (client.Announcement{URL: "http://127.0.0.1:2", Token: "two", PID: os.Getpid()}); got != want || err != nil {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	removeSecond()
	removeSecond()
	if left, err := os.ReadDir(home); len(left) != 0 || err != nil {
		t.Errorf("got %v, %v, want an empty directory", left, err)
	}
}

func TestAnnounceWhereNothingCanBeWritten(t *testing.T) {
	if _, err := client.Announce(filepath.Join(t.TempDir(), "missing"), "http://127.0.0.1:1", "x"); err == nil {
		t.Error("got no error")
	}
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "control.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Announce(home, "http://127.0.0.1:1", "x"); err == nil {
		t.Error("got no error over a directory")
	}
	if left, err := os.ReadDir(home); len(left) != 1 || err != nil {
		t.Errorf("got %v, %v, want no temporary file left", left, err)
	}
	if _, err := client.Discover(home); err == nil || errors.Is(err, client.ErrNotAnnounced) {
		t.Errorf("got %v, want that it is no file", err)
	}
}
