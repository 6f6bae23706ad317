package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"clank/browsermgr/control/client"
	"clank/browsermgr/fault"
	"clank/browsermgr/page/action/actiontable"

	"github.com/spf13/pflag"
)

// browserRun is a running command.
type browserRun struct {
	env     *commandEnv
	flags   *browserFlags
	command *browserCommand
	printer *outputPrinter
	kind    string // of the action that is requested; "" for none
	silent  bool   // the error has already been printed
}

// run runs the command. When ctx ends it returns early, and the server stops its work.
func (r *browserRun) run(ctx context.Context, own *pflag.FlagSet, args []string) error {
	in := &commandInput{command: r.command, args: args, flags: own, stopped: ctx.Err}
	in.read = func(path string) ([]byte, error) { return readInputFile(ctx, r.env.Stdin, path) }
	in.home, _ = client.HomeDir(r.env.Getenv) // the server may be found in another way
	err := r.execute(ctx, in)
	if in.uploadDir != "" {
		err = errors.Join(err, os.RemoveAll(in.uploadDir))
	}
	if flushed := r.printer.Flush(); err == nil {
		err = flushed
	}
	return r.explain(ctx, err)
}

// execute builds the request, sends it and prints the response.
func (r *browserRun) execute(ctx context.Context, in *commandInput) error {
	for _, o := range r.command.options {
		if o.needed && in.text(o.name) == "" {
			return usagef("--%s is needed", o.name)
		}
	}
	if r.command.saveContent != nil && in.has("out") {
		if err := checkOutFile(in.text("out")); err != nil {
			return err
		}
	}
	req, err := r.command.buildRequest(in)
	if err == nil {
		err = req.checkText()
	}
	if err != nil {
		return err
	}
	r.kind, _ = req.body["kind"].(string)
	answer, address, err := r.sendRequest(ctx, in.home, req)
	if err == nil && r.command.checkAnswer != nil {
		err = r.command.checkAnswer(in, answer)
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

// sendRequest sends the request. The response is nil if there is an error.
func (r *browserRun) sendRequest(ctx context.Context, home string, req controlRequest) (
	answer json.RawMessage, address string, err error,
) {
	address, secret, err := client.Locate(client.LocateHints{
		URL: r.flags.url, Token: r.flags.token, Home: home,
		Getenv: r.env.Getenv,
	})
	if err != nil {
		return nil, "", r.addressError(err)
	}
	ms, _ := strconv.Atoi(r.flags.timeout.text)
	control, err := client.New(client.Config{
		URL: address, Secret: secret, Profile: r.flags.profile, Timeout: time.Duration(ms) * time.Millisecond,
	})
	if err != nil {
		return nil, "", r.addressError(err)
	}
	defer control.Close()
	var body any
	if req.body != nil {
		body = req.body
	}
	err = control.Do(ctx, req.method, req.path, req.query, body, &answer)
	return answer, control.URL(), err
}

// addressError returns err as a usage error if the user specified the server's address.
func (r *browserRun) addressError(err error) error {
	if r.flags.url != "" {
		return usagef("%v", err)
	}
	return err
}

// notWritten returns the error for a file that could not be written, and what to do.
func notWritten(path string, err error) error {
	cause := err
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		cause = e.Err
	}
	advice := "name another file"
	if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
		advice = "name a file in it"
	} else if errors.Is(err, fs.ErrNotExist) {
		advice = "make the directory " + filepath.Dir(path) + " first"
	}
	return fmt.Errorf("write %s: %w: %s", path, cause, advice)
}

// checkOutFile checks in advance that a file can be written: what the server gives, such as a trace, it may give once.
func checkOutFile(path string) error {
	if path == "" {
		return usagef("--out needs the name of a file")
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return notWritten(path, syscall.EISDIR)
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return notWritten(path, err)
	}
	return nil
}

// printAnswer prints a response in the requested form. well is false if it reports a failure; then only --json prints
// it.
func (r *browserRun) printAnswer(in *commandInput, answer []byte, well bool) error {
	c := r.command
	out := ""
	var big []string
	var err error
	if c.saveContent != nil && in.has("out") && well {
		var content []byte
		content, big, err = c.saveContent(answer)
		if err != nil {
			return err
		}
		out = in.text("out")
		if err := os.WriteFile(out, content, 0o600); err != nil {
			return notWritten(out, err)
		}
	}
	switch {
	case r.flags.json:
		return r.printJSON(in, answer, well, out, big)
	case out != "":
		r.printer.Line("%s", out)
		return nil
	case c.printAnswer == nil || (!well && !c.printsFailures):
		return nil
	}
	return c.printAnswer(r.printer, in, answer)
}

// printJSON prints the response. For a capture it reports whether there is one, and omits what was saved to a file.
func (r *browserRun) printJSON(in *commandInput, answer []byte, well bool, out string, big []string) error {
	c := r.command
	if !c.isCapture && out == "" {
		if c.trimForJSON != nil {
			return r.printer.JSON(c.trimForJSON(in, answer))
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

// printNoAnswer prints JSON that reports that there is no capture, or what the command prints instead of the error.
func (r *browserRun) printNoAnswer(address string, err error) {
	if lost := r.command.printUnreachable; lost != nil {
		lost(r.printer, r.flags.json, address, err)
		r.silent = true
	}
	if !r.command.isCapture || !r.flags.json {
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

// explain returns an error for people, with the exit code.
func (r *browserRun) explain(ctx context.Context, err error) error {
	switch _, wrongUse := errors.AsType[*usageError](err); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return errExitInterrupted
	case wrongUse:
		return err
	case r.silent:
		return &exitError{Code: browserExitCode(err)}
	}
	shown := &shownError{text: r.withoutActs(cleanLine(err.Error()))}
	answered, ok := errors.AsType[*client.Error](err)
	if ok {
		shown.code, shown.reason = cleanLine(answered.Code), cleanLine(answered.Reason)
	}
	if !r.flags.json {
		shown.text = fault.PlainText(shown.text)
		if ok && answered.Status == http.StatusBadRequest {
			shown.text = r.withFlagNames(shown.text)
		}
	}
	return &exitError{Code: browserExitCode(err), Err: shown}
}

// withoutActs removes what servers begin the text of an error with: the name of the command, and those of the actions
// it consists of.
func (r *browserRun) withoutActs(text string) string {
	for {
		act, rest, ok := strings.Cut(text, ": ")
		if !ok || act != r.command.name && !serverAct().MatchString(act) &&
			!slices.Contains(actiontable.Kinds(actiontable.API), act) {
			return text
		}
		text = rest
	}
}

// serverAct matches what the server calls the parts of requests.
var serverAct = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(?:(?:snapshot|screenshot|accessibility tree) of |` +
		`(?:highlight|answer dialog) in |read )?tab \S+|go (?:back|forward)|wait for download|` +
		`(?:create|rename|delete) profile)$`)
})

// withFlagNames returns a text of the server with the names that the command line has for fields and the action.
func (r *browserRun) withFlagNames(text string) string {
	for _, o := range r.command.options {
		if strings.ToLower(o.field) != o.field { // others are words
			text = strings.ReplaceAll(text, o.field, "--"+o.name)
		}
	}
	if r.kind != "" && strings.ToLower(r.kind) != r.kind {
		text = strings.ReplaceAll(text, r.kind, r.command.name)
	}
	return text
}

// browserExitCode returns the exit code for an error of the server or the connection.
func browserExitCode(err error) int {
	answered, ok := errors.AsType[*client.Error](err)
	switch {
	case errors.Is(err, client.ErrNotListening):
		return exitNotListening
	case errors.Is(err, client.ErrTimeout):
		return exitTimeout
	case ok:
		return exitCodeOfAnswer(answered)
	default:
		return exitFailed
	}
}

// exitCodeOfAnswer returns the exit code for an error response of the server.
func exitCodeOfAnswer(e *client.Error) int {
	switch text := strings.ToLower(e.Message); {
	case e.Reason == "navigation_blocked", e.Status == http.StatusUnauthorized,
		strings.Contains(text, "blocked by policy"):
		return exitRefused
	case e.Status == http.StatusForbidden && e.Code != "ACT_TARGET_ID_MISMATCH":
		return exitRefused
	case strings.HasPrefix(text, "route not found"), strings.HasPrefix(text, "404 page not found"):
		return exitFailed // a server of another kind or version
	case e.Status == http.StatusNotFound, strings.Contains(text, "unknown ref"):
		return exitNotFound
	case e.Status == http.StatusRequestTimeout, e.Status == http.StatusGatewayTimeout,
		e.Reason == "timeout", strings.Contains(text, "timed out"):
		return exitTimeout
	default:
		return exitFailed
	}
}
