package main

import (
	"fmt"
	"strings"
)

const zshFunctions = `
_clank() {
    local current="${words[CURRENT]}" place="" before="" files="" at word i
    local -a next flags values known
    _clank_at ""
    for ((i = 2; i < CURRENT; i++)); do
        word="${words[i]}"
        known=("${next[@]%%:*}")
        if [[ -n $before ]]; then before=""; continue; fi
        if [[ $word == --* ]]; then
            (( ${_clank_valued[(Ie)$word]} )) && before="$word"
        elif (( ${known[(Ie)$word]} )); then
            at="$place"
            place="${place:+$place }$word"
            _clank_at "$place" || { place="$at"; next=(); }
        fi
    done
    if [[ -n $before ]]; then
        _clank_value "$before"
    elif [[ $current == -* ]]; then
        [[ $place == browser* ]] && flags+=("${_clank_everywhere[@]}")
        values=("${flags[@]}" '--help:say more')
        files=""
    else
        values=("${next[@]}")
    fi
    (( ${#values} )) && _describe 'clank' values
    [[ -n $files ]] && _files
    return 0
}

if [[ ${funcstack[1]} == _clank ]]; then
    _clank "$@"
else
    compdef _clank clank
fi
`

// zshScript is the completion for zsh.
func zshScript(all []completionFlag, list []completionPlace) string {
	var b strings.Builder
	valued, known := flagsWithValues(all, list)
	b.WriteString("#compdef clank\n# Completion of clank for zsh: source <(clank completion zsh)\n\n")
	fmt.Fprintf(&b, "typeset -ga _clank_everywhere _clank_valued\n_clank_everywhere=(%s)\n", zshFlags(all))
	fmt.Fprintf(&b, "_clank_valued=(%s)\n\n", strings.Join(withDashes(valued), " "))
	b.WriteString("# What can follow the words $1.\n_clank_at() {\n    next=() flags=() files=\"\"\n    case \"$1\" in\n")
	for _, n := range list {
		var next []string
		for _, v := range n.Next {
			next = append(next, zshItem(v.Name, v.Short))
		}
		fmt.Fprintf(&b, "    %s) next=(%s) flags=(%s)", shellQuote(n.Path), strings.Join(next, " "), zshFlags(n.Flags))
		if n.Files {
			b.WriteString(" files=1")
		}
		b.WriteString(" ;;\n")
	}
	b.WriteString("    *) return 1 ;;\n    esac\n}\n\n# What can follow the flag $1.\n_clank_value() {\n    values=() files=\"\"\n    case \"$1\" in\n")
	for _, name := range valued {
		if o := known[name]; len(o.Choices) > 0 {
			fmt.Fprintf(&b, "    --%s) values=(%s) ;;\n", name, strings.Join(o.Choices, " "))
		} else if o.File {
			fmt.Fprintf(&b, "    --%s) files=1 ;;\n", name)
		}
	}
	b.WriteString("    esac\n}\n")
	b.WriteString(zshFunctions)
	return b.String()
}

func zshItem(name, short string) string {
	if short == "" {
		return shellQuote(name)
	}
	return shellQuote(name + ":" + short)
}

func zshFlags(options []completionFlag) string {
	var items []string
	for _, o := range options {
		items = append(items, zshItem("--"+o.Name, o.Help))
	}
	return strings.Join(items, " ")
}
