package main

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// browserInvocation is a command line that was understood.
type browserInvocation struct {
	words   []string        // the name of the command, or the beginning of it if only help is wanted
	command *browserCommand // nil if only help is wanted
	help    bool
	global  map[string]string // flags for every command
	own     map[string]string // flags of the command
	args    []string
}

// browserArgsParser reads a command line. Flags may stand anywhere. One that stands before the command's name is for every command
// if there is such a flag; behind the name the command's own flags come first.
type browserArgsParser struct {
	table []browserCommand
	inv   browserInvocation
	ended bool // "--" was seen
}

func parseBrowserArgs(table []browserCommand, args []string) (browserInvocation, error) {
	p := &browserArgsParser{table: table, inv: browserInvocation{global: map[string]string{}, own: map[string]string{}}}
	for len(args) > 0 {
		token := args[0]
		args = args[1:]
		var err error
		switch {
		case p.ended:
			p.inv.args = append(p.inv.args, token)
		case token == "--":
			p.ended = true
		case isFlag(token):
			args, err = p.parseFlag(token, args)
		default:
			err = p.parseWord(token)
		}
		if err != nil {
			return p.inv, err
		}
	}
	if p.inv.help {
		return p.inv, nil
	}
	return p.inv, p.checkInvocation()
}

// flagPattern is one or two dashes and a name that begins with a letter, so that a negative number is no flag.
var flagPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^--?[A-Za-z][A-Za-z0-9-]*(=|$)`) })

func isFlag(token string) bool { return flagPattern().MatchString(token) }

// parseFlag takes one flag and, where it needs one, its value. It returns the tokens that are left.
func (p *browserArgsParser) parseFlag(token string, rest []string) ([]string, error) {
	name, value, given := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(token, "-"), "-"), "=")
	if name == "help" || name == "h" {
		p.inv.help = true
		return rest, nil
	}
	o, into, known := p.findFlag(name)
	if !known {
		return rest, usagef("there is no flag --%s%s", name, p.similarFlag(name))
	}
	switch {
	case given:
	case o.kind == kindToggle:
		value = "true"
	case len(rest) == 0:
		return rest, usagef("--%s needs a value", name)
	default:
		value, rest = rest[0], rest[1:]
	}
	into[name] = value
	return rest, o.checkValue(value)
}

// findFlag says what a flag is and where its value goes.
func (p *browserArgsParser) findFlag(name string) (o browserOption, into map[string]string, known bool) {
	if p.inv.command != nil {
		if o, known := p.inv.command.findOwnOption(name); known {
			return o, p.inv.own, true
		}
	}
	if o, known := findOption(globalOptions(), name); known {
		return o, p.inv.global, true
	}
	for i := range p.table { // its command may follow
		if o, known := p.table[i].findOwnOption(name); known && p.mayFollow(&p.table[i]) {
			return o, p.inv.own, true
		}
	}
	return browserOption{}, nil, false
}

// mayFollow reports whether c can still become the command.
func (p *browserArgsParser) mayFollow(c *browserCommand) bool {
	words := strings.Fields(c.name)
	return len(p.inv.args) == 0 && len(words) > len(p.inv.words) && slices.Equal(words[:len(p.inv.words)], p.inv.words)
}

// parseWord takes a word: more of the command's name, or an argument.
func (p *browserArgsParser) parseWord(token string) error {
	inv := &p.inv
	if len(inv.args) == 0 {
		if len(inv.words) == 0 && token == "help" && !inv.help {
			inv.help = true
			return nil
		}
		words := append(slices.Clone(inv.words), token)
		name := strings.Join(words, " ")
		for i := range p.table {
			c := &p.table[i]
			if c.name == name || strings.HasPrefix(c.name, name+" ") {
				inv.words, inv.command = words, nil
				if c.name == name {
					inv.command = c
				}
				return nil
			}
		}
	}
	if inv.command == nil {
		return usagef("there is no command %q%s", strings.Join(append(inv.words, token), " "), p.similarCommand(token))
	}
	inv.args = append(inv.args, token)
	return nil
}

// checkInvocation holds what was read to what the command takes.
func (p *browserArgsParser) checkInvocation() error {
	c := p.inv.command
	if c == nil {
		if len(p.inv.words) == 0 {
			return usagef("no command is given")
		}
		return usagef("%s needs one more word%s", strings.Join(p.inv.words, " "), p.similarCommand(""))
	}
	for name, value := range p.inv.own {
		o, known := c.findOwnOption(name)
		if !known {
			return usagef("%s takes no flag --%s", c.name, name)
		}
		if err := o.checkValue(value); err != nil {
			return err
		}
	}
	least, most := c.argCount()
	if len(p.inv.args) < least {
		return usagef("%s is missing", strings.Fields(c.args)[len(p.inv.args)])
	}
	if most >= 0 && len(p.inv.args) > most {
		return usagef("unexpected argument %q", p.inv.args[most])
	}
	return nil
}

// checkValue holds a value to the kind of its flag.
func (o browserOption) checkValue(value string) error {
	switch o.kind {
	case kindToggle:
		if _, err := strconv.ParseBool(value); err != nil {
			return usagef("--%s is either given or not; it takes no value %q", o.name, value)
		}
	case kindInteger:
		if _, err := strconv.ParseUint(value, 10, 31); err != nil {
			return usagef("--%s must be a whole number that is not negative, not %q", o.name, value)
		}
	case kindDecimal:
		if f, err := strconv.ParseFloat(value, 64); err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return usagef("--%s must be a number, not %q", o.name, value)
		}
	default:
		if o.strict && !slices.Contains(o.choices, value) {
			return usagef("--%s is one of %s, not %q", o.name, strings.Join(o.choices, ", "), value)
		}
	}
	return nil
}
