package recording

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"clank/internal/atomicfile"
	"clank/llm/plain"
)

// ScriptStore is a directory of scripts, one text file each. Its methods are safe for concurrent use, by several
// processes as well.
type ScriptStore struct{ Dir string }

// ErrScriptNotFound means that there is no such script.
var ErrScriptNotFound = errors.New("there is no such script")

const scriptExtension = ".txt"

// Save writes a script. It replaces an existing one of that name only if replace is set.
func (s ScriptStore) Save(sc Script, replace bool) error {
	if err := CheckScriptName(sc.Name); err != nil {
		return err
	}
	if _, err := ParseScript(sc.Name, sc.String()); err != nil {
		return fmt.Errorf("save: %w", err)
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return fmt.Errorf("save script %s: %w", sc.Name, err)
	}
	name := filepath.Join(s.Dir, sc.Name+scriptExtension)
	tmp, err := atomicfile.Create(name)
	if err != nil {
		return fmt.Errorf("save script %s: %w", sc.Name, err)
	}
	defer func() { _ = tmp.Cleanup() }()
	if _, err = tmp.WriteString(sc.String()); err == nil {
		if replace {
			err = tmp.CloseAtomicallyReplace()
		} else if err = tmp.Sync(); err == nil {
			err = os.Link(tmp.Name(), name) // fails if the file exists
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("save script %s: there is one already (--replace replaces it)", sc.Name)
	}
	if err != nil {
		return fmt.Errorf("save script %s: %w", sc.Name, err)
	}
	return nil
}

// Load reads a script.
func (s ScriptStore) Load(name string) (Script, error) {
	if err := CheckScriptName(name); err != nil {
		return Script{}, err
	}
	raw, err := os.ReadFile(filepath.Join(s.Dir, name+scriptExtension))
	if errors.Is(err, fs.ErrNotExist) {
		return Script{}, fmt.Errorf("%w: %s%s", ErrScriptNotFound, name, s.known())
	}
	if err != nil {
		return Script{}, fmt.Errorf("read script %s: %w", name, err)
	}
	return ParseScript(name, string(raw))
}

// known lists the existing scripts, for error messages.
func (s ScriptStore) known() string {
	names, err := s.Names()
	if err != nil || len(names) == 0 {
		return ` (none is saved; "clank sessions script" makes one of a run)`
	}
	return " (there are: " + strings.Join(names, ", ") + ")"
}

// Names returns the names of the scripts.
func (s ScriptStore) Names() ([]string, error) {
	files, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the scripts: %w", err)
	}
	var names []string
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), scriptExtension); ok && scriptName().MatchString(name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// Delete removes a script.
func (s ScriptStore) Delete(name string) error {
	if err := CheckScriptName(name); err != nil {
		return err
	}
	err := os.Remove(filepath.Join(s.Dir, name+scriptExtension))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s%s", ErrScriptNotFound, name, s.known())
	}
	if err != nil {
		return fmt.Errorf("delete script %s: %w", name, err)
	}
	return nil
}

// Rename renames a script; the new name must not exist.
func (s ScriptStore) Rename(name, to string) error {
	if err := errors.Join(CheckScriptName(name), CheckScriptName(to)); err != nil {
		return err
	}
	from := filepath.Join(s.Dir, name+scriptExtension)
	err := os.Link(from, filepath.Join(s.Dir, to+scriptExtension)) // fails if the file exists
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s%s", ErrScriptNotFound, name, s.known())
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("there is a script %s already", to)
	case err == nil:
		err = os.Remove(from)
	}
	if err != nil {
		return fmt.Errorf("rename script %s: %w", name, err)
	}
	return nil
}

// StepLimit returns the number of steps that a model needs for an instruction: two for each of its steps, one to look
// and one to act, and one for the answer, but at most most.
func StepLimit(instruction string, most int) (int, error) {
	n, err := plain.CheckInstruction(instruction)
	if err != nil {
		return 0, err
	}
	if n+1 > most {
		return 0, fmt.Errorf("the script has %d steps, and a task may have %d: divide it", n, most-1)
	}
	return min(2*n+1, most), nil
}

// Steps returns the steps of a script with its placeholders replaced, as llm/plain.Options.Scripts requires.
func (s ScriptStore) Steps(name, values string) (string, error) {
	sc, err := s.Load(name)
	if err != nil {
		return "", err
	}
	return sc.Fill(values)
}
