package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"clank/browsermgr/control/client"
	"clank/browsermgr/page/action/actiontable"
)

// actCommands returns the commands for the actions of the table.
func actCommands() []browserCommand {
	var commands []browserCommand
	for _, kind := range actiontable.Kinds(actiontable.API) {
		spec, _ := actiontable.Lookup(actiontable.API, actiontable.Kind(kind))
		if spec.Command == "" {
			continue
		}
		c := actionCommand(spec.Kind)
		switch spec.Kind {
		case actiontable.KindWait:
			c.printAnswer = printDone(spec.Done)
		case actiontable.KindFill:
			c.printAnswer = printDone(spec.Done)
			commands = append(commands, c,
				checkCommand("check", "check a box, or choose a radio button", "checked %s", true),
				checkCommand("uncheck", "uncheck a box", "unchecked %s", false))
			continue
		case actiontable.KindEvaluate:
			c = evaluateCommand(c)
		case actiontable.KindBatch:
			c = batchCommand(c)
		default:
		}
		commands = append(commands, c)
	}
	return commands
}

// evaluateCommand completes the command evaluate, whose function is an argument or a flag.
func evaluateCommand(c browserCommand) browserCommand {
	addFields := c.addFields
	c.addFields = func(c *browserCommand) {
		addFields(c)
		c.args = "[fn]"
		c.options = append(c.options,
			browserOption{name: "fn", kind: kindText, value: "js", help: "the function, in place of the argument", field: "fn"})
	}
	c.checkAnswer = func(in *commandInput, answer []byte) error {
		if err := checkNoDialog(in, answer); err != nil {
			return fmt.Errorf("there is no result: %w", err)
		}
		return nil
	}
	c.printAnswer = printField("result", "null")
	return c
}

// batchCommand completes the command batch, whose flag for failures is the inverse of the API's field.
func batchCommand(c browserCommand) browserCommand {
	addFields := c.addFields
	c.addFields = func(c *browserCommand) {
		addFields(c)
		c.options = slices.DeleteFunc(c.options, func(o browserOption) bool { return o.field == "stopOnError" })
		c.options = append(c.options, browserOption{name: "continue", help: "go on after an action that failed"})
	}
	build := c.buildRequest
	c.buildRequest = func(in *commandInput) (controlRequest, error) {
		r, err := build(in)
		if in.isOn("continue") {
			r.body["stopOnError"] = false
		}
		return r, err
	}
	c.checkAnswer, c.printAnswer, c.printsFailures = checkBatch, printTyped(printBatch), true
	return c
}

// actionCommand returns the command of an action.
func actionCommand(kind actiontable.Kind) browserCommand {
	spec, _ := actiontable.Lookup(actiontable.API, kind)
	return browserCommand{
		name: spec.Command, short: spec.About, examples: spec.Examples,
		buildRequest: func(in *commandInput) (controlRequest, error) { return in.specRequest(spec) },
		checkAnswer:  checkDone,
		printAnswer:  printActed(spec.Done),
		addFields:    func(c *browserCommand) { c.addFieldsOf(spec) },
	}
}

// addFieldsOf adds the arguments and options that an action takes.
func (c *browserCommand) addFieldsOf(spec *actiontable.Spec) {
	for _, p := range spec.ParamsIn(actiontable.API) {
		switch {
		case slices.Contains(spec.Args, p.Name), p.Type == actiontable.Selector: // elements are given by ref
		case p.Type == actiontable.Entries || p.Type == actiontable.Requests:
			c.options = append(c.options, browserOption{name: p.Flag(), kind: kindText, value: "json", help: p.About +
				", as a JSON array"},
				browserOption{
					name: p.Flag() + "-file", kind: kindFile, value: "path",
					help: fmt.Sprintf("the same from a file of at most %d MB; - is the standard input", maxInputFile/1_000_000),
				})
		default:
			c.options = append(c.options, optionOf(p))
		}
	}
	c.options = append(c.options, tabOption)
	var shape []string
	for _, name := range spec.Args {
		shape = append(shape, shapeOfArg(spec, name))
	}
	c.args = strings.Join(shape, " ")
}

// optionOf returns the flag for a parameter.
func optionOf(p actiontable.Param) browserOption {
	o := browserOption{
		name: p.Flag(), kind: kindText, value: "text", help: p.About, field: p.Name, choices: p.Enum,
		strict: p.Ignored,
	}
	switch p.Type {
	case actiontable.Bool:
		o.kind = kindToggle
	case actiontable.Natural, actiontable.Positive:
		o.kind, o.value = kindInteger, "n"
		if strings.HasSuffix(p.Name, "Ms") {
			o.value = "ms"
		}
	case actiontable.Number:
		o.kind, o.value = kindDecimal, "n"
	case actiontable.Texts, actiontable.Modifiers:
		o.kind, o.value = kindList, "a,b"
	case actiontable.Ref:
		o.value = "ref"
	default:
	}
	if p.Enum != nil {
		o.help = strings.TrimPrefix(o.help+": ", ": ") + strings.Join(p.Enum, ", ")
	}
	return o
}

// shapeOfArg returns an argument in its usage form. It is optional if the action does not require it, or accepts a
// flag instead.
func shapeOfArg(spec *actiontable.Spec, name string) string {
	p, _ := spec.Param(actiontable.API, name)
	needed := p.Required || p.Type == actiontable.Coordinate || p.Type == actiontable.Size
	for _, group := range spec.Needs {
		needed = needed || slices.Contains(group, name) && !slices.ContainsFunc(group, func(other string) bool {
			o, _ := spec.Param(actiontable.API, other)
			return other != name && o.Type != actiontable.Selector
		})
	}
	switch {
	case !needed:
		return "[" + name + "]"
	case p.Type == actiontable.VerbatimTexts:
		return "<" + strings.TrimSuffix(name, "s") + "> […]"
	}
	return "<" + name + ">"
}

// specRequest returns the request for an action.
func (in *commandInput) specRequest(spec *actiontable.Spec) (controlRequest, error) {
	r := in.actRequest(string(spec.Kind), nil)
	for i, name := range spec.Args {
		if i >= len(in.args) {
			break
		}
		p, _ := spec.Param(actiontable.API, name)
		if len(spec.Needs) == 0 {
			if choice := paramWithChoice(spec, in.arg(i)); choice != "" {
				name = choice // "scroll up" for "scroll --direction up"
			}
		}
		if _, given := r.body[name]; given {
			return r, usagef("%s is given twice", name)
		}
		var err error
		switch r.body[name] = in.arg(i); p.Type {
		case actiontable.Coordinate:
			r.body[name], err = in.number(i, name)
		case actiontable.Size:
			r.body[name], err = in.positiveInt(i, name)
		case actiontable.VerbatimTexts:
			r.body[name] = in.args[i:]
		default:
		}
		if err != nil {
			return r, err
		}
	}
	for _, p := range spec.ParamsIn(actiontable.API) {
		if p.Type == actiontable.Entries || p.Type == actiontable.Requests {
			entries, err := in.arrayFromFlagOrFile(p.Flag(), p.Flag()+"-file")
			if err != nil {
				return r, err
			}
			r.body[p.Name] = entries
		}
	}
	for _, group := range spec.Needs {
		if !slices.ContainsFunc(group, func(name string) bool { return isGiven(spec, r.body, name) }) {
			return r, usagef("%s is needed", in.namesOf(spec, group))
		}
	}
	return r, nil
}

// isGiven reports whether a field has a value; an empty one counts only as a text to type.
func isGiven(spec *actiontable.Spec, body map[string]any, name string) bool {
	value, given := body[name]
	p, _ := spec.Param(actiontable.API, name)
	return given && (value != "" || p.Type == actiontable.Verbatim)
}

// paramWithChoice returns the name of the parameter that has a value among its choices; empty if none has.
func paramWithChoice(spec *actiontable.Spec, value string) string {
	for _, p := range spec.ParamsIn(actiontable.API) {
		if slices.Contains(p.Enum, value) {
			return p.Name
		}
	}
	return ""
}

// namesOf returns the names of parameters as given on the command line.
func (in *commandInput) namesOf(spec *actiontable.Spec, fields []string) string {
	var names []string
	for _, name := range fields {
		if p, _ := spec.Param(actiontable.API, name); slices.ContainsFunc(in.command.options,
			func(o browserOption) bool { return o.name == p.Flag() }) {
			names = append(names, "--"+p.Flag())
		}
		if slices.Contains(spec.Args, name) {
			names = append(names, "["+name+"]")
		}
	}
	return strings.Join(names, " or ")
}

// printDone returns a function that prints a sentence and the consequences of an action.
func printDone(sentence string) func(*outputPrinter, *commandInput, []byte) error {
	return printTyped(func(p *outputPrinter, r client.Result) {
		p.Line("%s", sentence)
		printConsequences(p, r)
	})
}

// printActed returns a function that prints a sentence with the first arguments, and the consequences of the action.
func printActed(format string) func(*outputPrinter, *commandInput, []byte) error {
	return printTypedWithInput(func(p *outputPrinter, in *commandInput, r client.Result) {
		var args []any
		for _, arg := range in.args[:min(len(in.args), strings.Count(format, "%s"))] {
			args = append(args, cleanLine(arg))
		}
		done := ""
		if r.URL != "" {
			done = " on " + cleanLine(r.URL)
		}
		if r.BlockedByDialog {
			done = ", and a dialog opened"
		}
		p.Line(format+"%s", append(args, done)...)
		printConsequences(p, r)
	})
}

// checkDone returns an error for an action that was not done because a dialog was open before.
func checkDone(_ *commandInput, answer []byte) error {
	r, err := decodeAnswer[client.Result](answer)
	if err == nil && r.NotDone {
		return dialogError(r.BrowserState)
	}
	return err
}

// arrayFromFlagOrFile returns the JSON array from one of two flags.
func (in *commandInput) arrayFromFlagOrFile(inline, fromFile string) ([]json.RawMessage, error) {
	var data []byte
	switch {
	case in.has(inline) && in.has(fromFile):
		return nil, usagef("--%s and --%s exclude one another", inline, fromFile)
	case in.has(inline):
		data = []byte(in.text(inline))
	case in.has(fromFile):
		var err error
		if data, err = in.read(in.text(fromFile)); err != nil {
			return nil, err
		}
	default:
		return nil, usagef("--%s or --%s is needed", inline, fromFile)
	}
	if len(data) > maxInputFile {
		return nil, usagef("--%s is larger than %d MB", inline, maxInputFile/1_000_000)
	}
	var entries []json.RawMessage
	if err := json.Unmarshal(data, &entries); err != nil {
		if _, other := errors.AsType[*json.UnmarshalTypeError](err); other {
			return nil, usagef("--%s must be a JSON array: put [ and ] around it", inline)
		}
		return nil, usagef("--%s must be a JSON array: %v", inline, err)
	}
	if len(entries) == 0 {
		return nil, usagef("--%s must hold at least one entry", inline)
	}
	return entries, nil
}

func checkBatch(_ *commandInput, answer []byte) error {
	r, err := decodeAnswer[client.Result](answer)
	if err != nil {
		return err
	}
	failed := 0
	for _, entry := range r.Results {
		if !entry.OK {
			failed++
		}
	}
	switch {
	case failed > 0:
		return fmt.Errorf("%d of %s failed", failed, countNoun(len(r.Results), "action"))
	case r.Aborted != nil && r.Aborted.Skipped > 0:
		return fmt.Errorf("%s left undone: %s after action %d", countNoun(r.Aborted.Skipped, "action"), r.Aborted.Reason,
			r.Aborted.AfterAction)
	case r.BlockedByDialog:
		return dialogError(r.BrowserState)
	case len(r.Results) == 0:
		return errors.New("the server did none of the actions")
	}
	return nil
}
