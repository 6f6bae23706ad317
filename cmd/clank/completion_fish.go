package main

import (
	"fmt"
	"strings"
)

const fishFunctions = `
# Prints the words of the command line that name a command.
function __clank_path
    set -l tokens (commandline -opc)
    set -l path ''
    set -l skip 0
    for token in $tokens[2..-1]
        if test $skip = 1
            set skip 0
        else if string match -q -- '--*' $token
            contains -- $token $__clank_valued; and set skip 1
        else
            set -l longer (string trim -- "$path $token")
            contains -- $longer $__clank_paths; and set path $longer
        end
    end
    echo $path
end

function __clank_at
    set -l path (__clank_path)
    test "$path" = "$argv[1]"
end

function __clank_browser
    string match -q -- 'browser*' (__clank_path)
end

complete -c clank -f
complete -c clank -l help -d 'say more'
`

// fishScript is the completion for fish.
func fishScript(all []completionFlag, list []completionPlace) string {
	var b strings.Builder
	valued, _ := flagsWithValues(all, list)
	b.WriteString("# Completion of clank for fish: clank completion fish | source\n\nset -g __clank_paths")
	for _, n := range list {
		if n.Path != "" {
			b.WriteString(" " + fishQuote(n.Path))
		}
	}
	for _, v := range list[0].Next {
		b.WriteString(" " + fishQuote(v.Name))
	}
	b.WriteString("\nset -g __clank_valued " + strings.Join(withDashes(valued), " ") + "\n" + fishFunctions)
	for _, o := range all {
		fishFlag(&b, "__clank_browser", o)
	}
	for _, n := range list {
		at := fishQuote("__clank_at " + fishQuote(n.Path))
		for _, v := range n.Next {
			fmt.Fprintf(&b, "complete -c clank -n %s -a %s -d %s\n", at, fishQuote(v.Name), fishQuote(v.Short))
		}
		for _, o := range n.Flags {
			fishFlag(&b, at, o)
		}
		if n.Files {
			fmt.Fprintf(&b, "complete -c clank -n %s -F\n", at)
		}
	}
	return b.String()
}

func fishFlag(b *strings.Builder, at string, o completionFlag) {
	fmt.Fprintf(b, "complete -c clank -n %s -l %s -d %s", at, o.Name, fishQuote(o.Help))
	switch {
	case len(o.Choices) > 0:
		fmt.Fprintf(b, " -x -a %s", fishQuote(strings.Join(o.Choices, " ")))
	case o.File:
		b.WriteString(" -r -F")
	case o.Value:
		b.WriteString(" -x")
	}
	b.WriteByte('\n')
}

// fishQuote makes a word for fish.
func fishQuote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}
