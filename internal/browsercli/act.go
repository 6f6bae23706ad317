package browsercli

import (
	"cmp"
	"encoding/json"
	"strings"

	"clank/browsermgr/control/client"
	"clank/internal/browsercli/show"
	"clank/internal/cmdline"
)

func actCommands() []command {
	buttons := option{name: "button", kind: text, value: "button", help: "left, right or middle", field: "button", choices: []string{"left", "right", "middle"}}
	double := option{name: "double", help: "click twice", field: "doubleClick"}
	delay := option{name: "delay-ms", kind: integer, value: "ms", help: "how long to wait before it, or to hold it", field: "delayMs"}
	return []command{
		{
			name: "click", args: "<ref>", short: "click an element of the last snapshot",
			options: []option{
				double, buttons, delay, onTab, limit,
				{name: "modifiers", kind: list, value: "a,b", help: "keys held down: Alt, Control, ControlOrMeta, Meta, Shift", field: "modifiers"},
			},
			examples: []string{"click e12", "click e12 --double", "click e7 --modifiers Control,Shift"},
			build:    actOn("click", "ref"), show: acted("clicked %s"),
		},
		{
			name: "click-coords", args: "<x> <y>", short: "click a place of what is in view, in CSS pixels",
			options: []option{double, buttons, delay, onTab, limit},
			build: func(in *input) (request, error) {
				x, errX := in.number(0, "x")
				y, errY := in.number(1, "y")
				return in.act("clickCoords", map[string]any{"x": x, "y": y}), cmp.Or(errX, errY)
			},
			show: acted("clicked at %s,%s"),
		},
		{
			name: "type", args: "<ref> <text>", short: "put text into a field",
			options: []option{
				{name: "submit", help: "press Enter afterwards", field: "submit"},
				{name: "slowly", help: "key by key", field: "slowly"},
				onTab, limit,
			},
			examples: []string{`type e5 "ada@example.com" --submit`, `type e5 -- "--text that begins with dashes"`},
			build:    actOn("type", "ref", "text"), show: acted("typed into %s"),
		},
		{
			name: "press", args: "<key>", short: "press a key or a chord",
			options:  []option{delay, onTab},
			examples: []string{"press Enter", "press Control+Shift+T"},
			build:    actOn("press", "key"), show: acted("pressed %s"),
		},
		{
			name: "hover", args: "<ref>", short: "hold the pointer over an element", options: []option{onTab, limit},
			build: actOn("hover", "ref"), show: acted("hovered over %s"),
		},
		{
			name: "scrollintoview", args: "<ref>", short: "scroll until an element is in view", options: []option{onTab, limit},
			build: actOn("scrollIntoView", "ref"), show: acted("scrolled to %s"),
		},
		{
			name: "drag", args: "<from> <to>", short: "drag one element onto another", options: []option{onTab, limit},
			build: actOn("drag", "startRef", "endRef"), show: acted("dragged %s to %s"),
		},
		{
			name: "select", args: "<ref> <value> […]", short: "choose options of a list", options: []option{onTab, limit},
			examples: []string{"select e9 red blue"},
			build: func(in *input) (request, error) {
				return in.act("select", map[string]any{"ref": in.arg(0), "values": in.args[1:]}), nil
			},
			show: acted("selected in %s"),
		},
		fillCommand(),
		{
			name: "resize", args: "<width> <height>", short: "change the size of what is in view", options: []option{onTab},
			build: buildResize, show: acted("resized to %sx%s"),
		},
	}
}

func fillCommand() command {
	return command{
		name: "fill", short: "fill several fields at once",
		options: []option{
			{name: "fields", kind: text, value: "json", help: `[{"ref":"e5","value":"Ada"}, …]`},
			{name: "fields-file", kind: file, value: "path", help: "the same from a file; - is the standard input"},
			onTab, limit,
		},
		examples: []string{`fill --fields '[{"ref":"e5","value":"Ada"},{"ref":"e6","type":"checkbox","value":true}]'`},
		build: func(in *input) (request, error) {
			fields, err := in.array("fields", "fields-file")
			return in.act("fill", map[string]any{"fields": fields}), err
		},
		show: showing(func(p *show.Printer, r client.Result) {
			p.Line("filled the fields")
			show.Consequences(p, r)
		}),
	}
}

// actOn makes a build that puts the arguments into these fields of an action.
func actOn(kind string, fields ...string) func(*input) (request, error) {
	return func(in *input) (request, error) {
		r := in.act(kind, nil)
		for i, field := range fields {
			r.body[field] = in.arg(i)
		}
		return r, nil
	}
}

func buildResize(in *input) (request, error) {
	width, errW := in.whole(0, "the width")
	height, errH := in.whole(1, "the height")
	return in.act("resize", map[string]any{"width": width, "height": height}), cmp.Or(errW, errH)
}

// acted makes a show that prints a sentence with the first arguments, and what came of the action.
func acted(format string) func(*show.Printer, *input, []byte) error {
	return showingWith(func(p *show.Printer, in *input, r client.Result) {
		var args []any
		for _, arg := range in.args[:min(len(in.args), strings.Count(format, "%s"))] {
			args = append(args, show.Word(arg))
		}
		done := ""
		if r.URL != "" {
			done = " on " + show.Word(r.URL)
		}
		if r.BlockedByDialog {
			done = ", and a dialog opened"
		}
		p.Line(format+"%s", append(args, done)...)
		show.Consequences(p, r)
	})
}

// array reads a JSON array from one of two flags.
func (in *input) array(inline, fromFile string) ([]json.RawMessage, error) {
	var data []byte
	switch {
	case in.has(inline) && in.has(fromFile):
		return nil, cmdline.Usagef("--%s and --%s exclude one another", inline, fromFile)
	case in.has(inline):
		data = []byte(in.text(inline))
	case in.has(fromFile):
		var err error
		if data, err = in.read(in.text(fromFile)); err != nil {
			return nil, err
		}
	default:
		return nil, cmdline.Usagef("--%s or --%s is needed", inline, fromFile)
	}
	if len(data) > cmdline.MaxFile {
		return nil, cmdline.Usagef("--%s is larger than %d bytes", inline, cmdline.MaxFile)
	}
	var entries []json.RawMessage
	if err := json.Unmarshal(data, &entries); err != nil {
		return nil, cmdline.Usagef("%s must be a JSON array: %v", inline, err)
	}
	if len(entries) == 0 {
		return nil, cmdline.Usagef("%s must hold at least one entry", inline)
	}
	return entries, nil
}
