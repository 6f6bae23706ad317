package browsercli

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"clank/internal/cmdline"
)

// invocation is a command line that was understood.
type invocation struct {
	words   []string // the name of the command, or the beginning of it if only help is wanted
	command *command // nil if only help is wanted
	help    bool
	global  map[string]string // flags for every command
	own     map[string]string // flags of the command
	args    []string
}

// parser reads a command line. Flags may stand anywhere. One that stands before the command's name is for every command
// if there is such a flag; behind the name the command's own flags come first.
type parser struct {
	table []command
	inv   invocation
	ended bool // "--" was seen
}

func parse(table []command, args []string) (invocation, error) {
	p := &parser{table: table, inv: invocation{global: map[string]string{}, own: map[string]string{}}}
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
			args, err = p.flag(token, args)
		default:
			err = p.positional(token)
		}
		if err != nil {
			return p.inv, err
		}
	}
	if p.inv.help {
		return p.inv, nil
	}
	return p.inv, p.check()
}

// flagForm is one or two dashes and a name that begins with a letter, so that a negative number is no flag.
var flagForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^--?[A-Za-z][A-Za-z0-9-]*(=|$)`) })

func isFlag(token string) bool { return flagForm().MatchString(token) }

// flag takes one flag and, where it needs one, its value. It returns the tokens that are left.
func (p *parser) flag(token string, rest []string) ([]string, error) {
	name, value, given := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(token, "-"), "-"), "=")
	if name == "help" || name == "h" {
		p.inv.help = true
		return rest, nil
	}
	o, into, known := p.find(name)
	if !known {
		return rest, cmdline.Usagef("there is no flag --%s%s", name, p.similarFlag(name))
	}
	switch {
	case given:
	case o.kind == toggle:
		value = "true"
	case len(rest) == 0:
		return rest, cmdline.Usagef("--%s needs a value", name)
	default:
		value, rest = rest[0], rest[1:]
	}
	into[name] = value
	return rest, o.check(value)
}

// find says what a flag is and where its value goes.
func (p *parser) find(name string) (o option, into map[string]string, known bool) {
	if p.inv.command != nil {
		if o, known := p.inv.command.option(name); known {
			return o, p.inv.own, true
		}
	}
	if o, known := lookup(everywhere(), name); known {
		return o, p.inv.global, true
	}
	for i := range p.table { // its command may follow
		if o, known := p.table[i].option(name); known && p.follows(&p.table[i]) {
			return o, p.inv.own, true
		}
	}
	return option{}, nil, false
}

// follows reports whether c can still become the command.
func (p *parser) follows(c *command) bool {
	words := strings.Fields(c.name)
	return len(p.inv.args) == 0 && len(words) > len(p.inv.words) && slices.Equal(words[:len(p.inv.words)], p.inv.words)
}

// positional takes a word: more of the command's name, or an argument.
func (p *parser) positional(token string) error {
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
		return cmdline.Usagef("there is no command %q%s", strings.Join(append(inv.words, token), " "), p.similarCommand(token))
	}
	inv.args = append(inv.args, token)
	return nil
}

// check holds what was read to what the command takes.
func (p *parser) check() error {
	c := p.inv.command
	if c == nil {
		if len(p.inv.words) == 0 {
			return cmdline.Usagef("no command is given")
		}
		return cmdline.Usagef("%s needs one more word%s", strings.Join(p.inv.words, " "), p.similarCommand(""))
	}
	for name, value := range p.inv.own {
		o, known := c.option(name)
		if !known {
			return cmdline.Usagef("%s takes no flag --%s", c.name, name)
		}
		if err := o.check(value); err != nil {
			return err
		}
	}
	least, most := c.arity()
	if len(p.inv.args) < least {
		return cmdline.Usagef("%s is missing", strings.Fields(c.args)[len(p.inv.args)])
	}
	if most >= 0 && len(p.inv.args) > most {
		return cmdline.Usagef("unexpected argument %q", p.inv.args[most])
	}
	return nil
}

// check holds a value to the kind of its flag.
func (o option) check(value string) error {
	switch o.kind {
	case toggle:
		if _, err := strconv.ParseBool(value); err != nil {
			return cmdline.Usagef("--%s is either given or not; it takes no value %q", o.name, value)
		}
	case integer:
		if _, err := strconv.ParseUint(value, 10, 31); err != nil {
			return cmdline.Usagef("--%s must be a whole number that is not negative, not %q", o.name, value)
		}
	case decimal:
		if f, err := strconv.ParseFloat(value, 64); err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return cmdline.Usagef("--%s must be a number, not %q", o.name, value)
		}
	default:
		if o.strict && !slices.Contains(o.choices, value) {
			return cmdline.Usagef("--%s is one of %s, not %q", o.name, strings.Join(o.choices, ", "), value)
		}
	}
	return nil
}
