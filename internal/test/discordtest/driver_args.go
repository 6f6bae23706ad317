package discordtest

import (
	"fmt"
	"slices"
	"strconv"
)

// argBuilder writes arguments as Discord sends them and collects what they
// point at.
type argBuilder struct {
	server   *Server
	channel  *Channel
	partial  bool // for completions: only what is typed so far
	resolved map[string]map[string]any
}

// nest goes down the subcommands and puts the arguments at the end.
func (b *argBuilder) nest(options []CommandOption, words []string, args Args) ([]map[string]any, error) {
	if len(words) == 0 {
		return b.list(options, args)
	}
	i := slices.IndexFunc(options, func(o CommandOption) bool {
		return o.Name == words[0] && (o.Type == SubCommand || o.Type == SubCommandGroup)
	})
	if i < 0 {
		return nil, ErrNoCommand
	}
	inner, err := b.nest(options[i].Options, words[1:], args)
	if err != nil {
		return nil, err
	}
	sub := map[string]any{"name": words[0], "type": options[i].Type}
	if len(inner) > 0 {
		sub["options"] = inner
	}
	return []map[string]any{sub}, nil
}

func (b *argBuilder) list(options []CommandOption, args Args) ([]map[string]any, error) {
	var out []map[string]any
	used := 0
	for _, o := range options {
		if o.Type < StringOption {
			return nil, fmt.Errorf("%w: it needs a subcommand such as %q", ErrNoCommand, o.Name)
		}
		v, given := args[o.Name]
		if !given {
			if o.Required && !b.partial {
				return nil, fmt.Errorf("%w: %q is required", ErrBadArgument, o.Name)
			}
			continue
		}
		used++
		value, err := b.value(o, v)
		if err != nil {
			return nil, fmt.Errorf("%w: %q: %w", ErrBadArgument, o.Name, err)
		}
		entry := map[string]any{"name": o.Name, "type": o.Type, "value": value}
		if b.partial {
			entry["focused"] = true
		}
		out = append(out, entry)
	}
	if used < len(args) {
		return nil, fmt.Errorf("%w: the command has fewer options than arguments were given", ErrBadArgument)
	}
	return out, nil
}

// value checks an argument against its option.
func (b *argBuilder) value(o CommandOption, v any) (any, error) {
	if b.partial {
		return v, nil
	}
	if len(o.Choices) > 0 && !slices.ContainsFunc(o.Choices, func(c OptionChoice) bool { return fmt.Sprint(c.Value) == fmt.Sprint(v) }) {
		return nil, fmt.Errorf("%v is not among the choices", v)
	}
	switch o.Type {
	case StringOption:
		text, ok := v.(string)
		n := len([]rune(text))
		if !ok || n > 6000 || o.MinLength != nil && n < *o.MinLength || o.MaxLength != nil && n > *o.MaxLength {
			return nil, fmt.Errorf("%T of %d characters does not fit", v, n)
		}
		return text, nil
	case BooleanOption:
		if _, ok := v.(bool); !ok {
			return nil, fmt.Errorf("%v is not a boolean", v)
		}
		return v, nil
	case IntegerOption, NumberOption:
		return numberValue(o, v)
	default:
		return b.thing(o, v)
	}
}

func numberValue(o CommandOption, v any) (any, error) {
	n, err := strconv.ParseFloat(fmt.Sprint(v), 64)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%v is not a number", v)
	case o.Type == IntegerOption && n != float64(int64(n)):
		return nil, fmt.Errorf("%v is not an integer", v)
	case o.MinValue != nil && n < *o.MinValue, o.MaxValue != nil && n > *o.MaxValue:
		return nil, fmt.Errorf("%v is out of range", v)
	}
	return v, nil
}

// thing resolves users, channels, roles and files.
func (b *argBuilder) thing(o CommandOption, v any) (any, error) {
	switch v := v.(type) {
	case User:
		b.resolve("users", v.ID, v)
		if g := b.server.rest.Guilds[b.channel.GuildID]; g != nil {
			if m := g.Member(v.ID); m != nil {
				b.resolve("members", v.ID, MessageAuthor{Nick: m.Nick, Roles: m.Roles, JoinedAt: m.JoinedAt, Deaf: m.Deaf, Mute: m.Mute, Flags: m.Flags})
			}
		}
		return v.ID, expect(o, UserOption, Mentionable)
	case Bot:
		return b.thing(o, v.User)
	case Channel:
		b.resolve("channels", v.ID, v)
		return v.ID, expect(o, ChannelOption)
	case Role:
		b.resolve("roles", v.ID, v)
		return v.ID, expect(o, RoleOption, Mentionable)
	case File:
		a := b.server.rest.NewAttachment(b.channel.ID, UploadedFile{Name: v.Name, ContentType: v.ContentType, Data: v.Data})
		b.resolve("attachments", a.ID, a)
		b.server.rest.Uploads[a.ID] = a
		return a.ID, expect(o, FileOption)
	default:
		return nil, fmt.Errorf("%T stands for nothing on Discord", v)
	}
}

func (b *argBuilder) resolve(kind, id string, v any) {
	if b.resolved[kind] == nil {
		b.resolved[kind] = map[string]any{}
	}
	b.resolved[kind][id] = v
}

func expect(o CommandOption, types ...int) error {
	if !slices.Contains(types, o.Type) {
		return fmt.Errorf("the option has type %d", o.Type)
	}
	return nil
}
