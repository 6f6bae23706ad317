package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newCommand returns a command. use is its name and the form of its arguments: <required>, [optional], and … after
// the last one if it can be repeated. long replaces short in the help if it is not ""; its indented paragraphs are
// examples. A command without run is a group. Where an argument is a file, shells complete the names of files.
func newCommand(use, short, long string, run func(ctx context.Context, args []string) error) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: checkOperands}
	for paragraph := range strings.SplitSeq(long, "\n\n") {
		if strings.HasPrefix(paragraph, "  ") {
			c.Example = paragraph
		} else {
			c.Long = strings.TrimPrefix(c.Long+"\n\n"+paragraph, "\n\n")
		}
	}
	if strings.Contains(use, "file>") || strings.Contains(use, "[file]") || strings.Contains(use, "<path>") {
		c.ValidArgsFunction = offerFiles
	}
	if run != nil {
		c.RunE = func(c *cobra.Command, args []string) error { return run(c.Context(), args) }
	}
	return c
}

// newJSONCommand returns a command that can print its result as JSON.
func newJSONCommand(use, short, long string,
	run func(ctx context.Context, asJSON bool, args []string) error,
) *cobra.Command {
	var asJSON *bool
	c := newCommand(use, short, long, func(ctx context.Context, args []string) error { return run(ctx, *asJSON, args) })
	asJSON = c.Flags().Bool("json", false, "print it as JSON")
	return c
}

// commandLine is a parsed command line.
type commandLine struct {
	command  *cobra.Command
	words    []string // name of the command and its flags, normalized to two dashes and "=" before the value
	operands []string // arguments
}

// resolveCommandLine finds the command that args name. Flags may be anywhere, even before the name of their command,
// and may have one dash; a number such as -5 is an argument. "help" before or within the name of a command requests
// its help. The command is set even if there is an error.
func resolveCommandLine(root *cobra.Command, args []string) (line commandLine, err error) {
	line.command = root
	var flags, names []string // flags of the command itself, which must follow its name
	help := false
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		name, value, given := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-"), "=")
		switch child := findChild(line.command, word); {
		case word == "--":
			line.operands, args = append(line.operands, args...), nil
		case isFlag(word) && (name == "help" || name == "h"):
			help = true
		case isFlag(word):
			flag, persistent := lookUpFlag(line.command, name)
			if flag == nil {
				return line, usagef("there is no flag --%s%s", name, similarFlag(line.command, name))
			}
			if !given && flag.NoOptDefVal == "" && len(args) == 0 {
				return line, usagef("--%s needs a value", name)
			}
			switch {
			case given:
			case flag.NoOptDefVal != "":
				value = flag.NoOptDefVal
			default:
				value, args = args[0], args[1:]
			}
			word = "--" + name + "=" + value
			if persistent {
				line.words = append(line.words, word)
			} else {
				flags, names = append(flags, word), append(names, name)
			}
		case len(line.operands) > 0:
			line.operands = append(line.operands, word)
		case child != nil:
			line.command, line.words = child, append(line.words, word)
		case word == "help" && line.command.HasSubCommands():
			help = true
		case !line.command.Runnable():
			return line, usagef("there is no command %q%s", strings.TrimPrefix(line.command.CommandPath()+" "+word, "clank "),
				similarCommand(line.command, word))
		default:
			line.operands = append(line.operands, word)
		}
	}
	switch {
	case help:
		flags = []string{"--help"}
	case !line.command.Runnable():
		return line, usagef("name one of its commands%s", similarCommand(line.command, ""))
	default:
		for _, name := range names {
			if flag, _ := lookUpFlag(line.command, name); flag == nil {
				return line, usagef("it takes no flag --%s", name)
			}
		}
	}
	line.words = append(line.words, flags...)
	return line, nil
}

// isFlag reports whether a word is a name that begins with a letter, preceded by one or two dashes.
func isFlag(word string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-"), "=")
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return word[:min(1, len(word))] == "-" && name != "" && strings.Contains(letters, name[:1]) &&
		strings.Trim(name, letters+"0123456789-") == ""
}

func findChild(c *cobra.Command, name string) *cobra.Command {
	i := slices.IndexFunc(c.Commands(), func(c *cobra.Command) bool { return c.Name() == name })
	if i < 0 {
		return nil
	}
	return c.Commands()[i]
}

// lookUpFlag finds a flag of a command, a persistent flag of one of its parents, or a flag of a subcommand whose name
// may still follow.
func lookUpFlag(c *cobra.Command, name string) (flag *pflag.Flag, persistent bool) {
	if flag := c.Flags().Lookup(name); flag != nil {
		return flag, false
	}
	for above := c; above != nil; above = above.Parent() {
		if flag := above.PersistentFlags().Lookup(name); flag != nil {
			return flag, true
		}
	}
	for _, below := range c.Commands() {
		if flag, persistent := lookUpFlag(below, name); flag != nil && !persistent {
			return flag, false
		}
	}
	return nil, false
}

// checkOperands checks the arguments of a command against its usage line.
func checkOperands(c *cobra.Command, args []string) error {
	shape := strings.Fields(c.Use)[1:]
	if len(args) < len(shape) && strings.HasPrefix(shape[len(args)], "<") {
		return usagef("%s is missing", shape[len(args)])
	}
	for i, name := range shape[:min(len(args), len(shape))] {
		if args[i] == "" && slices.Contains([]string{"<ref>", "<startRef>", "<endRef>", "<url>", "<path>"}, name) {
			return usagef("%s is empty", name)
		}
	}
	if len(args) > len(shape) && !strings.Contains(c.Use, "…") {
		return usagef("unexpected argument %q%s", args[len(shape)], similarCommand(c, args[len(shape)]))
	}
	return nil
}

// similarFlag returns a hint for an unknown flag.
func similarFlag(c *cobra.Command, name string) string {
	var names []string
	note := func(f *pflag.Flag) { names = append(names, "--"+f.Name) }
	c.Flags().VisitAll(note)
	c.InheritedFlags().VisitAll(note)
	if hint := didYouMean("--"+name, names); hint != "" {
		return hint
	}
	return `; put "--" before text that begins with a dash`
}

// similarCommand returns a hint for an unknown subcommand of c: the one with a similar name, or all of them if they
// are few.
func similarCommand(c *cobra.Command, word string) string {
	var names []string
	for _, below := range c.Commands() {
		names = append(names, below.Name())
	}
	if hint := didYouMean(word, names); hint != "" || len(names) == 0 || len(names) > 10 {
		return hint
	}
	return ": " + strings.Join(names, ", ")
}

// errExitInterrupted ends a command that a person interrupted.
var errExitInterrupted = &exitError{Code: exitStopped, Err: errors.New("interrupted")}

// explainInterrupt returns the error of a command that failed because a person interrupted it.
func explainInterrupt(ctx context.Context, err error) error {
	_, explained := errors.AsType[*exitError](err)
	cause := context.Cause(ctx)
	if explained || cause == nil || !errors.Is(err, cause) && !errors.Is(err, context.Canceled) {
		return err
	}
	return errExitInterrupted
}

// explainFlagError converts pflag's error for the value of a flag to a usage error.
func explainFlagError(err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok && err != nil && strings.HasPrefix(err.Error(), "if any flags in the group [") { // cobra's, as it has no type
		both := err.Error()[strings.LastIndex(err.Error(), "[")+1 : strings.LastIndex(err.Error(), "]")]
		return usagef("give one of --%s", strings.ReplaceAll(both, " ", " and --"))
	}
	if !ok {
		return err
	}
	flag := invalid.GetFlag()
	if what, ok := map[string]string{
		"bool": "true or false", "int": "a whole number",
		"float64": "a number", "duration": "a duration such as 15m or 2h",
	}[flag.Value.Type()]; ok {
		return usagef("--%s takes %s, not %q", flag.Name, what, invalid.GetValue())
	}
	return usagef("--%s %w", flag.Name, invalid.Unwrap())
}

// reportError prints why a command failed, as JSON if requested, and returns the exit code. err may be nil.
func reportError(e *commandEnv, c *cobra.Command, asJSON bool, err error) int {
	usage, wrongUse := errors.AsType[*usageError](err)
	exit, ended := errors.AsType[*exitError](err)
	code := exitFailed
	switch {
	case err == nil:
		return exitDone
	case wrongUse:
		err, code = usage, exitUsage
	case ended:
		err, code = exit.Err, exit.Code
	}
	switch {
	case err == nil:
	case asJSON:
		printErrorJSON(e, err)
		return code
	default:
		fmt.Fprintf(e.Stderr, "%s: %s\n", c.CommandPath(), cleanText(err.Error()))
	}
	if code == exitUsage {
		fmt.Fprintf(e.Stderr, "see %q\n", c.CommandPath()+" --help")
	}
	return code
}

// printErrorJSON prints an error as JSON, in the shape of the control API.
func printErrorJSON(e *commandEnv, err error) {
	told := struct {
		Error  string `json:"error"`
		Code   string `json:"code,omitempty"`
		Reason string `json:"reason,omitempty"`
	}{Error: cleanText(err.Error())}
	if shown, ok := errors.AsType[*shownError](err); ok {
		told.Code, told.Reason = shown.code, shown.reason
	}
	lines := json.NewEncoder(e.Stderr)
	lines.SetEscapeHTML(false)
	_ = lines.Encode(told) // nobody is left to tell if this fails
}

// asksForJSON reports whether a command line has the flag --json.
func asksForJSON(args []string) bool {
	for _, word := range args {
		name, value, given := strings.Cut(strings.TrimLeft(word, "-"), "=")
		switch {
		case word == "--":
			return false
		case isFlag(word) && name == "json":
			return !given || value == "true"
		}
	}
	return false
}

// didYouMean returns the known words similar to an unknown one, as the end of a message; "" if there are none or
// many. A known word that ends with word takes precedence over cobra's suggestions.
func didYouMean(word string, known []string) string {
	group, bare := &cobra.Command{}, strings.TrimLeft(word, "-")
	for _, name := range known {
		if len(word) > 3 && strings.HasSuffix(name, bare) {
			return "; did you mean " + name + "?"
		}
		group.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	for distance := 2; bare != "" && distance <= max(2, len(word)/4); distance++ {
		group.SuggestionsMinimumDistance = distance
		similar := slices.DeleteFunc(group.SuggestionsFor(word), func(name string) bool {
			// Two changes leave little of a short word.
			return len(bare) < 3*distance && !strings.HasPrefix(strings.TrimLeft(name, "-"), bare[:1])
		})
		if len(similar) > 3 {
			break
		} else if len(similar) > 0 {
			return "; did you mean " + strings.Join(similar, " or ") + "?"
		}
	}
	return ""
}

const (
	completionName  = "completion"
	completionShort = "print a script that completes command lines in bash, zsh or fish"
)

// newCompletionCommand prints cobra's completion scripts, which call this program.
func newCompletionCommand(e *commandEnv) *cobra.Command {
	var c *cobra.Command
	c = newCommand(completionName+" <shell>", "", "Prints a script that completes command lines in bash, zsh or fish.\n\n"+
		"  source <("+programName+" completion bash)",
		func(_ context.Context, args []string) error {
			c.Root().Use = programName
			switch args[0] {
			case "bash":
				return c.Root().GenBashCompletionV2(e.Stdout, true)
			case "zsh":
				return c.Root().GenZshCompletion(e.Stdout)
			case "fish":
				return c.Root().GenFishCompletion(e.Stdout, true)
			}
			return usagef("there is no completion for %q; there is one for %s", args[0], strings.Join(c.ValidArgs, ", "))
		})
	c.ValidArgs = []string{"bash", "zsh", "fish"}
	return c
}

// unquoteUsage removes from the descriptions of flags the backquotes that mark the name of their value in the help.
func unquoteUsage(c *cobra.Command) {
	unquote := func(f *pflag.Flag) { f.Usage = strings.ReplaceAll(f.Usage, "`", "") }
	c.Flags().VisitAll(unquote)
	c.PersistentFlags().VisitAll(unquote)
	for _, below := range c.Commands() {
		unquoteUsage(below)
	}
}

// completionArgs returns args in the form that cobra needs to complete the last of them.
func completionArgs(root *cobra.Command, args []string) []string {
	if len(args) < 2 || args[1] == "help" {
		return args
	}
	typed, last := args[1:len(args)-1], args[len(args)-1:]
	line, err := resolveCommandLine(root, typed)
	if n := len(typed) - 1; err != nil && n >= 0 && isFlag(typed[n]) { // the last argument is the value of this flag
		line, _ = resolveCommandLine(root, typed[:n])
		last = args[n+1:]
	}
	return slices.Concat(args[:1], line.words, line.operands, last)
}

// completeChoices registers the completions for the value of a flag.
func completeChoices(c *cobra.Command, flag string, choices ...string) {
	completeFlag(c, flag, cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp))
}

// completeFiles completes the value of a flag with file names.
func completeFiles(c *cobra.Command, flag string) { completeFlag(c, flag, offerFiles) }

// offerFiles lets the shell complete file names.
func offerFiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

func completeFlag(c *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // c has no such flag
	}
}
