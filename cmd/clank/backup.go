//go:build !browseronly

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"clank/browsermgr/control/client"
	"clank/internal/server"
	"clank/internal/settings"

	"github.com/spf13/cobra"
)

// passphraseName is the environment variable with the passphrase of backups.
const passphraseName = "CLANK_BACKUP_PASSPHRASE"

const backupHelp = `Writes clank's data into one file: settings, sessions and tasks, watches, scripts, tokens, the
encrypted vault, browser profiles without their caches, files and transcripts. clank can keep
running. A running browser saves its newest cookies half a minute late: stop it first if that
matters ("clank browser stop").

With --encrypt, the file is encrypted with a passphrase, which is asked for, or taken from
CLANK_BACKUP_PASSPHRASE or CLANK_BACKUP_PASSPHRASE_FILE. Only then does it include the keys of the
vault and of people's browsers, if they are files; keys in the system's keyring stay there.

  clank backup clank-monday.tar.gz
  clank backup --encrypt --recordings /mnt/backup/clank.tar.gz.age`

const restoreHelp = `Restores a file made by "clank backup" into an empty home or, with --replace, over an existing
one, which is kept beside it. clank must not be running. The whole file is checked before
anything changes.

  clank restore --replace clank-monday.tar.gz`

func newBackupCommand(e *commandEnv) *cobra.Command {
	opts := server.BackupOptions{Version: version}
	var encrypt, asJSON bool
	c := newCommand("backup <file>", "", backupHelp, func(ctx context.Context, args []string) error {
		h, file, err := homeAndFile(e, args[0])
		if err == nil && encrypt {
			opts.Passphrase, err = readPassphrase(ctx, e, true)
		}
		if err != nil {
			return err
		}
		m, err := h.Backup(ctx, file, opts)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(e.Stdout, m)
		}
		fmt.Fprintf(e.Stderr, "wrote %s: %s of %s\n", file, countNoun(len(m.Files), "file"), h.Dir)
		if len(m.Running) > 0 {
			fmt.Fprintf(e.Stderr, "a browser was running with %s: what it had not yet saved is missing\n",
				strings.Join(m.Running, ", "))
		}
		if _, has := m.Files["vault.json"]; has && !m.Keys {
			fmt.Fprintln(e.Stderr, "the vault is in it, its key is not: keep that elsewhere, or use --encrypt")
		}
		return nil
	})
	c.Flags().BoolVar(&encrypt, "encrypt", false, "encrypt it with a passphrase, and include the keys")
	c.Flags().BoolVar(&opts.Recordings, "recordings", false, "include recordings, records of tasks, traces and pictures")
	c.Flags().BoolVar(&asJSON, "json", false, "print its contents as JSON")
	return c
}

func newRestoreCommand(e *commandEnv) *cobra.Command {
	var opts server.RestoreOptions
	c := newCommand("restore <file>", "", restoreHelp, func(ctx context.Context, args []string) error {
		opts.Passphrase = func() (string, error) { return readPassphrase(ctx, e, false) }
		h, file, err := homeAndFile(e, args[0])
		if err != nil {
			return err
		}
		r, err := h.Restore(ctx, file, opts)
		if err != nil {
			return err
		}
		at := r.Manifest.At.Local().Format("2006-01-02 15:04:05")
		fmt.Fprintf(e.Stderr, "%s is as it was on %s, with clank %s\n", h.Dir, at, r.Manifest.Version)
		if r.Before != "" {
			fmt.Fprintf(e.Stderr, "what was there before is in %s\n", r.Before)
		}
		if r.NoKeys {
			fmt.Fprintf(e.Stderr, "the vault's key was not in the backup: unless the keyring has it, put it into %s\n",
				h.Path("vault.key"))
		}
		return nil
	})
	c.Flags().BoolVar(&opts.Replace, "replace", false, "restore over an existing home, which is moved beside it")
	return c
}

// homeAndFile returns the home, without creating it, and the absolute path of a file.
func homeAndFile(e *commandEnv, name string) (*server.Home, string, error) {
	if name == "" {
		return nil, "", usagef("the name of the file is empty")
	}
	dir, err := client.HomeDir(e.Getenv)
	if err != nil {
		return nil, "", err
	}
	file, err := filepath.Abs(name)
	return &server.Home{Dir: dir}, file, err
}

// readPassphrase returns the passphrase of a backup. A new one must be entered twice.
func readPassphrase(ctx context.Context, e *commandEnv, fresh bool) (string, error) {
	given, err := settings.ReadSecret(passphraseName, e.Getenv)
	if err != nil || given.IsSet() {
		return given.Reveal(), err
	}
	lines := bufio.NewReader(e.Stdin)
	_, asks := terminalOf(e.Stdin)
	phrase, err := readSecret(ctx, e, lines, "Passphrase of the backup: ")
	if err != nil {
		return "", fmt.Errorf("there is no passphrase: set %s or %s_FILE: %w", passphraseName, passphraseName, err)
	}
	if phrase == "" {
		err = errors.New("the passphrase is empty")
	}
	if err != nil || !fresh || !asks {
		return phrase, err
	}
	again, err := readSecret(ctx, e, lines, "Once more: ")
	if err == nil && again != phrase {
		err = errors.New("that is another passphrase")
	}
	return phrase, err
}
