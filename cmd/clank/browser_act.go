package main

import (
	"cmp"
	"encoding/json"
	"strings"

	"clank/browsermgr/control/client"
)

func actCommands() []browserCommand {
	buttons := browserOption{name: "button", kind: kindText, value: "button", help: "left, right or middle", field: "button", choices: []string{"left", "right", "middle"}}
	double := browserOption{name: "double", help: "click twice", field: "doubleClick"}
	delay := browserOption{name: "delay-ms", kind: kindInteger, value: "ms", help: "how long to wait before it, or to hold it", field: "delayMs"}
	return []browserCommand{
		{
			name: "click", args: "<ref>", short: "click an element of the last snapshot",
			options: []browserOption{
				double, buttons, delay, tabOption, timeoutOption,
				{name: "modifiers", kind: kindList, value: "a,b", help: "keys held down: Alt, Control, ControlOrMeta, Meta, Shift", field: "modifiers"},
			},
			examples:     []string{"click e12", "click e12 --double", "click e7 --modifiers Control,Shift"},
			buildRequest: buildAction("click", "ref"), printAnswer: printActed("clicked %s"),
		},
		{
			name: "click-coords", args: "<x> <y>", short: "click a place of what is in view, in CSS pixels",
			options: []browserOption{double, buttons, delay, tabOption, timeoutOption},
			buildRequest: func(in *commandInput) (controlRequest, error) {
				x, errX := in.number(0, "x")
				y, errY := in.number(1, "y")
				return in.actRequest("clickCoords", map[string]any{"x": x, "y": y}), cmp.Or(errX, errY)
			},
			printAnswer: printActed("clicked at %s,%s"),
		},
		{
			name: "type", args: "<ref> <text>", short: "put text into a field",
			options: []browserOption{
				{name: "submit", help: "press Enter afterwards", field: "submit"},
				{name: "slowly", help: "key by key", field: "slowly"},
				tabOption, timeoutOption,
			},
			examples:     []string{`type e5 "ada@example.com" --submit`, `type e5 -- "--text that begins with dashes"`},
			buildRequest: buildAction("type", "ref", "text"), printAnswer: printActed("typed into %s"),
		},
		{
			name: "press", args: "<key>", short: "press a key or a chord",
			options:      []browserOption{delay, tabOption},
			examples:     []string{"press Enter", "press Control+Shift+T"},
			buildRequest: buildAction("press", "key"), printAnswer: printActed("pressed %s"),
		},
		{
			name: "hover", args: "<ref>", short: "hold the pointer over an element", options: []browserOption{tabOption, timeoutOption},
			buildRequest: buildAction("hover", "ref"), printAnswer: printActed("hovered over %s"),
		},
		{
			name: "scrollintoview", args: "<ref>", short: "scroll until an element is in view", options: []browserOption{tabOption, timeoutOption},
			buildRequest: buildAction("scrollIntoView", "ref"), printAnswer: printActed("scrolled to %s"),
		},
		{
			name: "drag", args: "<from> <to>", short: "drag one element onto another", options: []browserOption{tabOption, timeoutOption},
			buildRequest: buildAction("drag", "startRef", "endRef"), printAnswer: printActed("dragged %s to %s"),
		},
		{
			name: "select", args: "<ref> <value> […]", short: "choose options of a list", options: []browserOption{tabOption, timeoutOption},
			examples: []string{"select e9 red blue"},
			buildRequest: func(in *commandInput) (controlRequest, error) {
				return in.actRequest("select", map[string]any{"ref": in.arg(0), "values": in.args[1:]}), nil
			},
			printAnswer: printActed("selected in %s"),
		},
		fillCommand(),
		{
			name: "resize", args: "<width> <height>", short: "change the size of what is in view", options: []browserOption{tabOption},
			buildRequest: buildResize, printAnswer: printActed("resized to %sx%s"),
		},
	}
}

func fillCommand() browserCommand {
	return browserCommand{
		name: "fill", short: "fill several fields at once",
		options: []browserOption{
			{name: "fields", kind: kindText, value: "json", help: `[{"ref":"e5","value":"Ada"}, …]`},
			{name: "fields-file", kind: kindFile, value: "path", help: "the same from a file; - is the standard input"},
			tabOption, timeoutOption,
		},
		examples: []string{`fill --fields '[{"ref":"e5","value":"Ada"},{"ref":"e6","type":"checkbox","value":true}]'`},
		buildRequest: func(in *commandInput) (controlRequest, error) {
			fields, err := in.arrayFromFlagOrFile("fields", "fields-file")
			return in.actRequest("fill", map[string]any{"fields": fields}), err
		},
		printAnswer: printTyped(func(p *outputPrinter, r client.Result) {
			p.Line("filled the fields")
			printConsequences(p, r)
		}),
	}
}

// buildAction makes a build that puts the arguments into these fields of an action.
func buildAction(kind string, fields ...string) func(*commandInput) (controlRequest, error) {
	return func(in *commandInput) (controlRequest, error) {
		r := in.actRequest(kind, nil)
		for i, field := range fields {
			r.body[field] = in.arg(i)
		}
		return r, nil
	}
}

func buildResize(in *commandInput) (controlRequest, error) {
	width, errW := in.positiveInt(0, "the width")
	height, errH := in.positiveInt(1, "the height")
	return in.actRequest("resize", map[string]any{"width": width, "height": height}), cmp.Or(errW, errH)
}

// printActed makes a show that prints a sentence with the first arguments, and what came of the action.
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

// arrayFromFlagOrFile reads a JSON array from one of two flags.
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
		return nil, usagef("--%s is larger than %d bytes", inline, maxInputFile)
	}
	var entries []json.RawMessage
	if err := json.Unmarshal(data, &entries); err != nil {
		return nil, usagef("%s must be a JSON array: %v", inline, err)
	}
	if len(entries) == 0 {
		return nil, usagef("%s must hold at least one entry", inline)
	}
	return entries, nil
}
