package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"clank/browsermgr/control/client"
)

// browserEnv is the world as a command sees it. All fields are needed.
type browserEnv struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
}

// runBrowserCommand carries out the command line args, which follow the words "clank browser", and returns the exit code. It ends
// early when ctx does; the server then stops what it was doing.
func runBrowserCommand(ctx context.Context, env browserEnv, args []string) int {
	inv, err := parseBrowserArgs(browserCommands(), args)
	switch {
	case err != nil:
		name := strings.Join(append([]string{"clank browser"}, inv.words...), " ")
		fmt.Fprintf(env.Stderr, "%s: %s\nsee \"%s --help\"\n", name, cleanLine(err.Error()), name)
		return browserExitUsage
	case inv.help:
		if err := printBrowserHelp(env.Stdout, inv.words); err != nil {
			fmt.Fprintln(env.Stderr, "clank browser:", err)
			return browserExitFailed
		}
		return browserExitDone
	}
	r := &browserRun{env: env, invocation: inv, printer: newOutputPrinter(env.Stdout, env.Stderr)}
	err = r.execute(ctx)
	if flushed := r.printer.Flush(); err == nil {
		err = flushed
	}
	return r.reportError(ctx, err)
}

// browserRun is one command on its way.
type browserRun struct {
	env        browserEnv
	invocation browserInvocation
	printer    *outputPrinter
	silent     bool // what went wrong has been said
}

func (r *browserRun) wantsJSON() bool {
	on, _ := strconv.ParseBool(r.invocation.global["json"])
	return on
}

// execute makes the request, sends it and prints the answer.
func (r *browserRun) execute(ctx context.Context) error {
	c := r.invocation.command
	in := &commandInput{command: c, args: r.invocation.args, values: r.invocation.own, read: func(path string) ([]byte, error) {
		return readInputFile(ctx, r.env.Stdin, path)
	}}
	req, err := c.buildRequest(in)
	if err != nil {
		return err
	}
	answer, address, err := r.sendRequest(ctx, req)
	if err == nil && c.checkAnswer != nil {
		err = c.checkAnswer(in, answer)
	}
	if answer == nil {
		if ctx.Err() == nil {
			r.printNoAnswer(address, err)
		}
		return err
	}
	if printed := r.printAnswer(in, answer, err == nil); err == nil {
		err = printed
	}
	return err
}

// sendRequest asks the server. The answer is nil if there is an error.
func (r *browserRun) sendRequest(ctx context.Context, req controlRequest) (answer json.RawMessage, address string, err error) {
	address, secret, err := client.Locate(client.LocateHints{
		URL: r.invocation.global["url"], Token: r.invocation.global["token"], Home: clankHomeDir(r.env.Getenv), Getenv: r.env.Getenv,
	})
	if err != nil {
		return nil, "", r.addressError(err)
	}
	ms, _ := strconv.Atoi(r.invocation.global["timeout"])
	server, err := client.New(client.Config{
		URL: address, Secret: secret, Profile: r.invocation.global["browser-profile"], Timeout: time.Duration(ms) * time.Millisecond,
	})
	if err != nil {
		return nil, "", r.addressError(err)
	}
	defer server.Close()
	var body any
	if req.body != nil {
		body = req.body
	}
	err = server.Do(ctx, req.method, req.path, req.query, body, &answer)
	return answer, server.URL(), err
}

// addressError is wrong use if the person named the server.
func (r *browserRun) addressError(err error) error {
	if r.invocation.global["url"] != "" {
		return usagef("%v", err)
	}
	return err
}

// printAnswer shows an answer as it was asked for. well is false if the answer tells of a failure; then only --json shows it.
func (r *browserRun) printAnswer(in *commandInput, answer []byte, well bool) error {
	c := r.invocation.command
	out := ""
	var big []string
	if c.saveContent != nil && in.has("out") && well {
		var content []byte
		content, big = c.saveContent(answer)
		out = in.text("out")
		if err := os.WriteFile(out, content, 0o600); err != nil {
			return fmt.Errorf("write the file: %w", err)
		}
	}
	switch {
	case r.wantsJSON():
		return r.printJSON(answer, well, out, big)
	case out != "":
		r.printer.Line("%s", out)
		return nil
	case c.printAnswer == nil || (!well && !c.printsFailures):
		return nil
	}
	return c.printAnswer(r.printer, in, answer)
}

// printJSON prints the answer. For a capture it says whether it was made; what a file got is left out.
func (r *browserRun) printJSON(answer []byte, well bool, out string, big []string) error {
	c := r.invocation.command
	if !c.isCapture && out == "" {
		if c.trimForJSON != nil {
			return r.printer.JSON(c.trimForJSON(answer))
		}
		return r.printer.JSON(answer)
	}
	fields, err := decodeAnswer[map[string]json.RawMessage](answer)
	if err != nil {
		return err
	}
	for _, name := range big {
		delete(fields, name)
	}
	add := func(name string, v any) { fields[name], _ = json.Marshal(v) }
	if c.isCapture {
		add("captured", well)
	}
	if !well {
		add("ok", false)
	}
	if out != "" {
		add("ok", true)
		add("out", out)
	}
	return r.printer.JSON(fields)
}

// printNoAnswer tells a program that there is no picture or text, or what the command has to say instead of the error.
func (r *browserRun) printNoAnswer(address string, err error) {
	if lost := r.invocation.command.printUnreachable; lost != nil {
		lost(r.printer, r.wantsJSON(), address, err)
		r.silent = true
	}
	if !r.invocation.command.isCapture || !r.wantsJSON() {
		return
	}
	fields := map[string]any{"ok": false, "captured": false, "error": err.Error()}
	if answered, ok := errors.AsType[*client.Error](err); ok {
		for name, value := range map[string]string{"code": answered.Code, "reason": answered.Reason} {
			if value != "" {
				fields[name] = value
			}
		}
	}
	if err := r.printer.JSON(fields); err != nil {
		r.printer.Message("clank browser: %v", err)
	}
}

// reportError says what went wrong and returns the exit code.
func (r *browserRun) reportError(ctx context.Context, err error) int {
	name := "clank browser " + r.invocation.command.name
	switch {
	case err != nil && ctx.Err() != nil:
		r.printer.Message("%s: interrupted", name)
		return browserExitInterrupted
	case err != nil && !r.silent:
		text := strings.TrimPrefix(cleanLine(err.Error()), r.invocation.command.name+": ") // servers begin with the act, too
		if answered, ok := errors.AsType[*client.Error](err); ok && answered.Code != "" {
			text += " (" + cleanLine(answered.Code) + ")"
		}
		r.printer.Message("%s: %s", name, text)
		if browserExitCode(err) == browserExitUsage {
			r.printer.Message("see %q", name+" --help")
		}
	}
	return browserExitCode(err)
}

// clankHomeDir is where clank keeps its state, or "" if that cannot be known.
func clankHomeDir(getenv func(string) string) string {
	if dir := getenv("CLANK_HOME"); dir != "" {
		return dir
	}
	if user, err := os.UserHomeDir(); err == nil {
		return filepath.Join(user, ".clank")
	}
	return ""
}
