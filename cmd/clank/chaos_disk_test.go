//go:build unix

package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"clank/internal/test/browsertest"
	"clank/internal/test/check"
)

// system runs a program of the system's that must succeed, and returns what it prints.
func (c *chaos) system(name string, args ...string) string {
	c.t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s %s: %v %s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// mountHome gives the home a disk of its own, which can be broken.
func (c *chaos) mountHome() {
	c.t.Helper()
	if os.Geteuid() != 0 {
		c.omits("disks that are slow, full or read-only", errors.New("only root can mount them"))
		return
	}
	image := filepath.Join(filepath.Dir(c.home), "disk")
	profiles := filepath.Join(c.home, "browser", "profiles.json")
	was, err := os.ReadFile(profiles)
	check.Must(c.t, err)
	c.system("truncate", "-s", "512M", image)
	c.system("mkfs.ext4", "-q", "-m", "0", image)
	c.device = c.system("losetup", "--find", "--show", image)
	c.t.Cleanup(func() {
		c.unmountHome()
		c.system("losetup", "-d", c.device)
	})
	c.system("mount", c.device, c.home)
	check.Must(c.t, os.Mkdir(filepath.Dir(profiles), 0o700))
	check.Must(c.t, os.WriteFile(profiles, was, 0o600))
}

// unmountHome waits for the last who use it.
func (c *chaos) unmountHome() {
	c.t.Helper()
	browsertest.Eventually(c.t, "a disk that nobody uses", func() bool {
		return exec.Command("umount", c.home).Run() == nil
	})
}

// databaseFault has another program keep the database longer than is waited for it.
func (c *chaos) databaseFault() (all []chaosFault) {
	program, err := exec.LookPath("sqlite3")
	if err != nil {
		c.omits("a locked database", err)
		return nil
	}
	var other *exec.Cmd
	return []chaosFault{{
		name: "database is locked", names: "database", lasts: 7 * time.Second,
		do: func() {
			other = exec.Command(program, filepath.Join(c.home, "clank.db"))
			in, err := other.StdinPipe()
			check.Must(c.t, err)
			out, err := other.StdoutPipe()
			check.Must(c.t, errors.Join(err, other.Start()))
			_, err = io.WriteString(in, ".timeout 5000\nBEGIN IMMEDIATE;\nSELECT 'locked';\n")
			check.Must(c.t, err)
			line, err := bufio.NewReader(out).ReadString('\n')
			if line != "locked\n" {
				c.t.Errorf("the database is not locked: %q, %v", line, err)
			}
		},
		lift: func() {
			check.Must(c.t, other.Process.Kill())
			_ = other.Wait() // it was killed
		},
	}}
}

// diskFaults break the disk that the home is on.
func (c *chaos) diskFaults() []chaosFault {
	if c.device == "" {
		return nil
	}
	full := filepath.Join(c.home, "full")
	return []chaosFault{
		{
			name: "disk stands still",
			do:   func() { c.system("fsfreeze", "-f", c.home) }, lift: func() { c.system("fsfreeze", "-u", c.home) },
		},
		{
			name: "disk is full", names: "room|space|full",
			do:   func() { _ = exec.Command("dd", "if=/dev/zero", "of="+full, "bs=1M").Run() }, // until it is
			lift: func() { check.Must(c.t, os.Remove(full)) },
		},
		{
			name: "disk fails and is read-only now", names: chaosGone + "|read-only|cannot be written|could not be written|disk",
			do: func() { c.system("mount", "-o", "remount,abort", c.home) },
			lift: func() { // by the operator
				_ = c.server.cmd.Process.Kill()
				<-c.server.done
				c.unmountHome()
				_ = exec.Command("e2fsck", "-f", "-y", c.device).Run() // its code says that it has repaired something
				c.system("mount", c.device, c.home)
				c.startServer()
			},
		},
	}
}

// diskRows try a disk that is slow, and one that cannot be written from the start.
func (c *chaos) diskRows() {
	if c.device == "" {
		return
	}
	if g, ok := c.controlGroup("blkio", "a slow disk"); ok {
		info, err := os.ReadFile(filepath.Join("/sys/block", filepath.Base(c.device), "dev"))
		check.Must(c.t, err)
		limit := strings.TrimSpace(string(info)) + " "
		if g.limit == "io.max" {
			limit += "wiops="
		}
		check.Must(c.t, g.set(limit+"20", c.server.cmd.Process.Pid))
		c.try("disk is slow", "", func() { g.end(c) }, "open "+c.site.URL+"/, read")
	}
	if !isChosen("disk is read-only") {
		return
	}
	c.endServer()
	c.system("mount", "-o", "remount,ro", c.home)
	c.refusesToStart("disk is read-only", "read-only|cannot be written", func() {
		c.system("mount", "-o", "remount,rw", c.home)
	})
}

// refusesToStart does a row in which clank does not start until it is mended.
func (c *chaos) refusesToStart(name, names string, mend func()) {
	c.t.Helper()
	p := startProgram(c.t, c.home, c.environ, "serve", "--addr", "127.0.0.1:0", "--shop-addr", "127.0.0.1:0",
		"--control-addr", "127.0.0.1:0")
	code := p.exitCode(c.t)
	mend()
	c.startServer()
	c.recover(name, time.Now())
	c.judgeText(name, names, code, p.stderr.text())
}

// files breaks files of the home while no server runs, and one while it runs.
func (c *chaos) files() {
	database := filepath.Join(c.home, "clank.db")
	check.Must(c.t, os.Rename(database, database+".away"))
	c.try("database is removed", "removed or replaced", func() {
		check.Must(c.t, os.Rename(database+".away", database))
		c.endServer()
		c.startServer()
	}, "open "+c.site.URL+"/, read")
	for _, file := range []struct {
		path   string
		starts bool
	}{
		{"clank.db", false},
		{"tokens.json", false},
		{"vault.json", true},
		{"browser/profiles.json", true},
		{"server.json", true},
		{"control.json", true},
		{"browser/clank/user-data/Default/Preferences", true},
		{"browser/clank/user-data/Local State", true},
	} {
		name := "damaged " + file.path
		if !isChosen(name) {
			continue
		}
		c.endServer()
		path := filepath.Join(c.home, file.path)
		was, err := os.ReadFile(path)
		check.Must(c.t, os.WriteFile(path, []byte("garbage\x00"), 0o600))
		mend := func() {
			if err == nil {
				check.Must(c.t, os.WriteFile(path, was, 0o600))
			} else {
				check.Must(c.t, os.Remove(path))
			}
		}
		if !file.starts {
			c.refusesToStart(name, regexp.QuoteMeta(filepath.Base(path)), mend)
			continue
		}
		c.startServer()
		c.try(name, filepath.Base(path)+"|profile", mend, "open "+c.site.URL+"/, read")
	}
}
