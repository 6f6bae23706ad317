package main

import (
	"fmt"
	"strings"
)

const bashFunctions = `
_clank() {
    local cur="${COMP_WORDS[COMP_CWORD]}" path="" before="" at next flags files values word i
    COMPREPLY=()
    _clank_at ""
    for ((i = 1; i < COMP_CWORD; i++)); do
        word="${COMP_WORDS[i]}"
        if [[ -n $before ]]; then before=""; continue; fi
        if [[ $word == --* ]]; then
            [[ " $_clank_valued " == *" $word "* ]] && before="$word"
        elif [[ " $next " == *" $word "* ]]; then
            at="$path"
            path="${path:+$path }$word"
            _clank_at "$path" || { path="$at"; next=""; }
        fi
    done
    if [[ -n $before ]]; then
        _clank_value "$before"
    elif [[ $cur == -* ]]; then
        [[ $path == browser* ]] && flags="$flags $_clank_everywhere"
        values="$flags --help"
        files=""
    else
        values="$next"
    fi
    COMPREPLY=($(compgen -W "$values" -- "$cur"))
    if [[ -n $files ]]; then COMPREPLY+=($(compgen -f -- "$cur")); fi
}

complete -F _clank clank
`

// bashScript is the completion for bash.
func bashScript(all []completionFlag, list []completionPlace) string {
	var b strings.Builder
	valued, known := flagsWithValues(all, list)
	fmt.Fprintf(&b, "# Completion of clank for bash: source <(clank completion bash)\n\n")
	fmt.Fprintf(&b, "_clank_everywhere=%s\n", shellQuote(joinFlagNames(all)))
	fmt.Fprintf(&b, "_clank_valued=%s\n\n", shellQuote(strings.Join(withDashes(valued), " ")))
	b.WriteString("# What can follow the words $1.\n_clank_at() {\n    next=\"\" flags=\"\" files=\"\"\n    case \"$1\" in\n")
	for _, n := range list {
		fmt.Fprintf(&b, "    %s) next=%s flags=%s", shellQuote(n.Path), shellQuote(joinWordNames(n.Next)), shellQuote(joinFlagNames(n.Flags)))
		if n.Files {
			b.WriteString(" files=1")
		}
		b.WriteString(" ;;\n")
	}
	b.WriteString("    *) return 1 ;;\n    esac\n}\n\n# What can follow the flag $1.\n_clank_value() {\n    values=\"\" files=\"\"\n    case \"$1\" in\n")
	for _, name := range valued {
		if o := known[name]; len(o.Choices) > 0 {
			fmt.Fprintf(&b, "    --%s) values=%s ;;\n", name, shellQuote(strings.Join(o.Choices, " ")))
		} else if o.File {
			fmt.Fprintf(&b, "    --%s) files=1 ;;\n", name)
		}
	}
	b.WriteString("    esac\n}\n")
	b.WriteString(bashFunctions)
	return b.String()
}
