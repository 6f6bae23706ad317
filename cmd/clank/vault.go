//go:build !browseronly

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"clank/internal/server"
	"clank/internal/vault"

	"github.com/spf13/cobra"
)

const vaultHelp = `Stores logins for pages. A model can have one filled in, and never sees the password.

An origin is a scheme, host and port, such as https://shop.example; http only for this machine.
Without --for-user and --for-role, only this terminal and the dashboard can use an entry.`

// vaultOptions returns the paths of the vault and its key.
func vaultOptions(e *commandEnv) (vault.Options, error) {
	h, err := server.OpenHome(e.Getenv)
	if err != nil {
		return vault.Options{}, err
	}
	return server.VaultOptions(e.Getenv, h)
}

// withVault calls do with the opened vault.
func withVault(ctx context.Context, e *commandEnv, do func(*vault.Vault) error) error {
	o, err := vaultOptions(e)
	if err != nil {
		return err
	}
	v, err := vault.Open(ctx, o)
	if err != nil {
		return err
	}
	return do(v)
}

func newVaultCommand(e *commandEnv) *cobra.Command {
	c := newCommand("vault", "", vaultHelp, nil)
	var tryAt []string
	test := newCommand("test <name>", "check that it can be decrypted, and whether a page of --origin would get it", "",
		func(ctx context.Context, args []string) error {
			return withVault(ctx, e, func(v *vault.Vault) error { return testVaultEntry(ctx, e, v, args[0], tryAt) })
		})
	test.Flags().StringArrayVar(&tryAt, "origin", nil, "`URL` of a page; may be given several times")
	c.AddCommand(newVaultAddCommand(e), test,
		newJSONCommand("list", "list the entries, without secrets", "",
			func(ctx context.Context, asJSON bool, _ []string) error {
				return withVault(ctx, e, func(v *vault.Vault) error { return listVaultEntries(ctx, e, v, asJSON) })
			}),
		newJSONCommand("show <name>", "show an entry, without secrets", "",
			func(ctx context.Context, asJSON bool, args []string) error {
				return withVault(ctx, e, func(v *vault.Vault) error { return showVaultEntry(ctx, e, v, args[0], asJSON) })
			}),
		newCommand("remove <name>", "delete an entry", "", func(ctx context.Context, args []string) error {
			return withVault(ctx, e, func(v *vault.Vault) error {
				err := v.Remove(ctx, args[0])
				if err == nil {
					fmt.Fprintf(e.Stderr, "%s is forgotten\n", args[0])
				}
				return err
			})
		}),
		newJSONCommand("status", "show where the vault and its key are", "",
			func(ctx context.Context, asJSON bool, _ []string) error {
				return printVaultStatus(ctx, e, asJSON)
			}),
		newJSONCommand("rekey", "encrypt everything with a new key", "",
			func(ctx context.Context, asJSON bool, _ []string) error {
				if err := withVault(ctx, e, func(v *vault.Vault) error { return v.Rekey(ctx) }); err != nil {
					return err
				}
				return printVaultStatus(ctx, e, asJSON)
			}))
	return c
}

func newVaultAddCommand(e *commandEnv) *cobra.Command {
	var n vault.NewEntry
	var totp, noPassword, replace bool
	c := newCommand("add <name>", "store a login; the password is asked for, or read from stdin",
		"  clank vault add shop --origin https://shop.example --user ada", func(ctx context.Context, args []string) error {
			n.Name = args[0]
			return addVaultEntry(ctx, e, n, totp, noPassword, replace)
		})
	fs := c.Flags()
	fs.StringArrayVar(&n.Origins, "origin", nil, "`URL` of a page that the login is for; may be given several times")
	fs.StringVar(&n.Username, "user", "", "user `NAME` of the login")
	fs.StringArrayVar(&n.Users, "for-user", nil, "`ID` of a person who may use it from Discord; may be given "+
		"several times")
	fs.StringArrayVar(&n.Roles, "for-role", nil, "`ID` of a role whose members may use it; may be given several times")
	fs.BoolVar(&totp, "totp", false, "also ask for the one-time code's otpauth:// address or secret")
	fs.BoolVar(&noPassword, "no-password", false, "store only the one-time code")
	fs.BoolVar(&replace, "replace", false, "replace the entry of that name, if there is one")
	return c
}

func addVaultEntry(ctx context.Context, e *commandEnv, n vault.NewEntry, totp, noPassword, replace bool) error {
	if len(n.Origins) == 0 {
		return usagef("say where the login is for: --origin https://shop.example")
	}
	var shown []string
	for _, text := range n.Origins {
		origin, err := vault.ParseOrigin(text)
		if err != nil {
			return usagef("%v", err)
		}
		shown = append(shown, vault.DisplayOrigin(origin))
	}
	return withVault(ctx, e, func(v *vault.Vault) error {
		old, err := findVaultEntry(ctx, v, n.Name)
		if err == nil && !replace {
			return fmt.Errorf("there is an entry %s already, for %s; nothing was changed: --replace puts the new one in its "+
				"place", n.Name, strings.Join(vault.DisplayOrigins(old.Origins), ", "))
		}
		lines := bufio.NewReader(e.Stdin)
		if !noPassword {
			if n.Password, err = readSecret(ctx, e, lines, "Password: "); err != nil {
				return err
			}
		}
		if totp || noPassword {
			if n.TOTP, err = readSecret(ctx, e, lines, "otpauth:// address or secret: "); err != nil {
				return err
			}
		}
		if err := v.Put(ctx, n); err != nil {
			return err
		}
		for _, origin := range shown {
			fmt.Fprintf(e.Stderr, "%s is kept for %s\n", n.Name, origin)
		}
		if s, err := v.Status(ctx); err == nil && s.KeyringError != "" {
			fmt.Fprintf(e.Stderr, "its key lies in %s, because the keyring cannot be used: %s\n", s.KeyFile, s.KeyringError)
		}
		return nil
	})
}

func listVaultEntries(ctx context.Context, e *commandEnv, v *vault.Vault, asJSON bool) error {
	entries, err := v.Entries(ctx)
	if err != nil {
		return err
	}
	if len(entries) == 0 && !asJSON {
		fmt.Fprintln(e.Stderr, "the vault is empty")
		return nil
	}
	return e.printResult(asJSON, entries, func(w io.Writer) {
		fmt.Fprintln(w, "NAME\tUSER\tHOLDS\tORIGINS\tFOR")
		for _, entry := range entries {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", entry.Name, entry.Username, entryContents(entry),
				strings.Join(vault.DisplayOrigins(entry.Origins), ", "), entryUsers(entry))
		}
	})
}

func entryContents(e vault.Entry) string {
	switch {
	case e.HasPassword && e.HasTOTP:
		return "password, code"
	case e.HasTOTP:
		return "code"
	default:
		return "password"
	}
}

func entryUsers(e vault.Entry) string {
	who := []string{"terminal", "dashboard"}
	for _, u := range e.Users {
		who = append(who, "user "+u)
	}
	for _, r := range e.Roles {
		who = append(who, "role "+r)
	}
	return strings.Join(who, ", ")
}

func findVaultEntry(ctx context.Context, v *vault.Vault, name string) (vault.Entry, error) {
	entries, err := v.Entries(ctx)
	if err != nil {
		return vault.Entry{}, err
	}
	i := slices.IndexFunc(entries, func(e vault.Entry) bool { return e.Name == name })
	if i < 0 {
		return vault.Entry{}, fmt.Errorf("%w: %s", vault.ErrNotFound, name)
	}
	return entries[i], nil
}

func showVaultEntry(ctx context.Context, e *commandEnv, v *vault.Vault, name string, asJSON bool) error {
	entry, err := findVaultEntry(ctx, v, name)
	if err != nil {
		return err
	}
	return e.printResult(asJSON, entry, func(w io.Writer) {
		fmt.Fprintf(w, "name\t%s\nuser\t%s\nholds\t%s\norigins\t%s\nfor\t%s\n", entry.Name, entry.Username,
			entryContents(entry), strings.Join(vault.DisplayOrigins(entry.Origins), ", "), entryUsers(entry))
	})
}

// testVaultEntry decrypts an entry for its origins, or for others, without printing it.
func testVaultEntry(ctx context.Context, e *commandEnv, v *vault.Vault, name string, others []string) error {
	entry, err := findVaultEntry(ctx, v, name)
	if err != nil {
		return err
	}
	origins := entry.Origins
	if len(others) > 0 {
		origins = nil
	}
	for _, text := range others {
		origin, err := vault.ParseOrigin(text)
		if err != nil {
			return err
		}
		origins = append(origins, origin)
	}
	for _, origin := range origins {
		secret, err := v.Reveal(ctx, name, origin)
		if err != nil {
			return err
		}
		if entry.HasTOTP && secret.Code(time.Now()) == "" {
			return fmt.Errorf("%s makes no one-time code", name)
		}
		fmt.Fprintf(e.Stdout, "%s opens for %s\n", name, vault.DisplayOrigin(origin))
	}
	return nil
}

func printVaultStatus(ctx context.Context, e *commandEnv, asJSON bool) error {
	o, err := vaultOptions(e)
	if err != nil {
		return err
	}
	s, err := vault.Inspect(ctx, o)
	return errors.Join(err, e.printResult(asJSON, s, func(w io.Writer) {
		fmt.Fprintf(w, "vault\t%s, %s\n", s.Path, countNoun(s.Entries, "login"))
		switch {
		case s.Key == "environment":
			fmt.Fprintf(w, "key\t%s\n", o.KeySource)
		case s.Key == "keyring":
			fmt.Fprintf(w, "key\tin the keyring of the operating system\n")
		case s.Key == "file":
			fmt.Fprintf(w, "key\t%s: whoever can read it and the vault has the passwords\n", s.KeyFile)
		case err == nil:
			fmt.Fprintf(w, "key\tnone yet; it is made with the first entry\n")
		}
		if s.KeyringError != "" {
			fmt.Fprintf(w, "keyring\tnot used: %s\n", s.KeyringError)
		}
	}))
}
