//go:build !browseronly

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"clank/dashboard/api"
	"clank/internal/server"
	"clank/internal/untrusted"
	"clank/internal/vault"

	"github.com/spf13/cobra"
)

const setupHelp = `Checks what clank works with: Chromium, a model, Discord, calls and the public address, and
says how to get what is missing. The dashboard's Setup page shows the same, and can test the
model and the speech of calls.

Exit codes: 0 tasks can run, 1 something that they need is missing.`

const setupKeyHelp = `Tests the key of a service and stores it in the vault. The name is that of the environment
variable: OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, COMPATIBLE_API_KEY or
DISCORD_TOKEN. The environment takes precedence over the vault. An empty line deletes the key.

  clank setup key OPENAI_API_KEY < key.txt`

const setupDiscordHelp = `Prints what to do in Discord's developer portal, and a link that invites the bot with the
permissions that the settings require. If DISCORD_TOKEN or DISCORD_TOKEN_FILE is set, it asks
Discord for the application and reports what is missing.`

func newSetupCommand(e *commandEnv) *cobra.Command {
	c := newJSONCommand("setup", "", setupHelp, func(ctx context.Context, asJSON bool, _ []string) error {
		list, err := findSetupChecks(ctx, e)
		if err != nil {
			return err
		}
		err = e.printResult(asJSON, list, func(w io.Writer) { writeSetupChecks(w, list) })
		if err == nil && slices.ContainsFunc(list, func(c api.SetupCheck) bool { return c.State == api.SetupMissing }) {
			return &exitError{Code: exitFailed}
		}
		return err
	})
	c.AddCommand(newCommand("key <name>", "store a key in the vault, read from stdin or the terminal", setupKeyHelp,
		func(ctx context.Context, args []string) error { return keepServiceKey(ctx, e, args[0]) }))
	c.AddCommand(newCommand("discord", "print the steps in Discord's developer portal, and a link to invite the bot",
		setupDiscordHelp,
		func(ctx context.Context, _ []string) error {
			return withSettings(ctx, e, func(v settingsView) error {
				app, err := server.DiscordApplication(ctx, e.getenvWithKeys(ctx))
				if err != nil {
					return fmt.Errorf("ask Discord for the application: %w", err)
				}
				id, content := "YOUR_APPLICATION_ID", "switch on Message Content Intent and save"
				switch {
				case app.ID == "":
				case app.HearsEverything():
					id, content = app.ID, "Message Content Intent is on for "+app.Name
				default:
					id, content = app.ID, "Message Content Intent is off for "+app.Name+": switch it on and save"
				}
				_, err = fmt.Fprintf(e.Stdout, `1. https://discord.com/developers/applications: New Application, or open yours.
2. Bot, Privileged Gateway Intents: %s. Without it, clank hears commands,
   mentions, replies that mention it and direct messages, but not "stop" in a channel.
3. Bot, Reset Token: start clank with it as DISCORD_TOKEN, or in a file that DISCORD_TOKEN_FILE names.
4. Invite the bot:
   %s
`, content, server.DiscordInvite(id, v.Live.Current()))
				return err
			})
		}))
	return c
}

// getenvWithKeys returns the environment, with the keys of the vault as fallback.
func (e *commandEnv) getenvWithKeys(ctx context.Context) func(string) string {
	h, err := server.OpenHome(e.Getenv)
	if err != nil {
		return e.Getenv
	}
	return server.WithServiceKeys(ctx, e.Getenv, h)
}

// keepServiceKey stores a key where the running server, or the next one, finds it.
func keepServiceKey(ctx context.Context, e *commandEnv, name string) error {
	if err := server.CheckServiceKeyName(name); err != nil {
		return err
	}
	h, running, err := findServer(e)
	if err != nil {
		return err
	}
	value, err := readSecret(ctx, e, bufio.NewReader(e.Stdin), name+": ")
	if err != nil {
		return err
	}
	if running != nil {
		err = running.SaveServiceKey(ctx, name, value)
	} else {
		err = withVault(ctx, e, func(v *vault.Vault) error {
			return withSettings(ctx, e, func(s settingsView) error {
				finder := &server.ModelFinder{Settings: s.Live, Getenv: e.Getenv}
				return server.SaveServiceKey(ctx, v, e.Getenv, name, value, finder)
			})
		})
	}
	switch {
	case err != nil:
	case strings.TrimSpace(value) == "":
		fmt.Fprintf(e.Stderr, "nothing was given, so the vault of %s forgets %s\n", h.Dir, name)
	default:
		fmt.Fprintf(e.Stderr, "%s is kept in the vault of %s\n", name, h.Dir)
	}
	return err
}

// findSetupChecks returns the checks of the running server, or runs them here.
func findSetupChecks(ctx context.Context, e *commandEnv) (list []api.SetupCheck, err error) {
	h, running, err := findServer(e)
	if err != nil {
		return nil, err
	}
	if running != nil {
		return running.Setup(ctx)
	}
	err = withSettings(ctx, e, func(v settingsView) error {
		s := v.Live.Current()
		list = server.SetupSubject{
			Settings: s, Bindings: v.Bindings(), Getenv: e.getenvWithKeys(ctx), Present: v.Present, DataDir: h.Dir,
			NoSandbox: s.Browser.NoSandbox || e.Getenv(server.NoSandboxEnv) == "1",
		}.Checks(ctx)
		return nil
	})
	return list, err
}

func writeSetupChecks(w io.Writer, list []api.SetupCheck) {
	signs := map[api.SetupState]string{api.SetupReady: "✓", api.SetupOptional: "-", api.SetupMissing: "✗"}
	for _, c := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\n", signs[c.State], c.Name, untrusted.CleanLine(c.Detail, 500))
		for _, more := range []string{c.Fix, c.Link} {
			if more != "" {
				fmt.Fprintf(w, "\t\t%s\n", untrusted.CleanLine(more, 500))
			}
		}
	}
}
