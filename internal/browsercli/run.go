package browsercli

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
	"clank/internal/browsercli/show"
	"clank/internal/cmdline"
)

// Env is the world as a command sees it. All fields are needed.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
}

// Run carries out the command line args, which follow the words "clank browser", and returns the exit code. It ends
// early when ctx does; the server then stops what it was doing.
func Run(ctx context.Context, env Env, args []string) int {
	inv, err := parse(commands(), args)
	switch {
	case err != nil:
		name := strings.Join(append([]string{"clank browser"}, inv.words...), " ")
		fmt.Fprintf(env.Stderr, "%s: %s\nsee \"%s --help\"\n", name, show.Word(err.Error()), name)
		return exitUsage
	case inv.help:
		if err := help(env.Stdout, inv.words); err != nil {
			fmt.Fprintln(env.Stderr, "clank browser:", err)
			return exitFailed
		}
		return exitDone
	}
	r := &run{env: env, inv: inv, p: show.NewPrinter(env.Stdout, env.Stderr)}
	err = r.do(ctx)
	if flushed := r.p.Flush(); err == nil {
		err = flushed
	}
	return r.report(ctx, err)
}

// run is one command on its way.
type run struct {
	env    Env
	inv    invocation
	p      *show.Printer
	silent bool // what went wrong has been said
}

func (r *run) json() bool { on, _ := strconv.ParseBool(r.inv.global["json"]); return on }

// do makes the request, sends it and prints the answer.
func (r *run) do(ctx context.Context) error {
	c := r.inv.command
	in := &input{command: c, args: r.inv.args, values: r.inv.own, read: func(path string) ([]byte, error) {
		return cmdline.ReadFile(ctx, r.env.Stdin, path)
	}}
	req, err := c.build(in)
	if err != nil {
		return err
	}
	answer, address, err := r.send(ctx, req)
	if err == nil && c.judge != nil {
		err = c.judge(in, answer)
	}
	if answer == nil {
		if ctx.Err() == nil {
			r.withoutAnswer(address, err)
		}
		return err
	}
	if printed := r.print(in, answer, err == nil); err == nil {
		err = printed
	}
	return err
}

// send asks the server. The answer is nil if there is an error.
func (r *run) send(ctx context.Context, req request) (answer json.RawMessage, address string, err error) {
	address, secret, err := client.Locate(client.Hints{
		URL: r.inv.global["url"], Token: r.inv.global["token"], Home: homeDir(r.env.Getenv), Getenv: r.env.Getenv,
	})
	if err != nil {
		return nil, "", r.addressError(err)
	}
	ms, _ := strconv.Atoi(r.inv.global["timeout"])
	server, err := client.New(client.Config{
		URL: address, Secret: secret, Profile: r.inv.global["browser-profile"], Timeout: time.Duration(ms) * time.Millisecond,
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
func (r *run) addressError(err error) error {
	if r.inv.global["url"] != "" {
		return cmdline.Usagef("%v", err)
	}
	return err
}

// print shows an answer as it was asked for. well is false if the answer tells of a failure; then only --json shows it.
func (r *run) print(in *input, answer []byte, well bool) error {
	c := r.inv.command
	out := ""
	var big []string
	if c.save != nil && in.has("out") && well {
		var content []byte
		content, big = c.save(answer)
		out = in.text("out")
		if err := os.WriteFile(out, content, 0o600); err != nil {
			return fmt.Errorf("write the file: %w", err)
		}
	}
	switch {
	case r.json():
		return r.printJSON(answer, well, out, big)
	case out != "":
		r.p.Line("%s", out)
		return nil
	case c.show == nil || (!well && !c.partial):
		return nil
	}
	return c.show(r.p, in, answer)
}

// printJSON prints the answer. For a capture it says whether it was made; what a file got is left out.
func (r *run) printJSON(answer []byte, well bool, out string, big []string) error {
	c := r.inv.command
	if !c.capture && out == "" {
		if c.trim != nil {
			return r.p.JSON(c.trim(answer))
		}
		return r.p.JSON(answer)
	}
	fields, err := decode[map[string]json.RawMessage](answer)
	if err != nil {
		return err
	}
	for _, name := range big {
		delete(fields, name)
	}
	add := func(name string, v any) { fields[name], _ = json.Marshal(v) }
	if c.capture {
		add("captured", well)
	}
	if !well {
		add("ok", false)
	}
	if out != "" {
		add("ok", true)
		add("out", out)
	}
	return r.p.JSON(fields)
}

// withoutAnswer tells a program that there is no picture or text, or what the command has to say instead of the error.
func (r *run) withoutAnswer(address string, err error) {
	if lost := r.inv.command.lost; lost != nil {
		lost(r.p, r.json(), address, err)
		r.silent = true
	}
	if !r.inv.command.capture || !r.json() {
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
	if err := r.p.JSON(fields); err != nil {
		r.p.Say("clank browser: %v", err)
	}
}

// report says what went wrong and returns the exit code.
func (r *run) report(ctx context.Context, err error) int {
	name := "clank browser " + r.inv.command.name
	switch {
	case err != nil && ctx.Err() != nil:
		r.p.Say("%s: interrupted", name)
		return exitInterrupted
	case err != nil && !r.silent:
		text := strings.TrimPrefix(show.Word(err.Error()), r.inv.command.name+": ") // servers begin with the act, too
		if answered, ok := errors.AsType[*client.Error](err); ok && answered.Code != "" {
			text += " (" + show.Word(answered.Code) + ")"
		}
		r.p.Say("%s: %s", name, text)
		if codeOf(err) == exitUsage {
			r.p.Say("see %q", name+" --help")
		}
	}
	return codeOf(err)
}

// homeDir is where clank keeps its state, or "" if that cannot be known.
func homeDir(getenv func(string) string) string {
	if dir := getenv("CLANK_HOME"); dir != "" {
		return dir
	}
	if user, err := os.UserHomeDir(); err == nil {
		return filepath.Join(user, ".clank")
	}
	return ""
}
